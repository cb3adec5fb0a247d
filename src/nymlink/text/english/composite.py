"""Splitting a mention of several things into one name for each: "breast and ovarian cancer"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, product
from typing import Final

from nymlink.text.brackets import is_balanced

_MOST_PARTS: Final = 20  # what has more is a text, and no composite name

_CONJUNCTION: Final = re.compile(r"(?:,\s+|\s+)(?:and/or|and|or|&)\s+", re.IGNORECASE)
_COMMA: Final = re.compile(r",\s+")
_PREPOSITION: Final = re.compile(r"\s+(of|in|to)\s+", re.IGNORECASE)
# One disorder, described by several features: "dystrophy with cataracts and deafness".
_FEATURES: Final = re.compile(r"\b(?:with|without|due|after)\b", re.IGNORECASE)
_DETERMINER: Final = re.compile(r"^(?:(?:both|the|of|in|to)\s+)+", re.IGNORECASE)
_SLASH: Final = re.compile(r"(?<!\S)(?!and/or\b)([^\W\d_][\w-]+)/([^\W\d_][\w-]+)(?!\S)")
_NUMBER: Final = re.compile(r"\d+[a-z]?|[ivx]+|[a-z]", re.IGNORECASE)
_NUMBERED: Final = re.compile(rf"(.+\s)(?:{_NUMBER.pattern})", re.IGNORECASE)
# One thing with "and" in its name; the "and" is hidden while the rest is looked at.
_FIXED: Final = re.compile(
    r"\b(head|hand|foot|ear|nose|skin|brain|mouth|eye)(,? nose)? and (neck|foot|mouth|throat|nose|nail|spine)\b",
    re.IGNORECASE,
)
_HIDDEN: Final = "\0"
_HANGING: Final = re.compile(r"[^\W\d_]{2,}-")
_PREFIXED: Final = re.compile(
    r"(?:bi|dys|endo|exo|extra|hemi|hyper|hypo|inter|intra|macro|micro|mono|non|para|poly|post|pre|tetra|uni)-?(\w{4,})",
    re.IGNORECASE,
)
# Second words of a modifier: "squamous cell | neoplasms", "central nervous system | defects".
_UNIT: Final = frozenset(
    {"body", "cell", "cord", "duct", "gland", "marrow", "system", "tissue", "tract", "vessel", "wall"}
)
# A word that names a disorder by itself, so that nothing after the conjunction belongs to it.
_DISORDER: Final = re.compile(
    r"(?:itis|os[ie]s|a?emias?|omas?|path(?:y|ies)|plasias?|algias?|uria|plegia|cardia|tension|trophy|trophies|"
    r"ache|syndromes?|diseases?|disorders?|failures?|cancers?|tumou?rs?|neoplasms?|pain|fever|depression|anxiety|"
    r"deficiency|deficiencies|defects?|seizures?|infections?|dysfunctions?|hyperplasia|delirium|diabetes|nausea)$",
    re.IGNORECASE,
)
# Of these, words that say little without what stands before them: "endometrial hyperplasia or | cancer".
_DEPENDENT: Final = re.compile(
    r"(?:cancers?|carcinomas?|tumou?rs?|neoplasms?|lymphomas?|diseases?|disorders?|failure|dysfunctions?|"
    r"insufficiency|injury|injuries|damage|lesions?|abnormalit(?:y|ies)|defects?|toxicity|atrophy|hyperplasia|"
    r"hypertrophy|pain|deficiency|deficiencies|palate)",
    re.IGNORECASE,
)


def split_composite(mention: str) -> tuple[str, ...]:
    """The single names in a composite mention, in order; ``(mention,)`` for one that is not composite.

    What the names share is given to each: a head ("breast and ovarian | cancer"), a beginning ("T-cell |
    leukaemia or lymphoma"), what follows or precedes a preposition ("cancer of the | breast and ovaries"). The
    rules know no vocabulary, so they also split single names that have "and" in them: use them where a mention is
    known or likely to be composite.

    Args:
        mention: the surface form, abbreviations expanded.
    """
    text = _FIXED.sub(lambda match: match[0].replace(" and ", f" {_HIDDEN} "), " ".join(mention.split()))
    if _HIDDEN in mention:
        return (mention,)
    parts = _split(text)
    if not 2 <= len(parts) <= _MOST_PARTS or not all(part and is_balanced(part) for part in parts):
        return (mention,)
    return tuple(part.replace(_HIDDEN, "and") for part in parts)


def _split(text: str) -> tuple[str, ...]:
    conjunction = _CONJUNCTION.search(text)
    if conjunction is None:
        return _split_at_slash(text)
    if _FEATURES.search(text, 0, conjunction.start()):
        return (text,)
    preposition = _PREPOSITION.search(text)
    if preposition is None:
        return _share_head(_conjuncts(text))
    left, right = text[: preposition.start()], text[preposition.end() :]
    heads = _share_head(_conjuncts(left)) if _CONJUNCTION.search(left) else (left,)
    objects = _share_beginning(_conjuncts(right))
    if len(objects) == 1:
        objects = (right,)
    elif len(heads) == 1 and _DISORDER.search(objects[-1]):
        # "carcinoma of the breast and leukaemia": the last one is a disorder of its own.
        return (*(f"{left} {preposition[1]} {item}" for item in objects[:-1]), objects[-1])
    # One too many is enough to tell that there are too many.
    pairs = islice(product(heads, objects), _MOST_PARTS + 1)
    return tuple(f"{head} {preposition[1]} {item}" for head, item in pairs)


def _conjuncts(text: str) -> tuple[str, ...]:
    """Split a text at its conjunctions, and at the commas before the last conjunction.

    A number or letter before the last conjunction is completed: "type 1, | type 2 | and 3 diabetes".
    """
    *groups, last = _CONJUNCTION.split(text)
    listed = [item.strip(" ,") for group in groups for item in _COMMA.split(group)]
    numbered = _NUMBERED.fullmatch(listed[0]) if listed else None
    if numbered:
        listed = [numbered[1] + item if _NUMBER.fullmatch(item) else item for item in listed]
    return (*listed, last.strip(" ,"))


def _share_head(conjuncts: Sequence[str]) -> tuple[str, ...]:
    *others, last = conjuncts
    words, first = _DETERMINER.sub("", last).split(), conjuncts[0].split()
    if not words or not first:
        return ()
    if prefixed := _PREFIXED.fullmatch(words[0]):
        # "hypo- and hyperthyroidism": what hangs gets the rest of the word.
        others = [other[:-1] + prefixed[1] if _HANGING.fullmatch(other) else other for other in others]
    if len(words) == 1:
        return _share_beginning([*others, words[0]])
    if _DISORDER.search(conjuncts[0]) or first[-1] == words[-1]:
        return (*others, " ".join(words))
    if len(first) > 1 and _NUMBER.fullmatch(first[-1]) and _NUMBER.fullmatch(words[0]):
        # "type 1 and 2 diabetes": the last lacks the beginning, the others the head.
        words = [*first[:-1], *words]
    head = words[_modifier_length(first, words) :]
    return (*(" ".join([*other.split(), *head]) for other in others), " ".join(words))


def _share_beginning(conjuncts: Sequence[str]) -> tuple[str, ...]:
    """The conjuncts, the last completed by what the first begins with where it says little alone."""
    *others, last = (_DETERMINER.sub("", item) for item in conjuncts)
    first = others[0].split() if others else []
    if len(first) > 1 and (_NUMBER.fullmatch(last) or _DEPENDENT.fullmatch(last)):
        last = " ".join([*first[:-1], last])
    return (*others, last)


def _modifier_length(first: Sequence[str], words: Sequence[str]) -> int:
    """Count the words of the last conjunct before the head that all conjuncts share."""
    most = len(words) - 1
    if first[0].lower() == words[0].lower():
        return min(len(first), most)
    for place in range(1, most):
        if words[place].lower() in _UNIT or words[place] == _HIDDEN:
            return min(place + (2 if words[place] == _HIDDEN else 1), most)
        if words[place].startswith(("(", "[")):
            return place + 1
    return min(2 if words[0].lower() in {"some", "many", "several"} else 1, most)


def _split_at_slash(text: str) -> tuple[str, ...]:
    match = _SLASH.search(text)
    if match is None:
        return (text,)
    before, after = text[: match.start()].strip(), text[match.end() :].strip()
    if match[2].lower() in before.lower().split():
        # "cleft lip/cleft palate": two whole names.
        return f"{before} {match[1]}", f"{match[2]} {after}".strip()
    return tuple(" ".join(piece for piece in (before, side, after) if piece) for side in match.groups())
