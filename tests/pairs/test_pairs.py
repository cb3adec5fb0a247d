"""Pairs against a plain twin: what they are made of, what is drawn of many, how they are split and shuffled."""

from __future__ import annotations

import csv
import gzip
import warnings
from collections import Counter, defaultdict
from itertools import pairwise
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nymlink.core.errors import InputError
from nymlink.pairs import pairs as names
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.concepts import KINDS, SYNONYM_KINDS
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.train.small import crowd, naive_pairs, spelt, vocabulary

NAMES = st.tuples(
    st.sampled_from(["A:1", "A:2", "A:3", "Ä:4"]),
    st.sampled_from(["ab", "AB", "Ab c", "İ", "ß", "SS", "ΑΣ", "ας", "心", "a|b", "x"]),
    st.sampled_from(["en", "de", "und"]),
    st.sampled_from(KINDS),
)


@given(
    st.lists(NAMES, max_size=40),
    st.sets(st.sampled_from(["A:1", "A:3"])),
    st.sets(st.sampled_from(KINDS), min_size=1),
    st.integers(0, 9),
)
def test_they_are_those_of_the_plain_twin(
    rows: list[tuple[str, str, str, str]], obsolete: set[str], kinds: set[str], seed: int
) -> None:
    made = vocabulary(*rows, obsolete=obsolete)
    for languages in (None, set(made.counts("lang")) & {"en", "de"} or None):
        pairs = Pairs.of(made, cap=1000, seed=seed, languages=languages, kinds=kinds)
        expected = naive_pairs(made, kinds=kinds, languages=languages)
        assert Counter(spelt(pairs)) == Counter(pair for those in expected.values() for pair in those)


@given(
    st.lists(NAMES, max_size=40),
    st.sets(st.sampled_from(["A:1", "A:3"])),
    st.integers(1, 9),
    st.sampled_from(["de", "en-GB"]),
)
def test_across_languages_they_are_those_of_two(
    rows: list[tuple[str, str, str, str]], obsolete: set[str], cap: int, other: str
) -> None:
    rows = [(concept, text, lang.replace("de", other), kind) for concept, text, lang, kind in rows]
    made = vocabulary(*rows, obsolete=obsolete)
    languages = {}
    for concept in made:
        for name in made.names(concept.id, kinds=SYNONYM_KINDS):
            languages.setdefault((concept.id, name.text.lower()), name.lang.partition("-")[0])
    expected = {
        one: {
            frozenset(pair[1:])
            for pair in those
            if len({languages[one, name] for name in pair[1:]} - {"und"}) == 2
        }
        for one, those in naive_pairs(made, kinds=SYNONYM_KINDS).items()
    }
    everything = Counter(
        (one, frozenset(pair)) for one, *pair in spelt(Pairs.of(made, cap=1000, across_languages=True))
    )
    assert everything == Counter((one, pair) for one, those in expected.items() for pair in those)
    drawn = [(one, frozenset(pair)) for one, *pair in spelt(Pairs.of(made, cap=cap, across_languages=True))]
    assert set(drawn) <= set(everything)
    assert Counter(one for one, _ in drawn) == Counter(
        {one: min(len(those), cap) for one, those in expected.items() if those}
    )


@given(st.lists(st.integers(0, 14), max_size=6), st.integers(1, 20), st.integers(0, 5))
def test_a_crowd_keeps_as_many_as_the_cap_without_repeats(sizes: list[int], cap: int, seed: int) -> None:
    made = vocabulary(*(row for at, size in enumerate(sizes) for row in crowd(f"A:{at}", size)))
    drawn = spelt(Pairs.of(made, cap=cap, seed=seed))
    everything = naive_pairs(made, kinds=KINDS)
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= {pair for those in everything.values() for pair in those}
    assert Counter(pair[0] for pair in drawn) == {one: min(len(those), cap) for one, those in everything.items()}


def test_each_pair_of_a_crowd_is_drawn_equally_often() -> None:
    crowds = 2000
    made = vocabulary(*(row for at in range(crowds) for row in crowd(f"A:{at}", 6)))
    drawn = Counter((left.split()[-1], right.split()[-1]) for _, left, right in spelt(Pairs.of(made, cap=5)))
    # Five of fifteen, so that the counts vary less than independent ones by a factor of 1 − 5/15, and (15 − 1)/15.
    spread = sum((count - crowds / 3) ** 2 for count in drawn.values()) / (crowds / 3 * (1 - 1 / 3))
    assert len(drawn) == 15
    assert stats.chi2.sf(spread * 14 / 15, 14) > 0.001


