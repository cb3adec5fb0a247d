"""Restrict what is looked for: by branches, semantic types, sources of names, and ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.annotation.name_table import Level
from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.store.arrays import Bools
from nymlink.linking.link import FLAGS
from nymlink.vocabulary.hierarchy import descendants, flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """What is looked for: what meets all conditions, each by any of its values; an empty one is none.

    Attributes:
        branches: ids of concepts, looked for with all their descendants.
        types: semantic types; case is ignored.
        sources: sources of names.
        ids: ids of concepts; old ones stand for those that replace them.
    """

    branches: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.branches or self.types or self.sources or self.ids)

    def names(self, vocabulary: Vocabulary) -> Bools:
        """Tell which names of a vocabulary are looked for.

        Returns:
            bool (N).

        Raises:
            UnknownNameError: a branch or an id is not in the vocabulary.
            InputError: a type or source is not, or nothing is left.
        """
        concepts = self.concepts(vocabulary)
        columns = vocabulary.columns
        names: Bools = concepts[columns.names["concept"].to_numpy()]
        if self.sources:
            names &= _has_label(columns.names["source"].cast(pa.string()), self.sources, "source")
        if not names.any():
            raise InputError("nothing is left to look for: no concept meets all conditions")
        return names

    def concepts(self, vocabulary: Vocabulary) -> Bools:
        """Tell which concepts of a vocabulary are looked for, as far as sources do not decide: bool (C)."""
        concepts = np.ones(len(vocabulary), bool)
        if self.branches:
            concepts &= descendants(vocabulary, self.branches)
        if self.types:
            rows, types = flatten_lists(vocabulary.columns.concepts["semantic_types"])
            of_type = np.zeros(len(vocabulary), bool)
            folded = tuple(value.casefold() for value in self.types)
            of_type[rows[_has_label(pc.utf8_lower(types), folded, "semantic type")]] = True
            concepts &= of_type
        if self.ids:
            listed = np.zeros(len(vocabulary), bool)
            for concept_id in self.ids:
                current = vocabulary.resolve(concept_id)
                if not current:
                    raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary")
                for each in current:
                    listed[vocabulary.row(each)] = True
            concepts &= listed
        return concepts


def _has_label(column: pa.Array | pa.ChunkedArray, wanted: Collection[str], noun: str) -> Bools:
    """Tell which values are wanted.

    Raises:
        InputError: a wanted value is not among them.
    """
    present = set(pc.unique(column).to_pylist())
    if missing := sorted(set(wanted) - present):
        known = ", ".join(sorted(filter(None, present))[:20])
        raise InputError(f"no {noun} {missing[0]!r} in the vocabulary; there are: {known}")
    selected: Bools = pc.is_in(column, pa.array(sorted(wanted), pa.string())).to_numpy(zero_copy_only=False)
    return selected


LEVELS: Final[Mapping[Level, float]] = MappingProxyType(
    {Level.EXACT: 0.8, Level.FORM: 0.55, Level.SENSE: 0.5, Level.CORE: 0.4}
)
"""Confidence of a phrase whose words are those of a name at a level: the share of such that is right in the
training texts of NCBI disease, with MEDIC (benchmarks/annotation/annotate.py measures it). There are too few of
the last."""

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
"""Factors that multiply the confidence of: a related, narrower or broader name; qualifying words; an adverb;
a word of general language that is a loose name, or a form of one; other forms of the name of a product; a name
within a coordination; a name with a qualifier between its words."""

MIN_CONFIDENCE: Final = 0.25
"""Mentions of less confidence are left out, unless asked for: chosen on the development half of GSC+."""

MIN_FUZZY_CONFIDENCE: Final = 0.5
"""Phrases that the searches of an index link with less confidence are left out: chosen in the same way."""


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
