"""Splitting a text into sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nymlink.core.errors import MissingExtraError

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
