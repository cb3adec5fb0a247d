"""Escape control characters, so that text from a file cannot send commands to the terminal that shows it."""

from __future__ import annotations

import io
import re
from typing import Final

# Control characters except line feed and tab; line and paragraph separators; bidirectional overrides; and lone
# surrogates, which stand for bytes that are not UTF-8.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    r"""Replace control characters by their JSON escapes, for example ESC by ``\u001b``."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class EscapingWriter(io.TextIOWrapper):
    """A text stream that passes everything written through :func:`escape_controls`."""

    def write(self, text: str, /) -> int:
        super().write(escape_controls(text))
        return len(text)
