"""Confidences: what they are made of, how they are kept in an index, and what a linker does with them."""

from __future__ import annotations

import json
import math
import shutil
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError, StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.corpus.documents import Document, Mention
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration, store_fusion
from nymlink.linking.calibration import (
    CONFIDENCE_FEATURES,
    DEPTH,
    Calibration,
    confidence_features,
    is_across,
)
from nymlink.linking.doubts import GUESSED_NAME
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import Question
from nymlink.vocabulary.concepts import Name
from tests.index.small import many_names, vocabulary
from tests.linking.toy import CALIBRATION, linker_from

NAMES = many_names(120, seed=5)


@cache
def built_index() -> Index:
    return Index.build(
        vocabulary(
            {
                **{f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(40)},
                "Y:1": ["heart attack", ("MI", "abbreviation")],
                "Y:2": ["mitral insufficiency", ("MI", "abbreviation")],
            }
        ),
        encoder=None,
    ).with_ranker(None)


QUERIES = [
    "heart attack",
    "MI",
    "heart attacking",
    "zzzz",
    "",
    *(name[1:] for name in NAMES[:20] if "no " not in name),
]


@cache
def calibrated_index() -> Index:
    return built_index().with_calibration(CALIBRATION.to_dict())


shares = st.floats(0, 1)
weights = st.floats(0, 50)


@given(
    intercept=st.floats(-50, 50),
    named=st.lists(weights, min_size=len(CONFIDENCE_FEATURES), max_size=len(CONFIDENCE_FEATURES)),
    low=st.lists(shares, min_size=len(CONFIDENCE_FEATURES), max_size=len(CONFIDENCE_FEATURES)),
    high=st.lists(shares, min_size=len(CONFIDENCE_FEATURES), max_size=len(CONFIDENCE_FEATURES)),
)
def test_confidence_is_a_probability_and_never_falls_with_any_feature(
    intercept: float, named: list[float], low: list[float], high: list[float]
) -> None:
    calibration = Calibration(intercept, dict(zip(CONFIDENCE_FEATURES, named, strict=True)), ((0.0, 0.5),), "")
    high = [max(pair) for pair in zip(low, high, strict=True)]
    lower, higher, none = calibration.confidence(
        np.array([low, high, [math.nan] * len(CONFIDENCE_FEATURES)])
    ).tolist()
    assert 0 == none <= lower <= higher <= calibration.surest <= 1
    odds = intercept + sum(weight * value for weight, value in zip(named, low, strict=True))
    assert lower == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-6)


def test_the_threshold_is_the_lowest_that_gives_the_precision() -> None:
    assert [CALIBRATION.threshold(wanted) for wanted in (0, 0.75, 0.76, 0.9, 0.97)] == [0, 0, 0.25, 0.5, 0.9]
    with pytest.raises(InputError, match=r"precision of 0.99: 0.970 is the highest .* 200 mentions of a corpus"):
        CALIBRATION.threshold(0.99)


