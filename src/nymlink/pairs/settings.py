"""What pairs are made of, checked once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from nymlink.vocabulary.model import KINDS, SYNONYM_KINDS

Part = Literal["train", "held-out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """How pairs are made of a vocabulary.

    Attributes:
        cap: a concept with more pairs keeps so many, drawn at random without repeats.
        seed: of what is drawn, held out, and of the order.
        languages: names in these languages only, ``None`` for all; names of a concept pair across languages.
        kinds: names of these kinds only.
        held_out: share of concepts that are held out. Which ones depends on the seed and their ids alone.
        part: the pairs of the concepts held out, or those of all others.

    Raises:
        ValueError: a setting is out of its range.
    """

    cap: int = 50
    seed: int = 0
    languages: Collection[str] | None = None
    kinds: Collection[str] = SYNONYM_KINDS
    held_out: float = 0.0
    part: Part = "train"

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise ValueError(f"the cap must be at least 1, not {self.cap}")
        if not 0 <= self.held_out < 1:
            raise ValueError(f"the share held out must be at least 0 and less than 1, not {self.held_out}")
        if self.part not in get_args(Part):
            raise ValueError(f"unknown part {self.part!r}; known: {', '.join(get_args(Part))}")
        if unknown := sorted(set(self.kinds) - set(KINDS)):
            raise ValueError(f"unknown kind of name {unknown[0]!r}; known: {', '.join(KINDS)}")

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values."""
        listed = {
            "languages": None if self.languages is None else sorted(self.languages),
            "kinds": sorted(self.kinds, key=KINDS.index),
        }
        return asdict(self) | listed
