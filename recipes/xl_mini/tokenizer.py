"""The tokenizer: Unigram pieces over names in all languages (Kudo, ACL 2018), and frequent words as pieces.

The student of E5 has the pieces of E5 that these names and words use.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
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

E5_PIECES: Final = 90_000
"""Pieces of E5 that are kept."""

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

E5_SPECIAL: Final = {
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
"""Special tokens of multilingual-e5-small by role."""

_WORD_START: Final = "▁"
_LONGEST: Final = 16
"""Characters of a piece."""


def make(folder: Path, words: Iterable[str], *, e5: Tokenizer | None, seed: int) -> Path:
    """Write ``tokenizer.json``, unless it is there: pieces of the names of the folder, and frequent words.

    Args:
        folder: has the names.
        words: frequent words.
        e5: Unigram pieces to choose from; ``None`` to learn pieces.
        seed: of the sample that pieces are learned from.
    """
    path = folder / "tokenizer.json"
    if not path.exists():
        names = read_names(folder)
        if e5 is None:
            size = min(SAMPLE, 2 * sum(map(len, names.values())))
            tokenizer = with_words(train(sample(names, size=size, seed=seed)), words)
        else:
            tokenizer = cut(e5, chain(*names.values(), words))
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


def cut(e5: Tokenizer, texts: Iterable[str], *, pieces: int = E5_PIECES) -> Tokenizer:
    """Keep the pieces of some texts. The texts keep their pieces, because the others were less probable for them.

    Args:
        e5: Unigram pieces.
        texts: names and words.
        pieces: number of pieces that are kept. The rarest in the texts are dropped first.

    Returns:
        The tokenizer with the kept pieces, in the order of the given one. It lower-cases a text first.
    """
    counts = Counter[int]()
    for block in _blocks(texts):
        counts.update(chain.from_iterable(encoding.ids for encoding in e5.encode_batch_fast(block)))
    layout = json.loads(e5.to_str())
    known: list[list[Any]] = layout["model"]["vocab"]
    # Pieces of E5 are in the order of their probability.
    rank = sorted(
        range(len(known)), key=lambda piece: (known[piece][0] not in E5_SPECIAL.values(), -counts[piece])
    )
    kept = [known[piece] for piece in sorted(rank[:pieces])]
    place = {piece: number for number, (piece, _) in enumerate(kept)}
    layout["model"] |= {"vocab": kept, "unk_id": place[E5_SPECIAL["unk_token"]]}
    for token in layout["added_tokens"]:
        token["id"] = place[token["content"]]
    for token, entry in layout["post_processor"]["special_tokens"].items():
        entry["ids"] = [place[token]]
    layout["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, layout["normalizer"]]}
    return Tokenizer.from_str(json.dumps(layout))


def _blocks(texts: Iterable[str], size: int = 20_000) -> Iterable[list[str]]:
    iterator = iter(texts)
    while block := list(islice(iterator, size)):
        yield block


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
