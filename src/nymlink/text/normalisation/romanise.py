"""Romanise names of any script, so that loan words look like the names they come from."""

from __future__ import annotations

from anyascii import anyascii

from nymlink.text.normalisation.folding import fold


def romanise(text: str) -> str:
    """Romanise a normal form, to ASCII letters and digits: "инсулин" → "insulin", "インスリン" → "insurin".

    Each character of the folded form is written by itself (package anyascii), without regard to the language:
    Chinese characters as in Mandarin. Names of phenotypes in ten languages were found as well by it as by uroman
    (Hermjakob et al. 2018), which takes longer.

    Args:
        text: as :func:`~nymlink.text.normalisation.normalise.normalise` gives it.

    Returns:
        Lower-case words with single spaces; the text itself where it is ASCII, and empty where nothing of it can
        be written.
    """
    if text.isascii():
        return text
    letters = "".join([char for char in anyascii(fold(text)).lower() if char.isalnum() or char == " "])
    return " ".join(letters.split())
