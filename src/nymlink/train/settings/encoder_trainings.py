"""The settings of trainings of encoders of names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.toml_settings import about, line_of, make_settings
from nymlink.pairs.translations import parse_languages
from nymlink.train.settings.common import (
    AlignmentSettings,
    CorpusSettings,
    EncoderTrainingSettings,
    SynonymSettings,
    require,
)
from nymlink.vocabulary.concepts import KINDS


@dataclass(frozen=True, kw_only=True)
class SapSettings(SynonymSettings):
    """The settings of the training ``sap``: pairs come from a vocabulary or from a file.

    Example:
        >>> from nymlink import SapSettings
        >>> settings = SapSettings(vocab="diseases.obo", base="nymlink-mini", output="encoder", epochs=2)
        >>> settings.epochs, settings.loss
        (2, 'multi-similarity')
    """

    vocab: str | None = field(
        default=None,
        metadata=about(
            "vocabulary whose synonyms are learned: a directory, or a file in any known format", matters=False
        ),
    )
    pairs: str | None = field(
        default=None,
        metadata=about(
            "file of pairs instead of a vocabulary: Parquet, or text with lines concept||name1||name2",
            matters=False,
        ),
    )
    cap: int = field(
        default=50,
        metadata=about("vocab: the most pairs to keep of a concept, drawn at random"),
    )
    languages: tuple[str, ...] = field(
        default=(),
        metadata=about(
            "vocab: use names in this language only (und: of unknown language); if not given, all",
            flag="--language",
        ),
    )
    across_languages: bool = field(
        default=False, metadata=about("vocab: learn only pairs of names in two languages")
    )
    kinds: tuple[str, ...] = field(
        default=(),
        metadata=about("vocab: use names of this kind only; if not given, all but narrow and broad"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.vocab is None) == (self.pairs is None):
            raise ValueError("give either vocab or pairs, not both")
        require(self.cap >= 1, "cap", "at least 1", self.cap)
        if self.pairs is not None and (self.languages or self.kinds or self.across_languages):
            raise ValueError(
                "languages, across_languages and kinds select names of vocab, not of a file of pairs: select them "
                "when you make the file (`nymlink pairs --language … --kind …`)"
            )
        known = f"some of {', '.join(KINDS)}"
        require(set(self.kinds) <= set(KINDS), "kinds", known, self.kinds)


@dataclass(frozen=True, kw_only=True)
class TranslationSettings(AlignmentSettings):
    """The settings of the training ``translation``: self-alignment of words with their translations.

    Example:
        >>> from nymlink import TranslationSettings
        >>> settings = TranslationSettings(translations=("en-de.tsv",), base="encoder", output="translated")
        >>> settings.epochs
        5
    """

    translations: tuple[str, ...] = field(
        metadata=about(
            "file of translations, a word and its translation in each line: MUSE, TSV, CSV or parallel titles",
            matters=False,
        )
    )
    languages: str | None = field(
        default=None,
        metadata=about(
            "languages of the two columns of all files, for example en-tr; if not given, those in the name of "
            "each file. Files whose columns look exchanged are refused",
            matters=False,
        ),
    )
    epochs: int = field(default=5, metadata=about("epochs: passes over the training data"))

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool(self.translations), "translations", "at least one file", self.translations)
        if self.languages is not None:
            try:
                parse_languages(self.languages)
            except ValueError as error:
                raise ValueError(f"languages must be {error}") from error


@dataclass(frozen=True, kw_only=True)
class MentionSettings(CorpusSettings):
    """The settings of trainings of encoders on annotated mentions and the names of their concepts."""

    vocab: str = field(
        metadata=about(
            "vocabulary of the gold concepts: a directory, or a file in any known format", matters=False
        )
    )


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(MentionSettings, SynonymSettings):
    """The settings of the training ``finetune``: self-alignment of mentions with names.

    Example:
        >>> from nymlink import FinetuneSettings
        >>> settings = FinetuneSettings(
        ...     corpora=("train.PubTator.txt",), vocab="diseases.obo", base="encoder", output="tuned"
        ... )
        >>> settings.batch_pairs
        128
    """

    epochs: int = field(
        default=3,
        metadata=about("epochs: passes over the training data"),
    )
    batch_pairs: int = field(
        default=128,
        metadata=about("pairs in a batch, over all processes together"),
    )


@dataclass(frozen=True, kw_only=True)
class BioSynSettings(MentionSettings, EncoderTrainingSettings):
    """The settings of the training ``biosyn``: the candidate names of mentions, and the optimiser.

    Example:
        >>> from nymlink import BioSynSettings
        >>> settings = BioSynSettings(
        ...     corpora=("train.PubTator.txt",), vocab="diseases.obo", base="encoder", output="biosyn"
        ... )
        >>> settings.candidates
        20
    """

    candidates: int = field(
        default=20,
        metadata=about("candidates: names that a mention is compared with, from both searches"),
    )
    sparse_candidates: int = field(
        default=10,
        metadata=about("candidates from sparse search; the others come from dense search"),
    )
    batch_queries: int = field(default=16, metadata=about("mentions in a batch"))
    epochs: int = field(
        default=10,
        metadata=about("epochs: passes over the training data; dense candidates are searched again in each"),
    )
    learning_rate: float = field(default=1e-5, metadata=about("learning rate of the encoder"))
    sparse_learning_rate: float = field(
        default=0.01,
        metadata=about("learning rate of the weight of sparse scores, which is initially 0"),
    )
    weight_decay: float = field(
        default=0.01,
        metadata=about("weight decay of Adam (L2), on all parameters except the weight of sparse scores"),
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


TRAININGS: Final[Mapping[str, type[EncoderTrainingSettings]]] = {
    "sap": SapSettings,
    "translation": TranslationSettings,
    "finetune": FinetuneSettings,
    "biosyn": BioSynSettings,
}
"""Training of encoders → its settings. Each training can be a stage."""


@dataclass(frozen=True)
class Stage:
    """A stage of a recipe.

    Attributes:
        name: number of the stage (from 1) and its training, for example ``1-sap``. The folder of the stage has the
            same name.
        training: one of :data:`TRAININGS`.
        settings: the settings of the training, including its base and output.
    """

    name: str
    training: str
    settings: EncoderTrainingSettings


@dataclass(frozen=True, kw_only=True)
class StagesSettings:
    """The settings of a recipe with stages.

    Attributes:
        output: the folder to write.
        stage: the tables ``[[stage]]`` of the file; see :meth:`stages`.
    """

    output: str = field(metadata=about("folder to write: the last encoder, and the stages", matters=False))
    # These settings do not matter here: the record in a stage's own folder shows whether the stage has changed.
    stage: tuple[dict[str, Any], ...] = field(metadata=about("the settings of each stage", matters=False))

    def stages(self, *, path: Path | None = None) -> list[Stage]:
        """Make the settings of each stage.

        The base of a stage is the encoder of the previous stage. The output of a stage is a folder in ``output``.

        Args:
            path: the file of the tables, for messages.

        Raises:
            InputError: a setting is unknown, missing, wrong, or set by the recipe itself.
        """
        return list(self._stages(path))

    def _stages(self, path: Path | None) -> Iterator[Stage]:
        given: dict[str, Any] = {}
        for number, table in enumerate(self.stage, start=1):
            place = ("stage", str(number))
            for key in table:
                if key == "output" or (key == "base" and given):
                    raise InputError(
                        f"{key}: leave it out: a stage begins with the stage before it, and is written to a "
                        "folder in the recipe's output",
                        path=path,
                        line=line_of(key, path, place),
                    )
            training = str(table.get("train", ""))
            if training not in TRAININGS:
                line = line_of("train", path, place) or line_of(place[1], path, place[:1])
                known = ", ".join(TRAININGS)
                raise InputError(f"train must be one of {known}, not {training!r}", path=path, line=line)
            name = f"{number}-{training}"
            given |= {"output": str(Path(self.output) / name)}
            values = {key: value for key, value in table.items() if key != "train"} | given
            yield Stage(name, training, make_settings(TRAININGS[training], values, path=path, table=place))
            given = {"base": given["output"]}
