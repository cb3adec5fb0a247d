"""Contextual re-ranking from end to end: that it learns, stops, and goes on to the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from safetensors.torch import load_file

from nymlink.cli.train import train
from nymlink.core.errors import InputError, StoreError
from nymlink.core.problems import Problems
from nymlink.core.toml_settings import make_settings
from nymlink.corpus.documents import Document
from nymlink.corpus.read import read_corpus
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.passages import passages
from nymlink.rerank.reranker import Reranker
from nymlink.train.engine import checkpoint
from nymlink.train.engine.loop import StoppedError
from nymlink.train.mentions.reranker_training import RerankerEvaluation
from nymlink.train.mentions.train_rerankers import train_rerank
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.recipes import read_recipe
from nymlink.train.settings.reranker_trainings import RerankSettings
from tests.encode import tiny
from tests.train.runs import interrupt_forward, metrics, record, same, untimed_metrics
from tests.train.small import vocabulary

WORDS = "heart", "attack", "seizure", "short", "stature", "infarction"
DOCUMENTS, EPOCHS, IN_EPOCH = 6, 2, 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, an index, and documents in which what comes before "attack" says which of two concepts it is."""
    folder = tmp_path_factory.mktemp("rerank")
    tiny.folder(folder / "base")
    names = [(f"X:{at}", f"{word} attack", "en", "exact") for at, word in enumerate(WORDS)]
    Index.build(vocabulary(*names, ("X:9", "mi", "en", "exact")), encoder=None).save(folder / "index")
    lines = []
    for number in range(DOCUMENTS):
        gold = number % 2
        text = f"A {WORDS[gold]} case. The attack came, and this attack was short."
        lines += [f"{number}|t|{text}", f"{number}|a|"]
        for start in (text.index("attack"), text.rindex("attack")):
            lines.append(f"{number}\t{start}\t{start + 6}\tattack\tDisease\tX:{gold}")
        start = text.index("short")
        lines += [f"{number}\t{start}\t{start + 5}\tshort\tDisease\tX:3", ""]
    (folder / "train.PubTator.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def settings(place: Path, output: Path, **changes: Any) -> RerankSettings:
    given: dict[str, Any] = {
        "corpora": (str(place / "train.PubTator.txt"),),
        "index": str(place / "index"),
        "base": str(place / "base"),
        "output": str(output),
        "candidates": 5,
        "shortlist": 2,
        "batch_groups": 4,
        "epochs": EPOCHS,
        "learning_rate": 1e-3,
        "max_length": 48,
        "log_every": 1,
        "device": "cpu",
        "precision": "float32",
    }
    return RerankSettings(**given | changes)


@pytest.fixture(scope="module")
def finished(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nobody interrupted."""
    output = tmp_path_factory.mktemp("finished") / "out"
    train_rerank(settings(place, output))
    return output


def assert_same(output: Path, finished: Path) -> None:
    for name in ("mention", "entity"):
        assert same(*(load_file(folder / name / "model.safetensors") for folder in (output, finished)))
    assert record(output)["result"] == record(finished)["result"]
    assert untimed_metrics(output) == untimed_metrics(finished)


def test_the_record_says_what_was_learned_from_and_the_metrics_how_it_went(finished: Path) -> None:
    said = record(finished)
    assert said["recipe"] == "rerank"
    assert {name: said["data"]["mentions"][name] for name in ("count", "clusters", "left_out")} == {
        "count": 3 * DOCUMENTS,
        "clusters": 2 * DOCUMENTS,
        "left_out": {},
    }
    epochs = [line for line in metrics(finished) if "with_gold" in line]
    assert [line["step"] for line in epochs] == [1, 1 + IN_EPOCH]
    assert 0 < epochs[0]["with_gold"] <= 1
    assert epochs[0]["unit_length"] == epochs[1]["unit_length"] == said["result"]["unit_length"] > 0
    steps = [line for line in metrics(finished) if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, EPOCHS * IN_EPOCH + 1))
    assert steps[0]["radius"] == 11
    assert said["result"]["radius"] == pytest.approx(steps[-1]["radius"], abs=0.02)
    assert said["result"]["radius"] != 11


def test_margin_radius_and_its_rate_are_those_of_the_settings(place: Path, tmp_path: Path) -> None:
    gaps = []
    for number, (changes, margin, radius, rate) in enumerate(
        [
            ({}, 1.6, 11, 0.01),
            ({"margin": 20.0, "radius_spread": 1.5}, 20, 11, 0.01),
            ({"radius": 12.0}, 1.6, 12, 0.01),
            ({"radius_learning_rate": 0.25}, 1.6, 11, 0.25),
        ]
    ):
        output = tmp_path / str(number)
        train_rerank(settings(place, output, scaling="none", max_steps=2, **changes))
        said = record(output)["settings"]
        assert {name: said[name] for name in changes} == changes
        first, second = (line for line in metrics(output) if "loss" in line)
        assert first["radius"] == radius
        # The first step of Adam is as long as the learning rate.
        assert second["radius"] == pytest.approx(radius - rate, abs=1e-5)
        gaps.append(first["loss"] - margin)
    assert gaps == pytest.approx([gaps[0]] * len(gaps), abs=1e-5)


def test_a_radius_that_is_given_is_how_wide_clusters_are_at_first(
    place: Path, finished: Path, tmp_path: Path
) -> None:
    result = train_rerank(settings(place, tmp_path / "out", radius=4.0, max_steps=1))
    assert 4 * result["unit_length"] == pytest.approx(11 * record(finished)["result"]["unit_length"])


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, Any]:
    """Settings of a training with two mentions a document, each of a concept of its own.

    Nothing is spelt like "mi" but itself.
    """
    names = ("X:0", "heart attack", "en", "exact"), ("X:1", "attack", "en", "exact"), ("X:2", "mi", "en", "exact")
    Index.build(vocabulary(*names), encoder=None).save(tmp_path / "index")
    documents = [
        f"{number}|t|An attack of mi.\n{number}|a|\n{number}\t3\t9\tattack\t\tX:1\n{number}\t13\t15\tmi\t\tX:2\n"
        for number in range(3)
    ]
    (tmp_path / "corpus.PubTator.txt").write_text("\n".join(documents), encoding="utf-8")
    return {"corpora": (str(tmp_path / "corpus.PubTator.txt"),), "index": str(tmp_path / "index"), "epochs": 1}


@pytest.mark.parametrize(("counted", "radius"), [(True, pytest.approx(10.98, abs=0.001)), (False, 11)])
def test_clusters_of_one_mention_draw_the_radius_to_0_if_they_count(
    place: Path, tmp_path: Path, alone: dict[str, Any], counted: bool, radius: float
) -> None:
    given = settings(place, tmp_path / "out", radius_singletons=counted, **alone)
    assert train_rerank(given)["radius"] == radius


def test_a_batch_without_any_wrong_candidate_teaches_nothing_and_training_goes_on(
    place: Path, tmp_path: Path, alone: dict[str, Any]
) -> None:
    train_rerank(settings(place, tmp_path / "out", batch_groups=1, **alone))
    steps = [line for line in metrics(tmp_path / "out") if "loss" in line]
    assert [line["loss"] > 0 for line in steps] == [not line["without_negative"] for line in steps]
    assert sorted(line["without_negative"] for line in steps) == [0, 0, 0, 1, 1, 1]


def test_a_file_says_where_wrong_concepts_are_sought(place: Path, tmp_path: Path) -> None:
    given = settings(place, tmp_path / "out", negatives="batch", max_steps=1)
    train_rerank(given)
    assert record(tmp_path / "out")["settings"]["negatives"] == "batch"
    written = tmp_path / "out" / "recipe.toml"
    assert make_settings(RerankSettings, read_recipe(written, "rerank")[0]) == given
    written.write_text(written.read_text(encoding="utf-8").replace('"batch"', '"all"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"recipe.toml:\d+: negatives must be one of own, batch, not 'all'"):
        make_settings(RerankSettings, read_recipe(written, "rerank")[0], path=written)


def test_what_is_written_re_ranks(place: Path, finished: Path) -> None:
    index = Index.load(place / "index")
    (document, *_) = read_corpus(place / "train.PubTator.txt").documents
    links = Linker(index, top_k=5).link(document)
    found = Reranker.load(finished, index.vocabulary).rerank(document, links)
    assert all("context" in one.parts for link in found for one in link.candidates)
    assert Reranker.load(finished, index.vocabulary).rerank(Document("1"), []) == []


def test_as_many_candidates_are_re_ranked_as_were_learned_from(place: Path, finished: Path) -> None:
    index = Index.load(place / "index")
    reranker = Reranker.load(finished, index)
    assert (reranker.candidates, reranker.max_length) == (5, 48)


def test_text_for_as_many_tokens_as_are_read_is_learned_from_and_measured_on(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []

    def counted(document: Document, **named: Any) -> Any:
        asked.append(named.get("max_length"))
        return passages(document, **named)

    monkeypatch.setattr("nymlink.train.mentions.reranker_examples.passages", counted)
    held_out = {"dev": HeldOutCorpus(corpus=str(place / "train.PubTator.txt"), dictionary=str(place / "index"))}
    train_rerank(settings(place, tmp_path / "out", evaluation=held_out, max_steps=1))
    assert asked == [48] * 2 * DOCUMENTS


def test_other_held_out_data_are_another_training(place: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "dev.PubTator.txt"
    corpus.write_text((place / "train.PubTator.txt").read_text(encoding="utf-8"), encoding="utf-8")
    held_out = HeldOutCorpus(corpus=str(corpus), dictionary=str(place / "index"))
    given = settings(place, tmp_path / "out", evaluation={"dev": held_out}, best="dev", max_steps=1)
    train_rerank(given)
    said = record(tmp_path / "out")["data"]["evaluation.dev"]
    assert list(said["corpus"]["files"]) == ["dev.PubTator.txt"]
    # As many mentions, which mean something else.
    corpus.write_text(corpus.read_text(encoding="utf-8").replace("X:3", "X:4"), encoding="utf-8")
    with pytest.raises(InputError, match=r"evaluation\.dev: not the same data"):
        train_rerank(given)


def test_other_candidates_of_held_out_mentions_are_other_data(place: Path, tmp_path: Path) -> None:
    index = Index.load(place / "index")
    index.with_fusion(Fusion.of(["exact", "sparse"], weights={"exact": 1})).save(tmp_path / "index")
    said = [
        RerankerEvaluation(
            HeldOutCorpus(corpus=str(place / "train.PubTator.txt"), dictionary=str(folder / "index")),
            types=(),
            candidates=5,
            max_length=48,
            problems=Problems(),
        ).describe()
        for folder in (place, place, tmp_path)
    ]
    assert said[0] == said[1]
    assert [name for name in said[0] if said[0][name] != said[2][name]] == ["candidates"]


def test_mentions_come_to_what_they_mean(place: Path, tmp_path: Path) -> None:
    held_out = {"train": HeldOutCorpus(corpus=str(place / "train.PubTator.txt"), dictionary=str(place / "index"))}
    given = settings(place, tmp_path / "out", epochs=16, evaluation=held_out, evaluate_every=12)
    result = train_rerank(replace(given, best="train", loss="prototype"))
    figures = [line for line in metrics(tmp_path / "out") if "evaluation" in line]
    assert result["figures"]["train"]["acc@1"] == max(one["acc@1"] for one in figures) > figures[0]["acc@1"]
    assert {one["retrieved@1"] for one in figures} == {figures[0]["retrieved@1"]}
    assert all(one["acc@1"] <= one["acc@5"] <= one["recall"] for one in figures)


@pytest.mark.parametrize("training", [True, False])
def test_stopped_it_goes_on_to_the_same_bits(
    place: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, training: bool
) -> None:
    given = settings(place, tmp_path / "out")
    interrupt_forward(monkeypatch, TorchModel, calls=6 if training else 1, training=training)
    with pytest.raises(StoppedError):
        train_rerank(given)
    (path,) = checkpoint.checkpoints(tmp_path / "out" / "checkpoints").values()
    held = checkpoint.load_epoch_state(path)
    assert set(held) == ({"epoch", "negatives", "unit_length"} if training else set())
    train_rerank(given)
    assert_same(tmp_path / "out", finished)
    assert train_rerank(given) == record(finished)["result"]


def test_what_cannot_be_trained_on_is_said(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(place, tmp_path / "out")
    (tmp_path / "other.txt").write_text(
        "1|t|A fever came.\n1|a|\n1\t2\t7\tfever\tDisease\tY:1\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"annotated with ids of this index.*'unknown id': 1"):
        train_rerank(replace(given, corpora=(str(tmp_path / "other.txt"),)))
    with pytest.raises(StoreError, match="no such index"):
        train_rerank(replace(given, index=str(tmp_path / "nothing")))
    with pytest.raises(InputError, match="max_length 128 is more than the model takes"):
        train_rerank(replace(given, max_length=128))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="rerank runs in one process"):
        train_rerank(given)
    assert not (tmp_path / "out").exists()


def test_the_command_trains_and_explains_itself(place: Path, tmp_path: Path) -> None:
    said = CliRunner().invoke(train, ["rerank", "--help"])
    assert all(f"--{name}" in said.output for name in ("index", "corpus", "recipe", "batch-groups"))
    recipe = tmp_path / "mine.toml"
    recipe.write_text('max_length = 48\nloss = "triplet"\n', encoding="utf-8")
    flags = [("corpus", "train.PubTator.txt"), ("index", "index"), ("base", "base")]
    given = [part for name, file in flags for part in (f"--{name}", str(place / file))]
    given += ["-o", str(tmp_path / "out"), "--recipe", str(recipe), "--max-steps", "1"]
    done = CliRunner().invoke(train, ["rerank", *given])
    assert done.exit_code == 0, done.output
    assert "1 steps, weights of step 1" in done.output
    recipe.write_text("candidates = 1\n", encoding="utf-8")
    refused = CliRunner().invoke(train, ["rerank", *given])
    assert "candidates must be at least 2, not 1" in str(refused.exception)


def test_defaults_are_the_published_settings() -> None:
    given = RerankSettings(corpora=("c",), index="i", base="b", output="o")
    published = {"candidates": 64, "batch_groups": 32, "epochs": 6, "max_length": 128, "learning_rate": 1e-5}
    chosen = {"loss": "prototype-srn", "anchor": "random", "mention_start": "marker"}
    chosen["negatives"] = "own"
    assert {name: getattr(given, name) for name in (*published, *chosen)} == published | chosen
