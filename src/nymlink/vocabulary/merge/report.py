"""Write a report of a merge, with the evidence for each merged concept, for people to check."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from nymlink.core.store.atomic import atomic_directory
from nymlink.core.store.manifest import seal
from nymlink.core.store.output_checks import require_replaceable
from nymlink.tables.delimited import tab_line
from nymlink.vocabulary.merge.evidence import Evidence
from nymlink.vocabulary.merge.merge import Merged

KIND: Final = "merge report"
_VERSION: Final = 2
_LARGEST: Final = 50
_EVIDENCE: Final = ("one", "one_name", "other", "other_name", "evidence", "names", "confidence")


@contextmanager
def writing_report(merged: Merged, directory: Path, *, sample: int, seed: int) -> Iterator[None]:
    """Write ``summary.json``, ``largest.tsv``, ``joins.tsv``, ``rejected.tsv`` and ``sample.tsv`` atomically.

    The caller saves the merged vocabulary inside the ``with`` block. The report is written before the block
    begins, and replaces an earlier report when the block has succeeded. A full disk therefore changes neither the
    report nor the vocabulary.

    Args:
        merged: the merge.
        directory: the directory of the files; an earlier report is replaced.
        sample: size of the random sample of merged concepts to check by hand.
        seed: seed of the sample.

    Raises:
        OutputError: the report cannot be written.
    """
    report = _Report(merged)
    require_replaceable(directory, kind=KIND)
    with atomic_directory(directory) as partial:
        text = json.dumps(summary(merged), indent=1, ensure_ascii=False)
        (partial / "summary.json").write_text(text + "\n", encoding="utf-8")
        _write(partial / "largest.tsv", ("id", "size", "members", "evidence"), report.largest())
        _write(partial / "joins.tsv", ("id", *_EVIDENCE), report.joins())
        _write(partial / "rejected.tsv", (*_EVIDENCE, "reason"), report.rejected())
        _write(partial / "sample.tsv", ("id", "size", "members", "evidence"), report.sample(sample, seed))
        seal(partial, {"kind": KIND, "format": _VERSION, "sample": sample, "seed": seed})
        yield


def summary(merged: Merged) -> dict[str, Any]:
    """Summarise a merge in counts, as JSON values."""
    clusters = merged.clusters
    sizes = Counter(map(len, clusters.members))
    return {
        "before": merged.before.to_dict(),
        "after": merged.after.to_dict(),
        "merged": {"concepts": len(clusters.members), "members": sum(map(len, clusters.members))},
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
        "joins": _count(f"{evidence.kinds[0]}; {evidence.names}" for evidence in clusters.joins),
        "rejected": _count(_kind_of_reason(evidence.against) for evidence in clusters.refusals),
    }


class _Report:
    """The rows of the tables of a report."""

    def __init__(self, merged: Merged) -> None:
        self._merged = merged
        self._names = merged.unmerged
        self._cluster_of = {row: number for number, rows in enumerate(merged.clusters.members) for row in rows}
        self._joins: dict[int, list[Evidence]] = {}
        for evidence in merged.clusters.joins:
            self._joins.setdefault(self._cluster_of[evidence.pair[0]], []).append(evidence)

    def largest(self) -> Iterator[Sequence[str]]:
        members = self._merged.clusters.members
        order = sorted(range(len(members)), key=lambda number: (-len(members[number]), self._merged.ids[number]))
        return map(self._cluster, order[:_LARGEST])

    def sample(self, count: int, seed: int) -> Iterator[Sequence[str]]:
        ids = self._merged.ids
        order = sorted(range(len(ids)), key=ids.__getitem__)
        return map(self._cluster, random.Random(seed).sample(order, min(count, len(order))))

    def joins(self) -> Iterator[Sequence[str]]:
        for evidence in self._merged.clusters.joins:
            yield self._merged.ids[self._cluster_of[evidence.pair[0]]], *self._evidence(evidence)

    def rejected(self) -> Iterator[Sequence[str]]:
        for evidence in self._merged.clusters.refusals:
            yield *self._evidence(evidence), evidence.against

    def _cluster(self, number: int) -> Sequence[str]:
        rows = self._merged.clusters.members[number]
        joins = "; ".join(
            f"{self._id(evidence.pair[0])} = {self._id(evidence.pair[1])} "
            f"({', '.join(evidence.kinds)}; {evidence.names})"
            for evidence in self._joins[number]
        )
        members = "; ".join(f"{self._id(row)} {self._names.preferred_name(row)}" for row in rows)
        return self._merged.ids[number], str(len(rows)), members, joins

    def _evidence(self, evidence: Evidence) -> Sequence[str]:
        one, other = evidence.pair
        return (
            self._id(one),
            self._names.preferred_name(one),
            self._id(other),
            self._names.preferred_name(other),
            ", ".join(evidence.kinds),
            str(evidence.names),
            f"{evidence.confidence:.3g}",
        )

    def _id(self, row: int) -> str:
        return self._names.concept_id(row)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in (header, *rows):
            # Names have no tabs or line ends; ids of broken sources may.
            file.write(tab_line(row) + "\n")


def _count(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _kind_of_reason(reason: str) -> str:
    """Return a reason without the ids in it."""
    return reason.partition(" of ")[0] if reason.startswith("would join") else reason
