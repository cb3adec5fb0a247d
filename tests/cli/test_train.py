from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import MISSING
from pathlib import Path

import pytest
from click.testing import Result

from nymlink.cli import train as command
from nymlink.core.toml_settings import make_settings, read_toml, settings_of, to_json
from nymlink.index.index import Index
from nymlink.train.losses import LOSSES
from nymlink.train.settings.recipes import SETTINGS, read_recipe, recipes
from tests.cli.conftest import Run
from tests.train.runs import interrupt_next_step, place

__all__ = ["interrupt_next_step", "place"]


@pytest.fixture
def recipe(place: Path, tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(
        f'train = "sap"\nvocab = "{place / "vocab"}"\nbase = "{place / "base"}"\noutput = "{tmp_path / "out"}"\n'
        'batch_pairs = 48\ndevice = "cpu"\nlog_every = 1\n',
        encoding="utf-8",
    )
    return path


@pytest.fixture
def sap(run: Run, recipe: Path) -> Callable[..., Result]:
    """Run `nymlink train sap` with the recipe and further settings in it."""

    def train(*arguments: object, **settings: object) -> Result:
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (recipe.parent / "changed.toml").write_text(recipe.read_text(encoding="utf-8") + lines, encoding="utf-8")
        return run("train", "sap", "--recipe", recipe.parent / "changed.toml", *arguments)

    return train


@pytest.mark.parametrize("name", SETTINGS)
def test_a_recipe_that_is_written_out_lists_all_settings_with_their_defaults(
    run: Run, tmp_path: Path, name: str
) -> None:
    written = run("train", "recipes", name).stdout
    (tmp_path / "mine.toml").write_text(written, encoding="utf-8")
    values, _ = read_recipe(tmp_path / "mine.toml", name)
    said = " ".join(written.replace("\n# ", " ").split())
    for one in settings_of(SETTINGS[name]):
        assert one.help in said
        if one.default in (None, MISSING):
            assert f"\n# {one.name} =\n" in written
        else:
            assert values[one.name] == (list(one.default) if isinstance(one.default, tuple) else one.default)


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_of_a_paper_is_one_of_its_training(run: Run, tmp_path: Path, name: str) -> None:
    assert f"{name} " in run("train", "recipes").stdout
    written = tmp_path / "mine.toml"
    written.write_text(run("train", "recipes", name).stdout, encoding="utf-8")
    training = read_toml(written)["train"]
    values, _ = read_recipe(name, training)
    assert read_recipe(written, training)[0].items() >= values.items()
    needed = {one.name for one in settings_of(SETTINGS[training]) if one.default is MISSING}
    given = {key: ["c"] if key in ("corpora", "translations") else "x" for key in needed}
    made = make_settings(SETTINGS[training], values | given | ({"vocab": "v"} if training == "sap" else {}))
    assert to_json(made).items() >= values.items()
    assert not values.keys() & {*needed, "output", "base", "seed", "device", "evaluation"}


def test_a_recipe_is_of_one_training(run: Run, recipe: Path, tmp_path: Path) -> None:
    wrong = run("train", "finetune", "--recipe", recipe)
    assert wrong.exit_code == 2
    assert f"{recipe}:1: a recipe of `train sap`, not of finetune" in wrong.stderr
    assert "a recipe of `train biosyn`, not of sap" in run("train", "sap", "--recipe", "biosyn-paper").stderr
    none = run("train", "sap", "--recipe", tmp_path / "none.toml")
    assert (
        f"{tmp_path / 'none.toml'}: no such recipe; give a file, the folder of a training, or one of "
        in none.stderr
    )
    assert "no recipe 'bert': there are sap, " in run("train", "recipes", "bert").stderr


def test_a_file_says_what_to_do_and_options_have_the_last_word(
    run: Run, sap: Callable[..., Result], place: Path, tmp_path: Path
) -> None:
    result = sap(
        *("--epochs", 2, "--language", "en", "--evaluate", "dev", place / "processed_dev", place / "vocab"),
        **{"loss": '"circle"', "mining": "false", "epochs": 7, "loss_settings": "{m = 0.25}"},
    )
    assert result.exit_code == 0, result.stderr
    settings = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["settings"]
    chosen = ("epochs", "batch_pairs", "loss", "loss_settings", "mining", "languages")
    assert [settings[name] for name in chosen] == [2, 48, "circle", {"m": 0.25}, False, ["en"]]
    assert f"4 steps, weights of step 4 → {tmp_path / 'out'}" in result.stdout
    assert "dev  acc@1 " in result.stdout
    repeated = run("train", "sap", "--recipe", tmp_path / "out", "-o", tmp_path / "again")
    assert repeated.exit_code == 0, repeated.stderr
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("out", "again")]
    assert weights[0] == weights[1]


def test_an_interrupted_training_says_how_to_go_on_and_does(
    sap: Callable[..., Result], interrupt_next_step: Callable[[], None]
) -> None:
    interrupt_next_step()
    stopped = sap()
    assert stopped.exit_code == 130
    assert stopped.stderr == "stopped after step 1 of 2; the same command continues from there\n"
    assert "2 steps" in sap().stdout
    assert "2 steps" in sap().stdout  # nothing is left to be done
    refused = sap(margin=0.3)
    assert refused.exit_code == 2
    assert "margin: 0.2 → 0.3" in refused.stderr
    assert sap("--restart", margin=0.3).exit_code == 0


