"""Counts of the published corpora."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import Corpus, CorpusOptions, read_corpus


def read(path: Path) -> tuple[Corpus, Problems]:
    problems = Problems()
    return read_corpus(path, problems=problems), problems


def count(corpus: Corpus) -> int:
    return sum(1 for _ in corpus.mentions())


def assert_offsets_hold(corpus: Corpus) -> None:
    for document, mention in corpus.mentions():
        assert mention.start is not None
        assert document.text[mention.start : mention.end] == mention.text


def extracted(archive: Path, target: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
    return target


@pytest.mark.parametrize(
    ("split", "documents", "mentions", "composite", "rejected", "repaired"),
    [("train", 592, 5134, 115, 1, 1), ("develop", 100, 787, 30, 0, 0), ("test", 100, 960, 15, 0, 0)],
)
def test_ncbi_disease(
    data: Path, split: str, documents: int, mentions: int, composite: int, rejected: int, repaired: int
) -> None:
    corpus, problems = read(data / f"corpora/ncbi_disease/original-data/NCBI{split}set_corpus.txt.gz")
    assert (len(corpus), count(corpus)) == (documents, mentions)
    assert sum(len(mention.concept_ids) > 1 for _, mention in corpus.mentions()) == composite
    assert all(mention.concept_ids for _, mention in corpus.mentions())
    assert {mention.type for _, mention in corpus.mentions()} == {
        "SpecificDisease",
        "DiseaseClass",
        "Modifier",
        "CompositeMention",
    }
    # One document comes twice, and one mention is written with more white space than its text has.
    assert (problems.rejected, problems.repaired) == (rejected, repaired)
    assert all("8528200" in problem.message for problem in problems.first if problem.rejected)
    assert_offsets_hold(corpus)


@pytest.mark.parametrize(
    ("split", "disease", "chemical", "without", "composite"),
    # Beside the 59 mentions annotated with -1 alone, one composite has a part without a concept.
    [("Training", 4182, 5203, 76, 98), ("Development", 4244, 5347, 59 + 1, 100)],
)
def test_bc5cdr(data: Path, split: str, disease: int, chemical: int, without: int, composite: int) -> None:
    corpus, problems = read(data / f"corpora/bc5cdr/CDR_{split}Set.PubTator.txt.gz")
    assert len(corpus) == 500
    assert Counter(mention.type for _, mention in corpus.mentions()) == {"Disease": disease, "Chemical": chemical}
    assert sum(not mention.concept_ids for _, mention in corpus.mentions()) == without
    # One composite has a part without a concept, another the same id thrice: they end with less than two ids.
    assert sum(len(mention.concept_ids) > 1 for _, mention in corpus.mentions()) == composite - 1
    assert sum(bool(mention.parts) for _, mention in corpus.mentions()) == 89
    assert problems.count == 0
    assert_offsets_hold(corpus)


def test_prepared_ncbi_queries(data: Path, tmp_path: Path) -> None:
    folder = data / "corpora/ncbi_disease/biosyn_form"
    folder = extracted(folder / "ncbi-disease_processed_concepts.tar.gz", tmp_path) / "ncbi-disease"
    for split, documents, mentions in [("train", 592, 5134), ("dev", 100, 787), ("test", 100, 960)]:
        corpus, problems = read(folder / f"processed_{split}")
        assert (len(corpus), count(corpus), problems.count) == (documents, mentions, 0)
        assert all(mention.prepared and mention.concept_ids for _, mention in corpus.mentions())
        raw, _ = read(
            data / f"corpora/ncbi_disease/original-data/NCBI{split.replace('dev', 'develop')}set_corpus.txt.gz"
        )
        spans = {(one.id, mention.start) for one, mention in raw.mentions()}
        assert spans == {(one.id, mention.start) for one, mention in corpus.mentions()}


def test_prepared_bc5cdr_queries(data: Path, tmp_path: Path) -> None:
    folder = (
        extracted(data / "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz", tmp_path) / "bc5cdr-disease"
    )
    for split, mentions in [("train", 4131), ("dev", 4178)]:
        corpus, problems = read(folder / f"processed_{split}")
        assert (len(corpus), count(corpus), problems.count) == (500, mentions, 0)


@pytest.mark.parametrize(("version", "ending"), [("v0.0", ""), ("v1.0", "_with_context")])
def test_xlbel(data: Path, version: str, ending: str) -> None:
    several, unplaced = 0, []
    for lang in ("de", "en", "es", "fi", "ja", "ko", "ru", "th", "tr", "zh"):
        corpus, problems = read(data / f"corpora/xlbel/{version}/{lang}_1k_test_query{ending}.txt.gz")
        assert (len(corpus), count(corpus), problems.rejected) == (1000, 1000, 0)
        several += sum(len(mention.concept_ids) > 1 for _, mention in corpus.mentions())
        for document, mention in corpus.mentions():
            assert bool(document.text) == bool(ending)
            if mention.start is not None:
                assert document.text[mention.start : mention.end] == mention.text
            elif ending:
                unplaced.append((document.id, mention.text))
    assert several == (846 if ending else 843)
    assert unplaced == ([("de_1k_test_query_with_context:736", "-dysphorie")] if ending else [])


def test_askapatient(data: Path, tmp_path: Path) -> None:
    extracted(data / "corpora/askapatient/askapatient_10folds.tar.xz", tmp_path)
    for split, mentions, repaired in [("train", 15612, 2), ("validation", 845, 0), ("test", 867, 0)]:
        corpus, problems = read(tmp_path / f"askapatient/AskAPatient.fold-0.{split}.txt")
        assert (len(corpus), count(corpus)) == (1, mentions)
        assert (problems.rejected, problems.repaired) == (0, repaired)
        assert ("Sjögren's syndrome" in {mention.text for _, mention in corpus.mentions()}) == (split == "train")


def test_gsc(data: Path, tmp_path: Path) -> None:
    corpus, problems = read(extracted(data / "corpora/hpo_gsc/gscplus_dev_half.tar.gz", tmp_path) / "GSC+")
    assert (len(corpus), count(corpus)) == (114, 1093)
    # Two are written small that are not so in the text, and two are longer than what their offsets span.
    assert (problems.rejected, problems.repaired) == (0, 4)
    assert all(document.text for document in corpus.documents)
    for document, mention in corpus.mentions():
        if mention.start is not None:
            assert document.text[mention.start : mention.end] == mention.text
        assert all(one.startswith("HP:") for one in mention.concept_ids)


@pytest.mark.parametrize(
    ("split", "documents", "mentions", "concepts"),
    [("dev", 878, 71062, 12610), pytest.param("test", 879, 70405, 12419, marks=pytest.mark.large)],
)
def test_medmentions(data: Path, split: str, documents: int, mentions: int, concepts: int) -> None:
    corpus, problems = read(data / f"corpora/medmentions/medmentions_full_{split}.mention_cui.tsv.gz")
    assert (len(corpus), count(corpus), problems.count) == (documents, mentions, 0)
    assert len({one for _, mention in corpus.mentions() for one in mention.concept_ids}) == concepts


@pytest.mark.parametrize(
    ("split", "mentions", "concepts"), [("train", 2117, 479), ("dev", 265, 137), ("test", 265, 146)]
)
def test_medmentions_mondo(data: Path, split: str, mentions: int, concepts: int) -> None:
    path = data / f"corpora/medmentions_mondo/mondo_{split}.csv"
    with pytest.raises(InputError, match="cui, mondo_id"):
        read_corpus(path)
    corpus = read_corpus(path, options=CorpusOptions(columns={"concept_id": "mondo_id"}))
    assert count(corpus) == mentions
    assert len({one for _, mention in corpus.mentions() for one in mention.concept_ids}) == concepts


@pytest.mark.parametrize(
    "archive",
    ["ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz", "hpo_gsc/gscplus_dev_half.tar.gz"],
)
def test_an_archive_is_not_mistaken_for_what_it_holds(data: Path, archive: str) -> None:
    with pytest.raises(InputError, match=r"looks like a binary file.*: unpack it"):
        read_corpus(data / "corpora" / archive)
