"""The benchmark of re-ranking runs, on a toy encoder; what it measures here means nothing."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nymlink.index.index import Index
from nymlink.rerank.reranker import Reranker
from tests.encode import tiny
from tests.evaluate.words import Words, document, two_of_one_name

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
        for key in ("indexed", "combined"):
            assert [one[key] is None for one in found] == [False, True] * DOCUMENTS
        assert [fit["mentions"] for fit in seeds[0]["fits"]] == [DOCUMENTS] * 2
    report = importlib.import_module("reranking_report")
    assert report.text({"toy": report.summary(runs)}).count("| triplet, prototype-srn |") == 1


# Of three mentions the context says the first, the index the third, and the second only the others do.
HEART = ("heart", "MI", "X:1"), ("small", "MI", "X:1"), ("small", "myocardial infarction", "X:1")
VALVE = ("valve", "MI", "X:0"), ("large", "MI", "X:0"), ("large", "mitral insufficiency", "X:0")
# What the index says is wrong, so that it counts only where no others say more.
LONE = (("small", "myocardial infarction", "X:0"),)
# Here the context says all, and the others the contrary of the third.
ODD = ("heart", "MI", "X:1"), ("large", "MI", "X:1"), ("small", "myocardial infarction", "X:0")


@pytest.mark.parametrize(
    ("documents", "after", "indexed", "combined"),
    [
        (
            [HEART, HEART, VALVE, VALVE, LONE, LONE],
            [0, 1, 1] * 4 + [0, 0],
            [0, 1, 0] * 4 + [1, 1],
            [0, 0, 0] * 4 + [0, 0],
        ),
        # Fitted to the other half, which is not like this one.
        ([HEART, ODD, VALVE, ODD], [0, 1, 1, 0, 0, 0] * 2, [0, 1, 1, 0, 0, 1] * 2, [0, 1, 1, 0, 0, 1] * 2),
    ],
)
def test_index_and_document_are_measured_apart_and_nothing_is_done_twice(
    steps: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    documents: list[Any],
    after: list[int],
    indexed: list[int],
    combined: list[int],
) -> None:
    two_of_one_name().save(tmp_path / "index")
    lines = []
    for number, said in enumerate(documents):
        one = document(number, *said)
        places = [(number, m.start, m.end, m.text, m.type, *m.concept_ids) for m in one.mentions]
        lines += [f"{number}|t|{one.text}", f"{number}|a|", *("\t".join(map(str, row)) for row in places), ""]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    searched = []
    original = Index.match

    def match(self: Index, queries: Sequence[str], k: int) -> Any:
        searched.append((tuple(queries), k))
        return original(self, queries, k)

    scorer = Words(heart=(0, 4, 0), small=(0.5, 0, 0), valve=(4, 0, 0), large=(0, 0.5, 0))
    monkeypatch.setattr(Index, "match", match)
    monkeypatch.setattr(Reranker, "load", lambda _, vocabulary: Reranker(scorer, vocabulary))
    corpus = str(tmp_path / "corpus.txt")
    found = steps.measure(corpus, corpus, str(tmp_path / "index"), "reranker")
    ranks = {key: [one[key] for one in found["mentions"]] for key in ("after", "indexed", "combined")}
    assert ranks == {"after": after, "indexed": indexed, "combined": combined}
    assert len(searched) == len(set(searched))
    # Those of every fifth document once more, for the speed.
    assert scorer.scored == sum(map(len, [*set(documents), *documents[::5]]))


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


def test_what_was_kept_without_the_measure_of_the_index_alone_lacks_that_row() -> None:
    report = importlib.import_module("reranking_report")
    old, new = (run(mention(1, 1) | more, mention(0, 1) | more) for more in ({}, {"indexed": 0}))
    said = report.text({"toy": report.summary({"triplet": {0: new, 1: new}, "prototype": {0: old, 1: new}})})
    assert "| triplet, with index | 100.0 ± 0.0 |" in said
    assert "| prototype, with index |" not in said
    assert said.index("| triplet |") < said.index("| triplet, with index |")
    assert said.index("| triplet, with index |") < said.index("| triplet, with index and document |")


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


def test_where_negatives_are_sought_is_said_to_dual_encoders_and_kept(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reranking = importlib.import_module("reranking")
    trained = []

    def step(name: str, **given: Any) -> dict[str, Any]:
        if name == "reranking_steps:train":
            trained.append((given["loss"], given.get("negatives")))
        return run(mention(0, 0))

    monkeypatch.setattr(reranking.apart, "run", step)
    monkeypatch.setenv("NYMLINK_DATA", str(place))
    out, encoder = place / "out", str(place / "base")
    only = ["--only", "NCBI", "--retrieval", "sparse", "--loss", "triplet", "--loss", "cross-encoder"]
    monkeypatch.setattr(sys, "argv", ["x", str(out), "--encoder", encoder, "--negatives", "batch", *only])
    reranking.main()
    assert "| triplet | 100.0 |" in capsys.readouterr().out
    assert trained == [("triplet", "batch"), (None, None)]
    assert json.loads((out / "settings.json").read_text())["negatives"] == "batch"
    with pytest.raises(SystemExit, match="choose another folder"):
        reranking.Workplace(out, encoder, first=None)
