from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.xlbel.evaluate import LanguageResult, language_table, reading_of
from nymlink.xlbel.results import accuracies, coverage, read_results

NAN = float("nan")


def result(stage: str, language: str, acc: float, **others: Any) -> LanguageResult:
    figures = {"acc@1": acc, "acc@5": 1.0, "concept_acc@1": acc / 2, "concept_acc@5": 1.0}
    values = {
        "own_names": True,
        "context": False,
        "n": 4,
        "covered": 3,
        "gold_concepts": 4,
        "covered_concepts": 3,
        "figures": figures,
        "covered_figures": figures,
        "report": {},
    }
    return LanguageResult(stage=stage, language=language, **values | others)


RESULTS = [result("one", "es", 0.5), result("one", "de", 0.25), result("one", "es", 0.25, own_names=False)]


def write(path: Path, results: list[LanguageResult]) -> Path:
    path.write_text(json.dumps({"settings": {}, "results": [one.to_dict() for one in results]}), encoding="utf-8")
    return path


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    nothing_covered = result("one", "zh", 0.0, covered=0, covered_figures=dict.fromkeys(RESULTS[0].figures, NAN))
    written = [*RESULTS, nothing_covered]
    read = read_results(write(tmp_path / "results.json", written))
    assert language_table(read) == language_table(written)
    assert [one.to_dict() for one in read] == [one.to_dict() for one in written]


def test_arrangement_by_stage_and_language() -> None:
    assert accuracies(RESULTS, reading_of(RESULTS)) == {
        "one": {"es": 0.5, "de": 0.25},
        "one, own names out": {"es": 0.25},
    }
    assert coverage(RESULTS[:2]) == {"one": {"es": 0.75, "de": 0.75}}


def test_results_with_context_are_read_by_concept(tmp_path: Path) -> None:
    figures = {"concept_acc@1": 0.75, "concept_acc@5": 1.0}
    context = result("one", "es", 0.0, context=True, figures=figures, covered_figures=figures)
    read = read_results(write(tmp_path / "results.json", [*RESULTS[:1], context]))
    assert accuracies(read, reading_of(read)) == {"one": {"es": 0.25}, "one, context": {"es": 0.75}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        "[]",
        '{"results": 3}',
        '{"results": [3]}',
        '{"results": [{"stage": "one"}]}',
        json.dumps({"results": [RESULTS[0].to_dict() | {"n": 0}]}),
        json.dumps({"results": [RESULTS[0].to_dict() | {"acc@1": NAN}]}),
        json.dumps({"results": [RESULTS[0].to_dict() | {"acc@1": 7}]}),
        json.dumps({"results": [RESULTS[0].to_dict() | {"covered": -1}]}),
    ],
)
def test_anything_else_is_refused_with_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.json: these are no results by language: name a file"):
        read_results(tmp_path / "broken.json")


def test_missing_and_empty_files_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be opened: No such file"):
        read_results(tmp_path / "none.json")
    with pytest.raises(InputError, match="there are no results in it"):
        read_results(write(tmp_path / "empty.json", []))
