"""Vocabularies that the shipped ranker learns from, made of open tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from nymlink.vocabulary.concepts import Concept, Source
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

_DISEASES: Final = "Diseases"
"""Semantic type of diseases in the table of MeSH."""


def diseases(data: Path, *, borrowed: bool) -> Vocabulary:
    """Put the diseases of MeSH and those of OMIM that it lacks together, as MEDIC does, with MONDO's names.

    Args:
        data: folder of ``vocabularies/``.
        borrowed: whether diseases of MeSH have the names of their equals in MONDO, too.
    """
    mesh = read_vocabulary(data / "vocabularies" / "mesh.tsv.gz")
    mondo = read_vocabulary(data / "vocabularies" / "mondo.tsv.gz")
    referred = {xref for concept in mondo for xref in _xrefs(concept, "MESH:")}
    builder = TableBuilder()
    kept = set()
    for concept in mesh:
        if concept.id in referred or any(_DISEASES in each for each in concept.semantic_types):
            kept.add(concept.id)
            builder.concept(concept.id)
            _add_names(builder, concept.id, mesh, concept)
    for concept in mondo:
        equals = [xref for xref in _xrefs(concept, "MESH:") if xref in kept]
        omim = list(_xrefs(concept, "OMIM:"))
        target = equals[0] if equals else omim[0] if omim else concept.id
        builder.concept(target)
        for other in omim:
            if other != target:
                builder.redirect(other, target)
        if borrowed or not equals:
            _add_names(builder, target, mondo, concept)
    return Vocabulary.of((Source("diseases", "MeSH and MONDO"), builder.build()))


def with_one_name(vocabulary: Vocabulary) -> Vocabulary:
    """Keep the surest name of each concept alone."""
    names = vocabulary.columns.names
    surest = names.filter(pc.equal(names["kind"].cast("string"), "preferred"))
    builder = TableBuilder()
    for concept in vocabulary:
        builder.concept(concept.id)
    for row in surest.to_pylist():
        builder.name(vocabulary.concept_id(row["concept"]), row["text"], lang=row["lang"], kind="preferred")
    for row in vocabulary.columns.redirects.to_pylist():
        builder.redirect(row["old"], row["new"])
    return Vocabulary.of((Source("one name", "one name a concept"), builder.build()))


def _xrefs(concept: Concept, prefix: str) -> Iterator[str]:
    return (xref for xref in concept.xrefs if xref.startswith(prefix))


def _add_names(builder: TableBuilder, target: str, vocabulary: Vocabulary, concept: Concept) -> None:
    for name in vocabulary.names(concept.id):
        builder.name(target, name.text, lang=name.lang, kind=name.kind)
