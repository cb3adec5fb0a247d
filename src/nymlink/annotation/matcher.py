"""Find names in texts, including abbreviations that a document defines."""

from __future__ import annotations

import os
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from shutil import rmtree
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.annotation.acronyms import Acronyms
from nymlink.annotation.annotator_settings import MIN_CONFIDENCE
from nymlink.annotation.coordination import find_coordinations, has_conjunction
from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.name_choice import NameChooser
from nymlink.annotation.name_table import NameTable, build_lexicon, build_table
from nymlink.annotation.name_words import NameWords
from nymlink.annotation.tokens import tokens_of
from nymlink.annotation.windows import Hit, Spans, find_cores, find_punctuated, find_windows, longest
from nymlink.annotation.word_rules import rules_for_words
from nymlink.core.environment import CACHE_HINT, user_cache
from nymlink.core.errors import OutputError, StoreError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Bools
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.index.index import Index
from nymlink.text.abbreviations import Definition, find_definitions
from nymlink.text.aligned_text import LINE_END, align
from nymlink.text.expansion import occurrences
from nymlink.text.languages import rules_of
from nymlink.vocabulary.concepts import matching_languages
from nymlink.vocabulary.vocabulary import Vocabulary


def glosses(text: str, definitions: Iterable[Definition]) -> list[tuple[int, int]]:
    """List the brackets that contain only a short form, in order. A name may continue after such a bracket."""
    found = {
        (definition.short_start - 1, definition.short_end + 1)
        for definition in definitions
        if text[definition.short_start - 1 : definition.short_start] in ("(", "[")
        and text[definition.short_end : definition.short_end + 1] in (")", "]")
    }
    return sorted(found)


