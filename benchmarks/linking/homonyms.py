"""Measure what the document of a mention adds to its name, for genes whose names several genes share.

    python benchmarks/linking/homonyms.py FOLDER [--encoder MODEL] [--json FILE]

Links the mentions of human genes in GNormPlus, NLM-Gene, BioRED and tmVar by their names alone; with the document,
where ties are settled by other names only; and as nymlink does, where words of other names count, too. Reads
training and development parts from $NYMLINK_DATA or ../shared/data. Indexes are kept in FOLDER, also those of
``across.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.across import gain
from benchmarks.linking.curated_sets import SETS, Set, folder_of, opened, parser_of
from nymlink.core.terminal import track
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.model.folder import NANO
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking import ties
from nymlink.linking.pipeline import Found, Pipeline

_VOCABULARY: Final = "ncbigene_human"

Outcome = tuple[tuple[str, int], bool, bool]
"""Text of a mention with the row of its gene; whether this is first; and whether the document settled a tie."""


def alone(document: Document) -> Document:
    """Leave the text of a document out."""
    mentions = (Mention(each.text, type=each.type, concept_ids=each.concept_ids) for each in document.mentions)
    return replace(document, text="", mentions=tuple(mentions))


def outcomes(found: Found, chosen: Set, resolver: GoldResolver) -> list[Outcome]:
    """List the outcomes of the mentions of genes in the vocabulary."""
    result = []
    for number, (document, own) in enumerate(zip(found.documents, found.queries, strict=True)):
        for mention, parts, first in zip(document.mentions, own, found.settled(number), strict=True):
            answer = resolver.rows(mention.concept_ids)
            if answer and mention.type in chosen.types:
                for part in parts:
                    row = found.concepts(part.question, first if len(parts) == 1 else None)[0]
                    result.append(((mention.text.lower(), min(answer)), row in answer, first is not None))
    return result


def distinct(each: list[Outcome]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Average the outcomes of each text with a gene: the genes, and the shares of right firsts."""
    found: dict[tuple[str, int], list[bool]] = {}
    for key, right, _ in each:
        found.setdefault(key, []).append(right)
    return np.array([concept for _, concept in found]), np.array([np.mean(own) for own in found.values()])


def measure(index: Index, chosen: Set, data: Path) -> dict[str, Any]:
    """Compare the ways of linking the mentions of a set."""
    resolver, pipeline = GoldResolver(index.vocabulary), Pipeline(index, composites="gold")
    documents = chosen.read(data).documents
    having = pipeline.search(documents, 5)
    with patch.object(ties, "CLEAR", float("inf")):
        by_names = outcomes(having, chosen, resolver)
    ways = {
        "name alone": outcomes(pipeline.search([alone(each) for each in documents], 5), chosen, resolver),
        "document, names": by_names,
        "document, names and words": outcomes(having, chosen, resolver),
    }
    row: dict[str, Any] = {"corpus": chosen.corpus, "mentions": len(by_names)}
    before = None
    for label, each in ways.items():
        genes, shares = distinct(each)
        row[label] = f"{100 * np.mean([right for _, right, _ in each]):.1f}; {100 * shares.mean():.1f}"
        if label == "document, names and words" and before is not None:
            row[label] += ", {:+.1f} ± {:.1f}".format(*gain(genes, shares, before))
        before = shares
        settled = [right for _, right, was_settled in each if was_settled]
        if label != "name alone":
            row[f"settled by {label.partition(', ')[2]}, right"] = f"{sum(settled)} of {len(settled)}"
    return row


def main() -> None:
    arguments = parser_of(__doc__, encoder=NANO).parse_args()
    folder = folder_of(arguments.folder, arguments.encoder)
    index = opened(_VOCABULARY, arguments.encoder, folder, data_root())
    sets = [each for each in SETS if each.vocabulary == _VOCABULARY]
    rows = [measure(index, each, data_root()) for each in track(sets, "linking")]
    header = list(rows[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    about = report.about(
        data="as the row says; the lead that settles a tie was chosen on GNormPlus",
        split="training and development parts",
        dictionary="NCBI Gene, human; mentions whose gene it has",
        counting="Acc@1 by concept of all occurrences; of distinct mentions, with the gain by words",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    shown = [{key: value for key, value in row.items() if not key.startswith("settled")} for row in rows]
    settled = [{key: row[key] for key in row if key == "corpus" or key.startswith("settled")} for row in rows]
    report.save(arguments.json, {"about": about, "homonyms": shown, "settled": settled})


if __name__ == "__main__":
    main()
