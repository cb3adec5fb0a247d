"""Spelling of names: compact forms, and the similarity of two spellings.

Normal forms omit signs and capitals, which often differ by chance but sometimes distinguish names: "(+)-carvone"
and "(-)-carvone", "CD4+" and "CD4-", "3-hydroxy" and "3'-hydroxy", "CAT" and "cat".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "numerals.tsv"

_GREEK: Final = re.compile("(?<![\u0370-\u03ff\u1f00-\u1fff])(?:αβ|γδ|[α-ω])(?![\u0370-\u03ff\u1f00-\u1fff])")
"""A Greek letter that is not part of a Greek word, or the two letters of a T-cell receptor ("αβ", "γδ")."""
_GREEK_NAME: Final = re.compile(r"GREEK (?:SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)")

_ROMAN: Final = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_ARABIC: Final = {roman: str(number) for number, roman in enumerate(_ROMAN, 1)}
_ROMAN_WORD: Final = r" [ivx]+( |$)"
_UNUSUAL: Final = rf"{_ROMAN_WORD}|(^| )p [a-z]|[^\x00-\x7F]"
_ROMAN_END: Final = re.compile(r"(?<=[a-z])(?:ii|iii|iv|vi|vii|viii|ix|xi|xii)$")
_ARABIC_END: Final = re.compile(r"(?<=[a-z])(?:1?\d|20)$")

_LONGEST: Final = 20
"""Number of letters of the longest compact form that is treated as a symbol with variants."""


def spell_greek(text: str) -> str:
    """Write small Greek letters as their names: "IκB" as "IkappaB"; Greek words stay unchanged."""
    return text if text.isascii() else _GREEK.sub(lambda match: "".join(map(_name, match[0])), text)


def _name(letter: str) -> str:
    return greek_name(letter) or letter


MARKER_SIGN: Final = re.compile(
    r"(?<=[A-Z0-9])(?:\s?[(\[](?P<inner>[-+–−])[)\]]|(?P<sign>[-+–−])(?P<next>[-+–−]?))(?=,?\s+(?!and\b|or\b|und\b)[^\W_])"
    r"|(?<=CD\d)(?P<one>low|lo|dim|hi|high|bright)\b|(?<=CD\d\d)(?P<two>low|lo|dim|hi|high|bright)\b"
)
"""A sign or an amount after a marker, before another word: "HER2- breast cancer", "CD14+ CD16- monocyte"."""
_BROKEN: Final = re.compile(
    r",?\s*[\n\r]|,?\s+(?:positive|negative|linked|associated|infected|related|induced|like|type|cells?|\d)",
    re.IGNORECASE,
)
_OF_CELLS: Final = re.compile(r"CD\d+$")
"""What follows a hyphen at the end of a line ("HIV- infected"); but "CD25- cells" has a sign."""
_RECEPTORS: Final = {
    "ER": "estrogen receptor",
    "PR": "progesterone receptor",
    "HER-2": "HER2",
    "Ph": "Philadelphia",
}
_RECEPTOR: Final = re.compile(rf"\b(?:{'|'.join(_RECEPTORS)})(?= (?:positive|negative)\b)")
"""Markers whose names vocabularies write out, before the word for their sign."""
_ION: Final = re.compile(
    r"(?:^|[^A-Za-z])(?:Na|K|H|Cl|Li|Rb|Cs|Ag|NH4|NADP?|FADH?|HCO3|[A-Z][a-z]?[2-4]|[A-Z][a-z]?O[2-4])$"
)
"""A text before a sign that is a charge: "Ca2+ channel"."""


def spell_signs(text: str) -> str:
    """Write signs after markers as words: "CD14+ CD16- monocyte" as "CD14 positive CD16 negative monocyte".

    Charges of ions stay. Receptors are written out: "ER+ breast cancer".
    """

    def spelt(match: re.Match[str]) -> str:
        word = sign_word(match)
        return match[0] if word is None else f" {word}"

    written = MARKER_SIGN.sub(spelt, text)
    return text if written == text else _RECEPTOR.sub(lambda match: _RECEPTORS[match[0]], written)


def sign_word(match: re.Match[str]) -> str | None:
    """Return the word for a match of :data:`MARKER_SIGN`; ``None`` for a hyphen or the charge of an ion."""
    amount = match["one"] or match["two"]
    if amount is not None:
        return {"lo": "low", "hi": "high"}.get(amount, amount)
    minus = match["sign"] not in (None, "+")
    if minus and _BROKEN.match(match.string, match.end()) and not _OF_CELLS.search(match.string, 0, match.start()):
        return None
    if match["next"] or _ION.search(match.string, max(0, match.start() - 6), match.start()):
        return None
    return "positive" if "+" in (match["inner"], match["sign"]) else "negative"


def compact(text: str) -> str:
    """Write a name without spaces, Greek letters as their names, and Roman numerals as Arabic ones.

    Spaces between digits stay, because "1,11" differs from "11,1". Greek words stay unchanged; single Greek
    letters ("IκB") are replaced. The first word is never read as a numeral ("I kappa B").

    Args:
        text: text from :func:`~nymlink.text.normalise.normalise`.
    """
    first, *rest = spell_greek(text).split(" ")
    return _join(" ".join([first, *[_ARABIC.get(word, word) for word in rest]]))


def compact_roman(text: str) -> str:
    """Write a name without spaces like :func:`compact`, but keep Roman numerals: "RPN I" becomes "RPNI"."""
    return _join(spell_greek(text))


def compact_all(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Apply :func:`compact` to each of N texts; fast for texts without Greek letters and Roman numerals."""
    unusual = pc.match_substring_regex(texts, _UNUSUAL)
    kept = texts
    for _ in range(2):  # In one pass, neighbouring matches would compete for the digits between two spaces.
        kept = pc.replace_substring_regex(kept, r"(\d) (\d)", "\\1\t\\2")
    joined = pc.replace_substring(pc.replace_substring(kept, " ", ""), "\t", " ")
    others = pa.array(map(compact, texts.filter(unusual).to_pylist()), pa.large_string())
    return pc.replace_with_mask(joined, unusual, others)


