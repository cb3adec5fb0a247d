"""The settings of each recipe."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nymlink.train.config import about
from nymlink.train.settings import AlignmentSettings, EncoderTrainingSettings, RunSettings, require
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
class MentionSettings(RunSettings):
    """Where mentions and names come from."""

    corpora: tuple[str, ...] = field(
        metadata=about("annotated mentions to learn from: file or folder", matters=False, flag="--corpus")
    )
    vocab: str = field(
        metadata=about("vocabulary that they are linked to: directory, or file in any known format", matters=False)
    )
    types: tuple[str, ...] = field(
        default=(), metadata=about("mentions of this type only; all otherwise", flag="--type")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool(self.corpora), "corpora", "at least one file or folder", self.corpora)


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(MentionSettings, AlignmentSettings):
    """For how long, and how many at a time, mentions are aligned with names."""

    epochs: int = field(
        default=3, metadata=about("how often all is gone through", paper="3; AskAPatient 15, COMETA 10")
    )
    batch_pairs: int = field(
        default=128,
        metadata=about("pairs in a batch, over all processes together", paper="batch size 256, read as names"),
    )


@dataclass(frozen=True, kw_only=True)
class BioSynSettings(MentionSettings, EncoderTrainingSettings):
    """Which candidates a mention gets, and how it is learned which of them are right."""

    candidates: int = field(
        default=20, metadata=about("names that a mention is compared with, those of both searches", paper="20")
    )
    sparse_candidates: int = field(
        default=10,
        metadata=about("how many of these sparse search gives; dense search gives the others", paper="10"),
    )
    batch_queries: int = field(default=16, metadata=about("mentions in a batch", paper="16"))
    epochs: int = field(
        default=10,
        metadata=about("how often all is gone through; dense candidates are searched anew each time", paper="10"),
    )
    learning_rate: float = field(default=1e-5, metadata=about("learning rate of the encoder", paper="1e-5"))
    sparse_learning_rate: float = field(
        default=0.01,
        metadata=about("learning rate of the weight of sparse scores, which begins at 0", paper="0.01"),
    )
    weight_decay: float = field(
        default=0.01,
        metadata=about(
            "weight decay of Adam (L2), on all parameters but the weight of sparse scores", paper="0.01"
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.candidates >= 2, "candidates", "at least 2", self.candidates)
        within = f"at least 0 and at most {self.candidates} (candidates)"
        require(
            0 <= self.sparse_candidates <= self.candidates, "sparse_candidates", within, self.sparse_candidates
        )
        require(self.batch_queries >= 1, "batch_queries", "at least 1", self.batch_queries)
        rate = self.sparse_learning_rate
        require(0 <= rate < math.inf, "sparse_learning_rate", "at least 0 and finite", rate)