class TestLinker:
    def test_an_index_without_calibration_has_no_confidences(self) -> None:
        links = Linker(built_index()).link(QUERIES)
        assert {link.confidence for link in links} == {None}
        assert [link.nil for link in links] == [not link.candidates for link in links]
        assert [link.query for link in links if link.nil][:2] == ["zzzz", ""]

    def test_confidence_changes_no_candidate_and_does_not_depend_on_their_number(self) -> None:
        plain = Linker(built_index(), top_k=1).link(QUERIES)
        one, many = (Linker(calibrated_index(), top_k=top_k).link(QUERIES) for top_k in (1, 6))
        assert [link.candidates for link in one] == [link.candidates for link in plain]
        assert [link.confidence for link in one] == [link.confidence for link in many]
        texts = [link.query for link in one]
        questions = [Question(text) for text in texts]
        features = confidence_features(Ranking(built_index()).match(questions, DEPTH), questions, built_index())
        expected = CALIBRATION.confidence(features).tolist()
        # MI has two meanings.
        assert [link.confidence for link in one[2:]] == expected[2:]
        assert one[0].confidence == CALIBRATION.surest == round(1 / (1 + math.exp(-5.5)), 6)
        assert one[1].confidence < expected[1]
        assert [link.confidence for link in one[3:5]] == [0, 0]

    def test_unsure_links_are_nil_and_keep_their_candidates(self) -> None:
        links = linker_from(calibrated_index(), 0.5).link(QUERIES)
        assert {link.nil for link in links if link.candidates} == {True, False}
        for link in links:
            assert link.nil == (not link.candidates or link.confidence < 0.5)
            assert (link.best is None) == link.nil

    def test_a_guess_is_less_sure_or_as_sure_as_without_where_that_finds_the_same(self) -> None:
        names = vocabulary({"X:1": ["cardiac stroke"], "X:2": ["stroke"], "X:3": ["xstrokke"]})
        index = Index.build(names, encoder=None).with_ranker(None).with_calibration(CALIBRATION.to_dict())
        mentions = ["cardiac strokke", "strokke", "cardiac stroke", "stroke"]
        same, other, *sure = Linker(index).link(mentions)
        without = Linker(index, guesses=False).link(mentions[:2])
        assert [link.best.concept_id for link in without] == ["X:1", "X:3"]
        found = [
            (link.query, [candidate.concept_id for candidate in link.candidates]) for link in (same, other, *sure)
        ]
        assert found[:2] == found[2:]
        assert same.confidence == max(without[0].confidence, round(sure[0].confidence * GUESSED_NAME, 6))
        assert other.confidence == round(sure[1].confidence * GUESSED_NAME, 6)
        between = linker_from(index, sure[1].confidence).link(mentions)
        assert [link.nil for link in between[1:]] == [True, False, False]
        [plain] = Linker(Index.build(names, encoder=None).with_ranker(None)).link(["strokke"])
        assert (plain.query, plain.confidence, plain.nil) == ("stroke", None, False)

    def test_a_composite_mention_is_as_sure_as_its_parts_together(self) -> None:
        parts = ("heart attack", NAMES[0][1:])
        single = Linker(calibrated_index()).link(list(parts))
        product = single[0].confidence * single[1].confidence
        mentions = (Mention("x", parts=parts), Mention("y", parts=("heart attack", "zzzz")))
        document = Document("1", mentions=mentions)
        for least, nil in ((0.0, False), (product - 1e-5, False), (product + 1e-5, True)):
            whole, half = linker_from(calibrated_index(), least).link(document)
            assert [part.confidence for part in whole.parts] == [link.confidence for link in single]
            assert (whole.confidence, whole.nil) == (pytest.approx(product, abs=1e-6), nil)
            assert (half.confidence, half.nil, half.parts[1].nil) == (0, True, True)
            assert (whole.mention, whole.document_id) == (mentions[0], "1")
        [whole, half] = Linker(built_index()).link(document)
        assert (whole.confidence, whole.nil, half.confidence, half.nil) == (None, False, None, True)

    def test_what_cannot_be_asked_for(self) -> None:
        with pytest.raises(InputError, match="not calibrated: run `nymlink calibrate`"):
            Linker(built_index(), target_precision=0.5)
        with pytest.raises(ValueError, match="from 0 to 1"):
            Linker(calibrated_index(), target_precision=1.5)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    calibrated_index().save(tmp_path / "index")
    return tmp_path / "index"