def has_roman(texts: pa.LargeStringArray) -> pa.BooleanArray:
    """Find out which of N texts may have Roman numerals."""
    return pc.match_substring_regex(texts, _ROMAN_WORD)


def compact_variants(text: str) -> Iterator[str]:
    """Yield other compact forms of a symbol, the likeliest first. The caller looks up each form.

    - All names of Greek letters, or only the last name, become Latin letters ("TGFalpha", "TGFA").
    - A Latin letter at the end becomes the name of a Greek one ("IFNG", "IFN-gamma").
    - Numerals at the end become Roman or Arabic ones ("CaMKII", "CAMK2").
    - Digits are separated ("NKX25", "NKX2-5"), or joined.

    Args:
        text: a compact form; a form longer than a symbol has no variants.
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
def greek_name(letter: str) -> str | None:
    """Return the name of a Greek letter, small or capital ("alpha"); ``None`` for another character."""
    match = _GREEK_NAME.match(unicodedata.name(letter, ""))
    return match and match[1].lower().replace("lamda", "lambda")


def _join(text: str) -> str:
    # "p-ERK" is phosphorylated ERK rather than PERK.
    return re.sub(r"(?<!\d)(?<!\bp) |(?<=\d) (?!\d)|(?<=\bp) (?=\d)", "", text)


def _greek_to_latin(text: str) -> str | None:
    """Replace all names of Greek letters; ``None`` for a text without any."""
    latin = re.sub("|".join(_latin()), lambda match: _latin()[match.group()], text)
    return None if latin == text else latin


@cache
def _latin() -> dict[str, str]:
    """Map the names of Greek letters to the Latin letters that stand for them."""
    rows = (row for row in read_rows(_TABLE) if row["kind"] == "letter" and len(row["read_as"]) == 1)
    return {split_cell(row["words"])[0]: row["read_as"] for row in rows}


_RUN: Final = re.compile(r"[^\W_]+")
_ALIKE: Final = str.maketrans(
    {**dict.fromkeys("‐‑‒–—−", "-"), **dict.fromkeys("′’‘ʹ`´", "'"), "\u2033": "''", "\u00a0": " "}
)
"""Variants of dashes and primes in typesetting."""

_MINUS: Final = re.compile(r"-(?=[)\]}])")
_JOINTS: Final = frozenset({"", " ", "-", ", ", ",", " - ", "/", "_"})
"""Separators of words in names, without meaning."""

_SIGN, _MARK, _TYPESETTING, _CAPITALS = 2.0, 0.5, 0.05, 0.1
"""Costs of differences between two spellings: a different sign; a different mark that is no sign; any difference
at all (the only cost of typesetting and of the first capital); different capitals."""

ALIKE: Final = 1 / (1 + _CAPITALS)
"""Smallest similarity of names that differ only in typesetting and the capital at the beginning of a sentence."""


def writing_likeness(text: str, name: str) -> float:
    """Compute the similarity in spelling of two names with the same letters and digits.

    Args:
        text: a mention, as written.
        name: a name, as written in its vocabulary.

    Returns:
        1 for equal spelling; above :data:`ALIKE` if typesetting or the first capital differs; above 0.6 if only
        capitals differ; otherwise less, but above 0.
    """
    if text == name:
        return 1.0
    if text.isascii() and text.lower() == name.lower():
        # Only capitals differ, the usual case.
        return 1 / (1 + _TYPESETTING + _cost_of_capitals(text, name))
    ours, theirs = spell_greek(_canonical(text)), spell_greek(_canonical(name))
    return 1 / (1 + _TYPESETTING + _cost_of_signs(ours, theirs) + _cost_of_capitals(ours, theirs))


def normalise_signs(text: str) -> str:
    """Write the signs of a text as separate words: "CD4+" as "CD4 +", "3'-hydroxy" as "3 ' hydroxy".

    Three marks are signs: a plus, a minus in brackets or at an end of the text, and a prime after a digit or a
    single letter. Signs stand for charges, rotation and positions, which distinguish chemicals and cells. A hyphen
    or an apostrophe between letters is no sign.

    Returns:
        Words and signs separated by single spaces, in the case of the text.
    """
    words = []
    for _, signs, run in _pieces(_canonical(text)):
        words += [*signs, run]
    return " ".join(filter(None, words))


def _canonical(text: str) -> str:
    # U+2033 first, because NFKC decomposes it.
    return unicodedata.normalize("NFKC", text.translate(_ALIKE)).translate(_ALIKE).strip()


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Split a text into runs of letters and digits, and the gaps between the runs.

    Yields:
        For each run: the gap before it, the signs in the gap, and the run. The last run is "".
    """
    before, end = "", 0
    for match in _RUN.finditer(text):
        gap = text[end : match.start()]
        yield gap, _signs(gap, before, match.group()), match.group()
        before, end = match.group(), match.end()
    yield text[end:], _signs(text[end:], before, ""), ""


