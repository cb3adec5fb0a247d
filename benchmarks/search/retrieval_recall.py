"""Measure the recall of candidate retrieval among the first k concepts, an upper bound for every re-ranker.

    python benchmarks/search/retrieval_recall.py [--encoder MODEL] [--first N] [--json FILE]

Le & Nguyen (2023), table 2: BC5CDR training and development sets, both types, against MeSH, 64 distinct concepts.
Sparse are two TF-IDF searches (preset ``le-nguyen``), what either finds ordered by the mean of both scores, equal
names first; dense (with ``--encoder``) is that encoder alone.
A mention whose concept is not retrieved counts as wrong, also where MeSH as it lies in $NYMLINK_DATA does not have
its id: coverage is the share of the mentions that have one it knows. A composite mention is right where all its
parts are.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import first
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.evaluation import RECALL_AT, evaluate
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.vocabulary.read import read_vocabulary

SPLITS: Final = ("Training", "Development")
MESH: Final = "vocabularies/mesh.tsv.gz"
CORPUS: Final = "corpora/bc5cdr/CDR_{split}Set.PubTator.txt.gz"


def recall(index: Index, corpus: Corpus) -> Mapping[str, float]:
    """Compute recall among the first k concepts of mentions with gold ids, and the coverage of these ids."""
    found = evaluate(index, corpus)
    covered = 1 - found.counts.unknown_gold / found.counts.scored
    return {"mentions": found.counts.scored, "coverage": covered} | {
        f"@{k}": found.figures[f"recall@{k}"] for k in RECALL_AT
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="also measure dense search with this encoder")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    parser.add_argument("--first", type=int, help="only so many mentions of each split, for trying")
    arguments = parser.parse_args()
    vocabulary = read_vocabulary(data_root() / MESH)
    indexes = {"sparse": Index.build(vocabulary, sparse="le-nguyen", progress=True, encoder=None)}
    if arguments.encoder is not None:
        dense = Index.build(vocabulary, sparse="none", encoder=arguments.encoder, progress=True)
        indexes["dense"] = dense.with_fusion(Fusion.of(["exact", "dense"], weights={"dense": 1.0}))
    rows = []
    for split in SPLITS:
        whole = read_corpus(data_root() / CORPUS.format(split=split))
        corpus = whole if arguments.first is None else first(whole, arguments.first)
        for name, index in indexes.items():
            mentions, *shares = recall(index, corpus).values()
            rows.append((f"{split}, {name}", f"{mentions:,}", *(f"{100 * share:.1f}" for share in shares)))
    text = report.table(("split, search", "mentions", "coverage", *(f"@{k}" for k in RECALL_AT)), rows)
    print(text)
    report.publish(
        arguments.json,
        text,
        ["recall"],
        data="BC5CDR, diseases and chemicals",
        split="train, dev",
        dictionary="MeSH (open table), bare",
        counting="by concept",
        encoder=arguments.encoder,
        seed=None,
    )


if __name__ == "__main__":
    main()
