"""The tokenizer of an encoder, and batches of its tokens."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel
from tokenizers.models import Unigram
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as Normalizers

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.encode.model.settings import (
    EncoderSettings,
    ModelConfig,
    read_json,
    require_self_contained,
    write_json,
)
from nymlink.encode.model.tokens.harmless import require_harmless
from nymlink.text.normalise import HAN, KANA, LATIN, main_script

Ids = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token ids of N names, one after another.

    Attributes:
        ids: int32 (sum of lengths): special tokens included.
        offsets: int64 (N + 1): name ``n`` is ``ids[offsets[n]:offsets[n + 1]]``.
        truncated: how many names were cut.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    truncated: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each name: int64 (N)."""
        return np.diff(self.offsets)

    def informative(self, uninformative: Collection[int]) -> Rows:
        """Rows of the names that have any token but the given ones: int64, ascending."""
        owners = np.repeat(np.arange(len(self)), self.lengths)
        return np.unique(owners[~np.isin(self.ids, list(uninformative))])

    def padded(self, rows: Rows, *, pad_id: int) -> tuple[Ids, Ids]:
        """Pad the ids of some names to the length of the longest of them.

        Args:
            rows: int64 (B): which names.
            pad_id: the id that fills the rows of shorter names.

        Returns:
            int64 (B, T): ids, and int64 (B, T): 1 for a real token, 0 for padding.
        """
        starts, lengths = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        columns = np.arange(lengths.max(initial=0))
        real = columns < lengths[:, None]
        positions = np.where(real, starts[:, None] + columns, 0)
        return np.where(real, self.ids[positions], pad_id).astype(np.int64), real.astype(np.int64)


def tokenise(tokenizer: Tokenizer, names: Sequence[str]) -> Tokens:
    """Tokenise names, cut to the length that :func:`~nymlink.encode.model.tokenizer.load_tokenizer` set.

    Raises:
        InputError: the tokenizer fails, as one whose patterns explode.
    """
    try:
        encodings = tokenizer.encode_batch_fast([_without_surrogates(name) for name in names])
    # What the library panics with is no Exception, and has no public name. Its message may quote a text.
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise InputError(
            f"the tokenizer of the encoder fails ({type(error).__name__}): it is damaged, or its patterns take "
            "too long; fetch the model again"
        ) from error
    ids = [encoding.ids for encoding in encodings]
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    # Names that were cut overflow, and have the greatest length: only these need to be asked.
    longest = np.flatnonzero(lengths == lengths.max(initial=0)).tolist()
    truncated = sum(bool(encodings[at].overflowing) for at in longest)
    return Tokens(np.fromiter(chain.from_iterable(ids), np.int32, offsets[-1]), offsets, truncated)


def plan_batches(lengths: npt.NDArray[np.int64], *, budget: int, padding: float = 0.0) -> Iterator[Rows]:
    """Group names of similar length into batches, the longest first.

    Longest first, so that too little memory is noticed at once.

    Args:
        lengths: int64 (N): tokens of each name.
        budget: the most tokens of a batch, padding included (but never less than one name).
        padding: the share of a batch that may be padding: 0 puts only names of equal length together.

    Yields:
        int64 (B): the names of a batch; each name is in one of them.
    """
    order = np.argsort(-lengths, kind="stable")
    descending = lengths[order].tolist()
    start, tokens = 0, 0
    for end, length in enumerate(descending):
        area = descending[start] * (end + 1 - start)
        if end > start and (area > budget or area - tokens - length > padding * area):
            yield order[start:end]
            start, tokens = end, 0
        tokens += length
    if len(order):
        yield order[start:]


def _without_surrogates(name: str) -> str:
    """Replace the lone surrogates that undecodable input leaves: the tokenizers library accepts none."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


_PIECES: Final = 100
"""Pieces of several letters that a script has at least which is known. Of bert-base-uncased, which was trained on
English and has the single letters of most scripts, Cyrillic has 8, no other one more."""

_CHARACTERS: Final = 1000
"""Chinese characters at least, which are words by themselves; that of English has 250."""


def known_scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """Collect the scripts in which a tokenizer has pieces of words, not letters alone.

    Japanese kana are one script here: where pieces of one of them are known, so is the other. Latin is taken to be
    known to any encoder of names.
    """
    decoder = tokenizer.decoder
    pieces: Counter[str] = Counter()
    characters: set[str] = set()
    for piece in tokenizer.get_vocab(with_added_tokens=False):
        # Tokenizers of bytes write each byte as a letter of its own.
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


_FILE: Final = "tokenizer.json"
_CONFIG: Final = "tokenizer_config.json"
_ROLES: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_SHOWN: Final = 300

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
        require_harmless(path)
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises nothing more specific.
        except Exception as error:
            raise InputError(f"not a tokenizer ({_short(error)}): fetch the model again", path=path) from error
    else:
        tokenizer = _load_old_tokenizer(folder)
    config = ModelConfig.read(folder)
    # Before the first text: a file may ask for padding without end.
    tokenizer.no_padding()
    try:
        # Of an empty text, those that are put around each.
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
    """Format an error of the library, which may quote a whole file."""
    text = str(error)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


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
    from nymlink.encode.model.torch_model import quiet_transformers

    require_self_contained(folder)
    try:
        with quiet_transformers():
            loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return loaded.backend_tokenizer
    except Exception as error:
        raise InputError(f"the tokenizer cannot be read: {error}", path=folder) from error
