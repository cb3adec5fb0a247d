"""The settings of each recipe."""

from __future__ import annotations

from dataclasses import dataclass, field

from nymlink.train.config import about
from nymlink.train.settings import AlignmentSettings, require
from nymlink.vocabulary.model import KINDS


@dataclass(frozen=True, kw_only=True)
class SapSettings(AlignmentSettings):
    """Where pairs come from: a vocabulary, or a file of them."""

    vocab: str | None = field(
        default=None,
        metadata=about(
            "vocabulary whose synonyms are learned: directory, or file in any known format", matters=False
        ),
    )
    pairs: str | None = field(
        default=None,
        metadata=about("file of pairs instead: Parquet, or text with concept||name1||name2 a line", matters=False),
    )
    cap: int = field(
        default=50, metadata=about("vocab: a concept with more pairs keeps so many, drawn at random", paper="50")
    )
    languages: tuple[str, ...] = field(
        default=(), metadata=about("vocab: names in this language only; all otherwise", flag="--language")
    )
    kinds: tuple[str, ...] = field(
        default=(),
        metadata=about("vocab: names of this kind only; all but narrow and broad otherwise", flag="--kind"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.vocab is None) == (self.pairs is None):
            raise ValueError("either vocab or pairs must be given")
        require(self.cap >= 1, "cap", "at least 1", self.cap)
        known = f"some of {', '.join(KINDS)}"
        require(set(self.kinds) <= set(KINDS), "kinds", known, self.kinds)


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(AlignmentSettings):
    """Where mentions and names come from, and for how long they are learned."""

    corpora: tuple[str, ...] = field(
        metadata=about("annotated mentions to learn from: file or folder", matters=False, flag="--corpus")
    )
    vocab: str = field(
        metadata=about("vocabulary that they are linked to: directory, or file in any known format", matters=False)
    )
    types: tuple[str, ...] = field(
        default=(), metadata=about("mentions of this type only; all otherwise", flag="--type")
    )
    epochs: int = field(
        default=3, metadata=about("how often all is gone through", paper="3; AskAPatient 15, COMETA 10")
    )
    batch_pairs: int = field(
        default=128,
        metadata=about("pairs in a batch, over all processes together", paper="batch size 256, read as names"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool(self.corpora), "corpora", "at least one file or folder", self.corpora)
