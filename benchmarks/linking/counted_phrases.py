"""Phrases that annotators and curators used for concepts, from corpora whose licences let us ship their counts.

Only training and development parts are read. CRAFT's taxa are left out, because there "mice" means the genus.
BC5CDR and GSC+ state no licence; S800, Linnaeus and BioID may not be published again; the ids of AskAPatient and
of the hospital's laboratory belong to SNOMED CT and LOINC, which have terms of their own. The labels of mapped
concepts (Biomappings, MGI) gained nothing.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.linking.curated_sets import craft, pubtator, terms
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.text.normalise import normalise


class Occurrence(NamedTuple):
    """A phrase that means a concept.

    Attributes:
        phrase: the phrase in its normal form.
        concept: the id of the concept, a CURIE.
        source: name of the source.
        document: id of the document; the name of the source for a table.
    """

    phrase: str
    concept: str
    source: str
    document: str


@dataclass(frozen=True)
class Annotations:
    """A source of phrases.

    Attributes:
        name: its name.
        licence: its licence, as far as it is stated.
        read: function from the data folder to triples (document, text, ids).
    """

    name: str
    licence: str
    read: Callable[[Path], Iterable[tuple[str, str, tuple[str, ...]]]]

    def occurrences(self, data: Path) -> Iterator[Occurrence]:
        """Read its phrases. Mentions of several concepts, or of none, are left out."""
        for document, text, ids in self.read(data):
            if len(ids) == 1 and ids[0] != "-1" and (phrase := normalise(text)):
                yield Occurrence(phrase, ids[0], self.name, document)


def _mentions(read: Callable[[Path], Corpus], data: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for document in read(data).documents:
        for mention in document.mentions:
            yield document.id, mention.text, mention.concept_ids


def _ncbi(data: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    folder = data / "corpora" / "ncbi_disease" / "original-data"
    for part in ("train", "develop"):
        path = folder / f"NCBI{part}set_corpus.txt.gz"
        for document, text, ids in _mentions(lambda _, path=path: read_corpus(path), data):
            yield document, text, tuple(each if ":" in each else f"MESH:{each}" for each in ids)


def _craft(data: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for prefix in ("MONDO", "CL", "UBERON", "CHEBI", "GO", "SO"):
        yield from _mentions(partial(craft, prefix), data)


def _medmentions(data: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    folder = data / "corpora" / "medmentions_mondo"
    rows = {
        part: list(csv.DictReader((folder / f"mondo_{part}.csv").open(encoding="utf-8", newline="")))
        for part in ("train", "dev", "test")
    }
    hidden = {row["pmid"] for row in rows["test"]}
    seen = set()
    for row in chain(rows["train"], rows["dev"]):
        if row["pmid"] not in hidden:
            seen.add((row["pmid"], row["mention"], row["cui"]))
            yield row["pmid"], row["mention"], (row["mondo_id"],)
    path = data / "corpora" / "medmentions" / "medmentions_full_dev.mention_cui.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for document, text, cui in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if document not in hidden and (document, text, cui) not in seen:
                yield document, text, (f"UMLS:{cui}",)


_AIONER: Final = "MIT (ncbi/AIONER)"

SOURCES: Final = (
    Annotations("NCBI disease", "public domain", _ncbi),
    Annotations("MedMentions", "CC0", _medmentions),
    Annotations("CRAFT", "CC BY 3.0", _craft),
    Annotations("ClinVar traits", "Apache-2.0", partial(_mentions, partial(terms, "clinvar_traits.tsv"))),
    *(
        Annotations(name, _AIONER, partial(_mentions, partial(pubtator, f"curated/texts/{file}.PubTator.gz")))
        for name, file in (
            ("BioRED", "BioRED_TrainDev"),
            ("tmVar", "tmVar3_Train"),
            ("GNormPlus", "GNormPlus_Train"),
            ("NLM-Gene", "NLMgene_Train"),
        )
    ),
)


def occurrences(data: Path) -> list[Occurrence]:
    """Read the phrases of all sources."""
    return list(chain.from_iterable(source.occurrences(data) for source in SOURCES))


Counts = dict[str, dict[str, dict[str, int]]]
"""Phrase → id of a concept → name of a source → number of documents."""


def counted(found: Iterable[Occurrence], *, without: Collection[str] = (), hidden: Collection[str] = ()) -> Counts:
    """Count the documents in which a phrase means a concept: a mention that a document repeats counts once.

    Args:
        found: the phrases.
        without: sources to leave out.
        hidden: documents to leave out.
    """
    counts: Counts = {}
    for each in dict.fromkeys(found):
        if each.source not in without and each.document not in hidden:
            times = counts.setdefault(each.phrase, {}).setdefault(each.concept, {})
            times[each.source] = times.get(each.source, 0) + 1
    return counts
