"""Any base: of every architecture and kind of tokenizer, an encoder is trained, saved, loaded and exported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.names.pair_trainings import train_sap, train_translation
from tests.encode.tiny_tokenizers import BASES, WORDS, folder
from tests.train.runs import sap_settings, translation_settings

Made = Callable[[str], Path]


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Make a base of a kind, once."""
    return cache(lambda kind: folder(tmp_path_factory.mktemp("base") / "base", BASES[kind]))


@pytest.fixture(scope="session")
def trained(base: Made, place: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Train a base of a kind, once: a step of self-alignment, then one of translations."""

    @cache
    def train(kind: str) -> Path:
        path = tmp_path_factory.mktemp("trained")
        train_sap(sap_settings(place, path / "sap", base=str(base(kind)), max_steps=1))
        words = path / "words.tsv"
        words.write_text("heart attack\t" + "\nheart attack\t".join(WORDS[3:]) + "\n", encoding="utf-8")
        files = (str(words),)
        train_translation(
            translation_settings(place, path / "out", base=str(path / "sap"), translations=files, max_steps=1)
        )
        return path / "out"

    return train


@pytest.mark.parametrize("kind", BASES)
def test_names_of_all_scripts_get_vectors_of_their_own(trained: Made, kind: str) -> None:
    vectors = Encoder.load(trained(kind)).encode(WORDS)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert len(np.unique(vectors.round(4), axis=0)) == len(WORDS)


@pytest.mark.parametrize("kind", BASES)
def test_the_tokens_are_those_of_the_base(base: Made, trained: Made, kind: str) -> None:
    before, after = (tokenise(TorchModel.load(made(kind)).tokenizer, WORDS) for made in (base, trained))
    assert before.ids.tolist() == after.ids.tolist()
