"""A mention in its context, as the re-ranker reads it.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 4.2.1: abbreviations are written out, sentences without mentions removed, and all is
lower-cased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nymlink.corpus.model import Document, Mention
from nymlink.rerank.sentences import Splitter, sentence_starts
from nymlink.text.abbreviations import find_definitions
from nymlink.text.expansion import expand_text
from nymlink.text.normalise import normalise
from nymlink.text.rewriting import Replacement, Rewritten, rewrite

MAX_LENGTH: Final = 128
"""Tokens of an input, where nothing else is said: as many as in the paper."""

_CHARACTERS: Final = 8
"""Kept on either side for each token that can be read: more than one has, whatever the length of the document."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A mention with what stands before and after it, lower-cased, abbreviations written out."""

    left: str
    mention: str
    right: str


def passages(
    document: Document, *, max_length: int = MAX_LENGTH, splitter: Splitter = sentence_starts
) -> tuple[Passage | None, ...]:
    """The passage of each mention of a document.

    Each mention is marked in a passage of its own, so that mentions may overlap.

    Args:
        document: a text with mentions, or mentions alone.
        max_length: tokens that will be read of each: either side has text enough for as many.
        splitter: finds its sentences, in the text with abbreviations written out but not yet lower-cased.

    Returns:
        For each mention, in order, its passage; ``None`` where it has no context that can be used: no offsets, or
        such as are outside the text or at another text than its own, or nothing else is said beside it.

    Raises:
        MissingExtraError: the splitter is not installed.
    """
    text = document.text
    placed = {place: span for place, one in enumerate(document.mentions) if (span := _span(text, one)) is not None}
    if not placed:
        return (None,) * len(document.mentions)
    written = expand_text(text, find_definitions(text))
    spans = {place: written.span_to_new(*span) for place, span in placed.items()}
    kept = _with_mentions(written.text, list(spans.values()), splitter)
    window = _CHARACTERS * max_length
    found = {place: _cut(kept.text, *kept.span_to_new(*span), window) for place, span in spans.items()}
    return tuple(found.get(place) for place in range(len(document.mentions)))


def _span(text: str, mention: Mention) -> Span | None:
    start, end = mention.start, mention.end
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    return (start, end) if normalise(text[start:end]) == normalise(mention.text) else None


def _with_mentions(text: str, spans: Sequence[Span], splitter: Splitter) -> Rewritten:
    """The text without those sentences in which there is no part of a mention."""
    starts = splitter(text)
    needed: list[Span] = []
    for start, end in sorted(spans):
        if needed and start <= needed[-1][1]:
            needed[-1] = (needed[-1][0], max(end, needed[-1][1]))
        else:
            needed.append((start, end))
    removed = []
    place = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        while place < len(needed) and needed[place][1] <= start:
            place += 1
        if start < end and (place == len(needed) or needed[place][0] >= end):
            removed.append(Replacement(start, end, ""))
    return rewrite(text, removed)


def _cut(text: str, start: int, end: int, window: int) -> Passage | None:
    left, right = text[max(0, start - window) : start], text[end : end + window]
    if not (left.strip() or right.strip()):
        return None
    # Piece by piece: a text that is lower-cased can change its length ("İ").
    return Passage(left.lower(), text[start:end].lower(), right.lower())
