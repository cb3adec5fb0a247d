"""Find pairs of brackets in a text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_BRACKET: Final = re.compile(r"[()\[\]{}]")


class Bracket(NamedTuple):
    """A pair of brackets: the offsets of the opening and of the closing character."""

    opening: int
    closing: int


def brackets(text: str) -> tuple[Bracket, ...]:
    """Find the pairs of round, square and curly brackets, nested ones too, by their opening offset.

    A bracket without a partner is passed over; pairs never cross.
    """
    waiting: list[int] = []
    open_kinds = dict.fromkeys(_CLOSING.values(), 0)
    pairs: list[Bracket] = []
    for match in _BRACKET.finditer(text):
        offset, char = match.start(), match[0]
        if char in _CLOSING:
            waiting.append(offset)
            open_kinds[_CLOSING[char]] += 1
        elif open_kinds.get(char):
            # Whatever opened after the partner stays without one.
            while True:
                opening = waiting.pop()
                open_kinds[_CLOSING[text[opening]]] -= 1
                if _CLOSING[text[opening]] == char:
                    break
            pairs.append(Bracket(opening, offset))
    return tuple(sorted(pairs))


def is_balanced(text: str) -> bool:
    """Whether every bracket in the text has its partner in it."""
    signs = sum(map(text.count, "()[]{}"))
    return signs == 0 or 2 * len(brackets(text)) == signs
