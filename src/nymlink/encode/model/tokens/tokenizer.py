"""Reading the tokenizer of a model folder without transformers, and writing it so that it reads the same there."""

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
from nymlink.encode.model.trust import require_self_contained

_FILE: Final = "tokenizer.json"
_CONFIG: Final = "tokenizer_config.json"
_ROLES: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_WORD_START: Final = "\u2581"
"""SentencePiece's mark of the start of a word: a token of its own before an unknown word."""


def load_tokenizer(folder: Path, settings: EncoderSettings) -> Tokenizer:
    """Load the tokenizer of a folder, set to cut names to the settings' length and not to pad.

    Raises:
        InputError: the folder has none, a damaged one, or one that knows more tokens than the model.
        MissingExtraError: it is in an old format that only transformers reads.
    """
    path = folder / _FILE
    if path.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises nothing more specific.
        except Exception as error:
            raise InputError(f"not a tokenizer ({error}): fetch the model again", path=path) from error
    else:
        tokenizer = _load_old_tokenizer(folder)
    size, model_size = tokenizer.get_vocab_size(), ModelConfig.read(folder).vocabulary_size
    if size > model_size:
        raise InputError(
            f"tokenizer and model do not belong together: the tokenizer has {size:,} tokens, the model "
            f"{model_size:,}",
            path=folder,
        )
    if settings.lowercase:
        own = tokenizer.normalizer
        tokenizer.normalizer = Lowercase() if own is None else Sequence([Lowercase(), own])
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_length)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, *, max_length: int, special: dict[str, str]) -> None:
    """Write a tokenizer so that transformers loads it unchanged.

    The tokenizer classes of single model families would be built from the words alone, without this one's
    normalisation.

    Args:
        tokenizer: the tokenizer.
        folder: a model folder.
        max_length: the number of tokens that transformers cuts to.
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
    """Read the special tokens of a folder by role: ``{"cls_token": "[CLS]", …}``, ``pad_token`` always."""
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
    """Collect the ids of special tokens that are put around each name, and of the unknown token.

    A tokenizer that knows all bytes has no unknown token.
    """
    if isinstance(tokenizer.model, Unigram):
        # This kind gives the id of its unknown token only as JSON.
        unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
    else:
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    tokens = {*tokenizer.encode("").ids, unknown, tokenizer.token_to_id(_WORD_START)}
    return frozenset(tokens - {None})


def _load_old_tokenizer(folder: Path) -> Tokenizer:
    """Load a tokenizer from a word list: models older than the tokenizers library have one."""
    if not any(any(folder.glob(pattern)) for pattern in ("vocab.*", "*.model")):
        raise InputError(f"the model has no tokenizer ({_FILE})", path=folder)
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("train", purpose=f"a model without {_FILE} ({folder})") from error
    from nymlink.encode.model.quiet import quiet_transformers

    require_self_contained(folder)
    try:
        with quiet_transformers():
            loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return loaded.backend_tokenizer
    except Exception as error:
        raise InputError(f"the tokenizer cannot be read: {error}", path=folder) from error