def test_a_pair_does_not_depend_on_where_reading_begins_and_ends() -> None:
    made = vocabulary(*(row for at in range(30) for row in crowd(f"A:{at}", at)))
    pairs = Pairs.of(made, cap=20, seed=3)
    whole = np.array(pairs.rows(0, len(pairs), epoch=2))
    for step in (1, 7, 64, 10_000):
        bounds = [*range(0, len(pairs), step), len(pairs)]
        parts = [np.array(pairs.rows(start, stop, epoch=2)) for start, stop in pairwise(bounds)]
        assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert all(array.dtype == np.int32 for array in pairs.rows(0, 5))
    assert [len(array) for array in pairs.rows(4, 4)] == [0, 0, 0]


def test_each_epoch_has_the_same_pairs_in_an_order_of_its_own() -> None:
    pairs = Pairs.of(vocabulary(*(row for at in range(20) for row in crowd(f"A:{at}", 5))))
    first, second = spelt(pairs), spelt(pairs, epoch=1)
    assert first != second
    assert sorted(first) == sorted(second)
    assert spelt(pairs, epoch=1) == second
    # Shuffled: neighbours are seldom of one concept.
    assert sum(one[0] == other[0] for one, other in pairwise(first)) < len(first) / 5


def test_rows_are_concepts_and_names_of_the_vocabulary() -> None:
    made = vocabulary(*crowd("A:1", 1), *crowd("A:2", 3))
    pairs = Pairs.of(made)
    concepts, left, right = pairs.rows(0, 3)
    assert {made.concept_id(row) for row in concepts} == {"A:2"}
    assert sorted(zip(pairs.texts(left), pairs.texts(right), strict=True)) == [
        ("a:2 name 0", "a:2 name 1"),
        ("a:2 name 0", "a:2 name 2"),
        ("a:2 name 1", "a:2 name 2"),
    ]


def test_narrow_and_broad_names_are_in_only_when_asked_for() -> None:
    made = vocabulary(*(("A:1", kind, "en", kind) for kind in KINDS))
    assert {text for pair in spelt(Pairs.of(made)) for text in pair[1:]} == set(KINDS) - {"narrow", "broad"}
    pairs = Pairs.of(made, kinds=["narrow", "exact"])
    assert spelt(pairs) == [("A:1", "exact", "narrow")]
    assert pairs.settings.to_dict() == {
        "cap": 50,
        "seed": 0,
        "languages": None,
        "kinds": ["exact", "narrow"],
        "across_languages": False,
        "held_out": 0.0,
        "part": "train",
    }


def test_the_parts_are_the_whole_and_share_no_concept() -> None:
    made = vocabulary(*(row for at in range(300) for row in crowd(f"A:{at}", 3)))
    whole = Pairs.of(made, seed=1)
    train, held_out = (Pairs.of(made, seed=1, held_out=0.2, part=part) for part in ("train", "held-out"))
    assert sorted(spelt(train) + spelt(held_out)) == sorted(spelt(whole))
    assert not set(train.concepts) & set(held_out.concepts)
    assert 35 < len(held_out.concepts) < 85
    assert set(Pairs.of(made, seed=2, held_out=0.2, part="held-out").concepts) != set(held_out.concepts)


def test_other_concepts_change_neither_what_is_held_out_nor_what_is_drawn() -> None:
    few = [row for at in range(0, 40, 2) for row in crowd(f"A:{at}", 8)]
    many = [row for at in range(40) for row in crowd(f"A:{at}", 8)]
    for part in ("train", "held-out"):
        small = {*spelt(Pairs.of(vocabulary(*few), cap=10, held_out=0.3, part=part))}
        large = {*spelt(Pairs.of(vocabulary(*many), cap=10, held_out=0.3, part=part))}
        assert small
        assert small == {pair for pair in large if int(pair[0][2:]) % 2 == 0}


