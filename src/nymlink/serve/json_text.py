"""Write JSON that any text can be in."""

from __future__ import annotations

import json
from typing import Any


def json_bytes(value: Any) -> bytes:
    """Write JSON in UTF-8; halves of surrogate pairs, which UTF-8 does not have, as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
