"""Splitting a text into sentences.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 4.2.1: abbreviations are expanded, sentences without mentions are removed, and the text is
lower-cased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from nymlink.core.errors import MissingExtraError
from nymlink.corpus.documents import Document, Mention
from nymlink.text.abbreviations import find_definitions
from nymlink.text.expansion import expand_text
from nymlink.text.normalise import normalise
from nymlink.text.rewriting import Replacement, Rewritten, rewrite

Splitter = Callable[[str], Sequence[int]]
"""A text → the offsets of the starts of its sentences, ascending, the first 0."""


def sentence_starts(text: str) -> list[int]:
    """Find the starts of sentences with syntok; white space between two sentences belongs to the first.

    Raises:
        MissingExtraError: syntok is not installed.
    """
    try:
        from syntok import segmenter
    except ImportError as error:
        raise MissingExtraError("train", purpose="splitting a text into sentences") from error
    # Paragraph by paragraph: for a later paragraph of a whole text, syntok skips white space as long as all before
    # it.
    starts = {
        offset + sentence[0].offset
        for offset, piece in segmenter.preprocess_with_offsets(text)
        for paragraph in segmenter.analyze(piece)
        for sentence in paragraph
    }
    return [0, *sorted(starts)[1:]]


DEFAULT_MAX_LENGTH: Final = 128
"""The default number of tokens of an input, as in the paper."""

_CHARACTERS: Final = 8
"""Characters of context kept on each side per token: more than a token has."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A mention with the text before and after it, lower-cased, with abbreviations expanded."""

    left: str
    mention: str
    right: str


def passages(
    document: Document, *, max_length: int = DEFAULT_MAX_LENGTH, splitter: Splitter = sentence_starts
) -> tuple[Passage | None, ...]:
    """Make the passage of each mention of a document.

    Mentions may overlap, because each has its own passage.

    Args:
        document: a document, with or without text.
        max_length: most tokens of a passage for the model: each side of the context has at least as much text.
        splitter: splits the text with expanded abbreviations, not yet lower-cased, into sentences.

    Returns:
        The passage of each mention, in order; ``None`` without a usable context: the mention has no offsets, or
        they are outside the text or at another text than the mention's, or there is no other text.

    Raises:
        MissingExtraError: the splitter is not installed.
    """
    text = document.text
    spans = {
        place: span
        for place, mention in enumerate(document.mentions)
        if (span := _checked_span(text, mention)) is not None
    }
    if not spans:
        return (None,) * len(document.mentions)
    expanded = expand_text(text, find_definitions(text))
    spans = {place: expanded.span_to_new(*span) for place, span in spans.items()}
    shortened = _without_other_sentences(expanded.text, list(spans.values()), splitter)
    window = _CHARACTERS * max_length
    result = {
        place: _passage(shortened.text, *shortened.span_to_new(*span), window) for place, span in spans.items()
    }
    return tuple(result.get(place) for place in range(len(document.mentions)))


def _checked_span(text: str, mention: Mention) -> Span | None:
    """Return the span of a mention if it contains the mention's text, else ``None``."""
    start, end = mention.start, mention.end
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    return (start, end) if normalise(text[start:end]) == normalise(mention.text) else None


def _without_other_sentences(text: str, spans: Sequence[Span], splitter: Splitter) -> Rewritten:
    """Remove the sentences without any part of a mention."""
    starts = splitter(text)
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    removed = []
    place = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        while place < len(merged) and merged[place][1] <= start:
            place += 1
        if start < end and (place == len(merged) or merged[place][0] >= end):
            removed.append(Replacement(start, end, ""))
    return rewrite(text, removed)


def _passage(text: str, start: int, end: int, window: int) -> Passage | None:
    left, right = text[max(0, start - window) : start], text[end : end + window]
    if not (left.strip() or right.strip()):
        return None
    # Lower-case the parts, not the text, whose length can change ("İ").
    return Passage(left.lower(), text[start:end].lower(), right.lower())
