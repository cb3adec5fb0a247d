"""The tokenizer of a model folder: read without transformers, and written so that it reads the same there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import Lowercase, Sequence

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.encode.model.config import ModelConfig, read_json
from nymlink.encode.model.settings import EncoderSettings, write_json
from nymlink.encode.model.trust import require_plain

_FILE: Final = "tokenizer.json"
_CONFIG: Final = "tokenizer_config.json"
_ROLES: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_WORD_START: Final = "\u2581"
"""SentencePiece's mark of a word's start, a token of its own before what is unknown."""


def load_tokenizer(folder: Path, settings: EncoderSettings) -> Tokenizer:
    """The tokenizer of a folder, set to cut names to the settings' length and not to pad.

    Raises:
        InputError: the folder has none, a damaged one, or one that knows more tokens than the model.
        MissingExtraError: it is in an old form that only transformers reads.
    """
    path = folder / _FILE
    if path.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises nothing more specific.
        except Exception as error:
            raise InputError(f"this is no tokenizer ({error}): fetch the model again", path=path) from error
    else:
        tokenizer = _old_tokenizer(folder)
    words, known = tokenizer.get_vocab_size(), ModelConfig.read(folder).words
    if words > known:
        raise InputError(
            f"tokenizer and model do not belong together: it knows {words:,} tokens, the model {known:,}",
            path=folder,
        )
    if settings.lowercase:
        own = tokenizer.normalizer
        tokenizer.normalizer = Lowercase() if own is None else Sequence([Lowercase(), own])
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_length)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, *, max_length: int, special: dict[str, str]) -> None:
    """Write a tokenizer that transformers takes as it is.

    Its classes for single model families would make a tokenizer of their own from the words alone, without this
    one's normalisation.

    Args:
        tokenizer: what is written.
        folder: a model folder.
        max_length: tokens that transformers cuts to.
        special: role → token (see :func:`special_tokens`); padding needs at least ``pad_token``.
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
    """Which token of a folder's tokenizer is what: ``{"cls_token": "[CLS]", …}``, ``pad_token`` always."""
    found: dict[str, str] = {}
    for name in ("special_tokens_map.json", _CONFIG):
        said: dict[str, Any] = read_json(folder / name, dict) if (folder / name).is_file() else {}
        for role in _ROLES:
            token = said.get(role)
            token = token.get("content") if isinstance(token, dict) else token
            if token is not None:
                found[role] = str(token)
    found.setdefault("pad_token", str(tokenizer.id_to_token(ModelConfig.read(folder).pad_id)))
    return found


def silent_tokens(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids of tokens that say nothing of a name: those put around each name, and what stands for the unknown.

    Where all bytes are known, nothing stands for the unknown.
    """
    if isinstance(tokenizer.model, Unigram):
        # This kind tells the number of its unknown token only as JSON.
        unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
    else:
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    found = {*tokenizer.encode("").ids, unknown, tokenizer.token_to_id(_WORD_START)}
    return frozenset(found - {None})


def _old_tokenizer(folder: Path) -> Tokenizer:
    """A tokenizer kept as a word list, as models have it that are older than the tokenizers library."""
    if not any(any(folder.glob(pattern)) for pattern in ("vocab.*", "*.model")):
        raise InputError(f"the model has no tokenizer ({_FILE})", path=folder)
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("train", purpose=f"a model without {_FILE} ({folder})") from error
    from nymlink.encode.model.quiet import quiet_transformers

    require_plain(folder)
    try:
        with quiet_transformers():
            loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return loaded.backend_tokenizer
    except Exception as error:
        raise InputError(f"the tokenizer cannot be read: {error}", path=folder) from error
