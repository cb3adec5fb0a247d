"""gilda: grounding over terms of the dictionary, without context or downloads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.dictionary import Dictionary, Search, first


def load(dictionary: Dictionary, index: Path) -> Search:
    """Make terms of all names."""
    # The folder of its downloads.
    os.environ["PYSTOW_HOME"] = str(index / "pystow")
    from gilda.grounder import Grounder
    from gilda.process import normalize
    from gilda.term import Term

    grounder = Grounder(
        [
            Term(normalize(name), name, "D", str(concept), name, "synonym", "dictionary")
            for name, own in zip(dictionary.names, dictionary.concepts, strict=True)
            for concept in own
            if normalize(name).strip()
        ]
    )

    def search(block: Sequence[str]) -> list[list[int]]:
        return [first(int(one.term.id) for one in grounder.ground(query)) for query in block]

    return search
