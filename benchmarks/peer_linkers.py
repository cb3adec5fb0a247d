"""Other linkers: each finds the best names of a dictionary for prepared queries.

A linker is a function of the folder that ``peers:prepare`` filled. It gives ``found`` (for each distinct query the
rows of its best names, best first), ``start_seconds`` (until the first query, imports included) and ``per_second``
(distinct queries). Each runs in a process of its own (see ``apart.py``), gilda's under another
Python: this file imports only the standard library at its top.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

K: Final = 5
"""Number of names to find."""

_BLOCK: Final = 128
"""Queries of a block, whose similarities with all names are in memory at once."""

_PASSES: Final = 5
_ENOUGH: Final = 3.0
"""Most passes over all queries, and the seconds after which there is no further one."""

Search = Callable[[Sequence[str]], list[list[int]]]


def exact(folder: str) -> dict[str, Any]:
    """Look up equal names in a dictionary in memory."""
    start = time.perf_counter()
    row_of = {name: row for row, name in enumerate(_read(folder, "names"))}
    return _measured(folder, start, lambda block: [[row_of[one]] if one in row_of else [] for one in block])


def rapidfuzz(folder: str) -> dict[str, Any]:
    """Compute ``fuzz.ratio`` with all names, on all cores."""
    start = time.perf_counter()
    import numpy as np
    from rapidfuzz import fuzz, process

    names = _read(folder, "names")

    def search(block: Sequence[str]) -> list[list[int]]:
        return _largest(process.cdist(block, names, scorer=fuzz.ratio, workers=-1, dtype=np.float32))

    return _measured(folder, start, search)


def tfidf(folder: str) -> dict[str, Any]:
    """Compute cosines of scikit-learn's TF-IDF of character 1–2-grams (as BioSyn's sparse part) with all names."""
    start = time.perf_counter()
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
    names = vectorizer.fit_transform(_read(folder, "names")).T.tocsc()
    return _measured(folder, start, lambda block: _largest((vectorizer.transform(block) @ names).toarray()))


def gilda(folder: str) -> dict[str, Any]:
    """Ground with gilda over terms of the dictionary; without context or downloads."""
    start = time.perf_counter()
    # The folder of its downloads.
    os.environ["PYSTOW_HOME"] = str(Path(folder) / "pystow")
    from gilda.grounder import Grounder
    from gilda.process import normalize
    from gilda.term import Term

    names, concepts = _read(folder, "names"), _read(folder, "concepts")
    row_of = {name: row for row, name in enumerate(names)}
    grounder = Grounder(
        [
            Term(normalize(name), name, "D", concept, name, "synonym", "dictionary")
            for name, own in zip(names, concepts, strict=True)
            for concept in own
            if normalize(name).strip()
        ]
    )

    def search(block: Sequence[str]) -> list[list[int]]:
        found = (dict.fromkeys(row_of[one.term.text] for one in grounder.ground(query)) for query in block)
        return [list(rows)[:K] for rows in found]

    return _measured(folder, start, search)


def nymlink(folder: str, *, index: str, weights: dict[str, float] | None = None) -> dict[str, Any]:
    """Search with nymlink, with an index that was built before.

    Args:
        folder: the folder filled by ``peers:prepare``.
        index: name of the index in the folder.
        weights: weights of its searches; ``None`` for its own.
    """
    place = {name: row for row, name in enumerate(_read(folder, "names"))}
    start = time.perf_counter()
    from nymlink.index.fusion.fusion import Fusion
    from nymlink.index.index import Index

    opened = Index.load(Path(folder) / index)
    opened.load_encoder()
    if weights is not None:
        opened = opened.with_fusion(Fusion.of(opened.search.parts, weights=weights))
    # An entry may stand for several names: the one that is searched is given.
    row_of = [place[name] for name in opened.entries.texts.to_pylist()]

    def search(block: Sequence[str]) -> list[list[int]]:
        found = opened.search.search(block, K).hits.rows.tolist()
        return [[row_of[entry] for entry in line if entry >= 0] for line in found]

    return _measured(folder, start, search, block=1024)


def _largest(scores: Any) -> list[list[int]]:
    """Find the columns of the K largest positive values of each row, the first of equals first."""
    import numpy as np

    # More than K, so that ties at the border are resolved by order.
    kept = min(4 * K, scores.shape[1])
    some = np.sort(np.argpartition(-scores, kept - 1, axis=1)[:, :kept], axis=1)
    values = np.take_along_axis(scores, some, 1)
    order = np.argsort(-values, axis=1, kind="stable")[:, :K]
    lines = zip(np.take_along_axis(some, order, 1).tolist(), np.take_along_axis(values, order, 1), strict=True)
    return [[row for row, value in zip(rows, line, strict=True) if value > 0] for rows, line in lines]


def _measured(folder: str, start: float, search: Search, *, block: int = _BLOCK) -> dict[str, Any]:
    started = time.perf_counter() - start
    queries = _read(folder, "queries")
    search(queries[:32])
    seconds: list[float] = []
    while len(seconds) < _PASSES and sum(seconds) < _ENOUGH:
        # What was asked last may be remembered: it is to be something else.
        search([f"pass {len(seconds)}"])
        pass_start = time.perf_counter()
        found = [rows for at in range(0, len(queries), block) for rows in search(queries[at : at + block])]
        seconds.append(time.perf_counter() - pass_start)
    return {
        "start_seconds": started,
        "per_second": len(queries) / statistics.median(seconds),
        "found": found,
    }


def _read(folder: str, what: str) -> list[Any]:
    values: list[Any] = json.loads((Path(folder) / f"{what}.json").read_text(encoding="utf-8"))
    return values
