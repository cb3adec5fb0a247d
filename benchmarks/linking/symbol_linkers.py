"""Linkers of names as they are written: each finds the concept of a query among the names of a vocabulary.

A linker is a function of the folder that ``symbols:prepare`` filled. It gives ``found``: for each query the number
of its first concept, and the name that it was found by; ``None`` for none. gilda runs under another Python: this
file imports only the standard library at its top.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_BLOCK: Final = 128
"""Queries of a block, whose similarities with all names are in memory at once."""

_STATUS: Final = {"preferred": "name"}
"""gilda's status of a name of a kind; that of the others is "synonym"."""

Found = list[tuple[int, str] | None]


def exact(folder: str) -> dict[str, Found]:
    """Look up names that are equal but for case, the verbatim one first."""
    names, concepts = _read(folder, "names"), _read(folder, "concepts")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name.casefold(), []).append(row)

    def find(query: str) -> tuple[int, str] | None:
        found = sorted(rows.get(query.casefold(), ()), key=lambda row: names[row] != query)
        return (concepts[found[0]], names[found[0]]) if found else None

    return _each(folder, find)


def rapidfuzz(folder: str) -> dict[str, Found]:
    """Compute ``fuzz.ratio`` of texts in lower case without signs, then of those as they stand among the best."""
    import numpy as np
    from rapidfuzz import fuzz, process, utils

    names, concepts = _read(folder, "names"), _read(folder, "concepts")
    keys = [utils.default_process(name) for name in names]
    queries = _read(folder, "queries")
    found: Found = []
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        scores = process.cdist(
            list(map(utils.default_process, block)), keys, scorer=fuzz.ratio, workers=-1, dtype=np.float32
        )
        for query, line in zip(block, scores, strict=True):
            best = np.flatnonzero(line == line.max()).tolist()
            row = max(best, key=lambda row: fuzz.ratio(query, names[row]))
            found.append((concepts[row], names[row]) if line[row] > 0 else None)
    return {"found": found}


def gilda(folder: str) -> dict[str, Found]:
    """Ground with gilda over terms of the vocabulary; without context or downloads."""
    # The folder of its downloads.
    os.environ["PYSTOW_HOME"] = str(Path(folder) / "pystow")
    from gilda.grounder import Grounder
    from gilda.process import normalize
    from gilda.term import Term

    names, concepts, kinds = (_read(folder, what) for what in ("names", "concepts", "kinds"))
    grounder = Grounder(
        [
            Term(normalize(name), name, "D", str(concept), name, _STATUS.get(kind, "synonym"), "vocabulary")
            for name, concept, kind in zip(names, concepts, kinds, strict=True)
            if normalize(name).strip()
        ]
    )

    def find(query: str) -> tuple[int, str] | None:
        matches = grounder.ground(query)
        return (int(matches[0].term.id), matches[0].term.text) if matches else None

    return _each(folder, find)


def nymlink(folder: str, *, index: str) -> dict[str, Found]:
    """Link with nymlink, to an index that was built before."""
    from nymlink.index.index import Index
    from nymlink.linking.linker import Linker

    opened = Index.load(Path(folder) / index)
    links = Linker(opened).link(_read(folder, "queries"))
    best = [link.candidates[0] if link.candidates else None for link in links]
    row = opened.vocabulary.row
    return {"found": [one and (row(one.concept_id), one.matched.text) for one in best]}


def _each(folder: str, find: Callable[[str], tuple[int, str] | None]) -> dict[str, Found]:
    return {"found": list(map(find, _read(folder, "queries")))}


def _read(folder: str, what: str) -> list[Any]:
    values: list[Any] = json.loads((Path(folder) / f"{what}.json").read_text(encoding="utf-8"))
    return values
