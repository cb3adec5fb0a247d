"""Find phrases that are names, and choose among overlapping ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from nymlink.annotation.annotator_settings import FACTORS
from nymlink.annotation.name_choice import Choice, NameChooser
from nymlink.annotation.name_table import Level, NameTable, core_digest
from nymlink.annotation.tokens import LONGEST, MASK, Kind, Token, Word
from nymlink.text.aligned_text import CELL_END, LINE_END


class Hit(NamedTuple):
    """A phrase of a text with its name.

    Attributes:
        start: offset of its first character.
        end: offset one past its last character.
        words: number of its words that belong to the name.
        choice: the name.
    """

    start: int
    end: int
    words: int
    choice: Choice


class Spans:
    """Spans of a text. Bisection finds those that overlap, cover or lie in another span.

    Args:
        hits: hits with these spans.
    """

    def __init__(self, hits: Iterable[Hit]) -> None:
        ordered = sorted((hit.start, hit.end) for hit in hits)
        self._starts = [start for start, _ in ordered]
        self._own_ends = [end for _, end in ordered]
        # Of all stretches up to each one, the last end.
        self._ends = list(accumulate((end for _, end in ordered), max))

    def overlap(self, hit: Hit) -> bool:
        """Whether a span overlaps a hit."""
        before = bisect_left(self._starts, hit.end)
        return before > 0 and self._ends[before - 1] > hit.start

    def cover(self, hit: Hit) -> bool:
        """Whether a span covers a hit."""
        before = bisect_right(self._starts, hit.start)
        return before > 0 and self._ends[before - 1] >= hit.end

    def lie_in(self, start: int, end: int) -> bool:
        """Whether a span lies within the given one."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return any(own <= end for own in self._own_ends[first:last])


def longest(hits: Iterable[Hit]) -> list[Hit]:
    """Choose hits that do not overlap, by number of words, then confidence, length and position."""
    chosen: list[Hit] = []
    starts: list[int] = []
    ends: list[int] = []
    for hit in sorted(hits, key=lambda hit: (-hit.words, -hit.choice.confidence, hit.start - hit.end, hit.start)):
        place = bisect_right(starts, hit.start)
        if (place and ends[place - 1] > hit.start) or (place < len(starts) and starts[place] < hit.end):
            continue
        starts.insert(place, hit.start)
        ends.insert(place, hit.end)
        chosen.append(hit)
    return chosen


_WORD: Final = Kind.WORD
_GLUE: Final = Kind.GLUE
_PREPOSITION: Final = Kind.PREPOSITION
_CONJUNCTION: Final = Kind.CONJUNCTION
_BREAK: Final = Kind.BREAK
_COMMA: Final = Kind.COMMA


