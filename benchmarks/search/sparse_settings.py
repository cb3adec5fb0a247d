"""Compare candidates for the default setting of the sparse search on the development sets.

    python benchmarks/search/sparse_settings.py [--json FILE]

Acc@1 by name on the prepared development queries of NCBI and BC5CDR, bare and augmented dictionary, and the mean.
Queries are searched as published.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import DEVELOPMENT, load
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import IndexContents
from nymlink.index.sparse.features import SparseSettings
from nymlink.index.sparse.sparse_search import SparseSearch

CANDIDATES: Final = {
    "whole name 1–2, words 3–4 (default)": SparseSettings(chars=(1, 2), word_chars=(3, 4), search_share=0.15),
    "whole name 1–2 (BioSyn)": SparseSettings(chars=(1, 2)),
    "whole name 1–4": SparseSettings(chars=(1, 4), search_share=0.15),
    "whole name 2–5": SparseSettings(chars=(2, 5), search_share=0.15),
    "words 2–4": SparseSettings(word_chars=(2, 4), search_share=0.15),
    "words 3–4": SparseSettings(word_chars=(3, 4), search_share=0.15),
    "words 3–4, whole words": SparseSettings(word_chars=(3, 4), words=True, search_share=0.15),
    "whole name 1–2, words 3–4, 1 + ln count": SparseSettings(
        chars=(1, 2), word_chars=(3, 4), sublinear=True, search_share=0.15
    ),
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    tasks = DEVELOPMENT[:4]
    shares: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    for task in tasks:
        vocabulary, [corpus] = load(task, data_root())
        entries = Entries.of(vocabulary, any_order=True)
        for name, settings in CANDIDATES.items():
            searches = {"sparse": SparseSearch.build(entries, settings)}
            fusion = Fusion.of(("exact", "sparse"))
            index = Index(IndexContents(vocabulary, entries, searches, {"fusion": fusion.to_dict()}))
            shares[name].append(100 * evaluate(index, corpus, as_published=True).figures["acc@1"])
    rows = [
        (name, *(f"{share:.1f}" for share in found), f"{sum(found) / len(found):.1f}")
        for name, found in shares.items()
    ]
    text = report.table(("character n-grams of", *(task.name for task in tasks), "mean"), rows)
    print(text)
    report.publish(
        arguments.json,
        text,
        ["settings"],
        data="NCBI disease, BC5CDR disease",
        split="dev",
        dictionary="MEDIC 2012, bare and augmented",
        seed=None,
        counting="Acc@1 by name, queries as published",
    )


if __name__ == "__main__":
    main()
