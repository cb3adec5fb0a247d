"""The dictionary matcher: finds the names of a vocabulary in texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from nymlink.annotation.confidence import MIN_CONFIDENCE
from nymlink.annotation.matching.coordination import find_coordinations, has_conjunction
from nymlink.annotation.matching.definitions import carry_through, glosses
from nymlink.annotation.matching.hits import Hit, Spans, longest
from nymlink.annotation.matching.windows import find_cores, find_windows
from nymlink.annotation.names.build import build_lexicon, build_table, names_of
from nymlink.annotation.names.choice import NameChooser
from nymlink.annotation.names.table import NameTable
from nymlink.annotation.words.lexicon import Lexicon
from nymlink.annotation.words.rules import rules_for_words
from nymlink.annotation.words.tokens import tokens_of
from nymlink.core.store.arrays import Bools
from nymlink.text.abbreviations import find_definitions
from nymlink.vocabulary.vocabulary import Vocabulary

_LANGUAGE: Final = "en"


@dataclass(slots=True)
class Matcher:
    """Finds the names of a vocabulary in texts, whatever the order and the forms of their words.

    Attributes:
        vocabulary: of the names.
        lexicon: of their words.
        table: of their digests.
    """

    vocabulary: Vocabulary
    lexicon: Lexicon
    table: NameTable
    chooser: NameChooser = field(init=False)
    _concept_of_name: npt.NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        rows = self.table.rows
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.vocabulary.name_count:
            raise ValueError("the matcher has names that the vocabulary does not")
        self.chooser = NameChooser(self.vocabulary, self.table, self.lexicon)
        self._concept_of_name = self.vocabulary.columns.names["concept"].to_numpy()

    @classmethod
    def build(cls, vocabulary: Vocabulary, *, language: str | None = _LANGUAGE, progress: bool = False) -> Self:
        """Make a matcher of the names of a vocabulary in a language, and of those whose language is unknown."""
        names = names_of(vocabulary, language)
        lexicon = build_lexicon(names, rules_for_words(language), progress=progress)
        return cls(vocabulary, lexicon, build_table(names, lexicon, vocabulary, progress=progress))

    def restricted(self, allowed: Bools) -> Matcher:
        """Look for some names only.

        Args:
            allowed: bool (N): whether each name of the vocabulary is looked for.
        """
        matcher = replace(self)
        matcher.chooser = NameChooser(self.vocabulary, self.table, self.lexicon, allowed)
        return matcher

    def concept(self, hit: Hit) -> int:
        """Return the row of the concept that a hit means."""
        return int(self._concept_of_name[hit.choice.row])

    def find(
        self,
        text: str,
        *,
        min_confidence: float = MIN_CONFIDENCE,
        overlaps: bool = False,
    ) -> list[Hit]:
        """Find the names in a text, in their order.

        Args:
            text: a text.
            min_confidence: hits of less confidence are left out.
            overlaps: whether hits may overlap; else those of most words are chosen, and only names of one
                coordination share words.
        """
        definitions = find_definitions(text) if "(" in text or "[" in text else ()
        short_forms = {definition.short for definition in definitions}
        tokens = tokens_of(
            text, self.lexicon.find, conjunction=self.lexicon.conjunction, skipped=glosses(text, definitions)
        )

        def admitted(hits: Iterable[Hit]) -> list[Hit]:
            return [
                hit
                for hit in hits
                if hit.choice.confidence >= min_confidence
                and text[hit.start : hit.end].removesuffix("s") not in short_forms
            ]

        windows = admitted(find_windows(tokens, self.table, self.chooser))
        chosen = windows if overlaps else longest(windows)
        # A name with "and" in it does not hide its parts.
        hiding = Spans(hit for hit in chosen if not has_conjunction(tokens, hit))
        shared = admitted(find_coordinations(tokens, self.table, self.chooser, Spans(chosen)))
        chosen += [hit for hit in shared if not hiding.cover(hit)]
        chosen += longest(admitted(find_cores(tokens, chosen, self.table, self.chooser)))
        found = Spans(chosen)
        chosen += longest(hit for hit in carry_through(text, definitions, chosen) if not found.overlap(hit))
        return sorted(chosen, key=lambda hit: (hit.start, hit.end))

    def save(self, directory: Path) -> None:
        """Write the matcher into a directory, without its vocabulary."""
        self.lexicon.save(directory)
        self.table.save(directory)

    @classmethod
    def load(cls, directory: Path, vocabulary: Vocabulary, *, language: str | None = _LANGUAGE) -> Self:
        """Map the matcher of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError, pyarrow.ArrowException: the files hold something else, or not names of this vocabulary.
        """
        return cls(vocabulary, Lexicon.load(directory, rules_for_words(language)), NameTable.load(directory))