def test_more_held_out_is_the_same_and_more() -> None:
    made = vocabulary(*(row for at in range(100) for row in crowd(f"A:{at}", 2)))
    few, many = ({*Pairs.of(made, held_out=share, part="held-out").concepts} for share in (0.1, 0.3))
    assert few < many


def test_concepts_may_be_cut_by_any_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    made = vocabulary(*(row for at in range(12) for row in crowd(f"A:{at}", at % 5)), *crowd("B:1", 30))
    whole = spelt(Pairs.of(made, cap=1000))
    for size in (1, 2, 3, 7, 50):
        monkeypatch.setattr(names, "_BATCH", size)
        assert spelt(Pairs.of(made, cap=1000)) == whole


def test_nothing_makes_no_pairs() -> None:
    for made in (vocabulary(), vocabulary(*crowd("A:1", 1)), vocabulary(*crowd("A:1", 3), obsolete=["A:1"])):
        for part in ("train", "held-out"):
            pairs = Pairs.of(made, held_out=0.5, part=part)
            assert len(pairs) == 0
            assert spelt(pairs) == []


def test_pairs_that_are_not_there_are_refused() -> None:
    pairs = Pairs.of(vocabulary(*crowd("A:1", 3)))
    for start, stop in ((-1, 2), (0, 4), (2, 1)):
        with pytest.raises(IndexError, match="there are 3"):
            pairs.rows(start, stop)


def test_settings_out_of_range_are_refused() -> None:
    made = vocabulary(*crowd("A:1", 3))
    for setting, message in (
        ({"cap": 0}, "at least 1"),
        ({"held_out": 1.0}, "less than 1"),
        ({"held_out": -0.1}, "at least 0"),
        ({"part": "test"}, "known: train, held-out"),
        ({"kinds": ["synonym"]}, "unknown kind of name 'synonym'; known: preferred"),
    ):
        with pytest.raises(ValueError, match=message):
            Pairs.of(made, **setting)
    with pytest.raises(InputError, match="no name is in the language 'english'; the vocabulary has: en"):
        Pairs.of(made, languages=["en", "english"])
    assert len(Pairs.of(made, languages=["EN"])) == len(Pairs.of(made, languages=["en"]))


def test_a_vocabulary_on_disk_gives_the_same_pairs(tmp_path: Path) -> None:
    made = vocabulary(*crowd("A:1", 20), *crowd("A:2", 3))
    made.save(tmp_path / "v")
    assert spelt(Pairs.of(Vocabulary.load(tmp_path / "v"))) == spelt(Pairs.of(made))


@pytest.mark.parametrize(
    ("table", "concepts", "pairs"),
    [
        ("hpo", 9511, 45488),
        *(pytest.param(*row, marks=pytest.mark.large) for row in (("mondo", 446, 6063), ("mesh", 28329, 675511))),
    ],
)
def test_real_vocabularies_have_as_many_as_counted_in_their_files(
    data: Path, table: str, concepts: int, pairs: int
) -> None:
    path = data / "vocabularies" / f"{table}.tsv.gz"
    names = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["lang"] == "en" and row["kind"] in SYNONYM_KINDS:
                names[row["concept_id"]].add(row["name"].lower())
    made = Pairs.of(read_vocabulary(path), languages=["en"])
    assert (len(made.concepts), len(made)) == (concepts, pairs)
    assert concepts == sum(len(those) > 1 for those in names.values())
    assert pairs == sum(min(comb(len(those), 2), 50) for those in names.values())
    drawn = made.batch(0, min(pairs, 20_000)).to_pylist()
    assert all({row["name1"], row["name2"]} <= names[row["concept"]] for row in drawn)


def test_names_of_unknown_language_are_left_out_of_a_choice_and_said() -> None:
    rows = [("A:1", "heart", "en"), ("A:1", "cardia", "en"), ("A:1", "corazón", "es"), ("A:1", "cor", "und")]
    made = vocabulary(*((*row, "exact") for row in rows))
    with pytest.warns(
        UserWarning, match="1 names whose language is unknown make no pairs: choose the language und"
    ):
        assert len(Pairs.of(made, languages=["en", "es"])) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Pairs.of(made)) == len(Pairs.of(made, languages=["en", "es", "und"])) == 6
