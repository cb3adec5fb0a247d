"""Measure precision, recall and F1 of the abbreviations found in abstracts, also for other algorithms.

    python benchmarks/annotation/abbreviations.py [GOLD] [--part PART] [--show N] [--json FILE]

Counted are the distinct pairs of short and long form of an abstract, both exactly as marked. GOLD is the labelled
text of Ab3P (``MED1250_labeled`` of its repository), its corpus in BioC XML, or, by default, 440 abstracts of NCBI
disease, BC5CDR (training, development) and GSC+ (development half), marked for nymlink by the rules of that corpus
(``abbreviations.tsv``: offsets in $NYMLINK_DATA or ../shared/data). Ab3P itself is run where pyab3p is
installed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.annotation import schwartz_hearst
from benchmarks.annotation.abbreviation_gold import TABLE, Abstract, Pair, plain, read_gold
from benchmarks.common import report
from nymlink.text.abbreviations import find_definitions

System = Callable[[str], set[Pair]]

PARTS: Final = ("development", "held out")
PUBLISHED: Final = ["Ab3P, as published", "its own 1,250 abstracts", "1,199", "0.970", "0.837", "0.898"]
"""Sohn et al., BMC Bioinformatics 2008, 9:402."""


class Counts(NamedTuple):
    """Pairs found rightly, found wrongly, and missed, as (document, short form, long form)."""

    right: list[tuple[str, str, str]]
    wrong: list[tuple[str, str, str]]
    missed: list[tuple[str, str, str]]

    @property
    def precision(self) -> float:
        return len(self.right) / max(1, len(self.right) + len(self.wrong))

    @property
    def recall(self) -> float:
        return len(self.right) / max(1, len(self.right) + len(self.missed))

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)


def score(abstracts: list[Abstract], system: System) -> Counts:
    """Compare what a system finds in the texts with what is marked."""
    counts = Counts([], [], [])
    for abstract in abstracts:
        found = {(plain(short), plain(long)) for short, long in system(abstract.text)} - abstract.doubtful
        as_right = {short for short, long in found & abstract.other}
        missed = {pair for pair in abstract.gold - found if pair[0] not in as_right}
        for pairs, kind in (
            (found & abstract.gold | abstract.gold - found - missed, counts.right),
            (found - abstract.gold - abstract.other, counts.wrong),
            (missed, counts.missed),
        ):
            kind += [(abstract.id, *pair) for pair in sorted(pairs)]
    return counts


def nymlink(text: str) -> set[Pair]:
    """Find the pairs of :func:`nymlink.text.abbreviations.find_definitions`."""
    return {(definition.short, definition.long) for definition in find_definitions(text)}


def systems() -> dict[str, System]:
    """List what is measured: nymlink, Schwartz & Hearst, and Ab3P where it is installed."""
    found = {"nymlink": nymlink, "Schwartz & Hearst (2003)": schwartz_hearst.definitions}
    if find_spec("pyab3p"):
        found["Ab3P, run here"] = _ab3p()
    return found


def _ab3p() -> System:
    import pyab3p

    finder = pyab3p.Ab3p()

    def definitions(text: str) -> set[Pair]:
        with _quiet():
            # Runs of blanks make it fail, and titles and abstracts are read alone as in its paper.
            return {
                (found.short_form, found.long_form)
                for part in text.split("\n")
                for found in finder.get_abbrs(plain(part))
            }

    return definitions


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence what a library writes to the standard streams itself."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for stream, one in zip((1, 2), kept, strict=True):
            os.dup2(one, stream)
            os.close(one)
        os.close(nowhere)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="?", type=Path, default=TABLE, metavar="GOLD")
    parser.add_argument("--part", choices=PARTS, help="of the table: only this half")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="list N mistakes of nymlink of each kind")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    gold: Path = arguments.gold
    if not gold.is_file():
        print(f"{gold}: no such file: nothing measured")
        return
    parts = [arguments.part] if arguments.part else PARTS if gold == TABLE else [None]
    abstracts = {part or gold.name: read_gold(gold, part) for part in parts}
    rows = []
    for name, system in systems().items():
        for part, texts in abstracts.items():
            counts = score(texts, system)
            figures = (counts.precision, counts.recall, counts.f1)
            pairs = len(counts.right) + len(counts.missed)
            rows.append([name, part, f"{pairs:,}", *(f"{value:.3f}" for value in figures)])
            for kind in ("wrong", "missed") if name == "nymlink" else ():
                for mistake in getattr(counts, kind)[: arguments.show]:
                    print(kind, *mistake, sep="\t")
    text = report.table(["algorithm", "abstracts", "pairs", "precision", "recall", "F1"], [*rows, PUBLISHED])
    print(text)
    report.publish(
        arguments.json,
        text,
        ["abbreviations"],
        data="abstracts of NCBI disease, BC5CDR and GSC+" if gold == TABLE else gold.name,
        split="training and development" if gold == TABLE else None,
        dictionary=None,
        seed=None,
    )


if __name__ == "__main__":
    main()
