"""Scripts in which a tokenizer has words."""

from __future__ import annotations

from itertools import product

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.encode.model.tokenizer import known_scripts
from tests.encode import tiny

WORDS = ["".join(letters) for letters in product("абвгд", repeat=3)]
"""125 words of Cyrillic letters."""


def unigram(pieces: list[str]) -> Tokenizer:
    """A tokenizer with these pieces, as XLM-R's is."""
    return Tokenizer(models.Unigram([("<unk>", 0.0), *((piece, -1.0) for piece in pieces)], unk_id=0))


def byte_pairs(words: list[str]) -> Tokenizer:
    """A tokenizer that has learned byte pairs of these words, as RoBERTa's is."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=2000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(words * 2, trainer)
    return tokenizer


def test_the_embedded_encoder_knows_latin_letters_only() -> None:
    assert Encoder.load(MINI).known_scripts == {"Latin"}


@pytest.mark.parametrize(
    ("tokenizer", "scripts"),
    [
        (tiny.tokenizer(), {"Latin"}),
        (unigram(WORDS), {"Latin", "Cyrillic"}),
        (unigram([f"▁{word}" for word in WORDS]), {"Latin", "Cyrillic"}),
        (unigram(WORDS[:99]), {"Latin"}),
        (unigram([chr(code) for code in range(ord("а"), ord("я"))]), {"Latin"}),
        (unigram([chr(code) for code in range(0x4E00, 0x4E00 + 1000)]), {"Latin", "Han"}),
        (unigram([chr(code) for code in range(0x4E00, 0x4E00 + 250)]), {"Latin"}),
        (
            unigram(["".join(letters) for letters in product("アイウエオ", repeat=3)]),
            {"Latin", "Hiragana", "Katakana"},
        ),
        (byte_pairs(WORDS), {"Latin", "Cyrillic"}),
        (byte_pairs(["heart", "attack"]), {"Latin"}),
    ],
)
def test_a_script_is_known_by_pieces_of_words(tokenizer: Tokenizer, scripts: set[str]) -> None:
    assert known_scripts(tokenizer) == scripts
