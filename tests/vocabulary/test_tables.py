"""The builder of small vocabularies, and what tables refuse to hold."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.concepts import KINDS
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, TableBuilder, Tables


def names(builder: TableBuilder) -> list[tuple[str, str, str, str]]:
    return [tuple(row.values()) for row in builder.build().names.to_pylist()]


def test_nothing_gives_empty_tables() -> None:
    tables = TableBuilder().build()
    assert [len(tables.concepts), len(tables.names), len(tables.redirects)] == [0, 0, 0]


def test_a_concept_is_filled_in_as_it_comes() -> None:
    builder = TableBuilder()
    builder.concept("A:1", xrefs=["x", "y", "x"], semantic_types=["disease"])
    builder.concept("A:2")
    builder.concept("A:1", definition="first", xrefs=["z", "x"], parents=["A:0"], obsolete=True)
    builder.concept("A:1", definition="second", replaced_by=["A:2"])
    assert "A:1" in builder
    assert "A:0" not in builder
    assert len(builder) == 2
    first, second = builder.build().concepts.to_pylist()
    assert first == {
        "id": "A:1",
        "definition": "first",
        "semantic_types": ["disease"],
        "xrefs": ["x", "y", "z"],
        "parents": ["A:0"],
        "obsolete": True,
        "replaced_by": ["A:2"],
    }
    assert (second["id"], second["definition"], second["obsolete"]) == ("A:2", None, False)


def test_a_repeated_name_is_kept_once_with_the_surest_kind() -> None:
    builder = TableBuilder()
    builder.concept("A:1")
    builder.name("A:1", "b", lang="en", kind="related")
    builder.name("A:1", " a\t\u00a0 c\n", lang="en")
    builder.name("A:1", "b", lang="en", kind="preferred")
    builder.name("A:1", "b", lang="en", kind="broad")
    builder.name("A:1", "b", lang="de", kind="narrow")
    builder.name("A:1", " \u2003 ")
    builder.name("A:1", "")
    assert names(builder) == [
        ("A:1", "b", "en", "preferred"),
        ("A:1", "a c", "en", "exact"),
        ("A:1", "b", "de", "narrow"),
    ]


@given(st.lists(st.sampled_from(KINDS), min_size=1))
def test_the_surest_kind_does_not_depend_on_the_order(kinds: list[str]) -> None:
    builder = TableBuilder()
    for kind in kinds:
        builder.name("A:1", "a", kind=kind)
    assert [row[3] for row in names(builder)] == [min(kinds, key=KINDS.index)]


def test_redirects_are_kept_once_and_never_to_themselves() -> None:
    builder = TableBuilder()
    for old, new in (("O:1", "A:1"), ("O:1", "A:1"), ("O:1", "A:2"), ("A:1", "A:1")):
        builder.redirect(old, new)
    assert builder.build().redirects.to_pylist() == [{"old": "O:1", "new": "A:1"}, {"old": "O:1", "new": "A:2"}]


def test_half_a_character_is_a_value_error_and_not_stored() -> None:
    builder = TableBuilder()
    builder.name("A:1", "half \ud83d of it")
    with pytest.raises(ValueError, match="surrogates"):
        builder.build()


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind of name 'synonym'; known: preferred, exact"):
        TableBuilder().name("A:1", "a", kind="synonym")


def tables(**changed: pa.Table) -> Tables:
    empty = {
        "concepts": CONCEPT_SCHEMA.empty_table(),
        "names": NAME_SCHEMA.empty_table(),
        "redirects": REDIRECT_SCHEMA.empty_table(),
    }
    return Tables(**(empty | changed))


def test_tables_refuse_what_is_not_valid() -> None:
    name = {"concept_id": ["A:1"], "text": ["a"], "lang": ["en"], "kind": ["exact"]}
    assert len(tables(names=pa.table(name, NAME_SCHEMA)).names) == 1
    for changed, message in (
        (tables().names.drop_columns("lang"), "instead of"),
        (pa.table(name), "instead of"),
        (pa.table(name | {"text": [None]}, NAME_SCHEMA), "'text' may not hold nulls"),
        (pa.table(name | {"kind": ["synonym"]}, NAME_SCHEMA), "unknown kinds of names: synonym"),
    ):
        with pytest.raises(ValueError, match=message):
            tables(names=changed)
