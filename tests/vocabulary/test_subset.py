"""Parts of vocabularies, on chosen cases and against a naive twin on random ones."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.vocabulary.concepts import KINDS, Concept, Name, Source
from nymlink.vocabulary.subset import subset
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


@pytest.fixture
def mixed() -> Vocabulary:
    """Two sources: diseases below D:1 (with a cycle, and a parent that is not there), and a drug."""
    diseases = TableBuilder()
    diseases.concept("D:1", semantic_types=["Disease or Syndrome"], parents=["ROOT:1"])
    diseases.concept("D:2", semantic_types=["Disease or Syndrome"], parents=["D:1"])
    diseases.concept("D:3", semantic_types=["Neoplastic Process", "Finding"], parents=["D:2", "D:4"])
    diseases.concept("D:4", semantic_types=["Finding"], parents=["D:3"])
    diseases.concept("D:9", obsolete=True, replaced_by=["D:3"])
    diseases.concept("D:8", obsolete=True, replaced_by=["OLD:9"])
    for at, lang in (("1", "en"), ("2", "en"), ("2", "de"), ("3", "en"), ("4", "de"), ("9", "en"), ("9", "de")):
        diseases.name(f"D:{at}", f"disease {at}", lang=lang, kind="preferred" if lang == "en" else "exact")
    diseases.name("D:3", "tumour", lang="en", kind="broad")
    diseases.redirect("OLD:3", "D:3")
    diseases.redirect("OLD:9", "D:9")
    diseases.redirect("OLD:1", "D:1")
    diseases.redirect("D:4", "D:1")  # of no effect: a concept of that id lives
    drugs = TableBuilder()
    drugs.concept("X:1", semantic_types=["Drug"])
    drugs.name("X:1", "Aspirin", lang="en", kind="tradename")
    drugs.concept("D:2")
    drugs.name("D:2", "second disease", lang="en")
    return Vocabulary.of(
        (Source("diseases", "obo"), diseases.build()),
        (Source("drugs", "table"), drugs.build()),
        settings={"lang": "en"},
    )


def ids(vocabulary: Vocabulary) -> set[str]:
    return {concept.id for concept in vocabulary}


def texts(vocabulary: Vocabulary) -> list[str]:
    return [vocabulary.name(row).text for row in range(vocabulary.name_count)]


def test_a_branch_is_its_concept_and_all_below(mixed: Vocabulary) -> None:
    assert ids(subset(mixed, branches=["D:1"])) == {"D:1", "D:2", "D:3", "D:4", "D:8", "D:9"}
    assert ids(subset(mixed, branches=["D:4"])) == {"D:3", "D:4", "D:8", "D:9"}
    assert ids(subset(mixed, branches=["X:1"])) == {"X:1"}
    assert ids(subset(mixed, branches=["X:1", "D:4"])) == {"D:3", "D:4", "D:8", "D:9", "X:1"}


def test_a_branch_may_hang_on_a_parent_that_is_not_there(mixed: Vocabulary) -> None:
    assert ids(subset(mixed, branches=["ROOT:1"])) == ids(subset(mixed, branches=["D:1"]))


def test_an_unknown_branch_is_refused(mixed: Vocabulary) -> None:
    for branch, message in (("D:5", "no concept 'D:5'"), ("OLD:1", "it is now D:1"), ("D:\udc80", "no concept")):
        with pytest.raises(UnknownNameError, match=message):
            subset(mixed, branches=["D:1", branch])


def test_semantic_types_match_in_full_and_in_any_case(mixed: Vocabulary) -> None:
    assert ids(subset(mixed, semantic_types=["disease OR syndrome"])) == {"D:1", "D:2"}
    assert ids(subset(mixed, semantic_types=["finding", "drug"])) == {"D:3", "D:4", "D:8", "D:9", "X:1"}
    with pytest.raises(
        InputError, match="no semantic type 'disease' in the vocabulary; there are: Disease or Syndrome, F"
    ):
        subset(mixed, semantic_types=["drug", "disease"])


def test_names_are_chosen_by_source_language_and_kind(mixed: Vocabulary) -> None:
    assert texts(subset(mixed, sources=["drugs"])) == ["second disease", "Aspirin"]
    assert texts(subset(mixed, languages=["de"])) == ["disease 2", "disease 4", "disease 9"]
    assert texts(subset(mixed, kinds=["broad", "tradename"])) == ["tumour", "Aspirin"]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        (["de"], ["Krebs", "Grippe"]),
        (["en"], ["cancer", "tumour"]),
        (["EN"], ["cancer", "tumour"]),
        (["en_gb"], ["tumour"]),
        (["en", "de-CH"], ["cancer", "tumour", "Grippe"]),
    ],
)
def test_a_language_includes_its_regions_however_it_is_written(asked: list[str], left: list[str]) -> None:
    builder = TableBuilder()
    for number, (text, lang) in enumerate(
        [("cancer", "en"), ("tumour", "en-GB"), ("canker", "enm"), ("Krebs", "de"), ("Grippe", "de-CH")]
    ):
        builder.concept(f"A:{number}")
        builder.name(f"A:{number}", text, lang=lang)
    whole = Vocabulary.of((Source("s", "table"), builder.build()))
    part = subset(whole, languages=asked)
    assert (texts(part), len(part)) == (left, len(left))
    with pytest.raises(InputError, match="no language 'de-AT' in the vocabulary; there are: en, en-GB, enm, de"):
        subset(whole, languages=["de-AT"])


def test_concepts_without_a_name_that_was_asked_for_go(mixed: Vocabulary) -> None:
    assert ids(subset(mixed, kinds=["broad", "tradename"])) == {"D:3", "D:8", "D:9", "X:1"}
    assert ids(subset(mixed, sources=["drugs"])) == {"D:2", "X:1"}


def test_conditions_of_different_sorts_all_hold(mixed: Vocabulary) -> None:
    part = subset(
        mixed, branches=["D:1"], semantic_types=["finding"], languages=["en"], kinds=["preferred", "broad"]
    )
    assert texts(part) == ["disease 3", "tumour", "disease 9"]
    assert ids(part) == {"D:3", "D:8", "D:9"}


def test_old_ids_lead_where_they_led(mixed: Vocabulary) -> None:
    part = subset(mixed, semantic_types=["neoplastic process"])
    for old in ("D:8", "D:9", "OLD:9", "OLD:3", "D:3"):
        assert part.resolve(old) == mixed.resolve(old) == ("D:3",)
    assert part.resolve("OLD:1") == ()
    assert part.columns.redirects.num_rows == 2
    assert subset(mixed, branches=["X:1"]).columns.redirects.num_rows == 0


def test_parents_that_are_gone_stay_as_ids(mixed: Vocabulary) -> None:
    part = subset(mixed, semantic_types=["neoplastic process"])
    assert part["D:3"] == mixed["D:3"]
    assert [*part.ancestors("D:3")] == ["D:2", "D:4"]


def test_sources_and_settings_say_where_it_comes_from(mixed: Vocabulary) -> None:
    assert [source.name for source in subset(mixed, branches=["X:1"]).sources] == ["drugs"]
    assert [source.name for source in subset(mixed, semantic_types=["finding"]).sources] == ["diseases"]
    once = subset(mixed, branches=["D:1"], languages=["en", "de"])
    assert once.settings == {"lang": "en", "subset": [{"branches": ["D:1"], "languages": ["de", "en"]}]}
    assert subset(once, kinds=["exact"]).settings["subset"] == [*once.settings["subset"], {"kinds": ["exact"]}]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"languages": ["xx", "en"]}, "no language 'xx' in the vocabulary; there are: en, de$"),
        ({"sources": ["drug"]}, "no source 'drug' in the vocabulary; there are: diseases, drugs$"),
        ({"kinds": ["synonym"]}, "no kind of name 'synonym' in the vocabulary; there are: preferred, exact"),
        ({"kinds": ["narrow"]}, "no concept has the kind of name narrow; there are: preferred, exact, "),
        (
            {"branches": ["D:1"], "semantic_types": ["drug"]},
            "no concept that meets the other conditions has the semantic type Drug; there are: Disease",
        ),
        (
            {"semantic_types": ["drug"], "languages": ["de"]},
            "no concept that meets the other conditions has the language de; there are: en$",
        ),
    ],
)
def test_what_left_nothing_is_said_with_what_there_is(
    mixed: Vocabulary, conditions: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        subset(mixed, **conditions)


def test_a_long_list_of_what_there_is_is_cut_short() -> None:
    builder = TableBuilder()
    builder.concept("A:1", semantic_types=[f"type {number}" for number in range(100)])
    with pytest.raises(InputError, match=r"type 0, .*type 29 and 70 more$"):
        subset(Vocabulary.of((Source("s", "table"), builder.build())), semantic_types=["type"])


def test_a_part_can_be_saved_loaded_searched_and_extended(mixed: Vocabulary, tmp_path: Path) -> None:
    subset(mixed, branches=["D:2"], languages=["en"]).save(tmp_path / "v")
    part = Vocabulary.load(tmp_path / "v")
    assert [name.concept_id for name in part.find("SECOND disease")] == ["D:2"]
    more = TableBuilder()
    more.concept("N:1")
    more.name("N:1", "new")
    assert part.extended(Source("new", "table"), more.build()).name_count == part.name_count + 1


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    known = [f"C:{number}" for number in range(6)]
    anything = st.lists(st.sampled_from([*known, "O:1", "O:2", "P:1"]), max_size=3)
    parts = []
    for source in ("one", "two"):
        builder = TableBuilder()
        for concept_id in draw(st.lists(st.sampled_from(known), unique=True)):
            builder.concept(
                concept_id,
                semantic_types=draw(st.lists(st.sampled_from(["T", "t", "U"]), max_size=2)),
                parents=draw(anything),
                obsolete=draw(st.booleans()),
                replaced_by=draw(anything),
            )
            for text in draw(st.lists(st.sampled_from(["a", "B", "c-d", "c d"]), max_size=3)):
                lang, kind = (
                    draw(st.sampled_from(["en", "de"])),
                    draw(st.sampled_from(["preferred", "exact", "broad"])),
                )
                builder.name(concept_id, text, lang=lang, kind=kind)
        for new in draw(anything):
            builder.redirect(draw(st.sampled_from(["O:1", "O:2", "O:3"])), new)
        parts.append((Source(source, "table"), builder.build()))
    return Vocabulary.of(*parts)


def naive(
    whole: Vocabulary, **conditions: Collection[str]
) -> tuple[list[Concept], list[Name], set[tuple[str, str]]]:
    """Concepts, names and redirects of a part, looked for one by one."""

    def wanted(name: Name) -> bool:
        labels = (("sources", name.source), ("languages", name.lang), ("kinds", name.kind))
        return all(label in (conditions.get(condition) or [label]) for condition, label in labels)

    def meets(concept: Concept) -> bool:
        branches, types = conditions.get("branches"), conditions.get("semantic_types")
        return (
            (not branches or bool({concept.id, *whole.ancestors(concept.id)} & {*branches}))
            and (
                not types or bool({one.lower() for one in concept.semantic_types} & {one.lower() for one in types})
            )
            and (
                not any(conditions.get(condition) for condition in ("sources", "languages", "kinds"))
                or any(map(wanted, whole.names(concept.id)))
            )
        )

    left = {concept.id for concept in whole if meets(concept)}
    redirects = {(row["old"], row["new"]) for row in whole.columns.redirects.to_pylist()}
    old = redirects | {(one.id, new) for one in whole if one.obsolete for new in one.replaced_by}
    leading = set(left)
    for _ in range(20):
        leading |= {one for one, new in old if new in leading}
    left |= {concept.id for concept in whole if concept.obsolete and concept.id in leading}
    return (
        [concept for concept in whole if concept.id in left],
        [name for concept in whole if concept.id in left for name in whole.names(concept.id) if wanted(name)],
        {(one, new) for one, new in redirects if new in leading},
    )


VALUES = {
    "branches": ["C:0", "C:1", "P:1"],
    "semantic_types": ["t", "u"],
    "sources": ["one", "two"],
    "languages": ["en", "de"],
    "kinds": ["preferred", "exact", "broad"],
}


@given(
    vocabularies(),
    st.fixed_dictionaries({}, optional={name: st.sets(st.sampled_from(v)) for name, v in VALUES.items()}),
)
def test_a_part_is_what_the_naive_twin_says(whole: Vocabulary, conditions: dict[str, set[str]]) -> None:
    try:
        part = subset(whole, **conditions)
    except (InputError, UnknownNameError):
        return
    concepts, names, redirects = naive(whole, **conditions)
    # The preferred name is the first of the surest of those left.
    surest = sorted(names, key=lambda name: KINDS.index(name.kind))
    first = {name.concept_id: name.text for name in reversed(surest)}
    assert [(one.id, one.name) for one in part] == [(one.id, first.get(one.id, one.id)) for one in concepts]
    assert [part.name(row) for row in range(part.name_count)] == names
    assert {tuple(row.values()) for row in part.columns.redirects.to_pylist()} == redirects
    for concept in concepts:
        assert part.row(concept.id) is not None
        assert part.names(concept.id) == tuple(name for name in names if name.concept_id == concept.id)
    for name in names:
        assert name in part.find(name.text)
    assert np.array_equal(np.sort(part.columns.names_by_key), np.arange(len(names)))
