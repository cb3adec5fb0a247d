"""Recipes of several stages: the same as the stages one by one, whatever interrupts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, OutputError
from nymlink.core.store.manifest import find_damage
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.loop import StoppedError
from nymlink.train.names.pair_trainings import train_sap, train_translation
from nymlink.train.names.train_stages import train_stages
from nymlink.train.settings.encoder_trainings import StagesSettings
from nymlink.train.settings.recipes import read_stages
from tests.train.runs import same, sap_settings, train_though_killed, translation_settings, weights

SAP = """
[[stage]]
train = "sap"
base = "{place}/base"
vocab = "{place}/vocab"
batch_pairs = 16
learning_rate = 1e-3
max_steps = 3
log_every = 1
device = "cpu"
checkpoint_minutes = 0
"""
TRANSLATION = """
[[stage]]
train = "translation"
translations = ["{place}/en-xx.txt"]
batch_pairs = 4
learning_rate = 1e-3
epochs = 1
log_every = 1
device = "cpu"
checkpoint_minutes = 0
"""
AGAIN = TRANSLATION.replace("epochs = 1", "epochs = 1\nseed = 1")


@pytest.fixture(scope="module")
def words(place: Path) -> Path:
    """The workplace, with its file of translations."""
    translation_settings(place, place / "unused")
    return place


def recipe(place: Path, output: Path, *stages: str) -> StagesSettings:
    path = output.with_suffix(".toml")
    path.write_text(f'output = "{output}"\n' + "".join(stages).format(place=place), encoding="utf-8")
    return read_stages(path)


@pytest.fixture(scope="module")
def finished(words: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe that nobody interrupted."""
    output = tmp_path_factory.mktemp("finished") / "out"
    train_stages(recipe(words, output, SAP, TRANSLATION))
    return output


def test_stages_are_what_the_trainings_are_one_after_the_other(
    words: Path, finished: Path, tmp_path: Path
) -> None:
    train_sap(sap_settings(words, tmp_path / "first", max_steps=3))
    train_translation(translation_settings(words, tmp_path / "second", base=str(tmp_path / "first"), epochs=1))
    assert same(weights(finished / "1-sap"), weights(tmp_path / "first"))
    assert same(weights(finished / "2-translation"), weights(tmp_path / "second"))
    assert same(weights(finished), weights(tmp_path / "second"))
    TorchModel.load(finished)
    assert find_damage(finished)[1] == []
    record = json.loads((finished / "run.json").read_text(encoding="utf-8"))
    assert [stage["train"] for stage in record["settings"]["stage"]] == ["sap", "translation"]
    assert {name: result["steps"] for name, result in record["result"]["stages"].items()} == {
        "1-sap": 3,
        "2-translation": 3,
    }


def test_a_finished_recipe_is_left_as_it_is_and_its_record_repeats_it(words: Path, finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.is_file()}
    results = train_stages(recipe(words, finished, SAP, TRANSLATION))
    assert [result["steps"] for result in results.values()] == [3, 3]
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.is_file()} == before
    assert read_stages(finished) == recipe(words, finished, SAP, TRANSLATION)


@pytest.mark.large
def test_killed_at_any_time_it_goes_on_to_the_same_bits(words: Path, tmp_path: Path) -> None:
    # Steps enough to be killed between, on a fast machine, too.
    stages = (SAP.replace("max_steps = 3", "max_steps = 8"), TRANSLATION.replace("epochs = 1", "epochs = 5"))
    train_stages(recipe(words, tmp_path / "whole", *stages))
    train_though_killed(train_stages, recipe(words, tmp_path / "out", *stages), output=tmp_path / "out")
    for stage in ("1-sap", "2-translation", ""):
        assert same(weights(tmp_path / "out" / stage), weights(tmp_path / "whole" / stage))


