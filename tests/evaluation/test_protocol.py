"""The protocol of scoring, against plain loops over small corpora."""

from __future__ import annotations

import random
from functools import cache
from itertools import permutations

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import ACCURACY_AT, RECALL_AT, evaluate, report
from nymlink.evaluation.outcomes import DEPTH, Rank
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import many_names, vocabulary
from tests.linking.toy import CALIBRATION

NAMES = many_names(80, seed=3)
SHARED = many_names(6, seed=4)


def _index() -> Index:
    """Forty concepts of two names; some share further names, some have alternate ids, two are replaced."""
    concepts = {f"M:{number}": NAMES[2 * number : 2 * number + 2] for number in range(40)}
    for place, name in enumerate(SHARED):
        for number in range(place, place + 3):
            concepts[f"M:{number}"] = [*concepts[f"M:{number}"], name]
    concepts |= {"M:gone": ["once upon"], "M:split": ["a time"]}
    return Index.build(
        vocabulary(
            concepts,
            redirects={"O:7": "M:7", "M:alias": "M:8"},
            replaced={"M:gone": ["M:9"], "M:split": ["M:10", "M:11"]},
        ),
        encoder=None,
    ).with_ranker(None)


@cache
def built_index() -> Index:
    return _index()


MEANS = {f"M:{number}": {f"M:{number}"} for number in range(40)} | {
    "O:7": {"M:7"},
    "o:7": {"M:7"},
    "7": set(),  # known under two prefixes: M and O
    "12": {"M:12"},
    "m:13": {"M:13"},
    "M:alias": {"M:8"},
    "alias": {"M:8"},
    "M:gone": {"M:9"},
    "M:split": {"M:10", "M:11"},
    "M:none": set(),
    "X:1": set(),
}


def entry_concepts(query: str) -> list[set[str]]:
    """For each of the best names, the concepts it names."""
    rows = built_index().search.search([query], DEPTH).hits.rows[0].tolist()
    texts = [built_index().entries.text(row) for row in rows if row != NONE]
    live = [[name.concept_id for name in built_index().vocabulary.find(text)] for text in texts]
    return [{one for one in found if not built_index().vocabulary[one].obsolete} for found in live]


def naive_ranks(mention: Mention) -> tuple[Rank, Rank, Rank]:
    parts = mention.parts or (mention.text,)
    golds = [MEANS[gold_id] for gold_id in mention.concept_ids]
    gold = set().union(*golds)
    names = [entry_concepts(part) for part in parts]
    concepts = [
        [
            built_index().vocabulary.concept_id(row)
            for row in built_index().match([part], DEPTH).concepts[0].tolist()
            if row != NONE
        ]
        for part in parts
    ]
    lenient = strict = by_concept = None
    for k in reversed(range(DEPTH)):
        if all(any(found & gold for found in part[: k + 1]) for part in names):
            lenient = k
        if all(set(part[: k + 1]) & gold for part in concepts):
            by_concept = k
        whole = [(gold,) * len(parts)]
        ways = permutations(golds) if len(parts) == len(golds) > 1 else whole
        if any(
            all(any(found <= own for found in part[: k + 1]) for part, own in zip(names, way, strict=True))
            for way in ways
        ):
            strict = k
    return lenient, strict, by_concept


@cache
def drawn_corpus() -> Corpus:
    draw = random.Random(5)
    known = list(MEANS)
    surfaces = [
        *NAMES,
        *SHARED,
        "once upon",
        "zzz",
        *(name[1:] for name in NAMES),
        *(name[:-2] for name in SHARED),
    ]
    documents = []
    for number in range(30):
        mentions = []
        for _ in range(draw.randint(0, 8)):
            golds = tuple(draw.sample(known, draw.choice([1, 1, 1, 2, 3])))
            count = draw.choice([0, 0, 0, 2, 3])
            parts = tuple(draw.choices(surfaces, k=count))
            surface = draw.choice(surfaces)
            if draw.random() < 0.7:
                # A name of the gold concept, so that some are right; of a composite, each in turn.
                named = [
                    name.text
                    for gold_id in golds
                    for concept in MEANS[gold_id]
                    for name in built_index().vocabulary.names(concept)
                ]
                parts = tuple(draw.choices(named or surfaces, k=count))
                surface = draw.choice(named or surfaces)
            mentions.append(Mention(surface, concept_ids=golds, parts=parts, prepared=True))
        documents.append(Document(str(number), mentions=tuple(mentions)))
    return Corpus("drawn", tuple(documents))


