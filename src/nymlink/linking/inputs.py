"""Check the mentions given to a linker, before anything is searched; errors name the position of the bad one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.corpus.model import Document, Mention
from nymlink.text.normalise import normalise

_SHOWN: Final = 60
"""Characters of a wrong value in a message."""

_NOTHING: Final = Mention("")


def is_missing(value: Any) -> bool:
    """Whether this stands for a value that is not there, as in a column of a spreadsheet: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, str | Mention) or hasattr(value, "__len__"):
        return False
    # What is missing does not equal itself, and pandas.NA does not even say.
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True


def as_document(what: Any, *, stacklevel: int) -> Document:
    """A list of mentions as a document without text; a document as it is.

    What is missing in a list becomes an empty mention, whose link is empty; one warning counts them.

    Args:
        what: a document, or strings and mentions.
        stacklevel: whose line the warning is of: 1 for the caller's, 2 for the line that called that.

    Raises:
        InputError: it is neither, or something in the list is no mention.
    """
    if isinstance(what, Document):
        return what
    single = isinstance(what, str | bytes | bytearray | memoryview | Mention | Mapping)
    if single or not isinstance(what, Iterable) or getattr(what, "ndim", 1) != 1:
        raise InputError(f"{_said(what)} cannot be linked: give a string, a list of strings, or a Document")
    mentions = tuple(_mention(item, place) for place, item in enumerate(what))
    missing = sum(mention is _NOTHING for mention in mentions)
    if missing:
        warnings.warn(
            f"{missing:,} of {len(mentions):,} mentions are missing (None, NaN): their links are empty",
            stacklevel=stacklevel + 1,
        )
    return Document("", mentions=mentions)


def checked(document: Any) -> Document:
    """Check that the mentions of a document are texts at their offsets.

    Raises:
        InputError: one is not. The words at its offsets may differ from its own in case and
            punctuation. Of a document without text only the order of offsets is checked.
    """
    if not isinstance(document, Document):
        raise InputError(f"{_said(document)} is no Document: make one, or link it with Linker.link")
    where = f"document {document.id!r}, " if document.id else ""
    if not isinstance(document.text, str):
        raise InputError(f"{where}text: {_said(document.text)}, not a string")
    for place, mention in enumerate(document.mentions):
        fault = _fault(mention, document.text)
        if fault is not None:
            raise InputError(f"{where}mentions[{place}]: {fault}")
    return document


def _mention(item: Any, place: int) -> Mention:
    if isinstance(item, Mention):
        return item
    if isinstance(item, str):
        return Mention(item)
    if is_missing(item):
        return _NOTHING
    advice = (
        "decode it first" if isinstance(item, bytes | bytearray) else "write it as text first, or leave it out"
    )
    raise InputError(f"mentions[{place}]: {_said(item)}, not a string: {advice}")


def _fault(mention: Any, text: str) -> str | None:
    """Describe the fault of a mention in a document with this text; ``None`` for a valid one."""
    if not isinstance(mention, Mention):
        return f"{_said(mention)}, not a Mention"
    if not isinstance(mention.text, str):
        return f"its text is {_said(mention.text)}, not a string"
    code = mention.language
    if code is not None and not (isinstance(code, str) and normalise_language(code)):
        return f"its language is {_said(code)}, no language code: give one like 'en' or 'pt-BR', or none"
    start, end = mention.start, mention.end
    if start is None and end is None:
        return None
    at = f"it is at {start}-{end}"
    if not (isinstance(start, Integral) and isinstance(end, Integral)):
        return f"{at}: offsets are two whole numbers, or none"
    if not 0 <= start <= end:
        return f"{at}: offsets count from 0, the start before the end"
    if not text:
        return None
    if end > len(text):
        return f"{at}, outside the text, which has {len(text):,} characters"
    there = text[start:end]
    if mention.prepared or there == mention.text or normalise(there) == normalise(mention.text):
        return None
    return (
        f"{at}, where the text has {there[:_SHOWN]!r}, not {mention.text[:_SHOWN]!r}: offsets count Unicode "
        "characters, not bytes"
    )


def _said(value: Any) -> str:
    """A value and its type, for a message."""
    return f"{' '.join(repr(value).split())[:_SHOWN]} ({type(value).__name__})"
