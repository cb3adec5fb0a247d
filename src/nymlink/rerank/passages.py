"""Passages: mentions in the sentences of a document that have mentions.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 4.2.1: nymlink expands abbreviations, removes sentences without mentions, and lower-cases
the text.
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
"""Function from a text to the offsets at which its sentences start. The offsets ascend, and the first is 0."""


def sentence_starts(text: str) -> list[int]:
    """Find the starts of sentences with syntok. White space between two sentences belongs to the first sentence.

    Raises:
        MissingExtraError: syntok is not installed.
    """
    try:
        from syntok import segmenter
    except ImportError as error:
        raise MissingExtraError("train", purpose="splitting a text into sentences") from error
    # Split each paragraph by itself. Given a whole text, syntok skips, for each later paragraph, white space as
    # long as all the text before it.
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
"""Characters of context that are kept on each side for each token of the input. Tokens are shorter than this."""

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

    Mentions may overlap, because each mention has its own passage.

    Args:
        document: a document, with or without text.
        max_length: most tokens of a passage that the model reads. Each side of the context is cut to a text that
            is longer than this many tokens.
        splitter: splits a text into sentences. The text has expanded abbreviations, and is not lower-cased.

    Returns:
        The passage of each mention, in order. It is ``None`` for a mention without a usable context: the mention
        has no offsets, its offsets are outside the text, the text at its offsets is not its own, or nothing stands
        around it.

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
    """Return the span of a mention; ``None`` if the document does not have the mention's text there."""
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
    # Lower-case the parts after cutting: lower-casing can change the length of a text ("İ").
    return Passage(left.lower(), text[start:end].lower(), right.lower())
