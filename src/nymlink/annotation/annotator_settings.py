"""Settings of annotators: what to find, and confidences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from nymlink.annotation.name_table import Level
from nymlink.core.language_codes import language_of
from nymlink.linking.link import FLAGS
from nymlink.vocabulary.restriction import Restriction

LEVELS: Final[Mapping[Level, float]] = MappingProxyType(
    {Level.EXACT: 0.8, Level.FORM: 0.55, Level.SENSE: 0.5, Level.CORE: 0.4}
)
"""Level of agreement between a phrase and a name → confidence of the phrase. The confidence is the share of
correct phrases in the training texts of NCBI disease with MEDIC, measured by benchmarks/annotation/annotate.py.
The last level is too rare in these texts; its confidence was chosen by hand."""

FACTORS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "loose": 0.9,
        "qualifier": 0.1,
        "adverb": 0.2,
        "ordinary": 0.2,
        "product": 0.2,
        "coordination": 0.75,
        "gap": 0.75,
    }
)
"""Factors by which confidences are multiplied: for a related, narrower or broader name (``loose``), a name that
consists of qualifiers (``qualifier``), an adverb (``adverb``), a word of general language (``ordinary``), another
form of the name of a product (``product``), a name in a coordination (``coordination``), and a name with a
qualifier between its words (``gap``)."""

MIN_CONFIDENCE: Final = 0.25
"""Default of the smallest confidence of a mention. It was chosen on the development half of GSC+."""

MIN_FUZZY_CONFIDENCE: Final = 0.5
"""Default of the smallest confidence of a phrase that is linked by search. It was chosen in the same way."""


_ANY: Final = "any"

DICTIONARY_DETECTOR: Final = "dictionary"
GIVEN_DETECTOR: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorSettings:
    """The settings of an :class:`~nymlink.annotation.annotator.Annotator`.

    Attributes:
        min_confidence: smallest confidence of a mention.
        overlaps: whether mentions may overlap. If not, those with the most words are kept.
        findings: whether to find what an English text tells in numbers or plain words ("Hb 6.2 g/dl").
        fuzzy: whether phrases that are not names are also linked, by the searches of the index.
        fuzzy_confidence: smallest confidence of such a phrase.
        restriction: conditions on the names to find.
        detector: how to find mentions. ``"dictionary"`` finds names of the index, ``"given"`` takes the mentions
            of the documents, and ``"spacy:NAME"`` or ``"hf:NAME"`` uses a model of spaCy or Hugging Face.
        flags: flags of the context to read.
        language: code of the language of texts and names, without its region; ``"auto"`` to detect it for each
            text; ``None`` or ``"any"`` for names of every language, without rules.

    Raises:
        ValueError: a number is out of range, or a flag is unknown.
        InputError: ``language`` is no language code.

    Example:
        >>> from nymlink import AnnotatorSettings
        >>> settings = AnnotatorSettings(min_confidence=0.5, fuzzy=True)
        >>> settings.min_confidence
        0.5
    """

    min_confidence: float = MIN_CONFIDENCE
    overlaps: bool = False
    findings: bool = True
    fuzzy: bool = False
    fuzzy_confidence: float = MIN_FUZZY_CONFIDENCE
    restriction: Restriction = field(default_factory=Restriction)
    detector: str = DICTIONARY_DETECTOR
    flags: tuple[str, ...] = FLAGS
    language: str | None = "en"

    def __post_init__(self) -> None:
        for name in ("min_confidence", "fuzzy_confidence"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        if unknown := sorted(set(self.flags) - set(FLAGS)):
            raise ValueError(f"no flag {unknown[0]!r}: there are {', '.join(FLAGS)}")
        code = None if self.language == _ANY else language_of(self.language)
        object.__setattr__(self, "language", code and code.split("-")[0])
