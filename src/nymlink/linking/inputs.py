"""Check the inputs of a linker, and count mentions in scripts that the encoder does not know."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Final, Self

from nymlink.core.errors import InputError
from nymlink.core.language_codes import AUTOMATIC, normalise_language
from nymlink.core.problems import CollectedCounts
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.model.folder import XL_MINI
from nymlink.index.index import Index
from nymlink.text.normalise import main_script, normalise


@dataclass(slots=True)
class UnknownScripts(CollectedCounts):
    """Count linked mentions, and mentions that the encoder of the index cannot read.

    Attributes:
        mentions: number of linked mentions.
        unread: number of mentions in each script that the encoder does not know.
        encoder: name of the encoder.
    """

    mentions: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    encoder: str = ""

    def add(self, queries: Iterable[str], index: Index) -> None:
        """Count a mention by its queries. A query that is a name of the index needs no encoder."""
        self.mentions += 1
        searched = [query for query in queries if not query.isascii() and index.entries.find(query) is None]
        if not searched:
            return
        scripts = [script for query in searched if (script := main_script(query)) is not None]
        # The encoder is loaded only for queries that need it for their search, too.
        if not scripts or (encoder := index.encoder) is None:
            return
        unknown = [script for script in scripts if script not in encoder.known_scripts]
        if unknown:
            self.unread[unknown[0]] += 1
            self.encoder = encoder.name or ""

    def _add(self, other: Self) -> None:
        self.mentions += other.mentions
        self.unread += other.unread
        self.encoder = other.encoder or self.encoder

    def _message(self) -> str | None:
        if not self.unread:
            return None
        *others, last = [script for script, _ in self.unread.most_common()]
        scripts = f"{', '.join(others)} or {last}" if others else last
        message = (
            f"{self.unread.total():,} of {self.mentions:,} mentions are written in {scripts}, which the encoder "
            f"{self.encoder or 'of the index'} does not know: they were compared by their letters alone"
        )
        if self.encoder == XL_MINI:
            return message
        return (
            f"{message}; {XL_MINI} knows many languages: pip install 'nymlink[xl]', then build the index with "
            f"nymlink index build ... --encoder {XL_MINI}"
        )


_SHOWN: Final = 60
"""Characters of a wrong value in a message."""

_MISSING: Final = Mention("")


def is_missing(value: Any) -> bool:
    """Whether a value is missing, as in a column of a spreadsheet: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, str | Mention) or hasattr(value, "__len__"):
        return False
    # A missing value does not equal itself; comparing pandas.NA raises TypeError.
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True


def as_document(what: Any, *, stacklevel: int) -> Document:
    """Wrap a list of mentions in a document without text; return a document unchanged.

    Missing values in a list become empty mentions with empty links; one warning counts them.

    Args:
        what: a document, or strings and mentions.
        stacklevel: the line that the warning names: 1 for the caller's line, 2 for the line of the caller's
            caller.

    Raises:
        InputError: ``what`` has another type, or an item of the list is no mention.
    """
    if isinstance(what, Document):
        return what
    single = isinstance(what, str | bytes | bytearray | memoryview | Mention | Mapping)
    if single or not isinstance(what, Iterable) or getattr(what, "ndim", 1) != 1:
        raise InputError(f"{_describe(what)} cannot be linked: give a string, a list of strings, or a Document")
    mentions = tuple(_mention(item, place) for place, item in enumerate(what))
    missing = sum(mention is _MISSING for mention in mentions)
    if missing:
        warnings.warn(
            f"{missing:,} of {len(mentions):,} mentions are missing (None, NaN): their links are empty",
            stacklevel=stacklevel + 1,
        )
    return Document("", mentions=mentions)


def checked(document: Any) -> Document:
    """Check that the text at the offsets of each mention is the mention, ignoring case and punctuation.

    For a document without text, only the order of the offsets is checked.

    Raises:
        InputError: a mention fails the check.
    """
    if not isinstance(document, Document):
        raise InputError(f"{_describe(document)} is not a Document: make one, or link it with Linker.link")
    where = f"document {document.id!r}, " if document.id else ""
    if not isinstance(document.text, str):
        raise InputError(f"{where}text: {_describe(document.text)}, not a string")
    for place, mention in enumerate(document.mentions):
        fault = _fault(mention, document.text)
        if fault is not None:
            raise InputError(f"{where}mentions[{place}]: {fault}")
    return document


def _mention(item: Any, place: int) -> Mention:
    """Make a mention from an item of a list; ``place`` is for messages."""
    if isinstance(item, Mention):
        return item
    if isinstance(item, str):
        return Mention(item)
    if is_missing(item):
        return _MISSING
    advice = (
        "decode it first" if isinstance(item, bytes | bytearray) else "write it as text first, or leave it out"
    )
    raise InputError(f"mentions[{place}]: {_describe(item)}, not a string: {advice}")


def _fault(mention: Any, text: str) -> str | None:
    """Describe the fault of a mention in a document with this text; ``None`` for a valid one."""
    if not isinstance(mention, Mention):
        return f"{_describe(mention)}, not a Mention"
    if not isinstance(mention.text, str):
        return f"its text is {_describe(mention.text)}, not a string"
    code = mention.language
    if code is not None and not (isinstance(code, str) and (code == AUTOMATIC or normalise_language(code))):
        return f"its language {_describe(code)} is not a language code: give one like 'en' or 'pt-BR', or none"
    start, end = mention.start, mention.end
    if start is None and end is None:
        return None
    at = f"it is at {start}-{end}"
    if not (isinstance(start, Integral) and isinstance(end, Integral)):
        return f"{at}: offsets must be two whole numbers, or none"
    if not 0 <= start <= end:
        return f"{at}: offsets count from 0, and the start must be before the end"
    if not text:
        return None
    if end > len(text):
        return f"{at}, outside the text, which has {len(text):,} characters"
    if mention.spans and (fault := _fault_of_spans(mention)):
        return fault
    surface = Document("", text).surface(mention)
    if mention.prepared or surface == mention.text or normalise(surface) == normalise(mention.text):
        return None
    return (
        f"{at}, where the text has {surface[:_SHOWN]!r}, not {mention.text[:_SHOWN]!r}: offsets count Unicode "
        "characters, not bytes"
    )


def _fault_of_spans(mention: Mention) -> str | None:
    """Describe the fault of the pieces of a mention with valid offsets; ``None`` if there is none."""
    offsets = [offset for span in mention.spans for offset in span]
    if offsets == sorted(offsets) and (offsets[0], offsets[-1]) == (mention.start, mention.end):
        return None
    return f"its spans {mention.spans} are not in order, or not from its start to its end"


def _describe(value: Any) -> str:
    """Describe a value and its type for a message."""
    return f"{' '.join(repr(value).split())[:_SHOWN]} ({type(value).__name__})"
