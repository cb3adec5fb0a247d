"""What one would otherwise link names with: each finds the best names of a dictionary for prepared queries.

A linker is a function of the folder that ``peers:prepare`` filled. It gives ``found`` (for each distinct query the
rows of its best names, best first), ``start_seconds`` (until it can be asked, imports included) and ``per_second``
(distinct queries). Each runs in a process of its own (see ``apart.py``), gilda's under another
Python: at the top of this file nothing is imported that Python does not bring.
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
"""Names that are asked for."""

_BLOCK: Final = 128
"""Queries whose similarities with all names are held at a time, where a linker makes them all."""

_PASSES: Final = 5
_ENOUGH: Final = 3.0
"""All queries are searched for so many times, but not again after so many seconds."""

Search = Callable[[Sequence[str]], list[list[int]]]


def exact(folder: str) -> dict[str, Any]:
    """The equal name, from a dictionary in memory."""
    start = time.perf_counter()
    row_of = {name: row for row, name in enumerate(_read(folder, "names"))}
    return _measured(folder, start, lambda block: [[row_of[one]] if one in row_of else [] for one in block])


def rapidfuzz(folder: str) -> dict[str, Any]:
    """``fuzz.ratio`` with all names, on all cores."""
    start = time.perf_counter()
    import numpy as np
    from rapidfuzz import fuzz, process

    names = _read(folder, "names")

    def search(block: Sequence[str]) -> list[list[int]]:
        return _largest(process.cdist(block, names, scorer=fuzz.ratio, workers=-1, dtype=np.float32))

    return _measured(folder, start, search)


def tfidf(folder: str) -> dict[str, Any]:
    """scikit-learn's TF-IDF of character 1–2-grams (as BioSyn's sparse part), cosine with all names."""
    start = time.perf_counter()
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
    names = vectorizer.fit_transform(_read(folder, "names")).T.tocsc()
    return _measured(folder, start, lambda block: _largest((vectorizer.transform(block) @ names).toarray()))


def gilda(folder: str) -> dict[str, Any]:
    """The grounder of gilda over terms made of our dictionary; without context, and nothing is downloaded."""
    start = time.perf_counter()
    # Where it would keep what it downloads.
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
    """nymlink, with an index that was built before.

    Args:
        folder: as for the others.
        index: its name in the folder.
        weights: of its searches; ``None`` for its own.
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
    """The columns of the K largest positive values of each row, the first of equals first."""
    import numpy as np

    # More than K, for equals at the border.
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
        begun = time.perf_counter()
        found = [rows for at in range(0, len(queries), block) for rows in search(queries[at : at + block])]
        seconds.append(time.perf_counter() - begun)
    return {
        "start_seconds": started,
        "per_second": len(queries) / statistics.median(seconds),
        "found": found,
    }


def _read(folder: str, what: str) -> list[Any]:
    values: list[Any] = json.loads((Path(folder) / f"{what}.json").read_text(encoding="utf-8"))
    return values
