"""Settings of synonym pairs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from nymlink.vocabulary.model import KINDS, SYNONYM_KINDS

Part = Literal["train", "held-out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """Settings of pairs from a vocabulary.

    Attributes:
        cap: the most pairs per concept; of a concept with more, a random sample without replacement.
        seed: seed of samples, held-out concepts and order.
        languages: languages of names, ``None`` for all.
        kinds: kinds of names.
        across_languages: only pairs of names in two languages, neither of them unknown.
        held_out: share of concepts held out, which depend on the seed and their ids alone.
        part: the concepts whose pairs are made: all but those held out (``"train"``), or those held out.

    Raises:
        ValueError: a setting is out of its range.
    """

    cap: int = 50
    seed: int = 0
    languages: Collection[str] | None = None
    kinds: Collection[str] = SYNONYM_KINDS
    across_languages: bool = False
    held_out: float = 0.0
    part: Part = "train"

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise ValueError(f"the cap must be at least 1, not {self.cap}")
        if not 0 <= self.held_out < 1:
            raise ValueError(f"the held-out share must be at least 0 and less than 1, not {self.held_out}")
        if self.part not in get_args(Part):
            raise ValueError(f"unknown part {self.part!r}; known: {', '.join(get_args(Part))}")
        if unknown := sorted(set(self.kinds) - set(KINDS)):
            raise ValueError(f"unknown kind of name {unknown[0]!r}; known: {', '.join(KINDS)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        lists = {
            "languages": None if self.languages is None else sorted(self.languages),
            "kinds": sorted(self.kinds, key=KINDS.index),
        }
        return asdict(self) | lists
