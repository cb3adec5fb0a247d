"""nymlink's own table of sources, read from ``table.toml`` beside this file."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final

from nymlink.sources.source import PublishedSource


def _read() -> tuple[PublishedSource, ...]:
    text = (files("nymlink.sources") / "table.toml").read_text(encoding="utf-8")
    return tuple(PublishedSource(name=name, **entry) for name, entry in tomllib.loads(text).items())


TABLE: Final = _read()
