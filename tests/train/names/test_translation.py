"""The stage of translations: it learns, stops and goes on, and pushes no translations of a word apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import nymlink
from nymlink.core.errors import InputError
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.translations import TranslationPairs, Translations
from nymlink.train.engine.loop import StoppedError
from nymlink.train.engine.optimiser import Precision
from nymlink.train.losses.base import Loss
from nymlink.train.losses.pairwise import MultiSimilarity
from nymlink.train.names.pair_trainings import train_translation
from nymlink.train.names.self_alignment import NameBatches, SelfAlignmentTask
from nymlink.train.settings.encoder_trainings import TranslationSettings
from tests.train.runs import same, translation_settings, weights


def test_translations_come_together(place: Path, tmp_path: Path) -> None:
    settings = translation_settings(place, tmp_path / "out", epochs=8)
    assert nymlink.train_translation(settings)["steps"] == 8 * 3
    losses = [
        json.loads(line)["loss"]
        for line in (tmp_path / "out" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert np.mean(losses[-6:]) < np.mean(losses[:6])
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["recipe"] == "translation"
    assert record["data"]["pairs"] == {"count": 11}
    (described,) = record["data"]["translations"]
    assert (described["languages"], described["pairs"], described["same_word_on_both_sides"]) == ("en-xx", 11, 0)


def test_defaults_are_the_papers() -> None:
    settings = TranslationSettings(translations=("en-tr.txt",), base="b", output="o")
    assert (settings.epochs, settings.batch_pairs, settings.learning_rate) == (5, 256, 2e-5)
    assert (settings.loss, settings.mining, settings.margin) == ("multi-similarity", True, 0.2)


def test_it_stops_and_goes_on_to_the_same_bits(
    place: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    whole = translation_settings(place, tmp_path / "whole")
    train_translation(whole)
    parts = replace(whole, output=str(tmp_path / "parts"))
    interrupt_next_step()
    with pytest.raises(StoppedError, match="after step 1 of 6"):
        train_translation(parts)
    train_translation(parts)
    assert same(weights(tmp_path / "parts"), weights(tmp_path / "whole"))


def test_other_translations_are_refused(place: Path, tmp_path: Path) -> None:
    settings = translation_settings(place, tmp_path / "out", max_steps=1)
    train_translation(settings)
    (tmp_path / "others.txt").write_text("heart kalp\n", encoding="utf-8")
    with pytest.raises(InputError, match="translations: not the same data"):
        train_translation(replace(settings, translations=(str(tmp_path / "others.txt"),)))


@pytest.mark.parametrize("languages", ["en", "en-en"])
def test_languages_that_are_not_two_are_refused(place: Path, tmp_path: Path, languages: str) -> None:
    with pytest.raises(ValueError, match="languages must be two different language codes"):
        translation_settings(place, tmp_path / "out", languages=languages)


@pytest.mark.parametrize("mining", [True, False])
def test_translations_of_a_word_are_no_negatives_of_each_other(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mining: bool
) -> None:
    left, right = ["heart", "heart", "fever"], ["attack", "seizure", "origin"]
    pairs = TranslationPairs([Translations(Path("words"), None, left, right, 0)])
    settings = translation_settings(place, tmp_path / "out", mining=mining, margin=9.0)
    model = TorchModel.load(settings.base)
    batches = NameBatches(pairs, size=4, tokenizer=model.tokenizer)
    masks = []

    def keep(_: Loss, cosines: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
        masks.extend([positives, negatives])
        return cosines.sum() * 0

    monkeypatch.setattr(MultiSimilarity, "__call__", keep)
    task = SelfAlignmentTask(
        model, batches, MultiSimilarity(), settings, Precision("float32", torch.device("cpu"))
    )
    task.backward(batches.batch(0, epoch=0))
    batch = pairs.slice(0, 3, epoch=0)
    rows = list(zip((*batch.left, *batch.right), (*batch.concepts, *batch.concepts), strict=True))
    positives, negatives = masks
    for row, (name, label) in enumerate(rows):
        for column, (other, its_label) in enumerate(rows):
            assert positives[row, column] == (label == its_label and row != column)
            apart = {name, other} & {"fever", "origin"} and not {name, other} <= {"fever", "origin"}
            assert negatives[row, column] == bool(apart)
