"""Count mentions in scripts that the encoder of an index does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from nymlink.core.collected_counts import CollectedCounts
from nymlink.encode.model.installed import XL_MINI
from nymlink.index.index import Index
from nymlink.text.normalisation.scripts import main_script


@dataclass(slots=True)
class UnknownScripts(CollectedCounts):
    """Counts of linked mentions, and of those that the encoder of the index cannot read.

    Attributes:
        mentions: number of linked mentions.
        unread: number of those in each script that the encoder does not know.
        encoder: its name.
    """

    mentions: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    encoder: str = ""

    def add(self, queries: Iterable[str], index: Index) -> None:
        """Count a mention by its queries: one that is a name of the index needs no encoder."""
        self.mentions += 1
        searched = [query for query in queries if not query.isascii() and index.entries.find(query) is None]
        scripts = [script for query in searched if (script := main_script(query)) is not None]
        # The encoder is loaded for such queries only, which need it anyway.
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
