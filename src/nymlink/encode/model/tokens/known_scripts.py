"""Tell by the vocabulary of a tokenizer in which scripts a model can know words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tokenizers.decoders import ByteLevel

from nymlink.text.normalisation.scripts import HAN, KANA, LATIN, main_script

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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
