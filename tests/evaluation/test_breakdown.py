"""The breakdown by what makes a mention hard, against plain loops; and each label where it holds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.breakdown import (
    FORM,
    LIKENESS,
    SEEN,
    SHARED,
    TRAINING,
    UNSEEN,
    WORDS,
    BreakdownRow,
    dice,
    letter_pairs,
)
from nymlink.evaluation.evaluation import Evaluation, evaluate
from nymlink.index.index import Index
from tests.evaluation.test_protocol import MEANS, NAMES, built_index, drawn_corpus, naive_ranks
from tests.index.small import vocabulary

ABSENT = "gold not in the dictionary"


def corpus(*mentions: Mention) -> Corpus:
    return Corpus("some", (Document("1", mentions=mentions),))


TRAINED = corpus(
    *(Mention("x", concept_ids=(f"M:{number}",)) for number in range(20) for _ in range(number)),
    Mention("x", concept_ids=("M:1", "M:30")),
    Mention("x", concept_ids=("M:split",)),
    Mention("x"),
)


def naive_dice(one: str, other: str) -> float:
    pairs: list[str] = []
    others: list[str] = []
    for text, found in ((one, pairs), (other, others)):
        for at in range(len(text) - 1):
            if text[at : at + 2] not in found:
                found.append(text[at : at + 2])
    common = sum(pair in others for pair in pairs)
    return 2 * common / (len(pairs) + len(others)) if pairs or others else 0.0


def naive_labels(mention: Mention) -> dict[str, str]:
    """The label of a mention in each group it belongs to."""
    parts = mention.parts or (mention.text,)
    concepts = [
        {
            name.concept_id
            for concept in built_index().vocabulary
            for name in built_index().vocabulary.names(concept.id)
            if name.text == part and not concept.obsolete
        }
        for part in parts
    ]
    labels = {FORM: SEEN if all(concepts) else UNSEEN}
    if all(concepts):
        labels[SHARED] = "several" if any(len(one) > 1 for one in concepts) else "one"
    words = len(" ".join(parts).split())
    labels[WORDS] = "4 and more" if words > 3 else str(words)
    gold = set().union(*(MEANS[one] for one in mention.concept_ids))
    if not gold:
        return labels | {LIKENESS: ABSENT, TRAINING: ABSENT}
    names = [name.text for concept in gold for name in built_index().vocabulary.names(concept)]
    best = [2.0 if part in names else max(naive_dice(part, name) for name in names) for part in parts]
    labels[LIKENESS] = next(
        label
        for limit, label in ((2.0, "equal"), (0.8, "0.8 and more"), (0.5, "0.5 to 0.8"), (0.0, "below 0.5"))
        if min(best) >= limit
    )
    counts = []
    for gold_id in mention.concept_ids:
        seen = [
            sum(
                any(concept in MEANS[trained] for trained in one.concept_ids)
                for document in TRAINED.documents
                for one in document.mentions
            )
            for concept in MEANS[gold_id]
        ]
        counts += [max(seen)] if seen else []
    count = min(counts) if len(parts) > 1 else max(counts)
    labels[TRAINING] = "more than 10" if count > 10 else "3 to 10" if count > 2 else "1 or 2" if count > 0 else "0"
    return labels


def test_every_row_is_that_of_plain_loops() -> None:
    misspelt = (
        Mention(NAMES[2 * number][1:], concept_ids=(f"M:{number}",), prepared=True) for number in range(40)
    )
    drawn = Corpus("drawn", (*drawn_corpus().documents, Document("misspelt", mentions=tuple(misspelt))))
    found = evaluate(built_index(), drawn, training=[TRAINED])
    mentions = [mention for _, mention in drawn.mentions()]
    labels = [naive_labels(mention) for mention in mentions]
    ranks = [naive_ranks(mention)[0] for mention in mentions]
    expected = {}
    for group in (FORM, SHARED, LIKENESS, WORDS, TRAINING):
        for label in {one.get(group) for one in labels} - {None}:
            own = [rank for one, rank in zip(labels, ranks, strict=True) if one.get(group) == label]
            shares = (sum(rank is not None and rank < k for rank in own) / len(own) for k in (1, 5))
            expected[group, label] = (len(own), *map(pytest.approx, shares))
    assert {(row.group, row.label): (row.n, row.acc_1, row.acc_5) for row in found.breakdown} == expected
    # The sample has mentions of all sorts but without words.
    assert len(expected) == 2 + 2 + 5 + 4 + 5


def rows(found: Evaluation) -> dict[tuple[str, str], int]:
    return {(row.group, row.label): row.n for row in found.breakdown}


def labels(mention: Mention, concepts: dict[str, list[str]], training: Sequence[Corpus] = ()) -> dict[str, str]:
    found = evaluate(Index.build(vocabulary(concepts), encoder=None), corpus(mention), training=training)
    assert all(row.n == 1 for row in found.breakdown)
    return {row.group: row.label for row in found.breakdown}


def test_the_unseen_names_of_a_run_and_the_order_of_the_groups() -> None:
    index = Index.build(
        vocabulary({"D:1": ["breast cancer"], "D:2": ["ovarian cancer", "flu"], "D:3": ["flu"]}), encoder=None
    )
    found = evaluate(
        index,
        corpus(
            Mention("Breast Cancer", concept_ids=("D:1",)),
            Mention("breast cancerr", concept_ids=("D:1",)),
            Mention("ovary cancer", concept_ids=("D:1",)),
            Mention("flu", concept_ids=("D:2",)),
        ),
    )
    assert found.unseen == BreakdownRow(FORM, UNSEEN, 2, 0.5, 1.0)
    assert list(rows(found).items()) == [
        ((FORM, SEEN), 2),
        ((FORM, UNSEEN), 2),
        ((SHARED, "one"), 1),
        ((SHARED, "several"), 1),
        ((LIKENESS, "equal"), 2),
        ((LIKENESS, "0.8 and more"), 1),
        ((LIKENESS, "0.5 to 0.8"), 1),
        ((WORDS, "1"), 1),
        ((WORDS, "2"), 3),
    ]
    assert found.to_dict()["breakdown"][1] == {
        "group": FORM,
        "label": UNSEEN,
        "n": 2,
        "acc@1": 0.5,
        "acc@5": 1.0,
    }
    assert evaluate(index, corpus(Mention("flu", concept_ids=("D:2",)))).unseen is None


def test_a_composite_is_as_hard_as_its_hardest_part() -> None:
    concepts = {"D:1": ["breast cancer", "bc"], "D:2": ["ovarian cancer"], "D:3": ["bc"]}
    both = ("D:1", "D:2")
    trained = [corpus(*[Mention("x", concept_ids=("D:1",))] * 12)]
    whole = labels(Mention("x", concept_ids=both, parts=("breast cancer", "ovarian cancer")), concepts, trained)
    assert whole == {FORM: SEEN, SHARED: "one", LIKENESS: "equal", WORDS: "4 and more", TRAINING: "0"}
    part = labels(Mention("x", concept_ids=both, parts=("breast cancer", "ovarian cancerr")), concepts)
    assert part == {FORM: UNSEEN, LIKENESS: "0.8 and more", WORDS: "4 and more"}
    shared = labels(Mention("x", concept_ids=both, parts=("bc", "ovarian cancer")), concepts)
    assert shared[SHARED] == "several"
    # Where several ids are given for one name, any of them will do: the easiest counts.
    assert labels(Mention("bc", concept_ids=both), concepts, trained)[TRAINING] == "more than 10"


def test_mentions_that_nothing_is_known_of() -> None:
    concepts = {"D:1": ["flu"]}
    assert labels(Mention(" ", concept_ids=("D:1",)), concepts) == {
        FORM: UNSEEN,
        LIKENESS: "below 0.5",
        WORDS: "0",
    }
    absent = labels(Mention("flu", concept_ids=("Z:1",)), concepts, [corpus()])
    assert absent == {FORM: SEEN, SHARED: "one", LIKENESS: ABSENT, WORDS: "1", TRAINING: ABSENT}


def test_a_concept_whose_names_are_not_searched_is_absent() -> None:
    index = Index.build(vocabulary({"M:1": ["cancer"], "M:2": ["dropsy"]}, replaced={"M:2": []}), encoder=None)
    found = evaluate(index, corpus(Mention("dropsy", concept_ids=("M:2",))))
    assert rows(found)[LIKENESS, ABSENT] == 1


@given(st.text("abc ", max_size=8), st.text("abc ", max_size=8))
def test_dice_is_that_of_a_plain_loop(one: str, other: str) -> None:
    value = dice(letter_pairs(one), letter_pairs(other))
    assert value == pytest.approx(naive_dice(one, other))
    assert 0 <= value <= 1
    assert value == dice(letter_pairs(other), letter_pairs(one))
