"""The second stage of nymlink-mini learns the order of candidates; what it gives on toys means nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.rank.features import NAMES
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import teach
from recipes.asked import Asked

NAMES_OF = ["epilepsy", "fit of laughter", "seizure disorder", "fitness"]


def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[teach.Example]:
    """Make the examples of one question, of which the third candidate is right and the first its relative."""
    described = np.full((1, 5, len(NAMES)), np.nan, np.float32)
    described[0, :4] = np.random.default_rng(0).random((4, len(NAMES)))
    right = np.array([[False, False, True, False, False]])
    found = Asked(described, right, ["fits"], [[*NAMES_OF, ""]], np.zeros(1, np.int64), np.zeros(1, np.int64))
    monkeypatch.setattr(teach, "COUNTS", {"toy": 1})
    monkeypatch.setattr(teach, "kept", lambda *_: found)
    monkeypatch.setattr(teach, "relatives", lambda _: {"seizure disorder": {"epilepsy"}})
    monkeypatch.setattr(Vocabulary, "load", lambda _: None)
    return teach.examples_of(tmp_path, tmp_path, tmp_path)


def test_aims_are_of_the_ranker_the_right_one_and_its_relatives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(teach, "OF_RANKER", 0.0)
    (example,) = asked(monkeypatch, tmp_path)
    aim = dict(zip(example.names, example.aim, strict=True))
    assert example.text == "fits"
    assert aim == pytest.approx(dict.fromkeys(NAMES_OF, 0.0) | {"seizure disorder": 0.9, "epilepsy": 0.1})
    monkeypatch.setattr(teach, "OF_RANKER", 0.5)
    (example,) = asked(monkeypatch, tmp_path)
    aim = dict(zip(example.names, example.aim, strict=True))
    assert sum(aim.values()) == pytest.approx(1)
    assert min(aim.values()) > 0
    assert aim["seizure disorder"] >= 0.45


def test_the_right_name_comes_nearer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(teach, "OF_RANKER", 0.0)
    monkeypatch.setattr(teach, "EPOCHS", 4)
    examples = asked(monkeypatch, tmp_path)
    taught = teach.teach(examples)
    taught.save(tmp_path / "taught")

    def ahead(encoder: Encoder) -> float:
        text, right, wrong = encoder.encode(["fits", "seizure disorder", "fit of laughter"])
        return float(text @ (right - wrong))

    assert ahead(Encoder.load(tmp_path / "taught")) > ahead(Encoder.load(MINI)) + 0.02
