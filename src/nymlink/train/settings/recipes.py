"""The settings of each recipe."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from nymlink.encode.model.settings import Pooling
from nymlink.train.settings.common import (
    AlignmentSettings,
    EncoderTrainingSettings,
    HeldOut,
    RunSettings,
    Schedule,
    require,
)
from nymlink.train.settings.fields import about
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
        if self.pairs is not None and (self.languages or self.kinds):
            raise ValueError(
                "languages and kinds choose names of vocab: a file of pairs is learned as it is (make it with "
                "`nymlink pairs --language … --kind …`)"
            )
        known = f"some of {', '.join(KINDS)}"
        require(set(self.kinds) <= set(KINDS), "kinds", known, self.kinds)


@dataclass(frozen=True, kw_only=True)
class AnnotatedSettings(RunSettings):
    """Where mentions come from."""

    corpora: tuple[str, ...] = field(
        metadata=about("annotated mentions to learn from: file or folder", matters=False, flag="--corpus")
    )
    types: tuple[str, ...] = field(
        default=(),
        metadata=about(
            "mentions of this type only, to learn from and to measure on; all otherwise", flag="--type"
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool(self.corpora), "corpora", "at least one file or folder", self.corpora)


@dataclass(frozen=True, kw_only=True)
class MentionSettings(AnnotatedSettings):
    """Where mentions and names come from."""

    vocab: str = field(
        metadata=about("vocabulary that they are linked to: directory, or file in any known format", matters=False)
    )


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


@dataclass(frozen=True, kw_only=True)
class ContextSettings(AnnotatedSettings):
    """Which candidates a mention in its context gets, and what is to learn to re-rank them."""

    index: str = field(
        metadata=about("index whose candidates are re-ranked; its vocabulary has the concepts", matters=False)
    )
    base: str = field(
        metadata=about(
            "the encoder that is started from: a folder, nymlink-mini, or a model on the hub", matters=False
        )
    )
    candidates: int = field(
        default=64,
        metadata=about(
            "concepts that a mention is compared with: as many are put in order where `rerank fit` does not say "
            "otherwise",
            paper="64",
        ),
    )
    graph_tokens: int = field(
        default=8192,
        metadata=about(
            "tokens of mentions, and of concepts, whose computation is held in memory for the gradients. A batch "
            "with more is encoded twice, piece by piece: slower, but with the same loss. Lower it when memory "
            "runs out",
            matters=False,
        ),
    )
    evaluation: dict[str, HeldOut] = field(
        default_factory=dict,
        metadata=about("corpora to measure on, by name; the dictionary is an index", flag="--evaluate"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.candidates >= 2, "candidates", "at least 2", self.candidates)
        require(self.graph_tokens >= 1, "graph_tokens", "at least 1", self.graph_tokens)


@dataclass(frozen=True, kw_only=True)
class RerankSettings(ContextSettings):
    """Which candidates a mention gets, and how both encoders learn which of them its context means."""

    loss: Literal["triplet", "triplet-sampled", "prototype", "prototype-srn"] = field(
        default="prototype-srn",
        metadata=about(
            "what is compared with concepts: triplet: each mention; triplet-sampled: one mention, drawn, of each "
            "concept in a document; prototype: the mean of all of them; prototype-srn: of those that are near a "
            "drawn one (soft-radius neighbours)",
            paper="prototype-srn",
        ),
    )
    anchor: Literal["random", "central"] = field(
        default="random",
        metadata=about(
            "prototype, prototype-srn: the mention of a cluster whose nearest wrong candidate is the negative, "
            "and whose neighbours count: drawn, or the nearest to the mean",
            paper="random",
        ),
    )
    negatives: Literal["own", "batch"] = field(
        default="own",
        metadata=about(
            "where the nearest wrong concept is sought: own: among the anchor's own candidates, which are what it "
            "will have to be told from; batch: among those of all mentions of the batch, where one may be nearer "
            "that the index would not have found for it",
            paper="own; release batch",
        ),
    )
    preset: Literal["paper", "release"] = field(
        default="paper", metadata=about("whose constants: those of the paper, or of its released code")
    )
    margin: float | None = field(
        default=None,
        metadata=about(
            "how much nearer the right concept should be; what the preset says otherwise",
            paper="BC5CDR 1.6, MedMentions 1.2; release 1.15",
        ),
    )
    radius: float | None = field(
        default=None,
        metadata=about(
            "prototype-srn: where the radius begins; all: the width of clusters that scaling auto goes by; what "
            "the preset says otherwise",
            paper="11; release 10",
        ),
    )
    radius_learning_rate: float | None = field(
        default=None,
        metadata=about(
            "prototype-srn: learning rate of the radius; what the preset says otherwise",
            paper="BC5CDR 0.01, MedMentions 0.005",
        ),
    )
    shortlist: int = field(
        default=16,
        metadata=about(
            "wrong candidates, the nearest at the beginning of an epoch, of which the one is taken in each step "
            "that is nearest then",
            paper="all",
        ),
    )
    scaling: Literal["auto", "none"] = field(
        default="auto",
        metadata=about(
            "auto: lengths are counted in a unit in which clusters are as wide before training, in the mean, as "
            "the radius says; none: as they are",
            paper="none",
        ),
    )
    max_length: int = field(
        default=128, metadata=about("tokens that mentions with context, and concepts, are cut to", paper="128")
    )
    pooling: Pooling | None = field(
        default=None,
        metadata=about(
            "cls: a mention is the mean of two places, a concept its first token; mean: a mention is the mean "
            "from one place to the other, a concept that of its tokens; what the base says otherwise",
            paper="cls",
        ),
    )
    mention_start: Literal["marker", "word"] = field(
        default="marker",
        metadata=about(
            "the first of the two places of a mention: the marker before it, or its first word piece; the second "
            "is the marker after it",
            paper="marker; release word",
        ),
    )
    batch_groups: int = field(default=32, metadata=about("comparisons in a batch", paper="32"))
    epochs: int = field(
        default=6,
        metadata=about(
            "how often all is gone through; wrong concepts are found anew each time",
            paper="BC5CDR 6, MedMentions 3",
        ),
    )
    learning_rate: float = field(default=1e-5, metadata=about("learning rate of both encoders", paper="1e-5"))
    weight_decay: float = field(
        default=0.0, metadata=about("weight decay of Adam (L2), on all parameters but the radius")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("margin", "radius"):
            value = getattr(self, name)
            require(value is None or 0 < value < math.inf, name, "above 0 and finite", value)
        rate = self.radius_learning_rate
        require(rate is None or 0 <= rate < math.inf, "radius_learning_rate", "at least 0 and finite", rate)
        require(self.batch_groups >= 1, "batch_groups", "at least 1", self.batch_groups)
        require(self.shortlist >= 1, "shortlist", "at least 1", self.shortlist)


@dataclass(frozen=True, kw_only=True)
class CrossEncoderSettings(ContextSettings):
    """Which candidates are read with a mention, and how it is learned which of them its context means."""

    candidates: int = field(
        default=16,
        metadata=about("first concepts of the index: wrong ones are taken from these, and these are re-ranked"),
    )
    negatives: int = field(
        default=7,
        metadata=about(
            "wrong candidates that the right concept is compared with: half of them, rounded up, are the first of "
            "the index, the others are drawn anew in each epoch from those after these"
        ),
    )
    max_length: int = field(
        default=128, metadata=about("tokens that a mention with context and a concept together are cut to")
    )
    batch_mentions: int = field(default=16, metadata=about("mentions in a batch"))
    epochs: int = field(default=2, metadata=about("how often all is gone through"))
    learning_rate: float = field(default=2e-5, metadata=about("learning rate"))
    weight_decay: float = field(default=0.01, metadata=about("weight decay of AdamW, on all parameters"))
    schedule: Schedule = field(
        default="linear",
        metadata=about("how the learning rate falls after the warm-up: constant, linear or cosine to 0"),
    )
    graph_tokens: int = field(
        default=8192,
        metadata=about(
            "tokens whose computation is held in memory for the gradients: a batch with more is gone through "
            "mention by mention, with the same loss. Lower it when memory runs out",
            matters=False,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.negatives >= 1, "negatives", "at least 1", self.negatives)
        require(self.batch_mentions >= 1, "batch_mentions", "at least 1", self.batch_mentions)
