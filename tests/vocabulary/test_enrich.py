"""Borrowing names, on chosen cases and against a naive twin on random ones."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.enrich import enrich
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import NAME_SCHEMA, TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

Names = list[tuple[str, str]]


def make(
    source: str, names: dict[str, str], *, redirects: dict[str, str] | None = None, sha256: str = "", **fields: Any
) -> Vocabulary:
    """``make("a", {"A:1": "stroke, MI/abbreviation, c@de"}, xrefs={"A:1": ["B:1"]})``; the first is preferred."""
    builder = TableBuilder()
    for concept_id, listed in names.items():
        own = {field: values[concept_id] for field, values in fields.items() if concept_id in values}
        builder.concept(concept_id, **own)
        for place, name in enumerate(filter(None, listed.split(", "))):
            text, _, kind = name.partition("/")
            text, _, lang = text.partition("@")
            builder.name(concept_id, text, lang=lang or "en", kind=kind or ("exact" if place else "preferred"))
    for old, new in (redirects or {}).items():
        builder.redirect(old, new)
    return Vocabulary.of((Source(source, "test", sha256=sha256, licence=f"licence of {source}"), builder.build()))


def texts(vocabulary: Vocabulary, concept_id: str) -> list[str]:
    return [name.text for name in vocabulary.names(concept_id)]


def test_names_are_borrowed_with_their_sources_and_licences() -> None:
    target = make("t", {"D:1": "kidney diseases, Kidney disease", "D:2": "fever"})
    meta = make("m", {"D:1": "kidney disorder, nephropathy, kidney-disease, CKD/abbreviation", "D:3": "cough"})
    enriched = enrich(target, meta)
    assert [(n.text, n.kind, n.source) for n in enriched.vocabulary.names("D:1")] == [
        ("kidney diseases", "preferred", "t"),
        ("Kidney disease", "exact", "t"),
        ("kidney disorder", "exact", "m"),
        ("nephropathy", "exact", "m"),
        ("CKD", "abbreviation", "m"),
    ]
    assert texts(enriched.vocabulary, "D:2") == ["fever"]
    assert (enriched.added, enriched.present, enriched.ambiguous) == (3, 1, 0)
    assert enriched.equivalences.concepts() == {"by id": 1, "by xref and name": 0, "by xref": 0}
    assert [(s.name, s.licence) for s in enriched.vocabulary.sources] == [
        ("t", "licence of t"),
        ("m", "licence of m"),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "how"),
    [
        ({"names": {"D:1": "a"}}, {"names": {"D:1": "b"}}, "by id"),
        ({"names": {"MSH:D1": "a"}}, {"names": {"mesh:D1": "b"}}, "by id"),
        ({"names": {"D:1": "a"}}, {"names": {"M:1": "b"}, "redirects": {"D:1": "M:1"}}, "by id"),
        ({"names": {"D:1": "a"}, "redirects": {"M:1": "D:1"}}, {"names": {"M:1": "b"}}, "by id"),
        (
            {"names": {"D:1": "a"}, "redirects": {"O:1": "D:1"}},
            {"names": {"M:1": "b"}, "redirects": {"O:1": "M:1"}},
            "by id",
        ),
        (
            {"names": {"D:1": "a"}},
            {"names": {"D:1": "", "D:2": "b"}, "obsolete": {"D:1": True}, "replaced_by": {"D:1": ["D:2"]}},
            "by id",
        ),
        ({"names": {"D009203": "a"}}, {"names": {"MESH:D009203": "b"}}, "by id"),
        ({"names": {"254200": "a", "C564616": "x", "D009203": "y"}}, {"names": {"OMIM:254200": "b"}}, "by id"),
        ({"names": {"D:1": "a"}}, {"names": {"M:1": "b"}, "xrefs": {"M:1": ["D:1"]}}, "by xref"),
        ({"names": {"D:1": "a"}, "xrefs": {"D:1": ["M:1"]}}, {"names": {"M:1": "b"}}, "by xref"),
        ({"names": {"D009203": "a"}}, {"names": {"M:1": "b"}, "xrefs": {"M:1": ["MESH:D009203"]}}, "by xref"),
        ({"names": {"D:1": "a x"}}, {"names": {"M:1": "x a, b"}, "xrefs": {"M:1": ["D:1"]}}, "by xref and name"),
    ],
)  # fmt: skip
def test_what_is_equal(ours: dict[str, Any], theirs: dict[str, Any], how: str) -> None:
    enriched = enrich(make("t", **ours), make("m", **theirs))
    found = enriched.equivalences.concepts()
    assert found.pop(how) == 1
    assert not any(found.values())
    assert "b" in texts(enriched.vocabulary, enriched.vocabulary.concept_id(0))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        # Numbers are OMIM's only beside ids of MeSH.
        ({"names": {"254200": "a"}}, {"names": {"OMIM:254200": "b"}}),
        # Obsolete concepts take no part.
        ({"names": {"D:1": "a"}, "obsolete": {"D:1": True}}, {"names": {"D:1": "b"}}),
        ({"names": {"D:1": "a"}}, {"names": {"D:1": "b"}, "obsolete": {"D:1": True}}),
        # Not one-to-one: two of a namespace refer to one, or one refers to two.
        ({"names": {"D:1": "a"}}, {"names": {"M:1": "b", "M:2": "c"}, "xrefs": {"M:1": ["D:1"], "M:2": ["D:1"]}}),
        ({"names": {"D:1": "a", "D:2": "c"}}, {"names": {"M:1": "b"}, "xrefs": {"M:1": ["D:1", "D:2"]}}),
        # What is to be its equal is called as another concept is.
        ({"names": {"D:1": "a", "D:2": "b"}}, {"names": {"M:1": "b, c"}, "xrefs": {"M:1": ["D:1"]}}),
        # A gene is not the disease that it causes.
        ({"names": {"OMIM:1": "a"}}, {"names": {"HGNC:1": "b"}, "xrefs": {"HGNC:1": ["OMIM:1"]}}),
    ],
)
def test_what_is_not_equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"no concept in common .* such as .* here, ids such as"):
        enrich(make("t", **ours), make("m", **theirs))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"names": {"1": "Tumours of the Kidney"}}, {"names": {"M:1": "kidney neoplasm, b"}}),
        # Where nothing is called so, it is an exact name.
        ({"names": {"1": "ache x, c"}}, {"names": {"M:1": "other, X-Ache, b"}}),
        ({"names": {"1": "ache x"}}, {"names": {"M:1": "ache x, b", "N:1": "other, ache x, c"}}),
        # Of each namespace one.
        ({"names": {"1": "ache x"}}, {"names": {"M:1": "ache x", "N:1": "ache x, b", "N:2": "cough"}}),
        # As it stands is surer than in another form, and a preferred name than an exact one.
        ({"names": {"1": "ache x"}}, {"names": {"M:1": "ache x, b", "M:2": "x ache, c"}}),
        ({"names": {"2": "x ache", "1": "ache x"}}, {"names": {"M:1": "ache x, b"}}),
        ({"names": {"1": "ache x", "2": "pain y"}}, {"names": {"M:1": "x ache, pain y, b"}}),
        ({"names": {"1": "ache x"}}, {"names": {"HGNC:1": "ache x, c", "M:1": "other, ache x, b"}}),
        ({"names": {"1": "AIDS"}}, {"names": {"M:1": "aids, b"}}),
        ({"names": {"1": "Alzheimer disease"}}, {"names": {"M:1": "Alzheimer's disease, b"}}),
        # A name of one of several languages, and one that does not say its own.
        (
            {"names": {"1": "dolor x@es, a"}},
            {"names": {"M:1": "pain x, dolor x@es/preferred, b", "M:2": "c, dolor x@es"}},
        ),
        ({"names": {"1": "ache x@und"}}, {"names": {"M:1": "ache x, b"}}),
        # One whose preferred name nobody marked has its first for it.
        ({"names": {"1": "ache x/exact, c"}}, {"names": {"M:1": "ache x, b"}}),
        # What else it refers to by a surer way is in nobody's way.
        ({"names": {"1": "ache x"}, "xrefs": {"1": ["N:1"]}}, {"names": {"M:1": "ache x, b", "N:1": "d"}}),
    ],
)
def test_what_is_equal_by_name_where_that_is_asked_for(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    target, meta = make("t", **ours), make("m", **theirs)
    enriched = enrich(target, meta, by_name=True)
    assert enriched.equivalences.by_name
    assert "b" in texts(enriched.vocabulary, "1")
    assert "c" not in set(texts(enriched.vocabulary, "1")) - set(texts(target, "1"))
    again = enrich(enriched.vocabulary, meta, by_name=True)
    assert (again.added, again.equivalences) == (0, enriched.equivalences)
    if not ours.get("xrefs"):
        with pytest.raises(InputError, match="or match concepts by name"):
            enrich(target, meta)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        # Synonyms alone, and names that are neither preferred nor exact, say nothing.
        ({"names": {"1": "a, ache y"}}, {"names": {"M:1": "b, ache y"}}),
        ({"names": {"1": "ache y"}}, {"names": {"M:1": "b, ache y/broad"}}),
        # Short synonyms are mostly abbreviations.
        ({"names": {"1": "gas"}}, {"names": {"M:1": "b, gas"}}),
        # Two of one namespace are called so, or two here.
        ({"names": {"1": "ache x"}}, {"names": {"M:1": "ache x", "M:2": "Ache-x"}}),
        ({"names": {"1": "x ache"}}, {"names": {"M:1": "ache x", "M:2": "aches x"}}),
        ({"names": {"1": "ache x", "2": "Ache-x"}}, {"names": {"M:1": "ache x, b"}}),
        # Another concept here has the preferred name of what is to be its equal.
        ({"names": {"1": "ache x", "2": "c, other"}}, {"names": {"M:1": "other, ache x, b"}}),
        # A gene is not the disease that is called as it is.
        ({"names": {"1": "ache x"}}, {"names": {"HGNC:1": "ache x, b"}}),
        ({"names": {"1": "ache x"}}, {"names": {"M:1": "ache x, b"}, "obsolete": {"M:1": True}}),
        # Other things in like words: a letter, an order that matters, marks that are no accents, another language.
        ({"names": {"1": "Protein Deficiency"}}, {"names": {"M:1": "Protein S Deficiency, b"}}),
        (
            {"names": {"1": "liver cancer metastatic to lung"}},
            {"names": {"M:1": "lung cancer metastatic to liver, b"}},
        ),
        ({"names": {"1": "AIDS"}}, {"names": {"M:1": "aid, b"}}),
        ({"names": {"1": "ไข้"}}, {"names": {"M:1": "ไข่, b"}}),
        ({"names": {"1": "angina@de, a"}}, {"names": {"M:1": "angina, b"}}),
    ],
)
def test_what_is_not_equal_by_name(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match=r"no concept in common by ids, cross-references or names \(ids such as 1 "
    ):
        enrich(make("t", **ours), make("m", **theirs), by_name=True)


def test_what_is_equal_by_a_surer_way_has_no_further_equal_by_name() -> None:
    target = make("t", {"D:1": "ache x", "D:2": "c x"})
    meta = make("m", {"D:1": "b", "D:3": "ache x, d", "M:1": "e, c x"}, redirects={"D:2": "M:1"})
    enriched = enrich(target, meta, by_name=True)
    assert enriched.equivalences.concepts() == {"by id": 2, "by xref and name": 0, "by xref": 0, "by name": 0}
    assert texts(enriched.vocabulary, "D:1") == ["ache x", "b"]


def test_surer_equals_go_before_less_sure_ones() -> None:
    target = make("t", {"D:1": "one", "D:2": "two", "D:3": "three"})
    meta = make(
        "m",
        {"M:1": "b", "M:2": "c", "M:3": "d", "M:4": "two, e", "N:1": "f", "M:5": "g"},
        redirects={"D:1": "M:1"},
        xrefs={"M:2": ["D:1"], "M:3": ["D:2"], "M:4": ["D:2"], "N:1": ["D:1"], "M:5": ["D:2", "D:3"]},
    )
    enriched = enrich(target, meta)
    # D:1 has its id in M, D:2 its name; only N, which has neither, adds an xref. M:5 is equal to none of its two.
    assert [texts(enriched.vocabulary, id_) for id_ in ("D:1", "D:2", "D:3")] == [
        ["one", "b", "f"],
        ["two", "e"],
        ["three"],
    ]
    assert enriched.equivalences.refused == 4


def test_ids_of_members_lead_to_a_merged_concept() -> None:
    mondo = make("mondo", {"MONDO:1": "kidney disorder"}, xrefs={"MONDO:1": ["MESH:D007674"]})
    mesh = make("mesh", {"MESH:D007674": "kidney disorder, nephropathy"}, xrefs={"MESH:D007674": ["MONDO:1"]})
    meta = merge([mondo, mesh]).vocabulary
    enriched = enrich(make("medic", {"D007674": "kidney diseases"}), meta).vocabulary
    assert [(name.text, name.source) for name in enriched.names("D007674")][1:] == [
        ("kidney disorder", "mondo"),
        ("nephropathy", "mesh"),
    ]


def test_ambiguous_names_are_left_out_and_counted() -> None:
    target = make("t", {"D:1": "a", "D:2": "b, near/related", "D:3": "gone"}, obsolete={"D:3": True})
    meta = make("m", {"D:1": "B, c, Near, gone, own", "D:2": "C, d"})
    enriched = enrich(target, meta)
    assert texts(enriched.vocabulary, "D:1") == ["a", "gone", "own"]
    assert texts(enriched.vocabulary, "D:2") == ["b", "near", "d"]
    assert (enriched.added, enriched.present, enriched.ambiguous) == (3, 0, 4)


def test_several_equals_give_their_names_once_each_the_surest_first() -> None:
    target = make("t", {"D:1": "a"}, redirects={"E:1": "D:1"})
    meta = make("m", {"E:1": "b, x/abbreviation", "D:1": "c, X, B"})
    names = enrich(target, meta).vocabulary.names("D:1")
    assert sorted((name.text, name.kind) for name in names) == [
        ("X", "exact"), ("a", "preferred"), ("b", "exact"), ("c", "exact")
    ]  # fmt: skip


def test_kinds_and_titles_that_are_not_borrowed() -> None:
    listed = "b, c/related, d/narrow, e/broad, f/tradename, nNOS, uveitis (disorder), UVEITIS 1; UV1"
    enriched = enrich(make("t", {"D:1": "a"}), make("m", {"D:1": listed}))
    assert set(texts(enriched.vocabulary, "D:1")) == {"a", "b", "f", "nNOS"}


def test_languages_are_those_of_the_target_or_those_asked_for() -> None:
    target, meta = make("t", {"D:1": "a"}), make("m", {"D:1": "b, c@de, d@fr"})
    assert texts(enrich(target, meta).vocabulary, "D:1") == ["a", "b"]
    assert texts(enrich(target, meta, languages=["de", "fr"]).vocabulary, "D:1") == ["a", "c", "d"]
    british = make("m", {"D:1": "b, c@en-GB, d@enm"})
    assert texts(enrich(target, british).vocabulary, "D:1") == ["a", "b", "c"]
    assert texts(enrich(target, british, languages=["EN_gb"]).vocabulary, "D:1") == ["a", "c"]
    with pytest.raises(InputError, match="no language 'xx' among the names to borrow; there are: en, de, fr"):
        enrich(target, meta, languages=["xx"])


def test_what_a_source_left_out_would_lend_is_in_nobodys_way() -> None:
    target = make("t", {"D:1": "a", "D:2": "b"})
    lenders = make("m", {"D:1": "c"}), make("n", {"D:2": "c, d"})
    both = Vocabulary.of(*(part for lender in lenders for part in lender.parts()))
    assert texts(enrich(target, both).vocabulary, "D:1") == ["a"]
    assert texts(enrich(target, both, without=["n"]).vocabulary, "D:1") == ["a", "c"]
    with pytest.raises(InputError, match="no source 'x' to leave out; there are: m, n"):
        enrich(target, both, without=["x"])


def test_a_concept_without_a_name_is_called_as_its_equal_is() -> None:
    enriched = enrich(make("t", {"D:1": ""}), make("m", {"D:1": "b, c@de"})).vocabulary
    assert enriched["D:1"].name == "b"
    assert texts(enriched, "D:1") == ["b", "c"]


def test_blank_names_are_not_borrowed() -> None:
    source, tables = make("m", {"D:1": "b"}).parts()[0]
    blank = pa.table([["D:1"], [" "], ["en"], ["exact"]], schema=NAME_SCHEMA)
    meta = make("n", {"D:1": ""}).extended(
        source, type(tables)(tables.concepts, pa.concat_tables([tables.names, blank]), tables.redirects)
    )
    assert texts(enrich(make("t", {"D:1": "a"}), meta).vocabulary, "D:1") == ["a", "b"]


def test_what_a_source_of_its_own_holds_is_not_borrowed_and_no_name_of_a_source_is_used_twice() -> None:
    own = make("mesh", {"D:1": "a"}, sha256="1")
    meta = merge([make("mesh", {"D:1": "a, b"}, sha256="1"), make("x", {"D:1": "c"})]).vocabulary
    assert texts(enrich(own, meta).vocabulary, "D:1") == ["a", "c"]
    other = enrich(own, make("mesh", {"D:1": "b"}, sha256="2")).vocabulary
    assert [(name.text, name.source) for name in other.names("D:1")] == [("a", "mesh"), ("b", "mesh-2")]
    more = enrich(other, make("mesh", {"D:1": "c"}, sha256="2")).vocabulary
    assert [name.source for name in more.names("D:1")] == ["mesh", "mesh-2", "mesh-2"]
    assert len(more.sources) == 2


def test_an_enriched_vocabulary_can_be_saved_and_enriched_again(tmp_path: Path) -> None:
    target = make("t", {"D:1": "a", "D:2": "g"})
    # Were borrowed names heeded, M:1 would be named alike after the first time, and M:2 be refused.
    meta = make("m", {"D:1": "b", "M:1": "b, a, c", "N:1": "d"}, xrefs={"M:1": ["D:1"], "N:1": ["D:2"]})
    once = enrich(target, meta)
    once.vocabulary.save(tmp_path / "once")
    loaded = Vocabulary.load(tmp_path / "once")
    assert loaded.settings["enriched"] == [{"sources": ["m"], "languages": [], "without": [], "by_name": False}]
    again = enrich(loaded, meta)
    assert again.added == 0
    assert again.equivalences == once.equivalences
    assert again.vocabulary.columns.names.equals(loaded.columns.names)
    assert [name.concept_id for name in loaded.find("D")] == ["D:2"]


IDS = ["D:1", "D:2", "D:3", "M:1", "M:2"]


@st.composite
def vocabularies(draw: st.DrawFn, source: str) -> Vocabulary:
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, unique=True))
    names = st.lists(
        st.sampled_from(["a", "A", "b", "c-d", "c d", "e", "f/abbreviation", "g/broad", "h@de"]), max_size=5
    )
    others = st.lists(st.sampled_from(IDS), max_size=2)
    return make(
        source,
        {concept_id: ", ".join(draw(names)) for concept_id in ids},
        xrefs={concept_id: draw(others) for concept_id in ids},
        obsolete={concept_id: draw(st.integers(0, 5)) == 0 for concept_id in ids},
        redirects=draw(st.dictionaries(st.sampled_from(["O:1", "O:2", *IDS]), st.sampled_from(ids), max_size=2)),
    )


@given(vocabularies("t"), vocabularies("m"), st.booleans())
def test_what_is_borrowed_is_what_the_naive_twin_says(target: Vocabulary, meta: Vocabulary, by_name: bool) -> None:
    try:
        enriched = enrich(target, meta, by_name=by_name)
    except InputError:
        return
    equals = enriched.equivalences.pairs
    assert not any(target.concept(one).obsolete or meta.concept(other).obsolete for one, other in equals)
    languages = target.counts("lang") or meta.counts("lang")
    held: dict[str, set[str]] = defaultdict(set)
    for concept in target:
        for name in target.names(concept.id) if not concept.obsolete else ():
            held[normalise(name.text)].add(concept.id)
    offered: dict[str, set[str]] = defaultdict(set)
    for one, other in equals:
        for name in meta.names(meta.concept_id(other)):
            if name.kind != "broad" and name.lang in languages:
                offered[normalise(name.text)].add(target.concept_id(one))
    added = {
        (key, one)
        for key, ones in offered.items()
        for one in ones
        if one not in held[key] and len(ones | held[key]) == 1
    }
    there = sum(len(ones & held[key]) for key, ones in offered.items())
    result = enriched.vocabulary
    borrowed = [(normalise(n.text), one.id) for one in result for n in result.names(one.id) if n.source == "m"]
    assert sorted(borrowed) == sorted(added)
    assert (enriched.added, enriched.present) == (len(added), there)
    assert enriched.ambiguous == sum(map(len, offered.values())) - len(added) - there
    for concept in target:
        assert tuple(n for n in result.names(concept.id) if n.source == "t") == target.names(concept.id)
        # What is not called by a preferred name may borrow a surer one than its own.
        assert result[concept.id] == concept or not target.names(concept.id, kinds=("preferred",))
    again = enrich(result, meta, by_name=by_name)
    assert (again.added, again.equivalences) == (0, enriched.equivalences)
    assert [again.vocabulary.name(row) for row in range(result.name_count)] == [
        *map(result.name, range(result.name_count))
    ]


@pytest.mark.large
def test_medic_borrows_from_mondo(data: Path) -> None:
    medic = read_vocabulary(data / "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz")
    mondo = read_vocabulary(data / "vocabularies/mondo.tsv.gz")
    enriched = enrich(medic, mondo)
    assert not medic.find("nephropathy")
    assert [name.concept_id for name in enriched.vocabulary.find("nephropathy")] == ["D007674"]
    assert enriched.equivalences.concepts()["by xref and name"] > 3000
    assert enriched.added > 3000
    assert [source.licence for source in enriched.vocabulary.sources] == [None, "CC BY 4.0"]
