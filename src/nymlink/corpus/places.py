"""Where a mention stands in a text that comes without offsets."""

from __future__ import annotations


def find_mention(mention: str, text: str, *, any_case: bool = False) -> tuple[int, int] | None:
    """The place where a mention first is a whole word, or else where it first is part of one.

    Args:
        mention: its surface form.
        text: what it is looked for in.
        any_case: whether capital and small letters are the same.

    Returns:
        Offset of its first character and one past its last, in code points; ``None`` where it does not occur.
    """
    if any_case:
        mention, text = _folded(mention), _folded(text)
    first = at = text.find(mention)
    while at >= 0:
        end = at + len(mention)
        if not (_in_word(text[max(at - 1, 0) : at]) or _in_word(text[end : end + 1])):
            return at, end
        at = text.find(mention, at + 1)
    return None if first < 0 else (first, first + len(mention))


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _folded(text: str) -> str:
    """The text without regard to case, as long as it was: letters that would become several stay as they are."""
    return "".join(folded if len(folded := letter.casefold()) == 1 else letter for letter in text)
