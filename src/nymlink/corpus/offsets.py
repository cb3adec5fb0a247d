"""Offsets of mentions: units, checks and corrections."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import numpy as np

from nymlink.core.problems import Problems
from nymlink.corpus.documents import Mention

OffsetUnit = Literal["characters", "utf-16", "bytes"]

OFFSET_UNITS: Final[tuple[OffsetUnit, ...]] = ("characters", "utf-16", "bytes")
"""Units of offsets: Unicode code points, UTF-16 units (Java, JavaScript), bytes of UTF-8."""

_FIRST_OF_TWO: Final = {"utf-16": [0x10000], "bytes": [0x80, 0x800, 0x10000]}
"""Unit → code points from which on a character takes one more unit."""


def unit_length(text: str, unit: OffsetUnit) -> int:
    """Count the units of a text."""
    if unit == "characters" or text.isascii():
        return len(text)
    return len(text) + sum(int((_code_points(text) >= first).sum()) for first in _FIRST_OF_TWO[unit])


def to_code_points(text: str, unit: OffsetUnit) -> Callable[[int], int]:
    """Make a function that translates offsets in a text to code points.

    An offset within a character becomes the offset of that character; an offset outside the text stays outside.
    """
    if unit == "characters" or text.isascii():
        return lambda offset: offset
    points = _code_points(text)
    widths = 1 + sum((points >= first).astype(np.int64) for first in _FIRST_OF_TWO[unit])
    starts = np.concatenate([[0], np.cumsum(widths)])

    def translate(offset: int) -> int:
        if not 0 <= offset <= starts[-1]:
            return offset if offset < 0 else len(text) + offset - int(starts[-1])
        return int(np.searchsorted(starts, offset, side="right")) - 1

    return translate


def _code_points(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")


def find_mention(mention: str, text: str, *, any_case: bool = False) -> tuple[int, int] | None:
    """Find a mention in a text: its first occurrence as whole words, or else its first occurrence anywhere.

    Args:
        mention: its surface form.
        text: the text to search.
        any_case: whether to ignore case.

    Returns:
        Offset of its first character and offset after its last, in code points; ``None`` if it does not occur.
    """
    if any_case:
        mention, text = _fold_case(mention), _fold_case(text)
    first = start = text.find(mention)
    while start >= 0:
        end = start + len(mention)
        if not (_in_word(text[max(start - 1, 0) : start]) or _in_word(text[end : end + 1])):
            return start, end
        start = text.find(mention, start + 1)
    return None if first < 0 else (first, first + len(mention))


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fold_case(text: str) -> str:
    """Fold the case of a text without changing its length: a letter that folds to several letters is kept."""
    return "".join(folded if len(folded := letter.casefold()) == 1 else letter for letter in text)


NEARBY: Final = 30
"""Number of characters on either side of a wrong offset in which the mention is searched."""

_SPACES: Final = re.compile(r"\s+")


def check_offsets(
    text: str, surface: str, start: int, end: int, *, path: Path, line: int | None, problems: Problems
) -> tuple[int, int] | tuple[None, None]:
    """Check the offsets of a mention. If they are wrong and the mention is nearby, correct and report them.

    The mention is searched as written, and then without the white space around it.

    Args:
        text: the text to which offsets refer.
        surface: the mention.
        start: offset of its first character, according to the file.
        end: offset after its last character, according to the file.
        path: the file, for reports.
        line: the line, for reports; ``None`` in a file without meaningful lines.
        problems: receives the reports.

    Returns:
        The offsets of the mention in ``text``, or ``(None, None)`` if it is not within :data:`NEARBY` characters.
    """
    if start >= 0 and text[start:end] == surface:
        return start, end
    for form in filter(None, (surface, surface.strip())):
        places = range(max(0, start - NEARBY), start + NEARBY + 1)
        occurrences = (at for at in places if text.startswith(form, at))
        nearest = min(occurrences, key=lambda at: abs(at - start), default=None)
        if nearest is not None:
            stop = nearest + len(form)
            problems.repair(
                path, line, f"mention {surface!r} at {start}-{end} is {form!r} at {nearest}-{stop} in the text"
            )
            return nearest, stop
    problems.repair(
        path, line, f"mention {surface!r} is not in the text near {start}-{end}: its offsets were left out"
    )
    return None, None


def place_mention(
    mention: Mention,
    text: str,
    pieces: Sequence[tuple[int, int]],
    *,
    path: Path,
    line: int | None,
    problems: Problems,
) -> Mention | None:
    """Give a mention the offsets of its pieces in a text, checked and corrected.

    Pieces separated only by white space become one, because BRAT divides a mention at line ends.

    Args:
        mention: the mention, with its text as stated in the file; empty if the file states none.
        text: the text to which offsets refer.
        pieces: offsets of its pieces according to the file, in code points.
        path: the file, for reports.
        line: the line, for reports; ``None`` in a file without meaningful lines.
        problems: receives the reports.

    Returns:
        The mention with its offsets, or without offsets if they are wrong. ``None`` if neither the file nor the
        offsets give a text for the mention.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if joined and joined[-1][1] <= start and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    at = ";".join(f"{start}-{end}" for start, end in pieces)
    inside = all(0 <= start < end <= len(text) for start, end in joined)
    apart = all(end <= start for (_, end), (start, _) in pairwise(joined))
    found = " ".join(text[start:end] for start, end in joined) if joined and inside and apart else ""
    surface = mention.text
    if not found.strip() and not surface.strip():
        problems.reject(path, line, f"a mention without text, and none at {at or 'no offsets'}")
        return None
    start, end = (joined[0][0], joined[-1][1]) if joined else (0, 0)
    # Some files state the whole text from the first to the last piece.
    forms = [found, text[start:end]] if found else []
    if any(_alike(form) == _alike(surface) for form in forms) or not surface.strip():
        spans = tuple(joined) if len(joined) > 1 else ()
        return replace(mention, text=found if spans else text[start:end], start=start, end=end, spans=spans)
    if len(joined) == 1:
        start_, end_ = check_offsets(text, surface, *joined[0], path=path, line=line, problems=problems)
        stated = surface.strip() if start_ is None else text[start_:end_]
        return replace(mention, text=stated, start=start_, end=end_)
    if joined:
        problems.repair(path, line, f"mention {surface!r} is not in the text at {at}: its offsets were left out")
    return replace(mention, text=surface.strip())


def _alike(text: str) -> str:
    """Fold case and kinds of white space in a text."""
    return _SPACES.sub(" ", text.casefold())
