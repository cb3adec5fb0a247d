"""The benchmark of re-ranking runs, on a toy encoder; what it measures here means nothing."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny

DOCUMENTS = 4


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))


@pytest.fixture
def steps() -> Any:
    return importlib.import_module("reranking_steps")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A base, a vocabulary, and documents with a mention of an ambiguous name and one of an unknown concept."""
    tiny.folder(tmp_path / "base")
    (tmp_path / "names.txt").write_text("X:0||heart attack\nX:1||attack\nX:2||attack\nX:3||short stature\n")
    lines = []
    for number in range(DOCUMENTS):
        lines += [f"{number}|t|An attack of fever.", f"{number}|a|", f"{number}\t3\t9\tattack\tDisease\tX:2"]
        lines += [f"{number}\t13\t18\tfever\tDisease\tX:{4 + number}", ""]
    with gzip.open(tmp_path / "corpus.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return tmp_path


@pytest.mark.parametrize("encoder", [None, "base"])
def test_a_re_ranker_is_trained_and_measured(steps: Any, place: Path, encoder: str | None) -> None:
    given = None if encoder is None else str(place / encoder)
    index, corpus, cache = str(place / "index"), str(place / "first.txt"), str(place / "vectors")
    steps.cut(str(place / "corpus.txt.gz"), corpus, first=3)
    steps.build(str(place / "names.txt"), index, cache, names=None, encoder=given)
    runs: dict[str, dict[int, Any]] = {"triplet": {}, "prototype-srn": {}}
    for loss, seeds in runs.items():
        output = str(place / loss)
        settings = {"loss": loss, "max_length": 48, "epochs": 2, "device": "cpu"}
        timed = steps.train(corpus, index, str(place / "base"), output, **settings)
        assert timed["epoch_seconds"] > 0
        assert steps.train(corpus, index, str(place / "base"), output, **settings) == {"epoch_seconds": None}
        seeds[0] = steps.measure(corpus, str(place / "corpus.txt.gz"), index, output) | timed
        found = seeds[0]["mentions"]
        assert [one["document"] for one in found] == ["0", "0", "1", "1", "2", "2", "3", "3"]
        assert [one["seen"] for one in found] == [True] * 7 + [False]
        assert [one["ambiguous"] for one in found[::2]] == [True] * DOCUMENTS
        # X:1 has the same name and is earlier in the vocabulary; what is not in it is never right.
        assert [(one["before"], one["after"] in (0, 1, 2, 3)) for one in found[::2]] == [(1, True)] * DOCUMENTS
        assert [(one["before"], one["after"]) for one in found[1::2]] == [(None, None)] * DOCUMENTS
        assert all((one["first_after"][0] == "X:2") == (one["after"] == 0) for one in found[::2])
        assert [one["combined"] is None for one in found] == [False, True] * DOCUMENTS
        assert [fit["mentions"] for fit in seeds[0]["fits"]] == [DOCUMENTS] * 2
    report = importlib.import_module("reranking_report")
    assert report.text({"toy": report.summary(runs)}).count("| triplet, prototype-srn |") == 1


def mention(
    before: int | None, after: int | None, *, ambiguous: bool = False, seen: bool = True
) -> dict[str, Any]:
    # Both together: as good as the better one.
    combined = min((rank for rank in (before, after) if rank is not None), default=None)
    return {"before": before, "after": after, "combined": combined, "ambiguous": ambiguous, "seen": seen}


def run(*mentions: dict[str, Any], seconds: float = 2.0) -> dict[str, Any]:
    return {
        "mentions": list(mentions),
        "fits": [],
        "epoch_seconds": seconds,
        "entity_seconds": 3.0,
        "mentions_per_second": 1234.0,
    }


def test_the_tables_say_what_is_right_and_how_sure_that_is() -> None:
    report = importlib.import_module("reranking_report")
    first, other = mention(0, 0), mention(1, 1, ambiguous=True)
    better = [mention(1, 0, ambiguous=True), mention(2, 0, seen=False), mention(None, None, seen=False)]
    worse = [other, mention(2, 1, seen=False), mention(None, None, seen=False)]
    runs = {
        "triplet": {0: run(first, *worse), 1: run(first, *better, seconds=4)},
        "prototype": {0: run(first, *better), 1: run(first, *better)},
    }
    found = report.summary(runs)
    assert found["mentions"] == {"all": 4, "ambiguous": 1, "seen": 2, "unseen": 2}
    assert found["retrieval"]["acc@1"] == {"all": 0.25, "ambiguous": 0, "seen": 0.5, "unseen": 0}
    assert found["retrieval"]["recall"]["all"] == 0.75
    assert found["mcnemar"] == [
        {
            "settings": ["triplet", "prototype"],
            "seeds": {
                0: {"only_first": 0, "only_second": 2, "p_value": 0.5},
                1: {"only_first": 0, "only_second": 0, "p_value": 1.0},
            },
        },
        *(
            {
                "settings": ["retrieval alone", f"{loss}, with index and document"],
                "seeds": {
                    seed: {"only_first": 0, "only_second": gained, "p_value": 0.5 if gained else 1.0}
                    for seed, gained in enumerate(gains)
                },
            }
            for loss, gains in (("triplet", (0, 2)), ("prototype", (2, 2)))
        ),
    ]
    said = report.text({"toy": found})
    assert "| triplet | 50.0 ± 35.4 | 50.0 ± 70.7 | 75.0 ± 35.4 | 25.0 ± 35.4 | 3 | 3 | 1,234 |" in said
    assert "| triplet, with index and document | 50.0 ± 35.4 | 50.0 ± 70.7 | 75.0 ± 35.4 | 25.0 ± 35.4 |" in said
    assert "| triplet, prototype | 0/2, p = 0.5 | 0/0, p = 1 |" in said
    runs["prototype"][1] = run(first)
    with pytest.raises(SystemExit, match="different candidates"):
        report.summary(runs)


def test_examples_are_mentions_that_two_settings_disagree_about(steps: Any, place: Path) -> None:
    report = importlib.import_module("reranking_report")
    index = str(place / "index")
    steps.build(str(place / "names.txt"), index, str(place / "vectors"), names=None, encoder=None)
    at = {"start": 3, "end": 9, "gold": ["X:2"]}
    first = [mention(0, 1) | at | {"document": str(number), "first_after": ["X:1"]} for number in range(3)]
    last = [
        first[0],
        *(one | {"first_after": [said]} for one, said in zip(first[1:], ("X:2", "X:3"), strict=True)),
    ]
    runs = {"triplet": {5: run(*first)}, "prototype": {5: run(*first)}, "prototype-srn": {5: run(*last)}}
    chosen = report.disagreements(runs, 9)
    assert [one["document"] for one in chosen] == ["1", "2"]
    assert len(report.disagreements(runs, 1)) == 1
    found = report.summary(runs) | steps.examples(str(place / "corpus.txt.gz"), index, chosen)
    said = report.text({"toy": found})
    assert "| toy | gold | triplet | prototype-srn |" in said
    assert "| An **attack** of fever. | attack | attack | short stature |" in said


def test_a_folder_is_of_one_encoder_and_one_way_of_training(place: Path) -> None:
    reranking = importlib.import_module("reranking")
    for _ in range(2):
        reranking.Workplace(place / "out", str(place / "base"), first=None, epochs=2)
    with pytest.raises(SystemExit, match="choose another folder"):
        reranking.Workplace(place / "out", str(place / "base"), first=None, epochs=3)
