"""The cross-encoder from end to end: that it learns, stops, and goes on to the same bits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from safetensors.torch import load_file

from nymlink.cli.train import train
from nymlink.core.errors import InputError, OutputError
from nymlink.corpus.read import read_corpus
from nymlink.index.index import Index
from nymlink.rerank.cross_encoder import CrossEncoder, CrossScorer, JointModel
from nymlink.rerank.passages import passages
from nymlink.train.engine.loop import StoppedError
from nymlink.train.mentions.train_rerankers import train_cross_encoder
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.reranker_trainings import CrossEncoderSettings
from tests.encode import tiny
from tests.train.runs import interrupt_forward, metrics, record, same, untimed_metrics
from tests.train.small import vocabulary

WORDS = "heart", "seizure", "fever", "short", "stature", "infarction"
DOCUMENTS, EPOCHS, IN_EPOCH = 6, 2, 4


def corpus(path: Path, documents: int) -> None:
    """Documents in which one word of the sentence alone says which of two concepts it is."""
    lines = []
    for number in range(documents):
        gold = number % 2
        text = f"The {WORDS[gold]} case and its attack, or any attack."
        lines += [f"{number}|t|{text}", f"{number}|a|"]
        for start in (text.index("attack"), text.rindex("attack")):
            lines.append(f"{number}\t{start}\t{start + 6}\tattack\tDisease\tX:{gold}")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cross")
    tiny.folder(folder / "base")
    names = [(f"X:{at}", f"{word} attack", "en", "exact") for at, word in enumerate(WORDS)]
    Index.build(vocabulary(*names), encoder=None).save(folder / "index")
    corpus(folder / "train.PubTator.txt", DOCUMENTS)
    return folder


def settings(place: Path, output: Path, **changes: Any) -> CrossEncoderSettings:
    given: dict[str, Any] = {
        "corpora": (str(place / "train.PubTator.txt"),),
        "index": str(place / "index"),
        "base": str(place / "base"),
        "output": str(output),
        "candidates": 6,
        "negatives": 3,
        "batch_mentions": 3,
        "epochs": EPOCHS,
        "learning_rate": 1e-3,
        "max_length": 48,
        "log_every": 1,
        "device": "cpu",
        "precision": "float32",
    }
    return CrossEncoderSettings(**given | changes)


@pytest.fixture(scope="module")
def finished(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nobody interrupted."""
    output = tmp_path_factory.mktemp("finished") / "out"
    train_cross_encoder(settings(place, output))
    return output


def test_the_record_says_what_was_learned_from_and_the_metrics_how_it_went(finished: Path) -> None:
    said = record(finished)
    assert said["recipe"] == "cross-encoder"
    assert said["data"]["mentions"]["count"] == 2 * DOCUMENTS
    assert said["result"] == {"steps": 8, "weights_of_step": 8, "figures": None, "with_gold": 1.0}
    steps = metrics(finished)
    assert [line["step"] for line in steps] == list(range(1, EPOCHS * IN_EPOCH + 1))
    assert all(line["without_negative"] == 0 and 0 <= line["right"] <= 1 for line in steps)
    assert CrossEncoder.load(finished).settings.first == 6
    rates = [line["learning_rate"] for line in steps]
    assert rates == sorted(rates, reverse=True)


def test_context_alone_tells_candidates_apart(place: Path, tmp_path: Path) -> None:
    few, index, base = (tmp_path / name for name in ("few.PubTator.txt", "index", "base"))
    corpus(few, 2)
    names = [(f"X:{at}", f"{word} attack", "en", "exact") for at, word in enumerate(WORDS[:2])]
    Index.build(vocabulary(*names), encoder=None).save(index)
    tiny.folder(base)
    # So few examples are learned by heart: noise would only make that take longer.
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (base / "config.json").write_text(json.dumps(config), encoding="utf-8")
    given = settings(place, tmp_path / "out", corpora=(str(few),), index=str(index), base=str(base))
    held_out = {"few": HeldOutCorpus(corpus=str(few), dictionary=str(index))}
    given = replace(given, epochs=60, batch_mentions=4, learning_rate=3e-3, evaluation=held_out, evaluate_every=20)
    result = train_cross_encoder(replace(given, best="few"))
    figures = [line for line in metrics(tmp_path / "out") if "evaluation" in line]
    assert result["figures"]["few"]["acc@1"] == 1, [
        line["loss"] for line in metrics(tmp_path / "out") if "loss" in line
    ]
    assert {(one["retrieved@1"], one["recall"]) for one in figures} == {(0.5, 1.0)}
    known = Index.load(index).vocabulary
    scorer = CrossScorer(CrossEncoder.load(tmp_path / "out"), known)
    for document in read_corpus(few).documents:
        for mention, passage in zip(document.mentions, passages(document), strict=True):
            assert passage is not None
            (scores,) = scorer.scores([passage], [[0, 1]])
            assert f"X:{scores.argmax()}" == mention.concept_ids[0]


@pytest.mark.parametrize("calls", [1, 6])
def test_stopped_it_goes_on_to_the_same_bits(
    place: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    given = settings(place, tmp_path / "out")
    interrupt_forward(monkeypatch, JointModel, calls=calls)
    with pytest.raises(StoppedError):
        train_cross_encoder(given)
    train_cross_encoder(given)
    output = tmp_path / "out"
    for name in ("encoder/model.safetensors", "head.safetensors"):
        assert same(*(load_file(folder / name) for folder in (output, finished)))
    assert record(output)["result"] == record(finished)["result"]
    assert untimed_metrics(output) == untimed_metrics(finished)
    assert train_cross_encoder(given) == record(finished)["result"]


def test_what_cannot_be_trained_on_is_said(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(place, tmp_path / "out")
    (tmp_path / "other.txt").write_text(
        "1|t|A fever came.\n1|a|\n1\t2\t7\tfever\tDisease\tY:1\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"annotated with ids of this index.*'unknown id': 1"):
        train_cross_encoder(replace(given, corpora=(str(tmp_path / "other.txt"),)))
    with pytest.raises(InputError, match="max_length must be at least 32, not 31"):
        train_cross_encoder(replace(given, max_length=31))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="cross-encoder runs in one process"):
        train_cross_encoder(given)
    assert not (tmp_path / "out").exists()
    monkeypatch.delenv("WORLD_SIZE")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="not the folder of a training"):
        train_cross_encoder(given)


def test_the_command_trains_and_explains_itself(place: Path, tmp_path: Path) -> None:
    said = CliRunner().invoke(train, ["cross-encoder", "--help"])
    assert all(f"--{name}" in said.output for name in ("index", "recipe", "batch-mentions"))
    recipe = tmp_path / "mine.toml"
    recipe.write_text("max_length = 48\n", encoding="utf-8")
    flags = [("corpus", "train.PubTator.txt"), ("index", "index"), ("base", "base")]
    given = [part for name, file in flags for part in (f"--{name}", str(place / file))]
    given += ["-o", str(tmp_path / "out"), "--max-steps", "1", "--device", "cpu", "--recipe", str(recipe)]
    done = CliRunner().invoke(train, ["cross-encoder", *given])
    assert done.exit_code == 0, done.output
    assert "1 steps, weights of step 1" in done.output
    for name in ("candidates", "negatives"):
        recipe.write_text(f"{name} = 0\n", encoding="utf-8")
        refused = CliRunner().invoke(train, ["cross-encoder", *given])
        assert f"{name} must be at least" in str(refused.exception)
