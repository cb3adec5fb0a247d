"""Find a mention in a text that is given without offsets."""

from __future__ import annotations


def find_mention(mention: str, text: str, *, any_case: bool = False) -> tuple[int, int] | None:
    """Find the first occurrence of a mention as whole words, or else its first occurrence within a word.

    Args:
        mention: its surface form.
        text: the text to search.
        any_case: whether to ignore case.

    Returns:
        The offset of its first character and of one past its last, in code points; ``None`` where it does not
        occur.
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
    """Fold the case of a text without changing its length: a letter that folds to several is kept."""
    return "".join(folded if len(folded := letter.casefold()) == 1 else letter for letter in text)
