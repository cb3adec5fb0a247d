"""A small vocabulary of phenotypes, its matcher, and its index without an encoder."""

from __future__ import annotations

from functools import cache
from typing import Final

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.matcher import Matcher
from nymlink.index.index import Index
from nymlink.linking.links import Links
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

NAMES: Final = {
    "P:1": ("Abnormality of the kidney", "Renal anomaly"),
    "P:2": ("Abnormality of the ear",),
    "P:3": ("Short thumb",),
    "P:4": ("Broad thumb",),
    "P:5": ("Seizure", "Epileptic seizure"),
    "P:6": ("Hypoplasia of the radius", "Radial hypoplasia"),
    "P:7": ("Aplasia of the radius",),
    "P:8": ("Acute lymphoblastic leukemia", "ALL"),
    "P:9": ("Autosomal dominant inheritance",),
    "P:10": ("Severe",),
    "P:11": ("Cleft lip",),
    "P:12": ("Orofacial cleft", "Cleft lip and palate"),
    "P:13": ("Cleft palate",),
    "P:14": ("Tumor of the colon", "Tumour of the colon"),
    "P:15": ("Preauricular pit",),
    "P:16": ("Renal cyst", "Cyst of the kidney"),
    "P:17": ("Childhood onset",),
    "P:18": ("Cerebellar hypoplasia",),
    "P:19": ("Brachydactyly type A1",),
    "P:20": ("Arachnodactyly",),
    "P:21": ("Ovarian cancer",),
    "P:22": ("Breast cancer",),
    "P:23": ("Calcification of the aorta",),
}
"""Concept → its names, the preferred first."""

TYPES: Final = {"P:10": "modifier", "P:17": "modifier"}
PARENTS: Final = {"P:16": ("P:1",), "P:18": ("P:1",)}


def vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for concept, names in NAMES.items():
        builder.concept(
            concept, semantic_types=(TYPES.get(concept, "phenotype"),), parents=PARENTS.get(concept, ())
        )
        for place, name in enumerate(names):
            builder.name(concept, name, lang="en", kind="exact" if place else "preferred")
    builder.name("P:5", "Crise", lang="fr", kind="exact")
    builder.redirect("P:05", "P:5")
    return Vocabulary.of((Source("toy", "test"), builder.build()))


VOCABULARY: Final = vocabulary()
MATCHER: Final = Matcher.build(VOCABULARY)


@cache
def built_index() -> Index:
    return Index.build(VOCABULARY, encoder=None).with_ranker(None)


@cache
def the_annotator() -> Annotator:
    return Annotator(built_index())


def found(text: str, **settings: object) -> list[tuple[str, str]]:
    """List what the matcher finds: the text of each mention and its concept."""
    return [
        (text[hit.start : hit.end], VOCABULARY.concept_id(MATCHER.concept(hit)))
        for hit in MATCHER.find(text, **settings)  # type: ignore[arg-type]
    ]


def pairs(links: Links) -> list[tuple[str, str | None]]:
    return [(link.mention.text, link.best.concept_id if link.best else None) for link in links]