def carry_through(text: str, definitions: Sequence[Definition], hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield the occurrences of short forms, and of their plurals, if the long form is a name."""
    standing = _Standing(hits)
    meant: dict[str, Hit] = {}
    for definition in {definition.short: definition for definition in definitions}.values():
        hit = standing.covering(definition.long_start, definition.long_end)
        if hit is not None:
            meant[definition.short] = hit
            meant.setdefault(f"{definition.short}s", hit)
    for start, end in occurrences(text, meant, letters=r"[^\W_]"):
        hit = meant[text[start:end]]
        yield Hit(start, end, hit.words, hit.choice)


class _Standing:
    """The hits of a text, to find one that covers a span."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._ordered = sorted(enumerate(hits), key=lambda numbered: numbered[1].start)
        self._starts = [hit.start for _, hit in self._ordered]
        self._ends = list(accumulate((hit.end for _, hit in self._ordered), max))

    def covering(self, start: int, end: int) -> Hit | None:
        """Return the first hit that covers a span; ``None`` if there is none."""
        found: list[tuple[int, Hit]] = []
        place = bisect_right(self._starts, start)
        while place > 0 and self._ends[place - 1] >= end:
            place -= 1
            if self._ordered[place][1].end >= end:
                found.append(self._ordered[place])
        return min(found)[1] if found else None


_PART: Final = re.compile(r"[^,\s](?:[^,]*[^,\s])?")


def _parts(text: str, hit: Hit) -> list[tuple[int, int]]:
    """List the spans between the commas of a hit."""
    return [match.span() for match in _PART.finditer(text, hit.start, hit.end)]


def _with_bracket(text: str, hit: Hit) -> int:
    """Extend the end of a hit over the bracket that closes its own opening bracket."""
    written = text[hit.start : hit.end]
    closes = text[hit.end : hit.end + 1]
    opens = {")": "(", "]": "["}.get(closes)
    return hit.end + (opens is not None and written.count(opens) > written.count(closes))


_LANGUAGE: Final = "en"


@dataclass(slots=True)
class Matcher:
    """Finds the names of a vocabulary in texts, with their words in any order and form.

    Attributes:
        vocabulary: the vocabulary.
        lexicon: words of its names.
        table: digests of its names.
    """

    vocabulary: Vocabulary
    lexicon: Lexicon
    table: NameTable
    chooser: NameChooser = field(init=False)
    acronyms: Acronyms = field(init=False)
    _concept_of_name: npt.NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        rows = self.table.rows
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.vocabulary.name_count:
            raise ValueError("the matcher has names that the vocabulary does not")
        self.chooser = NameChooser(self.vocabulary, self.table, self.lexicon)
        self.acronyms = Acronyms(self.vocabulary, self.table, self.lexicon)
        self._concept_of_name = self.vocabulary.columns.names["concept"].to_numpy()

    @classmethod
    def build(cls, vocabulary: Vocabulary, *, language: str | None = _LANGUAGE, progress: bool = False) -> Self:
        """Make a matcher of the names in a language, and of names in an unknown language."""
        rules = rules_for_words(language)
        names = NameWords.of(vocabulary, language, rules, progress=progress)
        lexicon = build_lexicon(names, rules)
        return cls(vocabulary, lexicon, build_table(names, lexicon, vocabulary, progress=progress))

    def restricted(self, allowed: Bools) -> Matcher:
        """Restrict the matcher to some names.

        Args:
            allowed: bool (N): whether to find each name of the vocabulary.
        """
        matcher = replace(self)
        matcher.chooser = NameChooser(self.vocabulary, self.table, self.lexicon, allowed)
        matcher.acronyms = Acronyms(self.vocabulary, self.table, self.lexicon, allowed)
        return matcher

    def concept(self, hit: Hit) -> int:
        """Return the row of the concept of a hit."""
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
            min_confidence: smallest confidence of a hit.
            overlaps: whether hits may overlap. If not, those with the most words are kept, and only the names of a
                coordination may share words.
        """
        aligned = align(text)
        text = aligned.text
        definitions = find_definitions(text.replace(LINE_END, "\n")) if "(" in text or "[" in text else ()
        short_forms = {definition.short for definition in definitions}
        skipped = glosses(text, definitions)
        find, conjunction = self.lexicon.find, self.lexicon.conjunction
        tokens = tokens_of(text, find, conjunction=conjunction, skipped=skipped)
        # A name may have its own abbreviation in brackets.
        unskipped = tokens_of(text, find, conjunction=conjunction) if skipped else tokens

        def admitted(hits: Iterable[Hit]) -> list[Hit]:
            return [
                hit
                for hit in hits
                if hit.choice.confidence >= min_confidence
                and text[hit.start : hit.end].removesuffix("s") not in short_forms
            ]

        windows = admitted(find_windows(tokens, self.table, self.chooser))
        stretches = {(hit.start, hit.end) for hit in windows}
        windows += (
            hit._replace(end=_with_bracket(text, hit))
            for hit in admitted(find_punctuated(unskipped, self.table, self.chooser))
            # Skip lists of names.
            if not all(part in stretches for part in _parts(text, hit))
        )
        chosen = windows if overlaps else longest(windows)
        # The parts of a name with "and" are found, too.
        hiding = Spans(hit for hit in chosen if not has_conjunction(tokens, hit))
        shared = admitted(find_coordinations(tokens, self.table, self.chooser, Spans(chosen)))
        chosen += [hit for hit in shared if not hiding.cover(hit)]
        chosen += longest(admitted(find_cores(tokens, chosen, self.table, self.chooser)))
        chosen = admitted(self.acronyms.settle(text, chosen))
        chosen += longest(admitted(self.acronyms.find(text, chosen, short_forms)))
        found = Spans(chosen)
        chosen += longest(hit for hit in carry_through(text, definitions, chosen) if not found.overlap(hit))
        return [
            hit._replace(start=start, end=end)
            for hit in sorted(chosen, key=lambda hit: (hit.start, hit.end))
            for start, end in [aligned.original(hit.start, hit.end)]
        ]

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


KIND: Final = "matcher"
VERSION: Final = 8

_KEPT: Final = 32
"""Number of matchers that the cache keeps."""


def open_matcher(index: Index, *, language: str | None, progress: bool = False) -> Matcher:
    """Open the matcher of an index; build it first if the cache has none (seconds).

    The matcher of an index in memory is always built. A warning is given if the cache cannot be written.
    """
    vocabulary = index.vocabulary
    if language not in (None, "en") and not rules_of(language).clinical_words():
        # All languages without rules and names have one matcher.
        language = language if matching_languages([language], vocabulary.counts("lang")) else UNKNOWN_LANGUAGE
    if index.digest is None:
        return Matcher.build(vocabulary, language=language, progress=progress)
    # The folder of the index may have another release by now.
    made_of = (index.digest[:24], version("nymlink"), str(VERSION), language or "any")
    directory = user_cache() / "matchers" / "-".join(made_of)
    with suppress(StoreError):
        return _load(directory, index, language)
    built = Matcher.build(vocabulary, language=language, progress=progress)
    try:
        with write_directory(directory, kind=KIND, version=VERSION, body={"language": language}) as partial:
            built.save(partial)
    except OutputError as error:
        warnings.warn(
            f"{directory}: the matcher is not kept for the next time ({error.message}); {CACHE_HINT}", stacklevel=2
        )
        return built
    _remove_old(directory.parent)
    return _load(directory, index, language)


def _remove_old(folder: Path) -> None:
    """Remove the matchers that were opened least recently."""
    with suppress(OSError):
        for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
            rmtree(old, ignore_errors=True)


def _load(directory: Path, index: Index, language: str | None) -> Matcher:
    """Map a matcher into memory.

    Raises:
        StoreError: it is missing or damaged.
    """
    manifest = read_manifest(directory, kind=KIND, version=VERSION)
    with suppress(OSError):
        os.utime(directory)
    try:
        require_files(manifest, [*Lexicon.FILES, *NameTable.FILES])
        return Matcher.load(directory, index.vocabulary, language=language)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"the matcher is damaged ({error}): remove it", path=directory) from error
