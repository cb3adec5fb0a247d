"""Measure the guess of the vocabulary that a mention belongs to, in one index of several vocabularies.

    python benchmarks/confidence/domains.py [--json FILE]

Distinct mentions of the training part of CRAFT, in an index of MONDO, CL, UBERON, SO and GO without an encoder.
Its confidences are fitted to half of the articles; the figures are of the other half. The vocabulary of the gold
id is right.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.fit_calibration import fit_calibration
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.read import read_vocabulary

NAMES: Final = ("mondo", "cl", "uberon", "so", "go")
MOST: Final = 60
"""Distinct mentions of an article and a vocabulary, at most."""


def halves() -> tuple[Corpus, Corpus]:
    """Read distinct mentions of two halves of the articles, without their texts."""
    drawn = random.Random(0)
    documents = []
    with gzip.open(data_root() / "curated/craft/train.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            article = json.loads(line)
            own = sorted({(each["text"], each["concept_id"]) for each in article["mentions"]})
            drawn.shuffle(own)
            counts: Counter[str] = Counter()
            mentions = []
            for text, concept_id in own:
                prefix = concept_id.partition(":")[0]
                counts[prefix] += 1
                if prefix.lower() in NAMES and counts[prefix] <= MOST:
                    mentions.append(Mention(text, concept_ids=(concept_id,)))
            documents.append(Document(article["id"], "", tuple(mentions)))
    return Corpus("CRAFT", tuple(documents[::2])), Corpus("CRAFT", tuple(documents[1::2]))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    vocabulary = read_vocabulary(*(data_root() / f"vocabularies/{name}.tsv.gz" for name in NAMES))
    index = Index.build(vocabulary, encoder=None)
    fitted, measured = halves()
    index = index.with_calibration(fit_calibration(index, fitted).calibration.to_dict())
    mentions = [mention for document in measured.documents for mention in document.mentions]
    links = Linker(index).link([mention.text for mention in mentions])
    rows = []
    gold = np.array([mention.concept_ids[0].partition(":")[0] for mention in mentions])
    firsts = (link.candidates[0].concept_id if link.candidates else "" for link in links)
    first = np.array([concept_id.partition(":")[0] for concept_id in firsts])
    guessed = np.array([link.domain.name if link.domain is not None else "" for link in links])
    sure = np.array([(link.domain.confidence or 0.0) if link.domain is not None else 0.0 for link in links])
    for label, chosen in [
        ("all", np.ones(len(gold), bool)),
        *((name.upper(), gold == name.upper()) for name in NAMES),
        ("confidence from 0.9", sure >= 0.9),
        ("confidence below 0.5", sure < 0.5),
    ]:
        right = guessed[chosen] == gold[chosen]
        rows.append(
            {
                "mentions": label,
                "count": f"{chosen.sum():,}",
                "guess right %": f"{100 * right.mean():.1f}",
                "first candidate's %": f"{100 * (first[chosen] == gold[chosen]).mean():.1f}",
                "mean confidence": f"{sure[chosen].mean():.3f}",
                "ECE": f"{Reliability.of(sure[chosen], right).expected_error:.3f}",
            }
        )
    table = report.table(list(rows[0]), [list(row.values()) for row in rows])
    print(table)
    report.publish(
        arguments.json,
        table,
        ["domains"],
        data="distinct mentions of CRAFT",
        split="articles of the training part: half to fit confidences, half to measure",
        dictionary="MONDO, CL, UBERON, SO and GO in one index",
        seed=0,
        encoder="none",
    )


if __name__ == "__main__":
    main()
