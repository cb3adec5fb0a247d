"""Split composite mentions into single names: "breast and ovarian cancer" → "breast cancer", "ovarian cancer".

The words that decide where to split are in ``data/composite.tsv``, one row for each group of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.text.rewriting import is_balanced
from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "composite.tsv"

_MOST_PARTS: Final = 20
"""Largest number of parts of a composite mention; a text with more parts is no name."""

# At this point words are separated by single blanks.
_CONJUNCTION: Final = re.compile(r",? (?:and/or|and|or|&) ", re.IGNORECASE)
_PREPOSITION: Final = re.compile(r" (of|in|to) ", re.IGNORECASE)
_DETERMINER: Final = re.compile(r"^(?:(?:both|the|of|in|to)\s+)+", re.IGNORECASE)
_SLASH: Final = re.compile(r"(?<!\S)(?!and/or\b)([^\W\d_][\w-]+)/([^\W\d_][\w-]+)(?!\S)")
_NUMBER: Final = re.compile(r"\d+[a-z]?|[ivx]+|[a-z]", re.IGNORECASE)
_NUMBERED: Final = re.compile(rf"(.+\s)(?:{_NUMBER.pattern})", re.IGNORECASE)
_HIDDEN: Final = "\0"
"""Replaces the "and" of fixed names while the rest is split."""
_HANGING: Final = re.compile(r"[^\W\d_]{2,}-")


class _Words(NamedTuple):
    """The words of ``data/composite.tsv`` as patterns.

    Attributes:
        features: words before the features or the cause of one disorder: "dystrophy with cataracts and deafness".
        fixed: names with "and" in them: "head and neck".
        prefixed: a word with a prefix that may also stand alone before "and": "hypo- and | hyperthyroidism".
        disorders: words that name a disorder by themselves; they share no words after the conjunction.
        dependent: words that are incomplete without the words before them: "endometrial hyperplasia or | cancer".
        units: second words of a modifier: "squamous cell | neoplasms".
        quantifiers: first words of a modifier: "several benign | tumors".
    """

    features: re.Pattern[str]
    fixed: re.Pattern[str]
    prefixed: re.Pattern[str]
    disorders: re.Pattern[str]
    dependent: re.Pattern[str]
    units: frozenset[str]
    quantifiers: frozenset[str]


@cache
def _words() -> _Words:
    """Read the words of composite mentions."""
    words = {kind: [word for row in rows for word in row] for kind, rows in read_kinds(_TABLE).items()}
    choice = {kind: f"(?:{'|'.join(map(re.escape, listed))})" for kind, listed in words.items()}

    def pattern(text: str) -> re.Pattern[str]:
        return re.compile(text, re.IGNORECASE)

    return _Words(
        features=pattern(rf"\b{choice['feature']}\b"),
        fixed=pattern(rf"\b{choice['fixed first']}(?:,? nose)? and {choice['fixed last']}\b"),
        prefixed=pattern(rf"{choice['prefix']}-?(\w{{4,}})"),
        disorders=pattern(f"{choice['disorder ending']}$"),
        dependent=pattern(choice["dependent"]),
        units=frozenset(words["unit"]),
        quantifiers=frozenset(words["quantifier"]),
    )


def split_composite(mention: str) -> tuple[str, ...]:
    """Split a composite mention into single names, in order.

    Each name gets the shared words: a head ("breast and ovarian | cancer"), a beginning ("T-cell | leukaemia or
    lymphoma"), or the words before or after a preposition ("cancer of the | breast and ovaries"). The rules use no
    vocabulary, and therefore also split single names that contain "and". Use them only for mentions that are known
    or likely to be composite.

    Args:
        mention: the surface form, with expanded abbreviations.

    Returns:
        The single names; ``(mention,)`` if the mention is not composite.
    """
    text = _words().fixed.sub(lambda match: match[0].replace(" and ", f" {_HIDDEN} "), " ".join(mention.split()))
    if _HIDDEN in mention:
        return (mention,)
    parts = _split(text)
    if not 2 <= len(parts) <= _MOST_PARTS or not all(part and is_balanced(part) for part in parts):
        return (mention,)
    return tuple(part.replace(_HIDDEN, "and") for part in parts)


def _split(text: str) -> tuple[str, ...]:
    """Split a text at its conjunctions, else at a slash."""
    conjunction = _CONJUNCTION.search(text)
    if conjunction is None:
        return _split_at_slash(text)
    if _words().features.search(text, 0, conjunction.start()):
        return (text,)
    preposition = _PREPOSITION.search(text)
    if preposition is None:
        return _share_head(_conjuncts(text))
    left, right = text[: preposition.start()], text[preposition.end() :]
    heads = _share_head(_conjuncts(left)) if _CONJUNCTION.search(left) else (left,)
    objects = _share_beginning(_conjuncts(right))
    if len(objects) == 1:
        objects = (right,)
    elif len(heads) == 1 and _words().disorders.search(objects[-1]):
        # "carcinoma of the breast and leukaemia": the last part is a disorder of its own.
        return (*(f"{left} {preposition[1]} {item}" for item in objects[:-1]), objects[-1])
    # Stop at one part too many.
    pairs = islice(product(heads, objects), _MOST_PARTS + 1)
    return tuple(f"{head} {preposition[1]} {item}" for head, item in pairs)


def _conjuncts(text: str) -> tuple[str, ...]:
    """Split a text at its conjunctions, and at the commas before the last conjunction.

    A number or letter before the last conjunction is completed: "type 1, | type 2 | and 3 diabetes".
    """
    *groups, last = _CONJUNCTION.split(text)
    listed = [item.strip(" ,") for group in groups for item in group.split(", ")]
    numbered = _NUMBERED.fullmatch(listed[0]) if listed else None
    if numbered:
        listed = [numbered[1] + item if _NUMBER.fullmatch(item) else item for item in listed]
    return (*listed, last.strip(" ,"))


def _share_head(conjuncts: Sequence[str]) -> tuple[str, ...]:
    """Append the shared head, the end of the last conjunct, to each conjunct."""
    *others, last = conjuncts
    words, first = _DETERMINER.sub("", last).split(), conjuncts[0].split()
    if not words or not first:
        return ()
    if prefixed := _words().prefixed.fullmatch(words[0]):
        # "hypo- and hyperthyroidism": the prefix gets the rest of the word.
        others = [other[:-1] + prefixed[1] if _HANGING.fullmatch(other) else other for other in others]
    if len(words) == 1:
        return _share_beginning([*others, words[0]])
    if _words().disorders.search(conjuncts[0]) or first[-1] == words[-1]:
        return (*others, " ".join(words))
    if len(first) > 1 and _NUMBER.fullmatch(first[-1]) and _NUMBER.fullmatch(words[0]):
        # "type 1 and 2 diabetes": the last conjunct lacks the beginning, the others lack the head.
        words = [*first[:-1], *words]
    head = words[_modifier_length(first, words) :]
    return (*(" ".join([*other.split(), *head]) for other in others), " ".join(words))


def _share_beginning(conjuncts: Sequence[str]) -> tuple[str, ...]:
    """Prepend the beginning of the first conjunct to the last one, if the last one is incomplete alone."""
    *others, last = (_DETERMINER.sub("", item) for item in conjuncts)
    first = others[0].split() if others else []
    if len(first) > 1 and (_NUMBER.fullmatch(last) or _words().dependent.fullmatch(last)):
        last = " ".join([*first[:-1], last])
    return (*others, last)


def _modifier_length(first: Sequence[str], words: Sequence[str]) -> int:
    """Count the words of the last conjunct that come before the shared head."""
    most = len(words) - 1
    if first[0].lower() == words[0].lower():
        return min(len(first), most)
    for place in range(1, most):
        if words[place].lower() in _words().units or words[place] == _HIDDEN:
            return min(place + (2 if words[place] == _HIDDEN else 1), most)
        if words[place].startswith(("(", "[")):
            return place + 1
    return min(2 if words[0].lower() in _words().quantifiers else 1, most)


def _split_at_slash(text: str) -> tuple[str, ...]:
    """Split a text at a slash between two words: "breast/ovarian cancer"."""
    match = _SLASH.search(text)
    if match is None:
        return (text,)
    before, after = text[: match.start()].strip(), text[match.end() :].strip()
    if match[2].lower() in before.lower().split():
        # "cleft lip/cleft palate": two whole names.
        return f"{before} {match[1]}", f"{match[2]} {after}".strip()
    return tuple(" ".join(piece for piece in (before, side, after) if piece) for side in match.groups())