class TestStore:
    def test_what_is_stored_is_what_is_loaded(self, saved: Path) -> None:
        assert Calibration.of(Index.load(saved)) == CALIBRATION
        assert Calibration.from_dict(json.loads(json.dumps(CALIBRATION.to_dict()))) == CALIBRATION
        other = Calibration(1.0, CALIBRATION.weights, ((0.0, 0.5),), "other mentions")
        store_calibration(saved, other.to_dict(), fusion=built_index().fusion)
        assert Linker.load(saved).calibration == other

    def test_in_a_directory_it_is_what_it_is_in_memory(self, saved: Path, tmp_path: Path) -> None:
        built_index().save(tmp_path / "other")
        assert Index.load(tmp_path / "other").calibration is None
        store_calibration(tmp_path / "other", CALIBRATION.to_dict(), fusion=built_index().fusion)
        manifests = [
            json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            for path in (saved, tmp_path / "other")
        ]
        assert manifests[0] == manifests[1]
        assert Linker.load(saved).link(QUERIES) == Linker(calibrated_index()).link(QUERIES)

    def test_another_fusion_removes_it(self, saved: Path) -> None:
        index = Index.load(saved)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            store_fusion(saved, index.fusion)
        assert Index.load(saved).calibration is not None
        fusion = Fusion.of(index.search.parts, weights={"exact": 0.5, "sparse": 0.5})
        assert index.with_fusion(fusion).calibration is None
        with pytest.raises(StoreError, match="its fusion has changed since: run `nymlink calibrate` again"):
            store_calibration(saved, CALIBRATION.to_dict(), fusion=fusion)
        with pytest.warns(
            UserWarning,
            match="its calibration learned from other scores, and removed: run `nymlink calibrate` again",
        ):
            store_fusion(saved, fusion)
        assert Index.load(saved).calibration is None

    def test_another_vocabulary_has_none(self, saved: Path) -> None:
        assert Index.load(saved).rebuild(built_index().vocabulary).calibration is None

    @pytest.mark.parametrize(
        "damage",
        [
            {"intercept": None},
            {"intercept": math.nan},
            {"intercept": 10**400},
            {"weights": []},
            {"weights": {"score": 1.0}},
            {"weights": dict.fromkeys(CONFIDENCE_FEATURES, "much")},
            {"weights": dict.fromkeys(CONFIDENCE_FEATURES, -1.0)},
            {"weights": dict.fromkeys(CONFIDENCE_FEATURES, math.inf)},
            {"curve": []},
            {"curve": 3},
            {"curve": [[0.1, 0.5]]},
            {"curve": [[0.0, 1.5]]},
            {"curve": [[0.0, 0.5, 0.5]]},
            {"curve": [[0.0, 0.5], [0.2, 0.4]]},
            {"curve": [[0.0, 0.5], [math.nan, 0.6]]},
        ],
    )
    def test_damage_is_an_error(self, saved: Path, damage: dict[str, Any]) -> None:
        store_calibration(saved, CALIBRATION.to_dict() | damage, fusion=built_index().fusion)
        with pytest.raises(StoreError, match=r"the calibration is damaged .*: run `nymlink calibrate` again"):
            Linker.load(saved)

    @pytest.mark.parametrize("value", [[1], "nonsense", 3, [[0.5, 0.5], 1]])
    def test_what_is_no_calibration_at_all_is_an_error(self, saved: Path, tmp_path: Path, value: object) -> None:
        copy = shutil.copytree(saved, tmp_path / "copy")
        manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
        write_manifest(copy, manifest | {"calibration": value})
        with pytest.raises(StoreError, match="damaged"):
            Linker.load(copy)

    def test_where_there_is_no_index_nothing_is_stored(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError):
            store_calibration(tmp_path / "nowhere", CALIBRATION.to_dict(), fusion=built_index().fusion)


@pytest.mark.parametrize(
    ("language", "text", "name", "across"),
    [
        ("de", "krampfanfall", Name("Seizure", "X:1", "en", "exact", "x"), True),
        ("de-AT", "krampfanfall", Name("Krampf", "X:1", "de", "exact", "x"), False),
        (None, "心肌梗死", Name("Infarction", "X:1", "en", "exact", "x"), True),
        (None, "mi", Name("Infarction", "X:1", "en", "exact", "x"), False),
        ("de", "gicht", Name("gout", "X:1", "und", "exact", "x"), False),
    ],
)
def test_a_link_across_languages_has_a_confidence_of_its_own(
    language: str | None, text: str, name: Name, across: bool
) -> None:
    assert is_across(language, text, name) is across
    sure = replace(CALIBRATION, intercept=50.0)
    both = replace(CALIBRATION, across=sure)
    features = np.zeros((2, len(CONFIDENCE_FEATURES)))
    [plain, other] = both.confidence(features, np.array([False, across]))
    assert plain == CALIBRATION.confidence(features)[0]
    assert bool(other == 1) is across
    assert Calibration.from_dict(both.to_dict()) == both
