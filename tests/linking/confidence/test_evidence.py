"""What confidence goes by, against loops that say the same in other words."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.encode.encoder import Encoder
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.calibration import (
    CONFIDENCE_FEATURES,
    DEPTH,
    confidence_features,
    is_alike,
    is_form,
    is_verbatim,
)
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from tests.encode import tiny
from tests.index.small import many_names, vocabulary
from tests.rank.toy import ranked

NAMES = many_names(90, seed=5)


@cache
def built_index(encoder: Encoder | None = None) -> Index:
    return Index.build(
        vocabulary(
            {
                **{f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(30)},
                "Y:1": ["heart attack", ("MI", "abbreviation"), "attacks of the heart muscle"],
                "Y:2": ["mitral insufficiency", ("MI", "abbreviation")],
            }
        ),
        encoder=encoder,
    ).with_ranker(None)


WORDS = sorted({word for name in NAMES for word in name.split()} | {"attack", "hearts", "zzzz", "mi"})

queries = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.sampled_from(NAMES)


def alike(one: str, other: str) -> bool:
    """Equal, or forms of each other, or with four letters in common, and three fifths of the longer one."""
    common = next((n for n in range(min(len(one), len(other)), -1, -1) if one[:n] == other[:n]), 0)
    forms = one[:3] == other[:3] and is_form(one, other)
    return one == other or forms or (common >= 4 and common >= 0.6 * max(len(one), len(other)))


def share(words: list[str], others: list[str]) -> float:
    had = "".join(word for word in words if any(alike(word, other) for other in others))
    return len(had) / len("".join(words))


def features(texts: list[str], index: Index) -> list[list[float]]:
    questions = [Question(text) for text in texts]
    return confidence_features(Ranking(index).match(questions, DEPTH), questions, index).tolist()


@given(queries)
def test_features_are_those_of_the_first_two_concepts(query: str) -> None:
    [line] = features([query], built_index())
    link = Linker(built_index(), top_k=2, guesses=False, spelling={}).link(query)
    if link.query != query:
        return
    if not link.candidates:
        assert all(map(math.isnan, line))
        return
    assert all(0 <= value <= 1 for value in line)
    first = link.candidates[0]
    lead = round(first.score - (link.candidates[1].score if len(link.candidates) > 1 else 0.0), 6)
    name = normalise(first.matched.text).split()
    asked = query.split()
    known = {word for entry in built_index().entries.texts.to_pylist() for word in entry.split()}
    known |= {word for word in asked if any(is_form(word, other) for other in name)}
    expected = {
        "score": first.score,
        "ahead": 1.0 if lead and first.parts["exact"] == 1 else 1 - math.exp(-lead / 0.1),
        "alone": float(lead > 0),
        "covered": share(asked, name),
        "covering": share(name, asked),
        "known": sum(len(word) for word in asked if word in known) / len("".join(asked)),
        "ranked": 1.0,
        "similar": 1.0,
        "apart": 1.0,
    }
    assert line == pytest.approx([expected[name] for name in CONFIDENCE_FEATURES], abs=1e-6)


def test_an_equal_name_has_all_that_it_takes_unless_it_is_anothers_too() -> None:
    mine, both, half, none = features(["heart attack", "mi", "heart zzzz", ""], built_index())
    assert mine == [1] * len(CONFIDENCE_FEATURES)
    assert both == [1, 0, 0, 1, 1, 1, 1, 1, 1]
    assert half[3:] == pytest.approx([5 / 9, 5 / 11, 5 / 9, 1, 1, 1])
    assert all(map(math.isnan, none))


def test_the_ranker_is_not_asked_for_an_equal_name_of_one_concept() -> None:
    index = ranked(built_index(), {"score": (0.99, 2, -1)})
    mine, both, half = features(["heart attack", "mi", "heart zzzz"], index)
    odds = mine[CONFIDENCE_FEATURES.index("ranked")]
    assert odds == pytest.approx(0.5 + math.log(0.95 / 0.05) / (2 * math.log(0.9995 / 0.0005)))
    assert is_verbatim(np.array([mine, both, half])).tolist() == [True, False, False]
    assert both[CONFIDENCE_FEATURES.index("ranked")] < 0.5


def test_with_vectors_cosines_of_the_first_and_of_the_next_concepts_count(tmp_path: Path) -> None:
    encoder = Encoder.load(tiny.folder(tmp_path / "tiny"))
    index = built_index(encoder)
    queries = [*(f"{one} {other}" for one, other in pairwise(WORDS[:12])), "heart attack", "mi", WORDS[0]]
    lines = [dict(zip(CONFIDENCE_FEATURES, line, strict=True)) for line in features(queries, index)]
    matches = index.match(queries, DEPTH)
    for query, line, concepts, names in zip(queries, lines, matches.concepts, matches.names, strict=True):
        if index.entries.find(query) is not None:
            assert (line["similar"], line["apart"]) == (1, 1)
            continue
        own = encoder.encode([query])[0]
        cosines = [
            float(own @ encoder.encode([normalise(index.vocabulary.name(int(name)).text)])[0])
            for concept, name in zip(concepts, names, strict=True)
            if concept != NONE
        ]
        distance = min(max(1 - cosines[0], 0.02), 1)
        assert line["similar"] == pytest.approx(math.log(distance) / math.log(0.02), abs=0.02)
        lead = cosines[0] - sum(cosines[1:]) / (DEPTH - 1)
        assert line["apart"] == pytest.approx(min(max(lead / 0.6, 0), 1), abs=0.02)


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("attack", "attacks", True),
        ("deaf", "deafness", True),
        ("infect", "infection", True),
        ("car", "carbuncle", False),
        ("weak", "weaning", False),
    ],
)
def test_words_are_alike_by_how_they_begin_or_as_forms(word: str, other: str, expected: bool) -> None:
    assert is_alike(word, other) == is_alike(other, word) == expected


def test_a_compound_is_no_form_of_its_part() -> None:
    assert is_form("vomit", "vomiting")
    assert is_form("obese", "obesity")
    assert not is_form("hammer", "hammertoe")