def _signs(gap: str, before: str, after: str) -> str:
    """Select the signs between two runs. ``before`` is empty at the start of a text, ``after`` at its end."""
    if gap in _JOINTS and before and after:
        return ""
    primes = len(gap) - len(gap.lstrip("'"))
    if not before[-1:].isdigit() and (len(before) != 1 or (primes == len(gap) and after)):
        # An apostrophe: "Crohn's", "l'artère"; but "N,N'-dimethyl".
        primes = 0
    minus = _MINUS.search(gap) is not None or ("-" in gap and not after) or (gap.startswith("-") and not before)
    minus = minus or (gap == "- " and before[-1:].isdigit())
    return "'" * primes + "+" * gap.count("+") + "-" * minus


def _cost_of_signs(text: str, name: str) -> float:
    """Compare the gaps at each place of two texts.

    A place is the number of letters before the gap: a number of words would change when words are joined.
    """
    ours, theirs = _places(text), _places(name)
    none = ("", "")
    pairs = [(ours.get(place, none), theirs.get(place, none)) for place in ours.keys() | theirs.keys()]
    signs = sum(one[1] != other[1] for one, other in pairs)
    marks = sum(one[0] != other[0] and one[1] == other[1] for one, other in pairs)
    return _SIGN * signs + _MARK * marks


def _places(text: str) -> dict[int, tuple[str, str]]:
    """Map the number of letters before each gap to the gap and the signs in it."""
    places, letters = {}, 0
    for gap, signs, run in _pieces(text):
        if gap:
            places[letters] = gap, signs
        letters += len(run)
    return places


def _cost_of_capitals(text: str, name: str) -> float:
    ours, theirs = "".join(_RUN.findall(text)), "".join(_RUN.findall(name))
    differ = [one != other for one, other in zip_longest(ours, theirs, fillvalue="")]
    if not any(differ) or (differ[0] and not any(differ[1:]) and theirs[1:] == theirs[1:].lower()):
        return 0.0
    return _CAPITALS * (1 + sum(differ) / len(differ))
