"""The settings of trainings of re-rankers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from nymlink.core.toml_settings import about
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.train.settings.common import CorpusSettings, HeldOutCorpus, Schedule, require


@dataclass(frozen=True, kw_only=True)
class RerankerTrainingSettings(CorpusSettings):
    """The settings of trainings of re-rankers."""

    index: str = field(metadata=about("index whose candidates are re-ranked", matters=False))
    base: str = field(
        metadata=about("encoder to start from: a folder, nymlink-mini, or a model on the hub", matters=False)
    )
    candidates: int = field(
        default=64,
        metadata=about(
            "candidates: concepts that a mention is compared with; the re-ranker re-orders as many, unless "
            "`nymlink rerank fit` chooses another number",
        ),
    )
    graph_tokens: int = field(
        default=8192,
        metadata=about(
            "tokens of mentions, and as many of concepts, whose computation graph is held in memory for the "
            "gradients. A batch with more is encoded twice, piece by piece: slower, with the same loss. Lower it "
            "when memory runs out",
            matters=False,
        ),
    )
    evaluation: dict[str, HeldOutCorpus] = field(
        default_factory=dict,
        metadata=about("held-out corpora to evaluate on, by name; the dictionary is an index", flag="--evaluate"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.candidates >= 2, "candidates", "at least 2", self.candidates)
        require(self.graph_tokens >= 1, "graph_tokens", "at least 1", self.graph_tokens)


@dataclass(frozen=True, kw_only=True)
class RerankSettings(RerankerTrainingSettings):
    """The settings of the training ``rerank`` for dual encoders.

    Example:
        >>> from nymlink import RerankSettings
        >>> settings = RerankSettings(
        ...     corpora=("train.PubTator.txt",), index="diseases-index", base="encoder", output="reranker"
        ... )
        >>> settings.loss
        'prototype-srn'
    """

    loss: Literal["triplet", "triplet-sampled", "prototype", "prototype-srn"] = field(
        default="prototype-srn",
        metadata=about(
            "what the triplet loss compares with concepts; a cluster is the mentions of one concept in one "
            "document. triplet: each mention; triplet-sampled: a random mention of each cluster; prototype: the "
            "mean of each cluster; prototype-srn: the mean of the mentions near a random one (soft-radius "
            "neighbours)",
        ),
    )
    anchor: Literal["random", "central"] = field(
        default="random",
        metadata=about(
            "prototype, prototype-srn: the anchor, the mention of a cluster that negatives and neighbours are "
            "chosen for: random, or central: the nearest to the cluster's mean",
        ),
    )
    negatives: Literal["own", "batch"] = field(
        default="own",
        metadata=about(
            "where the negative, the nearest wrong concept, is searched: own: among the anchor's own candidates; "
            "batch: among the candidates of all mentions of the batch",
        ),
    )
    margin: float = field(default=1.6, metadata=about("margin of the triplet loss"))
    radius: float = field(
        default=11.0,
        metadata=about(
            "initial radius of prototype-srn; with any loss, the mean radius of clusters for scaling auto"
        ),
    )
    radius_learning_rate: float = field(default=0.01, metadata=about("prototype-srn: learning rate of the radius"))
    radius_tolerance: float = field(
        default=1.0, metadata=about("prototype-srn: initial tolerance of a neighbour beyond the radius")
    )
    radius_spread: float = field(
        default=0.0,
        metadata=about(
            "prototype-srn: the tolerance is this factor times the learned spread of largest distances about the "
            "radius; 0: it is constant"
        ),
    )
    radius_singletons: bool = field(
        default=True, metadata=about("prototype-srn: clusters of one mention count for the radius")
    )
    shortlist: int = field(
        default=16,
        metadata=about(
            "nearest wrong candidates of a mention at the start of an epoch; the negative of each step is chosen "
            "from them",
        ),
    )
    scaling: Literal["auto", "none"] = field(
        default="auto",
        metadata=about(
            "unit of lengths: auto: such that the mean radius of clusters before training equals the setting "
            "radius; none: lengths are not scaled",
        ),
    )
    max_length: int = field(
        default=128,
        metadata=about("tokens that mentions with context, and concepts, are truncated to"),
    )
    pooling: Pooling | None = field(
        default=None,
        metadata=about(
            "cls: the vector of a mention is the mean of its start and its end, that of a concept its first "
            "token; mean: the vector of a mention is the mean from its start to its end, that of a concept the "
            "mean of its tokens; if not given, as in the base",
        ),
    )
    mention_start: Literal["marker", "word"] = field(
        default="marker",
        metadata=about(
            "start of a mention: marker: the marker before it; word: its first word piece. Its end is the marker "
            "after it",
        ),
    )
    batch_groups: int = field(default=32, metadata=about("clusters in a batch; mentions with the loss triplet"))
    epochs: int = field(
        default=6,
        metadata=about(
            "epochs: passes over the training data; wrong candidates are searched again in each",
        ),
    )
    learning_rate: float = field(default=1e-5, metadata=about("learning rate of both encoders"))
    weight_decay: float = field(
        default=0.0, metadata=about("weight decay of Adam (L2), on all parameters except the radius")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("margin", "radius"):
            value = getattr(self, name)
            require(0 < value < math.inf, name, "above 0 and finite", value)
        for name in ("radius_learning_rate", "radius_tolerance", "radius_spread"):
            value = getattr(self, name)
            require(0 <= value < math.inf, name, "at least 0 and finite", value)
        require(self.batch_groups >= 1, "batch_groups", "at least 1", self.batch_groups)
        require(self.shortlist >= 1, "shortlist", "at least 1", self.shortlist)


@dataclass(frozen=True, kw_only=True)
class CrossEncoderSettings(RerankerTrainingSettings):
    """The settings of the training ``cross-encoder``.

    Example:
        >>> from nymlink import CrossEncoderSettings
        >>> settings = CrossEncoderSettings(
        ...     corpora=("train.PubTator.txt",), index="diseases-index", base="encoder", output="cross"
        ... )
        >>> settings.candidates
        16
    """

    candidates: int = field(
        default=16,
        metadata=about("first candidates of the index: negatives are chosen from them, and they are re-ranked"),
    )
    negatives: int = field(
        default=7,
        metadata=about(
            "negatives: wrong candidates that the right concept is compared with. Half of them, rounded up, are "
            "the first of the index; the others are drawn at random from the rest in each epoch"
        ),
    )
    max_length: int = field(
        default=128, metadata=about("tokens that a mention with context and a concept are truncated to together")
    )
    batch_mentions: int = field(default=16, metadata=about("mentions in a batch"))
    epochs: int = field(default=2, metadata=about("epochs: passes over the training data"))
    learning_rate: float = field(default=2e-5, metadata=about("learning rate"))
    weight_decay: float = field(default=0.01, metadata=about("weight decay of AdamW, on all parameters"))
    schedule: Schedule = field(
        default="linear",
        metadata=about("learning rate after the warm-up: constant, or a linear or cosine decay to 0"),
    )
    graph_tokens: int = field(
        default=8192,
        metadata=about(
            "tokens whose computation graph is held in memory for the gradients. A batch with more is processed "
            "in pieces of some mentions, with the same loss. Lower it when memory runs out",
            matters=False,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.negatives >= 1, "negatives", "at least 1", self.negatives)
        require(self.batch_mentions >= 1, "batch_mentions", "at least 1", self.batch_mentions)