def test_ranks_and_figures_are_those_of_plain_loops() -> None:
    found = evaluate(built_index(), drawn_corpus())
    mentions = [mention for _, mention in drawn_corpus().mentions()]
    expected = [naive_ranks(mention) for mention in mentions]
    assert [
        (outcome.name_rank, outcome.strict_rank, outcome.concept_rank) for outcome in found.outcomes
    ] == expected
    # The sample holds all sorts: right, wrong, lenient only, composite.
    for reading in range(3):
        ranks = [line[reading] for line in expected]
        assert {0, None} < set(ranks)
    assert any(lenient != strict for lenient, strict, _ in expected)
    names = ("acc", "strict_acc", "concept_acc")
    for reading, name in enumerate(names):
        ranks = [line[reading] for line in expected]
        for k in ACCURACY_AT:
            share = sum(rank is not None and rank < k for rank in ranks) / len(ranks)
            assert found.figures[f"{name}@{k}"] == pytest.approx(share)
            if k <= 5:
                low, high = found.intervals[f"{name}@{k}"]
                assert low < share < high
    for k in RECALL_AT:
        share = sum(rank is not None and rank < k for _, _, rank in expected) / len(expected)
        assert found.figures[f"recall@{k}"] == pytest.approx(share)
    reciprocal = [1 / (rank + 1) if rank is not None else 0 for rank, _, _ in expected]
    assert found.figures["mrr"] == pytest.approx(sum(reciprocal) / len(reciprocal))
    counts = found.counts
    assert (counts.mentions, counts.scored, counts.without_gold) == (len(mentions), len(mentions), 0)
    assert counts.unknown_gold == sum(not any(MEANS[one] for one in mention.concept_ids) for mention in mentions)
    assert counts.composite == sum(len(mention.parts) > 1 for mention in mentions)
    assert len(found.mistakes) == sum(rank != 0 for _, _, rank in expected)


def test_mentions_of_unknown_concepts_are_wrong_or_left_out() -> None:
    kept, dropped = (
        evaluate(built_index(), drawn_corpus()),
        evaluate(built_index(), drawn_corpus(), keep_unknown=False),
    )
    known = [outcome for outcome in kept.outcomes if outcome.gold]
    assert 0 < kept.counts.unknown_gold == dropped.counts.unknown_gold == len(kept.outcomes) - len(known)
    assert dropped.counts.scored == len(known)
    assert [outcome.name_rank for outcome in dropped.outcomes] == [outcome.name_rank for outcome in known]
    assert all(outcome.name_rank is None for outcome in kept.outcomes if not outcome.gold)


def one(*mentions: Mention) -> Corpus:
    return Corpus("one", (Document("1", mentions=mentions),))


def test_what_is_not_measured_is_refused_and_a_restriction_counts() -> None:
    index = Index.build(vocabulary({"D:1": ["cold"], "D:2": ["cold", "chill"]}), encoder=None)
    corpus = Corpus("c", (Document("1", mentions=(Mention("cold", concept_ids=("D:2",)),)),))
    for published in (True, False):
        linker = Linker(index, restriction=Restriction(ids=("D:2",)))
        assert evaluate(linker, corpus, as_published=published).figures["concept_acc@1"] == 1
    linker = Linker(index.with_calibration(CALIBRATION.to_dict()))
    linker.judge = object()  # type: ignore[assignment]
    with pytest.raises(InputError, match="a judge is not measured"):
        evaluate(linker, corpus)


def test_mentions_without_gold_and_of_other_types_are_not_scored() -> None:
    corpus = one(
        Mention(NAMES[0], type="Disease", concept_ids=("M:0",)),
        Mention(NAMES[2], type="Chemical", concept_ids=("M:3",)),
        Mention(NAMES[4], type="Disease"),
    )
    counts = evaluate(built_index(), corpus).counts
    assert (counts.mentions, counts.without_gold, counts.scored) == (3, 1, 2)
    found = evaluate(built_index(), corpus, types={"Disease"})
    assert (found.counts.mentions, found.counts.without_gold, found.counts.scored) == (2, 1, 1)
    assert found.figures["acc@1"] == 1


