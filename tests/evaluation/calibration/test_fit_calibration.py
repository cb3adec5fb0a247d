"""Calibrations: fitted on some mentions, right about others."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import chain

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.calibration_data import label_mentions
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.fit_calibration import (
    CalibrationFit,
    fit_calibration,
    measure_calibration,
    reliability_of,
    with_unanswerable,
)
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from tests.index.small import many_names, vocabulary

NAMES = many_names(400, seed=7)
CONCEPTS = {f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(100)}


@cache
def built_index() -> Index:
    return Index.build(vocabulary({**CONCEPTS, "Y:1": ["myocardial infarction"]}), encoder=None).with_ranker(None)


def corpus(count: int, *, seed: int, documents: int = 20) -> Corpus:
    """Names as they are, misspelt, or cut short; of these, half mean what the vocabulary does not hold."""
    draw = random.Random(seed)
    mentions: list[list[Mention]] = [[] for _ in range(documents)]
    for _ in range(count):
        at = draw.randrange(len(NAMES))
        share = draw.choice([1, 1, 0.9, 0.4])
        text = NAMES[at][: max(round(share * len(NAMES[at])), 1)].strip()
        gold = "X:999" if share < 0.5 and draw.random() < 0.5 else f"X:{at // 4}"
        mention = Mention(text, concept_ids=(gold,), type="Disease", prepared=True)
        draw.choice(mentions).append(mention)
    return Corpus(
        "made up", tuple(Document(str(number), mentions=tuple(of)) for number, of in enumerate(mentions))
    )


DEVELOPMENT = corpus(500, seed=0)
TEST = corpus(500, seed=1)


@pytest.fixture(scope="module")
def found() -> CalibrationFit:
    return fit_calibration(built_index(), DEVELOPMENT)


def test_confidences_are_deserved_on_mentions_not_fitted_to(found: CalibrationFit) -> None:
    assert 0.3 < found.reliability.accuracy < 0.9
    other = measure_calibration(built_index(), found.calibration, TEST)
    # On 500 mentions chance alone makes about 0.04.
    assert max(found.reliability.expected_error, other.expected_error) < 0.08
    # Better than to be as sure of one as of any other.
    assert other.brier < 0.8 * other.accuracy * (1 - other.accuracy)
    coverage, precision = other.above(found.calibration.threshold(0.85))
    assert coverage > 0.4
    assert precision > 0.8


def test_what_is_measured_is_what_a_linker_says(found: CalibrationFit) -> None:
    composite = Mention("two", concept_ids=("X:1", "X:2"), parts=(NAMES[4], NAMES[9][1:]), prepared=True)
    guessed = Mention("myocadrial infarction", concept_ids=("X:1",), prepared=True)
    whole = replace(TEST, documents=(*TEST.documents, Document("c", mentions=(composite,))))
    with_guess = replace(whole, documents=(*whole.documents, Document("g", mentions=(guessed,))))
    measured = measure_calibration(built_index(), found.calibration, with_guess)
    linker = Linker(built_index().with_calibration(found.calibration.to_dict()))
    links = list(chain.from_iterable(linker.link_documents(whole.documents)))
    assert linker.link([guessed])[0].query == "myocardial infarction"
    assert measured.confidences.tolist() == sorted((link.confidence for link in links), reverse=True)
    assert measured.accuracy == evaluate(built_index(), whole).figures["concept_acc@1"]


def test_mentions_fitted_to_look_better_than_they_are(found: CalibrationFit) -> None:
    whole = with_unanswerable(built_index(), label_mentions(built_index(), DEVELOPMENT))
    assert reliability_of(found.calibration, whole).brier < found.reliability.brier


def test_mentions_without_documents_are_folded_by_name(found: CalibrationFit) -> None:
    single = Corpus("list", (Document("", mentions=tuple(mention for _, mention in DEVELOPMENT.mentions())),))
    other = fit_calibration(built_index(), single)
    assert other.calibration.weights == found.calibration.weights
    assert other.reliability.accuracy == found.reliability.accuracy
    assert other.reliability.brier == pytest.approx(found.reliability.brier, rel=0.05)
    assert other.reliability.brier != found.reliability.brier


def test_mentions_that_are_all_right_do_not_make_certain() -> None:
    right = tuple(Mention(name, concept_ids=(f"X:{at // 4}",)) for at, name in enumerate(NAMES[:80]))
    easy = fit_calibration(built_index(), Corpus("easy", (Document("1", mentions=right),)))
    assert easy.annotated.accuracy == 1
    assert 0.9 < easy.annotated.confidences.max() < 1
    assert easy.calibration.curve[-1] == (easy.calibration.surest, 1.0)


def test_guesses_alone_are_refused() -> None:
    misspelt = Mention("myocadrial infarction", concept_ids=("Y:1",))
    with pytest.raises(InputError, match="has a misspelt word: mend them first"):
        fit_calibration(built_index(), Corpus("misspelt", (Document("1", mentions=(misspelt,) * 60),)))


def test_too_few_mentions_are_refused() -> None:
    with pytest.raises(InputError, match="49 mentions with gold ids are too few"):
        fit_calibration(built_index(), corpus(49, seed=0))
    same = (Mention(NAMES[0], concept_ids=("X:0",)),) * 80
    with pytest.raises(InputError, match="too few different mentions"):
        fit_calibration(built_index(), Corpus("same", (Document("1", mentions=same),)))
    with pytest.raises(InputError, match="no mention of type Chemical"):
        fit_calibration(built_index(), DEVELOPMENT, types=["Chemical"])


@pytest.mark.parametrize(("count", "seed"), [(100, 1), (200, 2)])
def test_no_precision_that_is_reached_turns_exact_names_away(count: int, seed: int) -> None:
    calibration = fit_calibration(built_index(), corpus(count, seed=seed)).calibration
    index = built_index().with_calibration(calibration.to_dict())
    assert len(calibration.curve) > 10
    # A short word alone may be one of English.
    names = [name for name in NAMES[:100] if " " in name]
    for _, precision in calibration.curve:
        links = Linker(index, target_precision=precision).link(names)
        assert not any(link.nil for link in links)
    highest = calibration.curve[-1][1]
    with pytest.raises(InputError, match=f"precision of 1: {highest:.3f} is the highest that can be reached"):
        calibration.threshold(1)