def find_windows(tokens: Sequence[Token], table: NameTable, chooser: NameChooser) -> list[Hit]:
    """Find names in runs of words that have no comma, bracket or verb between them.

    Articles and prepositions within a run are ignored. A qualifier may be ignored, too ("aplasia of the left
    thumb").
    """
    hits: list[Hit] = []
    # The filter is asked for every stretch of words: a call would take longer than the look.
    places, shift = table.places, table.shift
    words = [token.word for token in tokens]
    for first, word in enumerate(words):
        if word.kind != _WORD or not word.form:
            continue
        exact = form = sense = skipped_exact = skipped_form = 0
        known, gap, count = True, False, 0
        # Prepositions that the stretch goes over.
        crossed: list[str] = []
        for last in range(first, len(tokens)):
            word = words[last]
            kind = word.kind
            if kind == _GLUE:
                continue
            if kind == _PREPOSITION:
                crossed.append(word.text)
                continue
            if kind == _WORD:
                if not word.form and word.qualifier and count:
                    gap = True
                    continue
                if not word.form or count == LONGEST:
                    break
                count += 1
            elif kind != _CONJUNCTION or tokens[last].surface.startswith(","):
                break
            known = known and bool(word.exact)
            exact += word.exact
            form += word.form
            sense += word.sense
            if kind != _WORD:
                continue
            choice = None
            if known and places[(exact & MASK) >> shift]:
                choice = chooser.choose(exact & MASK, _words(tokens, first, last))
            if choice is None and places[(form & MASK) >> shift]:
                choice = chooser.choose(form & MASK, _words(tokens, first, last))
            if choice is None and places[(sense & MASK) >> shift]:
                choice = chooser.choose(sense & MASK, _words(tokens, first, last))
            if choice is None and gap and not word.qualifier:
                for digest in ((exact - skipped_exact) & MASK if known else None, (form - skipped_form) & MASK):
                    if choice is None and digest is not None and places[digest >> shift]:
                        choice = chooser.choose(digest, _words(tokens, first, last, qualifiers=False))
                if choice is not None:
                    choice = choice._replace(confidence=choice.confidence * FACTORS["gap"])
            if (
                choice is not None
                and not _dangles(tokens, last, choice, chooser)
                and not (crossed and _joins_phrases(tokens, first, last, choice, chooser, crossed))
            ):
                hits.append(Hit(tokens[first].start, tokens[last].end, count, choice))
            if word.qualifier and count > 1:
                gap = True
                skipped_exact += word.exact
                skipped_form += word.form
    return hits


_ENDS: Final = frozenset(f".;!?{LINE_END}{CELL_END}")
"""Signs that end names."""


def find_punctuated(tokens: Sequence[Token], table: NameTable, chooser: NameChooser) -> Iterator[Hit]:
    """Find names that contain a comma, a bracket or a colon and are spelt as in the vocabulary.

    If a name is alone in its line, its parts around commas may have another order: "Hearing loss, sensorineural".
    """
    places, shift = table.places, table.shift
    sign_follows = _signs_follow(tokens)
    for first, token in enumerate(tokens):
        if token.word.kind != _WORD or not sign_follows[first] or (first and _goes_on(tokens[first - 1].word)):
            continue
        digest = count = 0
        commas = signs = 0
        for last in range(first, len(tokens)):
            word = tokens[last].word
            if word.kind == _BREAK and _ends_name(tokens[last]):
                break
            if word.kind == _WORD and (not word.exact or count == LONGEST):
                break
            signs += word.kind in (_COMMA, _BREAK) or tokens[last].surface.startswith(",")
            commas += word.kind == _COMMA
            digest += word.exact
            count += word.kind == _WORD
            if word.kind != _WORD or not signs or not places[(digest & MASK) >> shift]:
                continue
            if last + 1 < len(tokens) and _goes_on(tokens[last + 1].word):
                continue
            choice = chooser.choose_written(digest & MASK, tokens[first : last + 1])
            if choice is None and commas == signs and _is_line(tokens, first, last):
                turned = chooser.choose(digest & MASK, _words(tokens, first, last))
                choice = turned if turned is not None and turned.level == Level.EXACT else None
            if choice is not None:
                yield Hit(token.start, tokens[last].end, count, choice)


def _signs_follow(tokens: Sequence[Token]) -> list[bool]:
    """Say for each token whether a sign follows before the name ends. Few do, so that few runs are tried."""
    found: list[bool] = []
    follows = False
    for token in reversed(tokens):
        kind = token.word.kind
        if kind == _WORD:
            follows = follows and token.word.exact != 0
        elif kind == _BREAK:
            follows = not _ends_name(token)
        elif kind in (_COMMA, _CONJUNCTION):
            follows = follows or kind == _COMMA or token.surface.startswith(",")
        found.append(follows)
    return found[::-1]


def _ends_name(sign: Token) -> bool:
    """Whether a break ends a name that is spelt as in the vocabulary."""
    return sign.start < sign.end or not _ENDS.isdisjoint(sign.surface)


