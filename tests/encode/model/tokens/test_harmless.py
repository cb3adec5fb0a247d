"""Tokenizers that would end the process, or take endless time or memory, are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.tokenizer import load_tokenizer
from tests.encode import tiny

_PADDING = {"direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tokenizer, and the configuration of a model with as many tokens and more."""
    tiny.tokenizer().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": 120}), encoding="utf-8")
    return tmp_path


def saying(folder: Path, **parts: Any) -> Path:
    """Let a tokenizer say something else."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **parts}), encoding="utf-8")
    return folder


def replacing(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def model(folder: Path, **parts: Any) -> dict[str, Any]:
    value = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    return {**value, **parts}


def test_replacements_that_make_texts_grow(folder: Path) -> None:
    growing = {"type": "Sequence", "normalizers": [replacing("x", "x" * 10)] * 12}
    with pytest.raises(InputError, match=r"tokenizer\.json: its replacements make texts up to 1,000,000,000,000"):
        load_tokenizer(saying(folder, normalizer=growing), EncoderSettings())


@pytest.mark.parametrize("packed", ["//////8=", "", "?", 5, "AwAAAAAA"])
def test_a_map_of_characters_that_is_not_whole(folder: Path, packed: object) -> None:
    with pytest.raises(InputError, match="its map of characters is damaged"):
        load_tokenizer(
            saying(folder, normalizer={"type": "Precompiled", "precompiled_charsmap": packed}), EncoderSettings()
        )


def test_words_without_end(folder: Path) -> None:
    changed = saying(folder, model=model(folder, max_input_chars_per_word=2**62))
    with pytest.raises(InputError, match=r"max_input_chars_per_word is 4\.61169e\+18.*at most 1000"):
        load_tokenizer(changed, EncoderSettings())


def test_padding_without_end(folder: Path) -> None:
    changed = saying(folder, padding={"strategy": {"Fixed": 2**40}, **_PADDING})
    assert load_tokenizer(changed, EncoderSettings()).encode("x").ids[0] == 2


def test_tokens_that_the_model_does_not_have(folder: Path) -> None:
    words = model(folder)["vocab"]
    changed = saying(folder, model=model(folder, vocab={**words, "heart": 1_000_000}))
    with pytest.raises(InputError, match="has 1,000,001 tokens, the model 120"):
        load_tokenizer(changed, EncoderSettings())


def test_tokens_put_around_a_name_that_the_model_does_not_have(folder: Path) -> None:
    around = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [5000], "tokens": ["[CLS]"]}},
    }
    with pytest.raises(InputError, match="has 5,001 tokens"):
        load_tokenizer(saying(folder, post_processor=around), EncoderSettings())


@pytest.mark.parametrize("pad_id", [-1, 120, 2**70])
def test_padding_with_a_token_that_the_model_does_not_have(folder: Path, pad_id: int) -> None:
    (folder / "config.json").write_text(json.dumps({"vocab_size": 120, "pad_token_id": pad_id}), encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json: .*pad_token_id"):
        load_tokenizer(folder, EncoderSettings())


def test_a_pattern_that_explodes(folder: Path) -> None:
    tokenizer = load_tokenizer(saying(folder, normalizer=replacing("(x+x+)+y", "z")), EncoderSettings())
    with pytest.raises(InputError, match="the tokenizer of the encoder fails") as caught:
        tokenise(tokenizer, ["x" * 1000])
    assert "xx" not in str(caught.value)


def test_no_unknown_token(folder: Path) -> None:
    tokenizer = load_tokenizer(saying(folder, model=model(folder, unk_token="none")), EncoderSettings())
    with pytest.raises(InputError, match="the tokenizer of the encoder fails"):
        tokenise(tokenizer, ["?"])


def test_a_token_around_names_that_is_not_described(folder: Path) -> None:
    around = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "none", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {},
    }
    with pytest.raises(InputError, match="the tokenizer of the encoder fails"):
        load_tokenizer(saying(folder, post_processor=around), EncoderSettings())
