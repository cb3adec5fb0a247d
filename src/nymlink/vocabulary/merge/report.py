"""Why concepts became one: what a merging writes down for people to check."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from nymlink.core.store.manifest import write_directory
from nymlink.vocabulary.merge.evidence import Evidence
from nymlink.vocabulary.merge.merge import Merged

KIND: Final = "merge report"
_VERSION: Final = 2
_LARGEST: Final = 50
_EVIDENCE: Final = ("one", "one_name", "other", "other_name", "evidence", "names", "confidence")


def write_report(merged: Merged, directory: Path, *, sample: int, seed: int) -> None:
    """Write ``summary.json``, ``largest.tsv``, ``joins.tsv``, ``rejected.tsv`` and ``sample.tsv``, atomically.

    Args:
        merged: what is reported.
        directory: where the files go; an earlier report there is replaced.
        sample: how many merged concepts are drawn for checking by eye.
        seed: of the draw.

    Raises:
        OutputError: it cannot be written.
    """
    report = _Report(merged)
    with write_directory(directory, kind=KIND, version=_VERSION, body={"sample": sample, "seed": seed}) as partial:
        text = json.dumps(summary(merged), indent=1, ensure_ascii=False)
        (partial / "summary.json").write_text(text + "\n", encoding="utf-8")
        _write(partial / "largest.tsv", ("id", "size", "members", "evidence"), report.largest())
        _write(partial / "joins.tsv", ("id", *_EVIDENCE), report.joins())
        _write(partial / "rejected.tsv", (*_EVIDENCE, "reason"), report.rejected())
        _write(partial / "sample.tsv", ("id", "size", "members", "evidence"), report.drawn(sample, seed))


def summary(merged: Merged) -> dict[str, Any]:
    """The figures of a merging, as JSON values."""
    clusters = merged.clusters
    sizes = Counter(map(len, clusters.members))
    return {
        "before": merged.before.to_dict(),
        "after": merged.after.to_dict(),
        "merged": {"concepts": len(clusters.members), "members": sum(map(len, clusters.members))},
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
        "joins": _counted(f"{found.kinds[0]}; {found.names}" for found in clusters.joins),
        "rejected": _counted(_kind_of_reason(found.against) for found in clusters.refusals),
    }


class _Report:
    """The rows of the tables."""

    def __init__(self, merged: Merged) -> None:
        self._merged = merged
        self._names = merged.unmerged
        self._cluster_of = {row: at for at, rows in enumerate(merged.clusters.members) for row in rows}
        self._joins: dict[int, list[Evidence]] = {}
        for found in merged.clusters.joins:
            self._joins.setdefault(self._cluster_of[found.pair[0]], []).append(found)

    def largest(self) -> Iterator[Sequence[str]]:
        members = self._merged.clusters.members
        order = sorted(range(len(members)), key=lambda at: (-len(members[at]), self._merged.ids[at]))
        return map(self._cluster, order[:_LARGEST])

    def drawn(self, count: int, seed: int) -> Iterator[Sequence[str]]:
        ids = self._merged.ids
        order = sorted(range(len(ids)), key=ids.__getitem__)
        drawn = random.Random(seed).sample(order, min(count, len(order)))
        return map(self._cluster, drawn)

    def joins(self) -> Iterator[Sequence[str]]:
        for found in self._merged.clusters.joins:
            yield self._merged.ids[self._cluster_of[found.pair[0]]], *self._evidence(found)

    def rejected(self) -> Iterator[Sequence[str]]:
        for found in self._merged.clusters.refusals:
            yield *self._evidence(found), found.against

    def _cluster(self, at: int) -> Sequence[str]:
        rows = self._merged.clusters.members[at]
        evidence = "; ".join(
            f"{self._id(found.pair[0])} = {self._id(found.pair[1])} ({', '.join(found.kinds)}; {found.names})"
            for found in self._joins[at]
        )
        members = "; ".join(f"{self._id(row)} {self._names.preferred_name(row)}" for row in rows)
        return self._merged.ids[at], str(len(rows)), members, evidence

    def _evidence(self, found: Evidence) -> Sequence[str]:
        one, other = found.pair
        return (
            self._id(one),
            self._names.preferred_name(one),
            self._id(other),
            self._names.preferred_name(other),
            ", ".join(found.kinds),
            str(found.names),
            f"{found.confidence:.3g}",
        )

    def _id(self, row: int) -> str:
        return self._names.concept_id(row)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in (header, *rows):
            # Names hold no tabs or line ends; ids of broken sources might.
            file.write("\t".join(" ".join(value.split()) for value in row) + "\n")


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _kind_of_reason(reason: str) -> str:
    """A reason without what it names."""
    return reason.partition(" of ")[0] if reason.startswith("would join") else reason