def _is_line(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a run of tokens is a whole line, cell or text."""
    around = [tokens[place].surface for place in (first - 1, last + 1) if 0 <= place < len(tokens)]
    return all(LINE_END in sign or CELL_END in sign for sign in around)


def find_cores(
    tokens: Sequence[Token], taken: Sequence[Hit], table: NameTable, chooser: NameChooser
) -> Iterator[Hit]:
    """Find names by their informative words alone, outside the hits that were found before."""
    free = _free(tokens, taken)
    places, shift = table.places, table.shift
    for first, token in enumerate(tokens):
        if not free[first] or token.word.empty or not token.word.form:
            continue
        found: list[Token] = []
        crossed: list[str] = []
        forms = 0
        for last in range(first, len(tokens)):
            word = tokens[last].word
            if word.kind == _GLUE:
                continue
            if word.kind == _PREPOSITION:
                crossed.append(word.text)
                continue
            if not free[last]:
                break
            if not word.empty:
                if not word.form or len(found) == LONGEST:
                    break
                forms += word.form
                found.append(tokens[last])
            digest = core_digest(forms)
            choice = chooser.choose(digest, found) if places[digest >> shift] else None
            if (
                choice is not None
                and not _dangles(tokens, last, choice, chooser, persons=False)
                and not (crossed and _joins_phrases(tokens, first, last, choice, chooser, crossed))
            ):
                yield Hit(token.start, tokens[last].end, len(found), choice)


def _free(tokens: Sequence[Token], taken: Sequence[Hit]) -> list[bool]:
    """Whether each token is a word outside all hits."""
    free = [token.word.kind == _WORD for token in tokens]
    starts = [token.start for token in tokens]
    for hit in taken:
        for place in range(bisect_left(starts, hit.start), bisect_left(starts, hit.end)):
            free[place] = False
    return free


def _words(tokens: Sequence[Token], first: int, last: int, *, qualifiers: bool = True) -> list[Token]:
    """List the words and conjunctions of a run of tokens."""
    found = [token for token in tokens[first : last + 1] if token.word.kind in (_WORD, _CONJUNCTION)]
    if qualifiers:
        return found
    return [token for place, token in enumerate(found) if place == 0 or not token.word.qualifier]


def _goes_on(after: Word) -> bool:
    """Whether the next word may belong to a phrase: it occurs in names, and is no person and no participle."""
    return after.kind == _WORD and after.form != 0 and not after.person and not after.text.endswith("ed")


def _joins_phrases(
    tokens: Sequence[Token], first: int, last: int, choice: Choice, chooser: NameChooser, crossed: Sequence[str]
) -> bool:
    """Whether a run of words takes its words from two phrases: "short [nose with long] philtrum".

    The phrase after a preposition must be complete. After a preposition like "with", the phrase names another
    thing. The words must then have the same order in the text and in the name.
    """
    after = tokens[last + 1].word if last + 1 < len(tokens) else None
    if after is not None and not chooser.rules.adjectives_follow and _goes_on(after):
        return True
    ordered = any(map(chooser.rules.is_ordered, crossed))
    return ordered and not chooser.is_in_order(choice, _words(tokens, first, last))


def _dangles(
    tokens: Sequence[Token], last: int, choice: Choice, chooser: NameChooser, *, persons: bool = True
) -> bool:
    """Whether a phrase ends with an adjective of the next word: "hyperplasia of the mandibular | processes".

    A name may end with an adjective, too. The adjective of a chemical does not count as its name before a noun:
    "adrenergic | receptors".
    """
    word = tokens[last].word
    after = tokens[last + 1].word if last + 1 < len(tokens) else None
    if after is not None and chooser.is_other_part(choice, word, after):
        return True
    if not word.adjective or after is None or after.kind != _WORD or (persons and after.person):
        return False
    return chooser.last_word(choice).lemma != word.lemma or chooser.is_product(choice)
