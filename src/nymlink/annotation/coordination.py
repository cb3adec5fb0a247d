"""Find names whose words are shared in a coordination: "short and broad thumbs", "cysts of the liver and kidney".

The parts of a coordination are conjuncts ("liver", "kidney"). The words before the first conjunct ("cysts of") and
after the last one ("thumbs") are shared: they belong to each conjunct. At least two conjuncts must form names with
the shared words, because "and" also joins many other phrases.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, product, takewhile
from typing import Final, NamedTuple

from nymlink.annotation.annotator_settings import FACTORS
from nymlink.annotation.name_choice import NameChooser
from nymlink.annotation.name_table import NameTable
from nymlink.annotation.tokens import MASK, Kind, Token
from nymlink.annotation.windows import Hit, Spans

_LONGEST: Final = 3
"""Largest number of words of a conjunct, and of the shared words after the last conjunct."""

_SHARED: Final = 4
"""Largest number of shared words before the first conjunct."""

_MOST: Final = 6
"""Largest number of conjuncts."""

_GENITIVE: Final = "s"
"""Token of the genitive in "Crohn's and Alzheimer's disease"."""


# To look up a member of an enumeration takes longer than to compare it.
_BREAK: Final = Kind.BREAK
_CONJUNCTION: Final = Kind.CONJUNCTION


class _Group(NamedTuple):
    """Names found in a coordination, and its span."""

    hits: list[Hit]
    start: int
    end: int


def find_coordinations(tokens: Sequence[Token], table: NameTable, chooser: NameChooser, names: Spans) -> list[Hit]:
    """Find the names that conjuncts form with their shared words, in coordinations that do not overlap.

    Args:
        tokens: tokens of a text.
        table: digests of names.
        chooser: chooses among names.
        names: names that were found before. A conjunct that is a name by itself shares no words, unless there are
            only two conjuncts ("ovarian cysts or fibroma").
    """
    groups = [
        group
        for clause in _clauses(tokens)
        for parts in _coordinations(clause)
        for group in _groups(parts, table, chooser, names)
    ]
    chosen: list[_Group] = []
    for group in sorted(
        groups, key=lambda group: (-sum(hit.words for hit in group.hits), group.end - group.start)
    ):
        if not any(group.start < other.end and other.start < group.end for other in chosen):
            chosen.append(group)
    return [hit for group in chosen for hit in group.hits]


def has_conjunction(tokens: Sequence[Token], hit: Hit) -> bool:
    """Whether a name contains an "and"."""
    first = bisect_right(tokens, hit.start, key=_start)
    inside = takewhile(lambda token: token.start < hit.end, islice(tokens, first, None))
    return any(token.word.kind == _CONJUNCTION for token in inside)


def _start(token: Token) -> int:
    return token.start


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield runs of tokens that contain a conjunction but no break."""
    clause: list[Token] = []
    joined = False
    for token in tokens:
        kind = token.word.kind
        if kind == _BREAK:
            if joined:
                yield clause
            clause, joined = [], False
        else:
            clause.append(token)
            joined = joined or kind == _CONJUNCTION
    if joined:
        yield clause


def _coordinations(clause: Sequence[Token]) -> Iterator[list[list[Token]]]:
    """Yield the parts between commas and conjunctions, for each possible first and last part."""
    parts: list[list[Token]] = [[]]
    joints: list[Kind] = []
    for token in clause:
        if token.word.kind in (_CONJUNCTION, Kind.COMMA):
            joints.append(token.word.kind)
            parts.append([])
        elif token.word.text != _GENITIVE:
            parts[-1].append(token)
    for last in range(1, len(parts)):
        if joints[last - 1] != _CONJUNCTION:
            continue
        for first in range(last - 1, max(last - _MOST, -1), -1):
            if first < last - 1 and not _is_conjunct(_without_glue(parts[first + 1])):
                break
            if parts[first] and parts[last]:
                yield parts[first : last + 1]


