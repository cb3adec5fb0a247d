from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.xlbel.evaluate import GoldIds, LanguageResult, evaluate_languages, find_queries, language_table
from tests.encode import tiny

DATA = Path(os.environ.get("NYMLINK_DATA", Path(__file__).parents[2] / "../shared/data"))

NAMES = (
    ("X:1", "en", "gout", ("UMLS:C0018099",)),
    ("X:1", "de", "Zipperlein", ()),
    ("X:2", "en", "pain", ("UMLS:C0030193", "UMLS:C0000001")),
    ("X:2", "es", "dolor", ()),
    ("X:3", "en", "headache", ("UMLS:C0018681", "OTHER:7")),
    ("X:4", "en", "fever and chills", ("UMLS:C0085594", "MORE:7")),
)

QUERIES = {
    "de": "C0018099||Zipperlein||Er hat <tgt>Zipperlein</tgt>.\nC9999999||Rom||In <tgt>Rom</tgt>.\n",
    "es": "C0000002|C0000001||dolor||Un <tgt>dolor</tgt>.\nC0018681||pain||El <tgt>pain</tgt>.\n",
}


@pytest.fixture(scope="module")
def index() -> Index:
    builder = TableBuilder()
    for concept, lang, name, xrefs in NAMES:
        builder.concept(concept, xrefs=xrefs)
        builder.name(concept, name, lang=lang)
    return Index.build(Vocabulary.of((Source(name="test", format="table"), builder.build())), encoder=None)


@pytest.fixture
def queries(tmp_path: Path) -> dict[str, Corpus]:
    corpora = {}
    for language, text in QUERIES.items():
        path = tmp_path / f"{language}_test.txt"
        path.write_text(text, encoding="utf-8")
        corpora[language] = read_corpus(path)
    return corpora


def by_label(results: list[LanguageResult]) -> dict[tuple[str, str], LanguageResult]:
    return {(result.label, result.language): result for result in results}


def test_figures_of_all_and_of_covered_mentions(index: Index, queries: dict[str, Corpus]) -> None:
    results = by_label(evaluate_languages({"stage": index}, queries))
    german, spanish = results["stage", "de"], results["stage", "es"]
    assert (german.n, german.covered, german.gold_concepts, german.covered_concepts) == (2, 1, 2, 1)
    assert (german.figures["acc@1"], german.covered_figures["acc@1"]) == (0.5, 1.0)
    assert (spanish.covered, spanish.gold_concepts, spanish.covered_concepts) == (2, 3, 2)
    assert (spanish.figures["acc@1"], spanish.figures["concept_acc@1"]) == (0.5, 0.5)


def test_figures_are_those_of_evaluate(index: Index, queries: dict[str, Corpus]) -> None:
    result = by_label(evaluate_languages({"stage": index}, queries))["stage", "de"]
    resolved = GoldIds(index.vocabulary).resolve(queries["de"], context=False).corpus
    alone = evaluate(Linker(index, language="de"), resolved)
    assert {**alone.to_dict(), **result.figures} == alone.to_dict() | dict(result.figures)
    assert result.to_dict()["acc@1"] == alone.figures["acc@1"]
    assert result.to_dict()["mentions"] == alone.to_dict()["mentions"]


def test_names_in_the_language_of_the_queries_can_be_left_out(index: Index, queries: dict[str, Corpus]) -> None:
    results = by_label(evaluate_languages({"stage": index}, queries, without_own_names=True))
    assert results["stage", "de"].covered_figures["acc@1"] == 1
    assert results["stage, own names out", "de"].covered_figures["acc@1"] == 0
    assert results["stage, own names out", "es"].own_names is False


def test_a_dictionary_of_no_other_language_has_no_row_without_names(queries: dict[str, Corpus]) -> None:
    builder = TableBuilder()
    builder.concept("X:1", xrefs=["UMLS:C0018099"])
    builder.name("X:1", "Zipperlein", lang="de")
    german = Index.build(Vocabulary.of((Source(name="test", format="table"), builder.build())), encoder=None)
    results = evaluate_languages({"german": german}, queries, without_own_names=True)
    assert [(result.label, result.language) for result in results] == [
        ("german", "de"),
        ("german", "es"),
        ("german, own names out", "es"),
    ]
    table = language_table(results)
    assert "–" in table  # no covered mention, no row
    assert "nan" not in table


