"""The dictionary with the mentions of training data."""

from __future__ import annotations

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import augment, evaluate
from nymlink.index.index import Index
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import vocabulary

BARE = vocabulary(
    {"D:1": ["breast cancer"], "D:2": ["ovarian cancer"], "D:old": ["consumption"], "D:gone": ["hysteria"]},
    redirects={"D:10": "D:1"},
    replaced={"D:old": ["D:2"], "D:gone": []},
)


def texts(built: Vocabulary, concept_id: str) -> list[str]:
    return [name.text for name in built.names(concept_id)]


def corpus(*mentions: Mention, text: str = "") -> Corpus:
    return Corpus("train", (Document("1", text, mentions),))


def test_prepared_mentions_become_names_of_their_gold_concepts() -> None:
    larger = augment(
        BARE,
        [
            corpus(
                Mention("Mammary  TUMOR", concept_ids=("D:10",)), Mention("Breast cancer", concept_ids=("D:1",))
            ),
            corpus(Mention("ovary ca", concept_ids=("D:1", "D:2")), Mention("phthisis", concept_ids=("D:old",))),
        ],
    )
    assert texts(larger, "D:1") == ["breast cancer", "Mammary TUMOR", "ovary ca"]
    assert texts(larger, "D:2") == ["ovarian cancer", "ovary ca", "phthisis"]
    assert [name.kind for name in larger.names("D:1")] == ["preferred", "exact", "exact"]
    assert larger.sources[-1].name == "training mentions"
    assert larger.resolve("D:10") == ("D:1",)
    assert larger.resolve("D:old") == ("D:2",)


def test_what_there_was_stays() -> None:
    before = texts(BARE, "D:1")
    larger = augment(BARE, [corpus(Mention("x", concept_ids=("D:1",)))])
    assert texts(BARE, "D:1") == before
    assert [larger.concept_id(row) for row in range(len(larger))] == [
        BARE.concept_id(row) for row in range(len(BARE))
    ]
    assert texts(augment(BARE, []), "D:1") == before


def test_composites_and_unknown_concepts_add_nothing() -> None:
    larger = augment(
        BARE,
        [
            corpus(
                Mention("breast and ovarian cancer", concept_ids=("D:1", "D:2")),
                Mention("x", concept_ids=("D:1", "D:2"), parts=("mamma ca", "ovary ca")),
                Mention("unheard of", concept_ids=("Z:9",)),
                Mention("not annotated"),
                Mention(" ", concept_ids=("D:1",)),
            )
        ],
    )
    assert larger.name_count == BARE.name_count
    assert len(larger) == len(BARE)


def test_abbreviations_are_written_out() -> None:
    text = "Mammary carcinoma (MC) is common. MC is treated."
    at = text.index("MC is")
    larger = augment(BARE, [corpus(Mention("MC", at, at + 2, concept_ids=("D:1",)), text=text)])
    assert texts(larger, "D:1") == ["breast cancer", "Mammary carcinoma"]


def test_an_obsolete_concept_is_not_brought_back() -> None:
    larger = augment(BARE, [corpus(Mention("the vapours", concept_ids=("D:gone",)))])
    assert larger["D:gone"].obsolete
    index = Index.build(larger, encoder=None)
    assert index.entries.find("hysteria") is None
    assert index.entries.find("the vapours") is None


def test_what_was_learnt_is_found() -> None:
    gold = corpus(Mention("crab disease", concept_ids=("D:1",)))
    assert evaluate(Index.build(BARE, sparse="none", encoder=None), gold).figures["acc@1"] == 0
    assert evaluate(Index.build(augment(BARE, [gold]), sparse="none", encoder=None), gold).figures["acc@1"] == 1
