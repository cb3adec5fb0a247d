"""Measure the accuracy of every sparse setting on the real corpora, with bare and augmented dictionaries.

    python benchmarks/linking/evaluation_table.py [--test] [--settings nymlink biosyn le-nguyen none] [--json FILE]

Prepared queries and dictionaries of NCBI disease and BC5CDR disease (BioSyn's form), and MedMentions mentions
mapped to MONDO, from $NYMLINK_DATA or ../shared/data. Development splits by default; ``--test`` shows the test
splits instead, for a last run: nothing may be chosen by them. Queries are searched as published, without
paraphrases.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import DEVELOPMENT, TEST, Task, load
from nymlink.evaluation.evaluation import Evaluation, evaluate
from nymlink.index.index import Index
from nymlink.index.sparse.features import PRESETS


def run(task: Task, settings: list[str], data: Path) -> dict[str, Evaluation]:
    """Evaluate one task under each setting."""
    vocabulary, [corpus] = load(task, data)
    indexes = {setting: Index.build(vocabulary, sparse=setting, encoder=None) for setting in settings}
    return {setting: evaluate(index, corpus, as_published=True) for setting, index in indexes.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="the test splits, for a last run")
    parser.add_argument("--settings", nargs="+", choices=list(PRESETS), default=list(PRESETS))
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    figures_shown = ("Acc@1/@5 by name", "95 % of @1", "strict", "by concept", "recall@64")
    header = ("data, dictionary", "n", "setting", *figures_shown)
    rows = []
    for task in TEST if arguments.test else DEVELOPMENT:
        for setting, evaluation in run(task, arguments.settings, data_root()).items():
            figures = {name: f"{100 * value:.1f}" for name, value in evaluation.figures.items()}
            low, high = evaluation.intervals["acc@1"]
            rows.append(
                (
                    task.name,
                    f"{evaluation.counts.scored:,}",
                    f"`{setting}`",
                    f"{figures['acc@1']}/{figures['acc@5']}",
                    f"{100 * low:.1f}–{100 * high:.1f}",
                    f"{figures['strict_acc@1']}/{figures['strict_acc@5']}",
                    f"{figures['concept_acc@1']}/{figures['concept_acc@5']}",
                    figures["recall@64"],
                )
            )
    text = report.table(header, rows)
    print(text)
    report.publish(
        arguments.json,
        text,
        ["settings"],
        data="corpus and dictionary as the row says",
        split="test" if arguments.test else "dev",
        dictionary="as the row says",
        counting="queries as published, each order of words apart",
        seed=0,
    )


if __name__ == "__main__":
    main()
