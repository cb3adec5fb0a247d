"""Find phrases of a text that may mean a concept, though no name has their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from nymlink.annotation.names.digests import says_something
from nymlink.annotation.words.lexicon import Lexicon
from nymlink.annotation.words.tokens import tokens_of
from nymlink.annotation.words.word import Kind, Token, Word
from nymlink.corpus.model import Mention

_LONGEST: Final = 6
"""Words of the longest phrase."""


def phrases_of(text: str, lexicon: Lexicon, taken: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the phrases of a text in which nothing was found yet.

    They are runs of words between function words, verbs and punctuation, without what stands at their ends and is
    in no name; and two such runs with a preposition between them. Each has a word of names that is not of general
    language.

    Args:
        text: a text.
        lexicon: of the words of names.
        taken: mentions that were found.
    """
    runs: list[list[Token]] = [[]]
    joined: set[int] = set()
    tokens = tokens_of(text, lexicon.find, conjunction=lexicon.conjunction)
    for token, free in zip(tokens, _free(tokens, taken), strict=True):
        if free and token.word.kind == Kind.WORD:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
            if free and token.word.kind == Kind.GLUE:
                joined.add(len(runs) - 1)
        elif not (free and token.word.kind == Kind.GLUE):
            joined.discard(len(runs) - 1)
    trimmed = [_trimmed(run) for run in runs]
    for place, run in enumerate(trimmed):
        if _may_mean(run, lexicon):
            yield _mention(text, run)
        if place in joined and run and trimmed[place - 1]:
            both = [*trimmed[place - 1], *run]
            if _may_mean(both, lexicon):
                yield _mention(text, both)


def _free(tokens: Sequence[Token], taken: Sequence[Mention]) -> list[bool]:
    """Tell which tokens stand in no mention."""
    spans = iter(sorted((mention.start or 0, mention.end or 0) for mention in taken))
    free = []
    start, end = next(spans, (len(tokens) and tokens[-1].end + 1, 0))
    for token in tokens:
        while end and end <= token.start:
            start, end = next(spans, (tokens[-1].end + 1, 0))
        free.append(token.end <= start or (token.start == token.end and token.start <= start))
    return free


def _trimmed(run: Sequence[Token]) -> list[Token]:
    """Leave out words at both ends that are in no name."""
    known = [place for place, token in enumerate(run) if token.word.form]
    return list(run[known[0] : known[-1] + 1]) if known else []


def _may_mean(run: Sequence[Token], lexicon: Lexicon) -> bool:
    words = [token.word for token in run]
    if not 1 < len(words) <= _LONGEST or not says_something(words):
        return False
    return any(_is_telling(word, lexicon) for word in words)


def _is_telling(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word of names says more than a word of general language does."""
    if not word.form or word.qualifier or word.empty or word.wrong or not word.text.isalpha():
        return False
    return not lexicon.rules.is_ordinary(word.text)


def _mention(text: str, run: Sequence[Token]) -> Mention:
    start, end = run[0].start, run[-1].end
    return Mention(text[start:end], start, end)
