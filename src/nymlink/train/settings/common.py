"""Settings that trainings share: of all trainings, of encoders, of self-alignment, and of annotated mentions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from nymlink.core.toml_settings import about
from nymlink.encode.model.encoder_settings import Pooling

Device = Literal["auto", "cpu", "cuda"]
PrecisionName = Literal["auto", "float32", "bfloat16", "float16"]
Schedule = Literal["constant", "linear", "cosine"]
Tuning = Literal["full", "adapters", "lora"]

BEST_METRIC: Final = "acc@1"
"""The metric that chooses the best checkpoint."""


@dataclass(frozen=True, kw_only=True)
class HeldOutCorpus:
    """A held-out corpus for evaluation, and the dictionary (or index) to which its mentions are linked."""

    corpus: str = field(metadata=about("file or folder of annotated mentions"))
    dictionary: str = field(metadata=about("vocabulary to link to: a directory, or a file in any known format"))


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings of all trainings."""

    output: str = field(
        metadata=about(
            "folder to write: the trained model, run.json, metrics.jsonl and checkpoints/", matters=False
        )
    )
    seed: int = field(default=0, metadata=about("seed of the random numbers"))
    epochs: int = field(default=1, metadata=about("epochs: passes over the training data"))
    max_steps: int | None = field(
        default=None, metadata=about("end after this number of steps, even within an epoch")
    )
    learning_rate: float = field(default=2e-5, metadata=about("learning rate"))
    weight_decay: float = field(default=0.01, metadata=about("weight decay of AdamW, on all parameters"))
    schedule: Schedule = field(
        default="constant",
        metadata=about("learning rate after the warm-up: constant, or a linear or cosine decay to 0"),
    )
    warm_up: float = field(
        default=0.0,
        metadata=about("warm-up: share of the steps in which the learning rate rises from 0"),
    )
    device: Device = field(
        default="auto", metadata=about("device: cpu, cuda, or auto: the GPU if there is one", matters=False)
    )
    precision: PrecisionName = field(
        default="auto",
        metadata=about(
            "precision of matrix products: float32, bfloat16, float16, or auto: the fastest on the device",
        ),
    )
    checkpoint_minutes: float = field(
        default=10.0, metadata=about("minutes between checkpoints; 0: one after each step", matters=False)
    )
    log_every: int = field(default=10, metadata=about("steps between the lines of metrics.jsonl", matters=False))
    evaluation: dict[str, HeldOutCorpus] = field(
        default_factory=dict, metadata=about("held-out corpora to evaluate on, by name", flag="--evaluate")
    )
    evaluate_every: int = field(
        default=1000,
        metadata=about("steps between evaluations; one is always made at the beginning and one at the end"),
    )
    best: str | None = field(
        default=None,
        metadata=about(
            f"the held-out corpus by whose {BEST_METRIC} the best weights are kept; otherwise the last are kept"
        ),
    )

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**63, "seed", "at least 0 and below 2⁶³", self.seed)
        require(self.epochs >= 1, "epochs", "at least 1", self.epochs)
        require(self.max_steps is None or self.max_steps >= 1, "max_steps", "at least 1", self.max_steps)
        require(0 < self.learning_rate < math.inf, "learning_rate", "above 0 and finite", self.learning_rate)
        require(0 <= self.weight_decay < math.inf, "weight_decay", "at least 0 and finite", self.weight_decay)
        require(0 <= self.warm_up < 1, "warm_up", "at least 0 and below 1", self.warm_up)
        require(self.checkpoint_minutes >= 0, "checkpoint_minutes", "at least 0", self.checkpoint_minutes)
        require(self.log_every >= 1, "log_every", "at least 1", self.log_every)
        require(self.evaluate_every >= 1, "evaluate_every", "at least 1", self.evaluate_every)
        known = f"one of the corpora to evaluate on ({', '.join(self.evaluation) or 'there are none'})"
        require(self.best is None or self.best in self.evaluation, "best", known, self.best)


@dataclass(frozen=True, kw_only=True)
class EncoderTrainingSettings(RunSettings):
    """The settings of trainings of an encoder of names."""

    base: str = field(
        metadata=about("encoder to start from: a folder, nymlink-mini, or a model on the hub", matters=False)
    )
    pooling: Pooling | None = field(
        default=None,
        metadata=about(
            "vector of a name: cls (first token) or mean (of its tokens); if not given, that of the base",
        ),
    )
    max_length: int = field(
        default=25, metadata=about("tokens that names are truncated to, special tokens included")
    )
    tuning: Tuning = field(
        default="full",
        metadata=about("weights to train: full (all), adapters (bottleneck layers) or lora"),
    )
    adapter_reduction: int = field(
        default=16,
        metadata=about("adapters: width of the model divided by the width of an adapter"),
    )
    lora_rank: int = field(default=16, metadata=about("lora: rank of the update of a matrix"))
    lora_alpha: int = field(default=32, metadata=about("lora: the update is scaled by alpha / rank"))
    graph_tokens: int = field(
        default=8192,
        metadata=about(
            "tokens whose computation graph is held in memory for the gradients. A batch with more is encoded "
            "twice, piece by piece: slower, with the same loss. Lower it when memory runs out",
            matters=False,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("adapter_reduction", "lora_rank", "lora_alpha", "graph_tokens"):
            require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class AlignmentSettings(EncoderTrainingSettings):
    """The settings of trainings by self-alignment, which brings together two names of one meaning."""

    batch_pairs: int = field(default=256, metadata=about("pairs in a batch, over all processes together"))
    loss: str = field(
        default="multi-similarity",
        metadata=about("name of the loss, see `nymlink train losses`"),
    )
    loss_settings: dict[str, Any] = field(
        default_factory=dict,
        metadata=about("settings of the loss, see `nymlink train losses`"),
    )
    mining: bool = field(
        default=True, metadata=about("learn only from the hard pairs of each batch (online mining)")
    )
    margin: float = field(
        default=0.2,
        metadata=about("mining: how much farther than the positive a hard negative may be"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.batch_pairs >= 2, "batch_pairs", "at least 2", self.batch_pairs)
        require(math.isfinite(self.margin), "margin", "a finite number", self.margin)


@dataclass(frozen=True, kw_only=True)
class SynonymSettings(AlignmentSettings):
    """The settings of self-alignment on names of concepts."""

    shared_names: Literal["negative", "ignore"] = field(
        default="negative",
        metadata=about(
            "equal names of two concepts in a batch: negative: a negative pair; ignore: no pair",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class CorpusSettings(RunSettings):
    """The settings of trainings on annotated mentions."""

    corpora: tuple[str, ...] = field(
        metadata=about("file or folder of annotated mentions to train on", matters=False, flag="--corpus")
    )
    types: tuple[str, ...] = field(
        default=(),
        metadata=about("train and evaluate on mentions of this type only; if not given, all", flag="--type"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool(self.corpora), "corpora", "at least one file or folder", self.corpora)


def require(holds: bool, name: str, expected: str, value: Any) -> None:
    """Check that a setting is in its range.

    Raises:
        ValueError: ``holds`` is false; the message names the setting and its range.
    """
    if not holds:
        raise ValueError(f"{name} must be {expected}, not {value!r}")