def test_stages_say_what_each_made_and_goes_on(
    run: Run, recipe: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    (tmp_path / "en-de.txt").write_text("heart\tHerz\nfever\tFieber\nheart\n", encoding="utf-8")
    lines = recipe.read_text(encoding="utf-8").splitlines(keepends=True)
    sap = "".join(line for line in lines if "output" not in line)
    (tmp_path / "xl.toml").write_text(
        f"[[stage]]\n{sap}"
        f'[[stage]]\ntrain = "translation"\ntranslations = ["{tmp_path / "en-de.txt"}"]\nmax_steps = 1\n',
        encoding="utf-8",
    )
    interrupt_next_step()
    stopped = run("train", "stages", "--recipe", tmp_path / "xl.toml", "-o", tmp_path / "xl")
    assert stopped.exit_code == 130
    assert stopped.stderr == "1-sap: stopped after step 1 of 2; the same command continues from there\n"
    result = run("train", "stages", "--recipe", tmp_path / "xl.toml", "-o", tmp_path / "xl")
    assert result.exit_code == 1, result.stderr  # a line of the translations was left out
    assert result.stdout.splitlines() == [
        f"2 steps, weights of step 2 → {tmp_path / 'xl' / '1-sap'}",
        f"1 steps, weights of step 1 → {tmp_path / 'xl' / '2-translation'}",
        f"the last encoder → {tmp_path / 'xl'}",
    ]
    assert "en-de.txt:3: 1 columns, where the first line has 2" in result.stderr
    refused = run("train", "stages", "--recipe", tmp_path / "en-de.txt")
    assert refused.exit_code == 2
    assert "not a TOML file" in refused.stderr


def test_finetuning_by_options_alone(run: Run, place: Path, tmp_path: Path) -> None:
    result = run(
        *("train", "finetune", "--corpus", place / "processed_dev", "--vocab", place / "vocab"),
        *("--base", place / "base", "-o", tmp_path / "out", "--max-steps", 1, "--device", "cpu"),
    )
    assert result.exit_code == 0, result.stderr
    assert "1 steps" in result.stdout


def test_biosyn_by_options_alone_says_what_to_do_with_the_weight(run: Run, place: Path, tmp_path: Path) -> None:
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
    ("settings", "said"),
    [
        ({"loss": '"multy"'}, "unknown loss 'multy'; known: circle, "),
        ({"loss_settings": 3}, "changed.toml:8: loss_settings must be a table, not 3"),
        ({"loss_settings": "{m = 3}"}, "loss_settings of multi-similarity: "),
        ({"loss_settings": '{epsilon = "abc"}'}, "epsilon must be a finite number, not 'abc'"),
        ({"learning_rate": "inf"}, "learning_rate must be above 0 and finite, not inf"),
        ({"margin": "nan"}, "margin must be a finite number, not nan"),
        ({"lora_rank": 0}, "lora_rank must be at least 1, not 0"),
        ({"adapter_reduction": 0}, "adapter_reduction must be at least 1, not 0"),
        ({"batch": 3}, "changed.toml: unknown settings: batch (line 8)"),
    ],
)
def test_wrong_settings_of_a_recipe_are_said_and_nothing_is_written(
    sap: Callable[..., Result], tmp_path: Path, settings: dict[str, object], said: str
) -> None:
    result = sap(**settings)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--batch-pairs", "1"], "batch_pairs must be at least 2, not 1"),
        (["--best", "dev"], "best must be one of the corpora to evaluate on (there are none), not 'dev'"),
        (["--seed", str(2**64)], "seed must be at least 0 and below"),
        (["--evaluate", "dev", "a", "d", "--evaluate", "dev", "b", "d"], "--evaluate was given twice for 'dev'"),
        (["--device", "cuda"], "no GPU that torch can use"),
        (["--pairs", "p.txt"], "give either vocab or pairs, not both"),
    ],
)
def test_wrong_options_are_said_and_nothing_is_written(
    sap: Callable[..., Result], tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = sap(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_names_of_a_file_of_pairs_are_not_chosen(run: Run, tmp_path: Path) -> None:
    result = run("train", "sap", "--pairs", "p.txt", "--base", "b", "-o", tmp_path / "out", "--language", "en")
    assert result.exit_code == 2
    assert "languages and kinds select names of vocab, not of a file of pairs" in result.stderr
    assert "missing settings: base, output" in run("train", "sap").stderr


def test_losses_are_listed_with_their_settings(run: Run) -> None:
    said = run("train", "losses").stdout
    assert [line.split()[0] for line in said.splitlines()] == list(LOSSES.names())
    assert "alpha = 1.0, beta = 60.0, epsilon = 0.5" in said


def test_without_torch_the_command_to_install_it_is_said(
    sap: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(f"No module named 'torch' ({module})", name="torch")

    monkeypatch.setattr(command, "import_module", missing)
    assert "pip install 'nymlink[train]'" in sap().stderr
