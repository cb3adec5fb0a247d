"""Write names together: "TNF-α", "TNF alpha" and "TNFalpha" have one compact form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "numerals.tsv"

_GREEK: Final = re.compile("(?<![\u0370-\u03ff\u1f00-\u1fff])[α-ω](?![\u0370-\u03ff\u1f00-\u1fff])")
"""A Greek letter that is not part of a Greek word."""

_ROMAN: Final = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_ARABIC: Final = {roman: str(number) for number, roman in enumerate(_ROMAN, 1)}
_ROMAN_WORD: Final = r" [ivx]+( |$)"
_UNUSUAL: Final = rf"{_ROMAN_WORD}|(^| )p [a-z]|[^\x00-\x7F]"
_ROMAN_END: Final = re.compile(r"(?<=[a-z])(?:ii|iii|iv|vi|vii|viii|ix|xi|xii)$")
_ARABIC_END: Final = re.compile(r"(?<=[a-z])(?:1?\d|20)$")

_LONGEST: Final = 20
"""Letters of the longest compact form that is taken for a symbol, with variants."""


def spell_greek(text: str) -> str:
    """Write small Greek letters by their names: "IκB" as "IkappaB"; Greek words stay."""
    return text if text.isascii() else _GREEK.sub(lambda match: _name(match.group()), text)


def compact(text: str) -> str:
    """Write a name together, Greek letters by their names and Roman numerals as Arabic ones.

    Spaces stay between digits: "1,11" is not "11,1". A letter is Greek by itself ("IκB"), not in a Greek word. The
    first word is no numeral ("I kappa B").

    Args:
        text: as :func:`~nymlink.text.normalise.normalise` gives it.
    """
    first, *rest = spell_greek(text).split(" ")
    return _join(" ".join([first, *[_ARABIC.get(word, word) for word in rest]]))


def compact_roman(text: str) -> str:
    """Write a name together like :func:`compact`, Roman numerals as they are: "RPN I" is written "RPNI", too."""
    return _join(spell_greek(text))


def compact_all(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Apply :func:`compact` to each of N texts, fast where it has neither Greek letters nor Roman numerals."""
    unusual = pc.match_substring_regex(texts, _UNUSUAL)
    kept = texts
    for _ in range(2):  # Digits between two spaces belong to two matches.
        kept = pc.replace_substring_regex(kept, r"(\d) (\d)", "\\1\t\\2")
    joined = pc.replace_substring(pc.replace_substring(kept, " ", ""), "\t", " ")
    others = pa.array(map(compact, texts.filter(unusual).to_pylist()), pa.large_string())
    return pc.replace_with_mask(joined, unusual, others)


def has_roman(texts: pa.LargeStringArray) -> pa.BooleanArray:
    """Tell which of N texts may have Roman numerals."""
    return pc.match_substring_regex(texts, _ROMAN_WORD)


def compact_variants(text: str) -> Iterator[str]:
    """Yield other compact forms of a symbol, the likeliest first; look each up.

    - Greek letters become the Latin ones that stand for them, all or the last one ("TGFalpha", "TGFA"), or a last
      Latin letter the Greek one ("IFNG", "IFN-gamma").
    - Numerals at the end become Roman or Arabic ones ("CaMKII", "CAMK2").
    - Digits are taken apart ("NKX25", "NKX2-5"), or written together.

    Args:
        text: a compact form; a longer one than a symbol has no variants.
    """
    if len(text) > _LONGEST:
        return
    if latin := _greek_to_latin(text):
        yield latin
    for name, letter in _latin().items():
        if text.endswith(name) and len(text) > len(name) + 1:
            if (last := text.removesuffix(name) + letter) != latin:
                yield last
        elif text.endswith(letter) and len(text) > 2:
            yield text.removesuffix(letter) + name
    if match := _ROMAN_END.search(text):
        yield text[: match.start()] + _ARABIC[match.group()]
    if (match := _ARABIC_END.search(text)) and match.group().strip("0"):
        yield text[: match.start()] + _ROMAN[int(match.group()) - 1]
    if (joined := re.sub(r"(?<=\d) (?=\d)", "", text)) != text:
        yield joined
    for place in range(1, len(text)):
        if text[place - 1].isdigit() and text[place].isdigit():
            yield f"{text[:place]} {text[place:]}"


@cache
def _name(letter: str) -> str:
    """Return the name of a Greek letter, as Unicode has it."""
    name = unicodedata.name(letter).removeprefix("GREEK SMALL LETTER ").removeprefix("FINAL ").lower()
    return "lambda" if name == "lamda" else name


def _join(text: str) -> str:
    # "p-ERK" is phosphorylated ERK, not PERK.
    return re.sub(r"(?<!\d)(?<!\bp) |(?<=\d) (?!\d)|(?<=\bp) (?=\d)", "", text)


def _greek_to_latin(text: str) -> str | None:
    """Replace all names of Greek letters; return ``None`` for a text without any."""
    latin = re.sub("|".join(_latin()), lambda match: _latin()[match.group()], text)
    return None if latin == text else latin


@cache
def _latin() -> dict[str, str]:
    """Map the names of Greek letters to the Latin letters that stand for them."""
    rows = (row for row in read_rows(_TABLE) if row["kind"] == "letter" and len(row["read_as"]) == 1)
    return {split_cell(row["words"])[0]: row["read_as"] for row in rows}
