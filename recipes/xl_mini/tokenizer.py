"""The tokenizer: Unigram pieces over names in all languages (Kudo, ACL 2018), and frequent words as pieces."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Lowercase
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import UnigramTrainer

from nymlink.core.store.atomic import atomic_file

PIECES: Final = 64_000
"""Pieces learned from names."""

WORDS: Final = 36_000
"""Frequent words of the languages that become pieces, too."""

TEMPERATURE: Final = 0.5
"""Exponent of a language's number of names in its share of the sample: 1 as they are, 0 all languages alike."""

SAMPLE: Final = 1_500_000
"""Names that the pieces are learned from at most; those of a small language several times."""

SPECIAL: Final = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
"""Special tokens by role, in the order of their ids."""

_WORD_START: Final = "▁"
_LONGEST: Final = 16
"""Characters of a piece."""


def make(folder: Path, words: Iterable[str], *, seed: int) -> Path:
    """Write ``tokenizer.json``, unless it is there: pieces of the names of the folder, and frequent words."""
    path = folder / "tokenizer.json"
    if not path.exists():
        names = read_names(folder)
        size = min(SAMPLE, 2 * sum(map(len, names.values())))
        tokenizer = with_words(train(sample(names, size=size, seed=seed)), words)
        with atomic_file(path) as partial:
            tokenizer.save(str(partial))
    return path


def read_names(folder: Path) -> dict[str, list[str]]:
    """Read the distinct names learned from, by language."""
    names = defaultdict[str, dict[str, None]](dict)
    pairs = pq.read_table(folder / "translations.parquet")
    for english, name, language in zip(
        *(pairs[c].to_pylist() for c in ("english", "name", "language")), strict=True
    ):
        names[language][name] = names["en"][english] = None
    names["en"].update(dict.fromkeys(pq.read_table(folder / "english.parquet")["name"].to_pylist()))
    return {language: list(found) for language, found in names.items()}


def sample(
    names: Mapping[str, Sequence[str]], *, size: int, temperature: float = TEMPERATURE, seed: int
) -> Iterator[str]:
    """Draw names of all languages; the share of each is its number of names to the power of a temperature."""
    draw = random.Random(seed)
    weights = {language: len(own) ** temperature for language, own in names.items()}
    for language, own in sorted(names.items()):
        wanted = round(size * weights[language] / sum(weights.values()))
        for _ in range(wanted // len(own)):
            yield from own
        yield from draw.sample(own, wanted % len(own))


def train(names: Iterable[str], *, pieces: int = PIECES) -> Tokenizer:
    """Learn pieces from names: NFKC and lower case first, the start of a word marked."""
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = Normalizers([NFKC(), Lowercase()])
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.train_from_iterator(
        names,
        UnigramTrainer(
            vocab_size=pieces,
            special_tokens=list(SPECIAL.values()),
            unk_token=SPECIAL["unk_token"],
            max_piece_length=_LONGEST,
            show_progress=False,
        ),
    )
    start, end = SPECIAL["cls_token"], SPECIAL["sep_token"]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A {end}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (start, end)],
    )
    return tokenizer


def with_words(tokenizer: Tokenizer, words: Iterable[str], *, most: int = WORDS) -> Tokenizer:
    """Add words as pieces, as probable as the pieces that they had before.

    Args:
        tokenizer: Unigram pieces.
        words: prepared words, the most frequent first. Those of a single piece are skipped.
        most: number of words that become pieces.
    """
    layout = json.loads(tokenizer.to_str())
    known: list[list[Any]] = layout["model"]["vocab"]
    unknown = layout["model"]["unk_id"]
    added = dict[str, float]()
    for word in words:
        ids = tokenizer.encode(word, add_special_tokens=False).ids
        if len(ids) > 1 and unknown not in ids and len(added) < most:
            # A little more than all its pieces together: otherwise they might win.
            added[f"{_WORD_START}{word}"] = sum(known[piece][1] for piece in ids) + 1e-3
    known += [[piece, score] for piece, score in added.items()]
    return Tokenizer.from_str(json.dumps(layout))


def report(tokenizers: Mapping[str, Tokenizer], names: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Count tokens a name, and the share of names with an unknown piece, by language and tokenizer."""
    rows = []
    for language, own in names.items():
        row = {"language": language, "names": f"{len(own):,}"}
        for name, tokenizer in tokenizers.items():
            unknown = tokenizer.token_to_id(SPECIAL["unk_token"])
            encoded = [encoding.ids for encoding in tokenizer.encode_batch_fast(own, add_special_tokens=False)]
            row[f"{name}: tokens a name"] = f"{sum(map(len, encoded)) / len(own):.1f}"
            row[f"{name}: unknown, %"] = f"{100 * sum(unknown in ids for ids in encoded) / len(own):.1f}"
        rows.append(row)
    return rows
