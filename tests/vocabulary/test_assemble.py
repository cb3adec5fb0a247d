"""Several sources become one vocabulary, and one vocabulary its sources again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.vocabulary.columns import Columns, assemble, disassemble
from nymlink.vocabulary.tables import TableBuilder, Tables

NameRow = tuple[str, str, str, str]


def tables(
    concepts: dict[str, dict[str, Any]],
    names: Sequence[NameRow] = (),
    redirects: dict[str, str] | None = None,
) -> Tables:
    builder = TableBuilder()
    for concept_id, fields in concepts.items():
        builder.concept(concept_id, **fields)
    for concept_id, text, lang, kind in names:
        builder.name(concept_id, text, lang=lang, kind=kind)
    for old, new in (redirects or {}).items():
        builder.redirect(old, new)
    return builder.build()


def names(columns: Columns) -> list[tuple[str, str, str, str, str]]:
    ids = columns.concepts["id"].to_pylist()
    return [
        (ids[row["concept"]], row["text"], row["lang"], row["kind"], row["source"])
        for row in columns.names.to_pylist()
    ]


def same(one: Columns, other: Columns) -> bool:
    return all(
        getattr(one, table).to_pylist() == getattr(other, table).to_pylist()
        for table in ("concepts", "names", "redirects")
    ) and all(
        np.array_equal(getattr(one, array), getattr(other, array))
        for array in ("name_offsets", "concepts_by_id", "names_by_key")
    )


def test_preferred_names_come_first_and_english_before_others() -> None:
    source = tables(
        {"A:2": {}, "A:1": {}},
        [
            ("A:1", "e", "en", "exact"),
            ("A:1", "p-de", "de", "preferred"),
            ("A:2", "x", "en", "exact"),
            ("A:1", "p-gb", "en-GB", "preferred"),
            ("A:1", "not English", "enm", "preferred"),
            ("A:1", "p", "en", "preferred"),
            ("A:1", "r", "en", "related"),
        ],
    )
    columns = assemble([("s", source)])
    assert [text for _, text, *_ in names(columns)] == ["x", "p-gb", "p", "p-de", "not English", "e", "r"]
    assert columns.name_offsets.tolist() == [0, 1, 7]


def test_a_concept_of_several_sources_is_one() -> None:
    first = tables({"A:1": {"xrefs": ["x"], "parents": ["A:9"]}, "A:2": {"definition": "two"}})
    second = tables({"A:0": {}, "A:1": {"definition": "late", "xrefs": ["y", "x"], "semantic_types": ["t"]}})
    third = tables({"A:1": {"definition": "later"}, "A:2": {"definition": "other"}, "A:3": {}})
    rows = assemble([("one", first), ("two", second), ("three", third)]).concepts.to_pylist()
    assert [(row["id"], row["definition"], row["source"]) for row in rows] == [
        ("A:1", "late", "one"),
        ("A:2", "two", "one"),
        ("A:0", None, "two"),
        ("A:3", None, "three"),
    ]
    assert (rows[0]["xrefs"], rows[0]["parents"], rows[0]["semantic_types"]) == (["x", "y"], ["A:9"], ["t"])


def test_whether_a_concept_is_obsolete_is_for_the_first_source_to_say() -> None:
    live, obsolete = tables({"A:1": {}}), tables({"A:1": {"obsolete": True, "replaced_by": ["A:2"]}})
    for parts, expected in (((live, obsolete), False), ((obsolete, live), True)):
        columns = assemble(list(zip("ab", parts, strict=True)))
        assert columns.concepts["obsolete"].to_pylist() == [expected]


def test_a_repeated_name_is_kept_once_of_the_surest_kind() -> None:
    first = tables({"A:1": {}}, [("A:1", "a", "en", "related"), ("A:1", "b", "en", "exact")])
    second = tables(
        {"A:1": {}},
        [("A:1", "b", "en", "preferred"), ("A:1", "a", "en", "exact"), ("A:1", "a", "de", "broad")],
    )
    assert names(assemble([("one", first), ("two", second)])) == [
        ("A:1", "b", "en", "preferred", "two"),
        ("A:1", "a", "en", "exact", "one"),
        ("A:1", "a", "de", "broad", "two"),
    ]


def test_a_source_may_name_the_concepts_of_another() -> None:
    columns = assemble([("one", tables({"A:1": {}})), ("two", tables({}, [("A:1", "a", "en", "exact")]))])
    assert names(columns) == [("A:1", "a", "en", "exact", "two")]


def test_a_name_of_no_concept_is_refused() -> None:
    with pytest.raises(ValueError, match="'A:2', which is in no source"):
        assemble([("s", tables({"A:1": {}}, [("A:2", "a", "en", "exact")]))])


def test_more_languages_than_there_are_is_an_error() -> None:
    ids = [f"HP-{number}" for number in range(33_000)]
    source = tables({"A:1": {}}, [("A:1", "a", id_, "exact") for id_ in ids])
    with pytest.raises(InputError, match="33,000 languages in the column lang: it probably holds ids"):
        assemble([("s", source)])


def test_repeated_redirects_are_one() -> None:
    part = tables({"A:1": {}}, redirects={"O:2": "A:1", "O:1": "A:1"})
    assert assemble([("one", part), ("two", part)]).redirects.to_pylist() == [
        {"old": "O:1", "new": "A:1"},
        {"old": "O:2", "new": "A:1"},
    ]


def test_nothing_at_all() -> None:
    columns = assemble([("s", TableBuilder().build()), ("t", TableBuilder().build())])
    assert (len(columns.concepts), len(columns.names), columns.name_offsets.tolist()) == (0, 0, [0])


def test_taken_apart_and_put_together_it_is_the_same() -> None:
    one = tables(
        {"A:1": {"definition": "d"}, "A:2": {"obsolete": True, "replaced_by": ["A:1"]}},
        [("A:1", "a", "en", "preferred"), ("A:2", "b", "de", "exact")],
        {"O:1": "A:1"},
    )
    # The middle one has no concept of its own, but its preferred name goes before that of the last.
    two = tables({}, [("A:2", "from two", "en", "preferred"), ("A:1", "a", "en", "exact")])
    three = tables(
        {"A:3": {}, "A:1": {"xrefs": ["x"]}},
        [("A:2", "from three", "en", "preferred"), ("A:3", "c", "en", "exact")],
        {"O:1": "A:3"},
    )
    columns = assemble([("one", one), ("two", two), ("three", three)])
    parts = disassemble(columns, ["one", "two", "three"])
    assert [source for source, _ in parts] == ["one", "two", "three"]
    assert same(assemble(parts), columns)


def test_columns_refuse_look_ups_that_do_not_fit() -> None:
    whole = assemble([("s", tables({"A:1": {}}, [("A:1", "a", "en", "exact")]))])
    parts = {name: getattr(whole, name) for name in Columns.__slots__}
    for name, wrong in (
        ("name_offsets", np.array([0, 2])),
        ("name_offsets", np.array([1, 1])),
        ("name_offsets", np.array([0, 0, 1])),
        ("concepts_by_id", np.array([0], np.int64)),
        ("names_by_key", np.array([[0]], np.int32)),
        ("names", whole.names.drop_columns("lang")),
    ):
        with pytest.raises(ValueError, match=r"fit|last|instead"):
            Columns(**(parts | {name: wrong}))
