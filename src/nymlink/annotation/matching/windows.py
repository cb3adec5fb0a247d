"""Find names whose words stand together in a text, in any order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from nymlink.annotation.confidence import FACTORS
from nymlink.annotation.matching.hits import Hit
from nymlink.annotation.names.choice import Choice, NameChooser
from nymlink.annotation.names.digests import LONGEST, core_digest
from nymlink.annotation.names.table import NameTable
from nymlink.annotation.words.word import MASK, Kind, Token

_WORD: Final = Kind.WORD
_GLUE: Final = Kind.GLUE
_CONJUNCTION: Final = Kind.CONJUNCTION


def find_windows(tokens: Sequence[Token], table: NameTable, chooser: NameChooser) -> list[Hit]:
    """Find names in stretches of words that go over no comma, bracket or verb.

    Articles and prepositions within are passed over; a qualifier within may be, too ("aplasia of the left thumb").
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
        for last in range(first, len(tokens)):
            word = words[last]
            kind = word.kind
            if kind == _GLUE:
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
            if choice is not None and not _dangles(tokens, last, choice, chooser):
                hits.append(Hit(tokens[first].start, tokens[last].end, count, choice))
            if word.qualifier and count > 1:
                gap = True
                skipped_exact += word.exact
                skipped_form += word.form
    return hits


def find_cores(
    tokens: Sequence[Token], taken: Sequence[Hit], table: NameTable, chooser: NameChooser
) -> Iterator[Hit]:
    """Find names by their words alone that say something, where nothing else was found."""
    free = _free(tokens, taken)
    places, shift = table.places, table.shift
    for first, token in enumerate(tokens):
        if not free[first] or token.word.empty or not token.word.form:
            continue
        found: list[Token] = []
        forms = 0
        for last in range(first, len(tokens)):
            word = tokens[last].word
            if word.kind == _GLUE:
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
            if choice is not None and not _dangles(tokens, last, choice, chooser, persons=False):
                yield Hit(token.start, tokens[last].end, len(found), choice)


def _free(tokens: Sequence[Token], taken: Sequence[Hit]) -> list[bool]:
    """Tell which tokens are words in which nothing was found."""
    free = [token.word.kind == _WORD for token in tokens]
    starts = [token.start for token in tokens]
    for hit in taken:
        for place in range(bisect_left(starts, hit.start), bisect_left(starts, hit.end)):
            free[place] = False
    return free


def _words(tokens: Sequence[Token], first: int, last: int, *, qualifiers: bool = True) -> list[Token]:
    """List the words and conjunctions of a stretch of tokens."""
    found = [token for token in tokens[first : last + 1] if token.word.kind in (_WORD, _CONJUNCTION)]
    if qualifiers:
        return found
    return [token for place, token in enumerate(found) if place == 0 or not token.word.qualifier]


def _dangles(
    tokens: Sequence[Token], last: int, choice: Choice, chooser: NameChooser, *, persons: bool = True
) -> bool:
    """Whether a phrase ends with an adjective of the next word: "hyperplasia of the mandibular | processes".

    Names end with adjectives, too; but one of a chemical is another thing before a noun: "adrenergic | receptors".
    """
    word = tokens[last].word
    after = tokens[last + 1].word if last + 1 < len(tokens) else None
    if not word.adjective or after is None or after.kind != _WORD or (persons and after.person):
        return False
    return chooser.last_word(choice).lemma != word.lemma or chooser.is_product(choice)
