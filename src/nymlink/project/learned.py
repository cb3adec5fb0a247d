"""What a project has learned: stored in its file, and applied to its index on opening."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from nymlink.core.errors import StoreError
from nymlink.core.json_files import member
from nymlink.corpus.documents import Mention
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.project.lessons import Overlay
from nymlink.project.links import CANDIDATES
from nymlink.project.project import Project
from nymlink.project.rows import ProjectError
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import EVERYTHING, Restriction

VERSION: Final = 1
PROPERTY: Final = "learned"
"""Name of the property of the project file."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Names, ranker trees and calibration learned from decisions.

    Attributes:
        overlay: decided terms.
        trees: trees to add to the ranker of the index; ``None`` for none.
        calibration: replaces that of the index; ``None`` to keep it.
        base: digest of the index's own ranker and calibration, to which trees and calibration fit.
        report: training data, time, and improvement, as JSON values.
    """

    overlay: Overlay
    trees: Trees | None
    calibration: Calibration | None
    base: str
    report: Mapping[str, Any]

    @classmethod
    def of(cls, project: Project) -> Learned | None:
        """Read what a project has learned; ``None`` if it has not learned yet.

        Raises:
            ProjectError: the stored value is damaged, or of a newer version.
        """
        value = project.property(PROPERTY)
        if value is None:
            return None
        try:
            if value["version"] != VERSION:
                raise ProjectError(
                    f"what the project has learned has version {value['version']}, and this nymlink reads "
                    f"{VERSION}: run `nymlink project learn` again",
                    path=project.path,
                )
            trees, calibration = value["trees"], value["calibration"]
            return cls(
                Overlay.from_list(member(value, "decided", list)),
                None if trees is None else Trees.from_dict(trees),
                None if calibration is None else Calibration.from_dict(calibration),
                member(value, "base", str),
                member(value, "report", dict),
            )
        except (ValueError, LookupError, TypeError, StoreError) as error:
            if isinstance(error, ProjectError):
                raise
            raise ProjectError(
                f"what the project has learned is damaged ({error}): run `nymlink project learn` again",
                path=project.path,
            ) from error

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "decided": self.overlay.to_list(),
            "trees": None if self.trees is None else self.trees.to_dict(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "base": self.base,
            "report": dict(self.report),
        }


class LearnedLinker:
    """Links terms with what a project has learned.

    Args:
        index: the index of the project.
        learned: names, trees and calibration; ``None`` for nothing.
        target_precision: see :class:`~nymlink.linking.linker.Linker`.
        composites: see :class:`~nymlink.linking.linker.Linker`.
        restriction: see :class:`~nymlink.linking.linker.Linker`.

    Attributes:
        index: the index with decided terms as names; unchanged if nothing was learned.
    """

    def __init__(
        self,
        index: Index,
        learned: Learned | None,
        *,
        target_precision: float | None = None,
        composites: Composites = "given",
        restriction: Restriction = EVERYTHING,
    ) -> None:
        self._learned = learned
        self.index = index if learned is None else _applied(index, learned)
        self._linker = Linker(
            self.index,
            top_k=CANDIDATES,
            target_precision=target_precision,
            composites=composites,
            restriction=restriction,
        )

    def link(self, mentions: Sequence[Mention]) -> list[Link]:
        """Link terms; terms equal to decided ones get the decided concept, see :meth:`Overlay.recall`."""
        links = self._linker.link(mentions)
        if self._learned is None:
            return links
        surest = None if self._linker.calibration is None else self._linker.calibration.surest
        return [self._learned.overlay.recall(link, self.index.vocabulary, surest) for link in links]


def digest_of_learned(index: Index) -> str:
    """Compute the digest of the ranker, the calibration and the fusion of an index."""
    parts = [index.ranker, index.calibration, index.settings["fusion"]]
    values = [None if part is None else dict(part) for part in parts]
    return xxh3_128_hexdigest(json.dumps(values, sort_keys=True).encode())


def _applied(index: Index, learned: Learned) -> Index:
    extended = learned.overlay.extend(index)
    if learned.base != digest_of_learned(index):
        # The index got another ranker or calibration since: only the names still apply.
        return extended
    calibration = index.calibration if learned.calibration is None else learned.calibration.to_dict()
    ranker = Ranker.of(index)
    if learned.trees is not None and ranker is not None:
        extended = extended.with_ranker(ranker.with_trees(learned.trees, "decisions of the project").to_dict())
    return extended if calibration is None else extended.with_calibration(calibration)
