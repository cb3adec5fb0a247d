"""The settings of an annotator: what it looks for, how, and what it tells of what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from nymlink.annotation.confidence import MIN_CONFIDENCE, MIN_FUZZY_CONFIDENCE
from nymlink.annotation.restriction import Restriction
from nymlink.linking.model import FLAGS

DICTIONARY_DETECTOR: Final = "dictionary"
GIVEN_DETECTOR: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorSettings:
    """The settings of an :class:`~nymlink.annotation.annotator.Annotator`.

    Attributes:
        min_confidence: mentions of less confidence are left out.
        overlaps: whether mentions may overlap; else those of most words are chosen.
        fuzzy: whether phrases that no name is are linked, too, by the searches of the index.
        fuzzy_confidence: phrases of less confidence are left out.
        restriction: what is looked for.
        detector: what finds mentions: ``"dictionary"``; ``"given"``, those that documents come with;
            ``"spacy:NAME"`` or ``"hf:NAME"``, a model of spaCy or of Hugging Face.
        flags: what is told of the context of mentions.
        language: code of the language of texts and names; ``None`` for names of every language, without rules.

    Raises:
        ValueError: a number is not what it must be, or there is no such flag.
    """

    min_confidence: float = MIN_CONFIDENCE
    overlaps: bool = False
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