@pytest.mark.parametrize(
    ("gold", "ids"),
    [
        ("X:1", ("X:1",)),
        ("C0018099", ("X:1",)),
        ("UMLS:C0018099", ("X:1",)),
        ("umls:C0018099", ("X:1",)),
        ("MESH:C0018099", ()),
        ("OTHER:7", ("X:3",)),
        ("7", ()),  # of which of the two
        ("C123", ()),
    ],
)
def test_gold_ids_mean_what_refers_to_them(gold: str, ids: tuple[str, ...], index: Index) -> None:
    assert GoldIds(index.vocabulary).translate(gold) == ids


def test_several_gold_ids_are_alternatives(index: Index, tmp_path: Path) -> None:
    (tmp_path / "en_test.txt").write_text("C0085594|C0018099||fever and chills\n", encoding="utf-8")
    (result,) = evaluate_languages({"stage": index}, {"en": read_corpus(tmp_path / "en_test.txt")})
    assert result.figures["acc@1"] == 1
    assert result.report["counts"]["composite"] == 0


def test_mentions_are_put_into_lower_case_when_asked(index: Index, queries: dict[str, Corpus]) -> None:
    resolved = GoldIds(index.vocabulary).resolve(queries["de"], lower=True)
    assert [mention.text for _, mention in resolved.corpus.mentions()] == ["zipperlein", "rom"]


def test_context_counts_only_where_it_is_asked_for(
    index: Index, queries: dict[str, Corpus], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = DualEncoder.from_encoder(tiny.folder(tmp_path / "base"), DualEncoderConfig(max_length=64))
    model.save(tmp_path / "reranker")
    results = by_label(evaluate_languages({"stage": index}, queries, reranker=tmp_path / "reranker"))
    context = results["stage, context", "es"]
    assert (context.n, context.covered) == (2, 2)
    assert set(context.figures) == {"concept_acc@1", "concept_acc@5"}
    assert "by concept" in language_table(list(results.values()))
    bare = {
        code: GoldIds(index.vocabulary).resolve(corpus, context=False).corpus for code, corpus in queries.items()
    }
    with pytest.raises(InputError, match="no sentences"):
        evaluate_languages({"stage": index}, bare, reranker=tmp_path / "reranker")


def test_the_table_has_stages_as_rows_and_languages_as_columns(index: Index, queries: dict[str, Corpus]) -> None:
    table = language_table(evaluate_languages({"one": index, "two": index}, queries))
    lines = table.splitlines()
    assert lines[1].split() == ["de", "es", "mean"]
    assert lines[2].split() == ["one", "50.0/50.0", "50.0/100.0", "50.0/75.0"]
    assert lines[3].split()[0] == "two"
    assert lines[-1].split() == ["of", "2/2", "2/3"]


def test_files_are_found_by_the_codes_in_their_names(tmp_path: Path) -> None:
    for name in ("es_1k.txt", "de-test.txt.gz", ".hidden"):
        (tmp_path / name).touch()
    assert list(find_queries([tmp_path])) == ["de", "es"]
    assert find_queries([tmp_path], ["ES"]) == {"es": tmp_path / "es_1k.txt"}
    assert find_queries([tmp_path / "es_1k.txt"]) == {"es": tmp_path / "es_1k.txt"}
    with pytest.raises(InputError, match="no queries in the language fi; there are: de, es"):
        find_queries([tmp_path], ["fi"])
    other = tmp_path / "queries.txt"
    other.touch()
    assert find_queries([other], ["fi"]) == {"fi": other}
    with pytest.raises(InputError, match="language of these queries is not known"):
        find_queries([other])
    (tmp_path / "es.other.txt").touch()
    with pytest.raises(InputError, match="two files for the language es"):
        find_queries([tmp_path / "es_1k.txt", tmp_path / "es.other.txt"])


@pytest.mark.skipif(not (DATA / "corpora/xlbel").exists(), reason="no real XL-BEL (NYMLINK_DATA)")
def test_the_published_queries() -> None:
    files = find_queries([DATA / "corpora/xlbel/v1.0"])
    assert list(files) == ["de", "en", "es", "fi", "ja", "ko", "ru", "th", "tr", "zh"]
    problems = Problems()
    corpora = [read_corpus(file, problems=problems) for file in files.values()]
    assert problems.rejected == 0
    mentions = [mention for corpus in corpora for _, mention in corpus.mentions()]
    assert len(mentions) == 10_000
    assert 840 <= sum(len(mention.concept_ids) > 1 for mention in mentions) <= 846
