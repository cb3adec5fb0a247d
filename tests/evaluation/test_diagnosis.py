"""Each reason for a mistake is given where it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.breakdown import shuffled
from nymlink.evaluation.evaluation import Evaluation, evaluate, report
from nymlink.index.index import Index
from tests.index.small import vocabulary


@cache
def built_index() -> Index:
    return Index.build(
        vocabulary(
            {
                "M:1": ["cancer"],
                "M:2": ["breast cancer"],
                "M:3": ["male breast cancer"],
                "M:4": ["influenza", "flu"],
                "M:5": ["stomach flu", ("flu", "related")],
                **{f"M:1{number}": [f"palsy type {number}"] for number in range(8)},
                "M:20": ["ßßß"],
                "M:21": ["palsy"],
            },
            parents={"M:2": ["M:1"], "M:3": ["M:2"]},
        ),
        encoder=None,
    )


CASES = {
    "gold concept is not in the vocabulary": Mention("cancer", concept_ids=("Z:1",)),
    "nothing left of the mention when prepared": Mention(" ", concept_ids=("M:1",)),
    "name is shared with the gold concept": Mention("flu", concept_ids=("M:5",)),
    "no name is like the mention": Mention("qqqq", concept_ids=("M:1",)),
    "predicted concept is narrower than gold": Mention("male breast cancerr", concept_ids=("1",)),
    "predicted concept is broader than gold": Mention("cancer", concept_ids=("M:3",)),
    "part of a composite mention is wrong": Mention(
        "x", concept_ids=("M:4", "M:20"), parts=("influenza", "palsy")
    ),
    "gold concept is not among the first candidates": Mention("cancer", concept_ids=("M:20",)),
    "gold concept is ranked lower": Mention("stomach flue", concept_ids=("M:4",)),
    "gold concept is ranked far lower": Mention("palsy", concept_ids=("M:17",)),
}


def scored(*mentions: Mention) -> Evaluation:
    return evaluate(built_index(), Corpus("cases", (Document("7", mentions=mentions),)))


@cache
def everything() -> Evaluation:
    return scored(*CASES.values(), Mention("breast cancer", concept_ids=("M:2",)))


@pytest.mark.parametrize("why", CASES)
def test_reason(why: str) -> None:
    [mistake] = scored(CASES[why]).mistakes
    assert mistake.why == why
    assert mistake.mention == CASES[why].text
    assert mistake.document_id == "7"


def test_a_mistake_says_what_was_and_what_should_have_been() -> None:
    [narrower] = scored(CASES["predicted concept is narrower than gold"]).mistakes
    # The gold id is written without its prefix: its name is found all the same.
    assert (narrower.gold, narrower.predicted) == ("1 cancer", "M:3 male breast cancer")
    assert (narrower.query, narrower.matched) == ("male breast cancerr", "male breast cancer")
    [composite] = scored(CASES["part of a composite mention is wrong"]).mistakes
    assert composite.gold == "M:4 influenza | M:20 ßßß"
    assert composite.predicted == "M:4 influenza | M:21 palsy"
    assert composite.query == "influenza | palsy"
    [nothing] = scored(CASES["no name is like the mention"]).mistakes
    assert (nothing.predicted, nothing.matched) == ("nothing", "")
    assert (nothing.gold_names, nothing.predicted_names) == ("cancer", "")
    [unknown] = scored(CASES["gold concept is not in the vocabulary"]).mistakes
    assert (unknown.gold, unknown.gold_names) == ("Z:1", "")
    [shared] = scored(CASES["name is shared with the gold concept"]).mistakes
    assert (shared.gold_names, shared.predicted_names) == ("stomach flu; flu", "influenza; flu")
    assert composite.gold_names == "influenza; flu | ßßß"


def test_only_some_names_of_a_concept_are_told() -> None:
    index = Index.build(
        vocabulary({"M:1": [f"palsy {number}" for number in range(12)], "M:2": ["gout"]}), encoder=None
    )
    mention = Mention("gout", concept_ids=("M:1",))
    [mistake] = evaluate(index, Corpus("one", (Document("7", mentions=(mention,)),))).mistakes
    assert mistake.gold_names == "; ".join(f"palsy {number}" for number in range(10))


TEXT = "A title. Its first case, i.e. one of\nmany, had flus? No: palsy came\n\nNext"


@pytest.mark.parametrize(
    ("surface", "sentence"),
    [
        ("title", "A title."),
        ("many", "many, had flus?"),
        ("case", "Its first case, i.e. one of"),
        ("palsy", "No: palsy came"),
        ("Next", "Next"),
        ("flus? No", "many, had flus? No: palsy came"),
    ],
)
def test_a_mistake_shows_the_sentence_it_stands_in(surface: str, sentence: str) -> None:
    start = TEXT.index(surface)
    mention = Mention(surface, start=start, end=start + len(surface), concept_ids=("Z:1",))
    corpus = Corpus("texts", (Document("6", "Something else"), Document("7", TEXT, (mention,))))
    assert [mistake.context for mistake in evaluate(built_index(), corpus).mistakes] == [sentence]


def test_a_mention_without_a_place_is_shown_with_all_that_was_written_around_it() -> None:
    [mistake] = evaluate(
        built_index(), Corpus("rows", (Document("7", "One.\nTwo.", (Mention("x", concept_ids=("Z:1",)),)),))
    ).mistakes
    assert mistake.context == "One. Two."
    assert all(mistake.context == "" for mistake in everything().mistakes)


def test_mistakes_are_put_into_an_order_that_is_random_and_the_same() -> None:
    mistakes = everything().mistakes
    assert shuffled(mistakes) == shuffled(mistakes) != list(mistakes)
    assert sorted(map(mistakes.index, shuffled(mistakes))) == list(range(len(mistakes)))


def test_an_obsolete_gold_concept_cannot_be_found() -> None:
    retired = Index.build(vocabulary({"M:1": ["cancer"], "M:2": ["dropsy"]}, replaced={"M:2": []}), encoder=None)
    corpus = Corpus("retired", (Document("7", mentions=(Mention("dropsy", concept_ids=("M:2",)),)),))
    assert [mistake.why for mistake in evaluate(retired, corpus).mistakes] == [
        "gold concept is obsolete and not replaced"
    ]


def test_what_is_right_is_no_mistake() -> None:
    assert [mistake.why for mistake in everything().mistakes] == list(CASES)


def test_the_report_shows_the_figures() -> None:
    page = report(everything())
    assert page.endswith("\n")
    lines = {line.strip() for line in page.splitlines()}
    assert "scored      11 (1 composite)" in lines
    assert any(line.startswith(f"dictionary  small: {len(built_index().vocabulary)} concepts") for line in lines)
    for why in CASES:
        assert f"1  {why}" in lines
    share = f"{100 * everything().figures['acc@1']:.1f}"
    assert any(line.startswith("by name, lenient") and share in line for line in lines)
    assert sum(line.startswith("'") for line in lines) == len(CASES)
    assert len(everything().breakdown) > 5
    for row in everything().breakdown:
        figures = (row.group, row.label, row.n, f"{100 * row.acc_1:.1f}", f"{100 * row.acc_5:.1f}")
        assert " ".join(map(str, figures)) in {" ".join(line.split()) for line in lines}
    assert sum(line.strip().startswith("'") for line in report(everything(), examples=3).splitlines()) == 3
    assert "for example" not in report(everything(), examples=0)
    perfect = scored(Mention("breast cancer", concept_ids=("M:2",)))
    assert "whose first concept is wrong" not in report(perfect)


def test_the_report_says_what_was_left_out() -> None:
    corpus = Corpus("cases", (Document("7", mentions=(*CASES.values(), Mention("palsy"))),))
    page = report(evaluate(built_index(), corpus, keep_unknown=False))
    assert "1 without gold id left out; 1 with gold id not in the dictionary left out" in page


def test_an_evaluation_can_be_written_as_json() -> None:
    value = everything().to_dict()
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert value["n"] == 11
    assert value["acc@1"] == everything().figures["acc@1"]
    assert value["counts"]["composite"] == 1
    assert value["settings"]["index"] == {
        "sparse": "nymlink",
        "encoder": None,
        "fusion": {"method": "weighted", "weights": {"exact": 0.1, "sparse": 0.9}},
    }
    assert len(value["mentions"]["name_ranks"]) == len(value["mentions"]["concept_ranks"]) == 11
    assert all(set(mistake.to_dict()) == set(replace(mistake).to_dict()) for mistake in everything().mistakes)