def _without_glue(part: Sequence[Token]) -> list[Token]:
    """Leave out articles and prepositions at the beginning."""
    start = next((place for place, token in enumerate(part) if token.word.kind == Kind.WORD), len(part))
    return list(part[start:])


def _is_conjunct(words: Sequence[Token]) -> bool:
    return 0 < len(words) <= _LONGEST and all(token.word.kind == Kind.WORD for token in words)


def _groups(
    parts: Sequence[Sequence[Token]], table: NameTable, chooser: NameChooser, names: Spans
) -> Iterator[_Group]:
    """Yield the groups of names in a coordination, for each choice of the shared words."""
    first, last = list(parts[0]), _without_glue(parts[-1])
    middle = [_without_glue(part) for part in parts[1:-1]]
    tail = last[: next((place for place, token in enumerate(last) if token.word.kind != Kind.WORD), len(last))]
    before = [token for token in first if token.word.kind == Kind.WORD]
    # Read off the beginning or the end of a part, a word that is in no name ends what may be shared.
    before = before[next((place + 1 for place in range(len(before))[::-1] if not before[place].word.form), 0) :]
    if any(_says_nothing(words) for words in middle):
        return
    cuts = [cut for cut in range(max(len(before) - _LONGEST, 0), len(before)) if not _says_nothing(before[cut:])]
    ends = [end for end in range(1, min(len(tail), _LONGEST) + 1) if not _says_nothing(tail[:end])]
    for cut, end in product(cuts, ends):
        conjuncts = [before[cut:], *middle, tail[:end]]
        for start in range(max(cut - _SHARED, 0), cut + 1):
            head = before[start:cut]
            complete = conjuncts[1:] if head and len(conjuncts) > 2 else () if head else conjuncts[:-1]
            if any(_is_name(words, names) for words in complete):
                continue
            if not head and not _begins(first, before[cut]):
                continue
            for stop in range(end, min(end + _LONGEST, len(tail)) + 1):
                if head or stop > end:
                    yield from _group(head, conjuncts, tail[end:stop], table, chooser)


def _says_nothing(words: Sequence[Token]) -> bool:
    return all(token.word.wrong for token in words) or not all(token.word.form for token in words)


def _is_name(words: Sequence[Token], names: Spans) -> bool:
    """Whether a name that was found before lies within some words."""
    return names.lie_in(words[0].start, words[-1].end)


def _begins(part: Sequence[Token], token: Token) -> bool:
    """Whether a word begins its phrase: no word of names precedes it, except a qualifier."""
    place = part.index(token)
    before = part[place - 1].word if place else None
    return before is None or before.kind != Kind.WORD or before.qualifier or not before.form


def _group(
    head: list[Token], conjuncts: Sequence[list[Token]], tail: list[Token], table: NameTable, chooser: NameChooser
) -> Iterator[_Group]:
    hits: list[Hit] = []
    # Two must be names: of two conjuncts the first says enough where it is none.
    spare = len(conjuncts) - 2
    for conjunct in conjuncts:
        hit = _look_up([*head, *conjunct, *tail], table, chooser)
        if hit is not None:
            hits.append(hit)
        elif spare:
            spare -= 1
        else:
            return
    if len(hits) > 1:
        start = (head or conjuncts[0])[0].start
        yield _Group(hits, start, (tail or conjuncts[-1])[-1].end)


def _look_up(words: list[Token], table: NameTable, chooser: NameChooser) -> Hit | None:
    exact = form = sense = 0
    known = True
    for token in words:
        word = token.word
        known = known and bool(word.exact)
        exact += word.exact
        form += word.form
        sense += word.sense
    for digest in (exact & MASK if known else None, form & MASK, sense & MASK):
        if digest is None or not table.passes(digest):
            continue
        choice = chooser.choose(digest, words)
        if choice is not None:
            choice = choice._replace(confidence=choice.confidence * FACTORS["coordination"])
            return Hit(words[0].start, words[-1].end, len(words), choice)
    return None
