"""The tokenizer of an encoder: checks before loading, and its known scripts."""

from __future__ import annotations

import base64
import json
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel
from tokenizers.models import Unigram
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as Normalizers

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.encode.model.encoder_settings import (
    EncoderSettings,
    ModelConfig,
    read_json,
    require_self_contained,
    write_json,
)
from nymlink.encode.model.token_batches import tokenise
from nymlink.text.normalise import HAN, KANA, LATIN, main_script

_PIECES: Final = 100
"""Smallest number of pieces with several letters that a script needs to count as known.

The tokenizer of bert-base-uncased, which was trained on English, has the single letters of most scripts, but at
most 8 such pieces of another script (Cyrillic).
"""

_CHARACTERS: Final = 1000
"""Smallest number of Chinese characters with which Chinese counts as known.

Each character may be a word by itself. The tokenizer of bert-base-uncased has 250.
"""


def known_scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """Collect the scripts in which a tokenizer has pieces of words, and not only single letters.

    The two Japanese kana count as one script: a tokenizer with pieces of one knows both. Latin always counts as
    known.
    """
    decoder = tokenizer.decoder
    pieces: Counter[str] = Counter()
    characters: set[str] = set()
    for piece in tokenizer.get_vocab(with_added_tokens=False):
        # A tokenizer of bytes writes each byte as a letter, so decode its pieces.
        text = decoder.decode([piece]) if isinstance(decoder, ByteLevel) else piece
        script = main_script(text)
        letters = sum(map(str.isalpha, text))
        if script == HAN:
            characters.update(filter(str.isalpha, text))
        if script is not None and letters > 1:
            pieces["Katakana" if script in KANA else script] += 1
    known = {LATIN} | {script for script, count in pieces.items() if count >= _PIECES}
    if len(characters) >= _CHARACTERS:
        known.add(HAN)
    return frozenset(known | KANA if known & KANA else known)


_GROWTH: Final = 64
"""Largest number of characters into which all replacements together may turn one character.

Published models need at most three.
"""
_LONGEST_WORD: Final = 1000
"""Longest word, in characters, that a tokenizer may split into pieces. The time grows with the cube of the length.

Published models have 100.
"""


def require_harmless(path: Path) -> None:
    """Check the file of a tokenizer before the library reads it.

    Raises:
        InputError: the file is not a JSON object, or asks for something harmful.
    """
    tokenizer = read_json(path, dict)
    growth = 1
    for part in _parts(tokenizer.get("normalizer")):
        content = part.get("content")
        if isinstance(content, str):
            growth *= max(len(content), 1)
        if "precompiled_charsmap" in part and not _is_whole(part["precompiled_charsmap"]):
            raise InputError("its map of characters is damaged: fetch the model again", path=path)
    if growth > _GROWTH:
        raise InputError(
            f"its replacements make texts up to {growth:,} times as long, and that was refused: at most {_GROWTH}",
            path=path,
        )
    model = tokenizer.get("model")
    longest = model.get("max_input_chars_per_word") if isinstance(model, dict) else None
    if isinstance(longest, int | float) and longest > _LONGEST_WORD:
        raise InputError(
            f"max_input_chars_per_word is {longest:g}, and that was refused: at most {_LONGEST_WORD}", path=path
        )


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield members
                waiting += members.values()
            case list() as members:
                waiting += members


def _is_whole(packed: Any) -> bool:
    """Whether a map of SentencePiece is complete. It has the size of a tree in 4 bytes, the tree, and texts."""
    try:
        data = base64.b64decode(packed, validate=True)
        (size,) = struct.unpack_from("<I", data)
    except (TypeError, ValueError, struct.error):
        return False
    return size % 4 == 0 and 4 + int(size) <= len(data)


_FILE: Final = "tokenizer.json"
_CONFIG: Final = "tokenizer_config.json"
_ROLES: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_SHOWN: Final = 300

_WORD_START: Final = "\u2581"
"""SentencePiece's mark of the start of a word. Before an unknown word, the mark is a token of its own."""


