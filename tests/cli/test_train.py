from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from nymlink.cli import train as command
from nymlink.index.index import Index
from nymlink.train.losses import LOSSES
from nymlink.train.settings.encoder_recipes import (
    BioSynSettings,
    FinetuneSettings,
    SapSettings,
    TranslationSettings,
)
from nymlink.train.settings.fields import settings_of
from tests.cli.conftest import Run
from tests.train.runs import interrupt_next_step, place

__all__ = ["interrupt_next_step", "place"]


@pytest.fixture
def config(place: Path, tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(
        f'vocab = "{place / "vocab"}"\nbase = "{place / "base"}"\noutput = "{tmp_path / "out"}"\n'
        'batch_pairs = 48\ndevice = "cpu"\nlog_every = 1\n',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("recipe", "cls"),
    [
        ("sap", SapSettings),
        ("translation", TranslationSettings),
        ("finetune", FinetuneSettings),
        ("biosyn", BioSynSettings),
    ],
)
def test_help_lists_every_setting_with_its_default_and_the_papers_value(run: Run, recipe: str, cls: type) -> None:
    said = " ".join(run("train", recipe, "--help").stdout.split())
    assert f"nymlink train {recipe}" in said
    options = {option.name: option for option in command.train.commands[recipe].params}
    for one in settings_of(cls):
        option = options[one.name]
        assert all(name in said for name in option.opts)
        assert (one.flag or "--" + one.name.replace("_", "-")) in option.opts
        if isinstance(one.default, int | float | str) and not isinstance(one.default, bool):
            assert f"default: {one.default}" in option.help
        if one.paper:
            assert f"paper: {one.paper}" in option.help
    assert set(options) == {one.name for one in settings_of(cls)} | {"config", "restart"}


@pytest.mark.parametrize("recipe", ["sap", "translation", "finetune", "biosyn", "rerank", "cross-encoder"])
def test_help_says_what_a_setting_is_called_in_a_file(run: Run, recipe: str) -> None:
    said = " ".join(run("train", recipe, "--help").stdout.split())
    assert "a setting has the name that the help of its option gives" in said
    for option in command.train.commands[recipe].params:
        as_option = option.name.replace("_", "-")
        if option.name not in ("config", "restart") and (
            f"--{as_option}" not in option.opts or f"--no-{as_option}" in option.secondary_opts
        ):
            assert f"in CONFIG: {option.name}" in option.help


def test_a_file_says_what_to_do_and_flags_have_the_last_word(
    run: Run, config: Path, place: Path, tmp_path: Path
) -> None:
    result = run(
        *("train", "sap", config, "--epochs", 2, "--loss", "circle", "--loss-setting", "m=0.25", "--no-mining"),
        *("--language", "en", "--evaluate", "dev", place / "processed_dev", place / "vocab"),
    )
    assert result.exit_code == 0, result.stderr
    settings = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["settings"]
    chosen = ("epochs", "batch_pairs", "loss", "loss_settings", "mining", "languages")
    assert [settings[name] for name in chosen] == [2, 48, "circle", {"m": 0.25}, False, ["en"]]
    assert f"4 steps, weights of step 4 → {tmp_path / 'out'}" in result.stdout
    assert "dev  acc@1 " in result.stdout
    repeated = run("train", "sap", tmp_path / "out" / "config.toml", "-o", tmp_path / "again")
    assert repeated.exit_code == 0, repeated.stderr
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("out", "again")]
    assert weights[0] == weights[1]


def test_an_interrupted_training_says_how_to_go_on_and_does(
    run: Run, config: Path, interrupt_next_step: Callable[[], None]
) -> None:
    interrupt_next_step()
    stopped = run("train", "sap", config)
    assert stopped.exit_code == 130
    assert stopped.stderr == "stopped after step 1 of 2; the same command goes on from there\n"
    assert "2 steps" in run("train", "sap", config).stdout
    assert "2 steps" in run("train", "sap", config).stdout  # nothing is left to be done
    refused = run("train", "sap", config, "--margin", "0.3")
    assert refused.exit_code == 2
    assert "margin: 0.2 → 0.3" in refused.stderr
    assert run("train", "sap", config, "--margin", "0.3", "--restart").exit_code == 0


