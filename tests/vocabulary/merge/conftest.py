"""Small vocabularies to merge, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cli.conftest import run  # noqa: F401

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.mappings import Mapping, MappingSet
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

Make = Callable[..., Vocabulary]
Map = Callable[..., MappingSet]


@pytest.fixture(scope="session")
def make() -> Make:
    """``make("a", {"A:1": "heart attack, MI/abbreviation"}, xrefs={"A:1": ["B:1"]})``: a vocabulary of one source.

    The first name of a concept is preferred, the others are exact synonyms, unless another kind is given; further
    keywords are lists by concept.
    """

    def of(
        source: str, names: dict[str, str], *, redirects: dict[str, str] | None = None, **lists: Any
    ) -> Vocabulary:
        builder = TableBuilder()
        for concept_id, listed in names.items():
            fields = {field: values[concept_id] for field, values in lists.items() if concept_id in values}
            builder.concept(concept_id, **fields)
            for place, name in enumerate(filter(None, listed.split(", "))):
                text, _, kind = name.partition("/")
                builder.name(concept_id, text, lang="en", kind=kind or ("exact" if place else "preferred"))
        for old, new in (redirects or {}).items():
            builder.redirect(old, new)
        return Vocabulary.of((Source(source, "test", licence=f"licence of {source}"), builder.build()))

    return of


@pytest.fixture(scope="session")
def mapped() -> Map:
    """``mapped(("A:1", "B:1"), ("A:1", "skos:broadMatch", "B:2"), negated=True)``: a set of mappings."""

    def of(*rows: tuple[str, ...], **fields: Any) -> MappingSet:
        full = (row if len(row) == 3 else (row[0], "skos:exactMatch", row[1]) for row in rows)
        return MappingSet("m.sssom.tsv", tuple(Mapping(*row, **fields) for row in full))

    return of