@pytest.mark.parametrize(
    ("corpus", "options", "message"),
    [
        (one(Mention("x", type="A", concept_ids=("M:1",))), {"types": {"B"}}, "no mention of type B; it has: A"),
        (one(Mention("x")), {"types": {"B"}}, "no mention of type B; its mentions have no types"),
        (one(Mention("x")), {}, "no mention of the corpus has a gold id"),
        (one(), {}, "no mention of the corpus has a gold id"),
        (one(Mention("x", concept_ids=("X:1",))), {"keep_unknown": False}, "none of the corpus's gold ids"),
    ],
)
def test_nothing_to_score_is_an_error_that_says_why(
    corpus: Corpus, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(built_index(), corpus, **options)  # type: ignore[arg-type]


def test_composites_are_split_only_where_the_gold_has_as_many_ids() -> None:
    index = Index.build(vocabulary({"D:1": ["breast cancer"], "D:2": ["ovarian cancer"]}), encoder=None)
    text = "breast and ovarian cancer"
    found = evaluate(index, one(Mention(text, concept_ids=("D:1", "D:2")), Mention(text, concept_ids=("D:1",))))
    assert [outcome.query.parts for outcome in found.outcomes] == [("breast cancer", "ovarian cancer"), (text,)]
    assert found.counts.composite == 1
    assert found.outcomes[0].strict_rank == 0


def test_parts_may_mean_the_gold_concepts_in_any_order_but_strictly_not_one_for_both() -> None:
    index = Index.build(
        vocabulary({"D:1": ["breast cancer"], "D:2": ["ovarian cancer"], "D:3": ["gout"]}), encoder=None
    )
    gold = ("D:1", "D:2")
    crossed, same, wrong = evaluate(
        index,
        one(
            Mention("x", concept_ids=gold, parts=("ovarian cancer", "breast cancer")),
            Mention("x", concept_ids=gold, parts=("breast cancer", "breast cancer")),
            Mention("x", concept_ids=gold, parts=("breast cancer", "gout")),
        ),
    ).outcomes
    assert (crossed.name_rank, crossed.strict_rank, crossed.concept_rank) == (0, 0, 0)
    # The published reading is content with the same concept twice.
    assert (same.name_rank, same.concept_rank) == (0, 0)
    assert same.strict_rank is not None
    assert same.strict_rank > 0
    assert wrong.name_rank != 0


def test_a_composite_of_very_many_parts_is_scored_in_time() -> None:
    concepts = {f"D:{number}": [name] for number, name in enumerate(NAMES[:16])}
    gold = tuple(concepts)
    mention = Mention("x", concept_ids=gold, parts=tuple(reversed(NAMES[:16])))
    [outcome] = evaluate(Index.build(vocabulary(concepts), encoder=None), one(mention)).outcomes
    assert (outcome.name_rank, outcome.strict_rank) == (0, 0)


def test_a_shared_name_is_right_leniently_and_wrong_strictly() -> None:
    index = Index.build(vocabulary({"D:1": ["flu"], "D:2": ["grippe", "flu"]}), encoder=None)
    first, second, both = evaluate(
        index,
        one(
            Mention("flu", concept_ids=("D:1",)),
            Mention("flu", concept_ids=("D:2",)),
            Mention("flu", concept_ids=("D:1", "D:2")),
        ),
    ).outcomes
    assert (first.name_rank, first.strict_rank, first.concept_rank) == (0, None, 0)
    assert (second.name_rank, second.strict_rank, second.concept_rank) == (0, None, 1)
    assert (both.name_rank, both.strict_rank, both.concept_rank) == (0, 0, 0)


def test_orders_of_words_count_as_one_name_but_as_published() -> None:
    turned = {"X:1": ["heart attack", "attack, heart"], "X:2": ["heart attack fear", "attack heart fear"]}
    index = Index.build(vocabulary(turned), encoder=None)
    corpus = Corpus("one", (Document("d", mentions=(Mention("heart attack", concept_ids=("X:2",)),)),))
    ours, published = (evaluate(index, corpus, as_published=flag) for flag in (False, True))
    assert (ours.figures["mrr"], published.figures["mrr"]) == (1 / 2, 1 / 3)
    assert ours.figures["concept_mrr"] == published.figures["concept_mrr"] == 1 / 2
    assert (ours.settings["entries"], ours.settings["distinct_names"]) == (2, 4)


def test_how_near_the_first_concept_is_in_the_hierarchy() -> None:
    builder = TableBuilder()
    for concept_id, name, parents in (
        ("X:1", "disease", ()),
        ("X:2", "gout", ("X:1",)),
        ("X:3", "acute gout", ("X:2",)),
        ("X:4", "dropsy", ("X:1",)),
        ("X:5", "very acute gout", ("X:3",)),
    ):
        builder.concept(concept_id, parents=parents)
        builder.name(concept_id, name, lang="en", kind="preferred")
    index = Index.build(Vocabulary.of((Source("toy", "made"), builder.build())), encoder=None)
    pairs = (("gout", "X:2"), ("gout", "X:3"), ("gout", "X:4"), ("dropsy", "X:5"), ("gout", "X:9"))
    mentions = tuple(Mention(text, concept_ids=(gold,)) for text, gold in pairs)
    evaluation = evaluate(index, Corpus("one", (Document("d", mentions=mentions),)))
    # Gold, its parent, its sibling, and two that are far.
    assert [evaluation.figures[name] for name in ("within_1_step", "within_2_steps")] == [2 / 5, 3 / 5]
    assert "steps from gold in the hierarchy: 1: 40.0 %, 2: 60.0 %" in report(evaluation)
    assert "within_1_step" not in evaluate(built_index(), one(Mention("x", concept_ids=("M:1",)))).figures
