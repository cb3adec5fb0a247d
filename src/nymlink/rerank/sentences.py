"""Where the sentences of a text begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nymlink.core.errors import MissingExtraError

Splitter = Callable[[str], Sequence[int]]
"""A text → the offsets at which its sentences begin, ascending, the first 0."""


def sentence_starts(text: str) -> list[int]:
    """Split with syntok; white space between two sentences belongs to the first of them.

    Raises:
        MissingExtraError: syntok is not installed.
    """
    try:
        from syntok import segmenter
    except ImportError as error:
        raise MissingExtraError("train", purpose="splitting a text into sentences") from error
    # Paragraph by paragraph: before each, syntok would go through as much white space as there is text before it.
    starts = {
        offset + sentence[0].offset
        for offset, piece in segmenter.preprocess_with_offsets(text)
        for paragraph in segmenter.analyze(piece)
        for sentence in paragraph
    }
    return [0, *sorted(starts)[1:]]
