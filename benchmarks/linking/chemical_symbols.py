"""Measure what the table of chemical symbols adds to linking chemicals.

    python benchmarks/linking/chemical_symbols.py FOLDER [--encoder MODEL] [--json FILE]

Links the chemicals of BC5CDR, BioRED and CRAFT with their documents, without the table and with it. Only mentions
whose concept the vocabulary has count. Reads training and development parts from $NYMLINK_DATA or ../shared/data.
Indexes are kept in FOLDER, which ``across.py`` may share.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.across import gain
from benchmarks.linking.curated_sets import SETS, Set, folder_of, opened, parser_of, pubtator
from nymlink.core.terminal import track
from nymlink.encode.model.folder import NANO
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking import queries
from nymlink.linking.pipeline import Pipeline

_CHEMICALS: Final = frozenset({"Chemical"})
_TRAINING: Final = Set(
    "BC5CDR, training part",
    "mesh",
    partial(pubtator, "corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz"),
    _CHEMICALS,
)
_OTHERS: Final = ("BC5CDR → mesh", "BioRED → mesh", "CRAFT → chebi")

Outcome = tuple[str, int, bool, bool]
"""Text of a mention, row of its concept, and whether this is the first, and among the first five, candidates."""


def outcomes(index: Index, chosen: Set, data: Path) -> list[Outcome]:
    """Link the mentions of a set with their documents."""
    resolver, documents = GoldResolver(index.vocabulary), chosen.read(data).documents
    found = Pipeline(index, composites="gold").search(documents, 5)
    result = []
    for number, (document, own) in enumerate(zip(documents, found.queries, strict=True)):
        for mention, parts, first in zip(document.mentions, own, found.settled(number), strict=True):
            answer = resolver.rows(mention.concept_ids)
            if not answer or (chosen.types and mention.type not in chosen.types):
                continue
            for part in parts:
                rows = found.concepts(part.question, first if len(parts) == 1 else None)
                right = [row in answer for row in rows]
                result.append((mention.text.lower(), min(answer), right[0], any(right[:5])))
    return result


def measure(index: Index, chosen: Set, data: Path) -> dict[str, Any]:
    """Compare the links of a set without the table and with it."""
    with patch.object(queries, "names_of_symbol", lambda _: ()):
        without = outcomes(index, chosen, data)
    having = outcomes(index, chosen, data)
    row: dict[str, Any] = {"corpus → vocabulary": chosen.name, "mentions": len(having)}
    distinct = [{(text, concept): (one, five) for text, concept, one, five in each} for each in (without, having)]
    firsts = []
    for label, all_, each in zip(("without", "with"), (without, having), distinct, strict=True):
        hits = np.array(list(each.values()))
        firsts.append(hits[:, 0])
        row[label] = "/".join(f"{100 * value:.1f}" for value in hits.mean(axis=0))
        row[f"{label}, all"] = "/".join(f"{100 * np.mean([own[place] for own in all_]):.1f}" for place in (2, 3))
    first, error = gain(np.array([concept for _, concept in distinct[0]]), firsts[1], firsts[0])
    row["with"] += f", {first:+.1f} ± {error:.1f}"
    return row


def main() -> None:
    arguments = parser_of(__doc__, encoder=NANO).parse_args()
    folder = folder_of(arguments.folder, arguments.encoder)
    sets = [_TRAINING, *(each for each in SETS if each.name in _OTHERS)]
    rows = [
        measure(opened(each.vocabulary, arguments.encoder, folder, data_root()), each, data_root())
        for each in track(sets, "linking")
    ]
    header = list(rows[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    about = report.about(
        data="as the row says; rules and table were made with all but the development part of BC5CDR at hand",
        split="training and development parts",
        dictionary="bare, English names; mentions whose concept it has",
        counting="Acc@1/@5 by concept of distinct mentions, and the gain at the first; of all occurrences",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    report.save(arguments.json, {"about": about, "symbols": rows})


if __name__ == "__main__":
    main()