def test_a_recipe_says_what_each_stage_made_and_goes_on(
    run: Run, config: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    (tmp_path / "en-de.txt").write_text("heart\tHerz\nfever\tFieber\nheart\n", encoding="utf-8")
    sap = "".join(
        line for line in config.read_text(encoding="utf-8").splitlines(keepends=True) if "output" not in line
    )
    (tmp_path / "xl.toml").write_text(
        f'[[stage]]\ntrain = "sap"\n{sap}'
        f'[[stage]]\ntrain = "translation"\ntranslations = ["{tmp_path / "en-de.txt"}"]\nmax_steps = 1\n',
        encoding="utf-8",
    )
    interrupt_next_step()
    stopped = run("train", "recipe", tmp_path / "xl.toml", "-o", tmp_path / "xl")
    assert stopped.exit_code == 130
    assert stopped.stderr == "1-sap: stopped after step 1 of 2; the same command goes on from there\n"
    result = run("train", "recipe", tmp_path / "xl.toml", "-o", tmp_path / "xl")
    assert result.exit_code == 1, result.stderr  # a line of the translations was left out
    assert result.stdout.splitlines() == [
        f"2 steps, weights of step 2 → {tmp_path / 'xl' / '1-sap'}",
        f"1 steps, weights of step 1 → {tmp_path / 'xl' / '2-translation'}",
        f"the last encoder → {tmp_path / 'xl'}",
    ]
    assert "en-de.txt:3: 1 columns, where the first line has 2" in result.stderr
    refused = run("train", "recipe", tmp_path / "en-de.txt")
    assert refused.exit_code == 2
    assert "not a TOML file" in refused.stderr


def test_finetuning_by_flags_alone(run: Run, place: Path, tmp_path: Path) -> None:
    result = run(
        *("train", "finetune", "--corpus", place / "processed_dev", "--vocab", place / "vocab"),
        *("--base", place / "base", "-o", tmp_path / "out", "--max-steps", 1, "--device", "cpu"),
    )
    assert result.exit_code == 0, result.stderr
    assert "1 steps" in result.stdout


def test_biosyn_by_flags_alone_says_what_to_do_with_the_weight(run: Run, place: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = run(
        *("train", "biosyn", "--corpus", place / "processed_dev", "--vocab", place / "vocab"),
        *("--base", place / "base", "-o", output, "--epochs", 2, "--device", "cpu"),
    )
    assert result.exit_code == 0, result.stderr
    assert "2 steps" in result.stdout
    built, fused = (shlex.split(line) for line in result.stdout.splitlines()[-2:])
    places = {"VOCAB": place / "vocab", "INDEX": tmp_path / "index"}
    for words in (built, fused):
        done = run(*(places.get(word, word) for word in words[1:]))
        assert done.exit_code == 0, done.stderr
    weights = json.loads((output / "run.json").read_text(encoding="utf-8"))["result"]["fusion"]
    fusion = Index.load(tmp_path / "index").fusion.weights
    assert {name: fusion[name] for name in weights} == pytest.approx(weights, abs=1e-2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--batch-pairs", "1"], "batch_pairs must be at least 2, not 1"),
        (["--loss", "multy"], "unknown loss 'multy'; known: circle, "),
        (["--loss-setting", "m"], "'m' is not of the form NAME=VALUE"),
        (["--loss-setting", "m=3"], "loss_settings of multi-similarity: "),
        (["--loss-setting", "epsilon=abc"], "epsilon must be a finite number, not 'abc'"),
        (["--learning-rate", "inf"], "learning_rate must be above 0 and finite, not inf"),
        (["--margin", "nan"], "margin must be a finite number, not nan"),
        (["--best", "dev"], "best must be one of the corpora to evaluate on (there are none), not 'dev'"),
        (["--seed", str(2**64)], "seed must be at least 0 and below"),
        (["--lora-rank", "0"], "lora_rank must be at least 1, not 0"),
        (["--adapter-reduction", "0"], "adapter_reduction must be at least 1, not 0"),
        (["--loss-setting", "alpha=1", "--loss-setting", "alpha=2"], "--loss-setting was given twice for 'alpha'"),
        (["--evaluate", "dev", "a", "d", "--evaluate", "dev", "b", "d"], "--evaluate was given twice for 'dev'"),
        (["--device", "cuda"], "no GPU that torch can use"),
        (["--pairs", "p.txt"], "give either vocab or pairs, not both"),
    ],
)
def test_wrong_settings_are_said_and_nothing_is_written(
    run: Run, config: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = run("train", "sap", config, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("chosen", [("--language", "en"), ("--kind", "exact")])
def test_names_of_a_file_of_pairs_are_not_chosen(run: Run, tmp_path: Path, chosen: tuple[str, str]) -> None:
    result = run("train", "sap", "--pairs", "p.txt", "--base", "b", "-o", tmp_path / "out", *chosen)
    assert result.exit_code == 2
    assert "languages and kinds select names of vocab, not of a file of pairs" in result.stderr


def test_wrong_files_are_said(run: Run, tmp_path: Path) -> None:
    assert "missing settings: base, output" in run("train", "sap").stderr
    path = tmp_path / "c.toml"
    path.write_text("batch = 3\n", encoding="utf-8")
    assert f"{path}: unknown settings: batch (line 1)" in run("train", "sap", path).stderr
    assert "no such file" in run("train", "sap", tmp_path / "none.toml").stderr


def test_losses_are_listed_with_their_settings(run: Run) -> None:
    said = run("train", "losses").stdout
    assert [line.split()[0] for line in said.splitlines()] == list(LOSSES.names())
    assert "alpha = 1.0, beta = 60.0, epsilon = 0.5" in said


def test_without_torch_the_command_to_install_it_is_said(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(f"No module named 'torch' ({module})", name="torch")

    monkeypatch.setattr(command, "import_module", missing)
    assert "pip install 'nymlink[train]'" in run("train", "sap", config).stderr