def load_tokenizer(folder: Path, settings: EncoderSettings) -> Tokenizer:
    """Load the tokenizer of a folder. It truncates names to the length in the settings, and does not pad.

    Raises:
        InputError: the folder has no tokenizer, a damaged tokenizer, or a tokenizer with more tokens than the
            model.
        MissingExtraError: the tokenizer has an old format that only transformers reads, and transformers is not
            installed.
    """
    path = folder / _FILE
    if path.is_file():
        require_harmless(path)
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The tokenizers library raises no more specific error.
        except Exception as error:
            raise InputError(f"not a tokenizer ({_short(error)}): fetch the model again", path=path) from error
    else:
        tokenizer = _load_old_tokenizer(folder)
    config = ModelConfig.read(folder)
    # Switch padding off before the first text: a file may ask for endless padding.
    tokenizer.no_padding()
    try:
        # An empty text gives only the tokens that are placed around each text.
        around = tokenise(tokenizer, [""]).ids.tolist()
    except InputError as error:
        raise InputError(error.message, path=folder) from error
    ids = {*tokenizer.get_vocab().values(), *around}
    if (size := 1 + max(ids, default=0)) > config.vocabulary_size:
        raise InputError(
            f"tokenizer and model do not belong together: the tokenizer has {size:,} tokens, the model "
            f"{config.vocabulary_size:,}",
            path=folder,
        )
    if settings.lowercase:
        own = tokenizer.normalizer
        tokenizer.normalizer = Lowercase() if own is None else Normalizers([Lowercase(), own])
    tokenizer.enable_truncation(settings.max_length)
    return tokenizer


def _short(error: Exception) -> str:
    """Shorten an error of the tokenizers library, which may quote a whole file."""
    text = str(error)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def save_tokenizer(tokenizer: Tokenizer, folder: Path, *, max_length: int, special: dict[str, str]) -> None:
    """Write a tokenizer so that transformers loads it unchanged.

    The tokenizer classes of model families would take only the words, and not this tokenizer's normalisation.

    Args:
        tokenizer: the tokenizer.
        folder: a model folder.
        max_length: most tokens of a name in transformers.
        special: role → token (see :func:`special_tokens`). At least ``pad_token`` is needed, for padding.
    """
    tokenizer.save(str(folder / _FILE))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_length,
        "model_input_names": ["input_ids", "attention_mask"],
        **special,
    }
    write_json(folder / _CONFIG, config)


def special_tokens(folder: Path, tokenizer: Tokenizer) -> dict[str, str]:
    """Read the special tokens of a folder: role → token, for example ``{"cls_token": "[CLS]"}``.

    ``pad_token`` is always among them.
    """
    special: dict[str, str] = {}
    for name in ("special_tokens_map.json", _CONFIG):
        config: dict[str, Any] = read_json(folder / name, dict) if (folder / name).is_file() else {}
        for role in _ROLES:
            token = config.get(role)
            token = token.get("content") if isinstance(token, dict) else token
            if token is not None:
                special[role] = str(token)
    special.setdefault("pad_token", str(tokenizer.id_to_token(ModelConfig.read(folder).pad_id)))
    return special


def uninformative_tokens(tokenizer: Tokenizer) -> frozenset[int]:
    """Collect the ids of the special tokens placed around each name, and of the unknown token.

    A tokenizer of bytes has no unknown token.
    """
    if isinstance(tokenizer.model, Unigram):
        # A Unigram tokenizer gives the id of its unknown token only as JSON.
        unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
    else:
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    tokens = {*tokenizer.encode("").ids, unknown, tokenizer.token_to_id(_WORD_START)}
    return frozenset(tokens - {None})


def _load_old_tokenizer(folder: Path) -> Tokenizer:
    """Load a tokenizer from a list of words, the format of models that are older than the tokenizers library."""
    if not any(any(folder.glob(pattern)) for pattern in ("vocab.*", "*.model")):
        raise InputError(f"the model has no tokenizer ({_FILE})", path=folder)
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("train", purpose=f"a model without {_FILE} ({folder})") from error
    from nymlink.encode.model.torch_model import quiet_transformers

    require_self_contained(folder)
    try:
        with quiet_transformers():
            loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return loaded.backend_tokenizer
    except Exception as error:
        raise InputError(f"the tokenizer cannot be read: {error}", path=folder) from error