def test_an_interrupt_names_the_stage(
    words: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    settings = recipe(words, tmp_path / "out", SAP, TRANSLATION)
    interrupt_next_step()
    with pytest.raises(
        StoppedError, match="1-sap: stopped after step 1 of 3; the same command continues from there"
    ):
        train_stages(settings)
    assert not (tmp_path / "out" / "model.safetensors").exists()


def test_stages_can_be_added_but_not_changed_exchanged_or_taken_away(words: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    train_stages(recipe(words, output, SAP))
    first = weights(output)
    train_stages(recipe(words, output, SAP, TRANSLATION))
    assert not same(weights(output), first)
    assert same(weights(output), weights(output / "2-translation"))
    changed = TRANSLATION.replace("1e-3", "1e-4")
    for stages, said in [
        ((SAP, changed), r"2-translation: holds a training that differs .*\n  learning_rate: 0\.001 → 0\.0001"),
        ((SAP,), r"2-translation: a stage that the recipe does not have \(1-sap\)\. Choose another output, or re"),
        (
            (SAP, SAP.replace('base = "{place}/base"\n', "")),
            "2-translation: a stage that the recipe does not have",
        ),
    ]:
        with pytest.raises(InputError, match=said):
            train_stages(recipe(words, output, *stages))
    assert same(weights(output), weights(output / "2-translation"))


def test_a_restart_trains_all_stages_anew_and_is_gone_on_with(
    words: Path, finished: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    output = tmp_path / "out"
    train_stages(recipe(words, output, SAP.replace("1e-3", "1e-2"), TRANSLATION, AGAIN))
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    settings = recipe(words, output, SAP, TRANSLATION)
    interrupt_next_step()
    with pytest.raises(StoppedError):
        train_stages(settings, restart=True)
    assert {path.name for path in output.iterdir()} >= {"1-sap", "notes.txt", "run.json"}
    assert not (output / "2-translation").exists()
    assert not (output / "3-translation").exists()
    train_stages(settings)
    assert same(weights(output), weights(finished))
    assert (output / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_an_input_that_is_missing_is_said_before_anything_is_trained(words: Path, tmp_path: Path) -> None:
    settings = recipe(words, tmp_path / "out", SAP, TRANSLATION.replace("en-xx", "en-yy"))
    with pytest.raises(InputError, match=r"en-yy\.txt: no such file or directory"):
        train_stages(settings)
    assert not (tmp_path / "out").exists()


def test_the_folder_of_another_training_is_left_alone(words: Path, finished: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match='training: "sap" → "stages"'):
        train_stages(replace(recipe(words, tmp_path / "out", SAP), output=str(finished / "1-sap")))
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="not the folder of a training"):
        train_stages(replace(recipe(words, tmp_path / "out", SAP), output=str(tmp_path)), restart=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("output = 'o'\n", 'xl.toml: no stage: begin each with a line [[stage]], and train = "sap" below it'),
        ("output = 'o'\nstage = 3\n", "no stage: "),
        ("[[stage]]\ntrain = 'sap'\n", 'no output: add a line output = "FOLDER" at the top, or name it with -o'),
        (
            "output = 'o'\nseed = 3\n[[stage]]\n",
            "xl.toml:2: unknown key: seed; there are: output, stage; settings",
        ),
        ("output = 'o'\n[[stage]]\nbase = 'b'\n", "xl.toml:2: train must be one of sap, translation, finetune, "),
        ("output = 'o'\n[[stage]]\ntrain = 'rerank'\n", "xl.toml:3: train must be one of sap, "),
        ("output = 'o'\n[[stage]]\ntrain = 'sap'\nvocab = 'v'\n", "xl.toml:2: missing settings: base"),
        (
            "output = 'o'\n[[stage]]\ntrain = 'sap'\nbase = 'b'\nvocab = 'v'\n"
            "[[stage]]\ntrain = 'translation'\nvocab = 'v'\n",
            "unknown settings: vocab (line 8); there are: translations, languages, ",
        ),
        (
            "output = 'o'\n[[stage]]\ntrain = 'sap'\nbase = 'b'\nvocab = 'v'\n"
            "[[stage]]\ntrain = 'translation'\ntranslations = ['t']\nbase = 'c'\n",
            "xl.toml:9: base: leave it out: a stage begins with the stage before it",
        ),
        ("output = 'o'\n[[stage]]\ntrain = 'sap'\noutput = 'p'\n", "xl.toml:4: output: leave it out: "),
        (
            "output = 'o'\n[[stage]]\ntrain = 'sap'\nbase = 'b'\nvocab = 'v'\nepochs = 'many'\n",
            "xl.toml:6: epochs must be a whole number, not 'many'",
        ),
        (
            "output = 'o'\n[[stage]]\ntrain = 'sap'\nbase = 'b'\nvocab = 'v'\n"
            "[stage.evaluation.dev]\ncorpus = 'c'\ndictionry = 'd'\n",
            "unknown settings: dictionry (line 8); there are: corpus, dictionary",
        ),
        (
            "output = 'o'\n[[stage]]\ntrain = 'sap'\nbase = 'b'\n",
            "xl.toml:2: give either vocab or pairs, not both",
        ),
        ("[[stage\n", "not a TOML file"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "xl.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_stages(tmp_path / "xl.toml")
    assert said in str(caught.value)


def test_the_example_is_a_recipe() -> None:
    example = Path(__file__).parents[3] / "examples" / "xl.toml"
    assert [stage.name for stage in read_stages(example).stages()] == ["1-sap", "2-translation"]
