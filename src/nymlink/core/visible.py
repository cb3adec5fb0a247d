"""Make visible the characters that a terminal would act on: what a file holds must not command who looks at it."""

from __future__ import annotations

import io
import re
from typing import Final

# Control characters but line feed and tab, line and paragraph separators, what turns the direction of writing
# until it is turned back, and halves of characters, as which bytes that are not UTF-8 come.
_ACTING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Write the characters that act on a terminal as JSON does: ``\u001b`` for ESC."""
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class VisibleText(io.TextIOWrapper):
    """A terminal to which text is written as :func:`visible` has it."""

    def write(self, text: str, /) -> int:
        super().write(visible(text))
        return len(text)
