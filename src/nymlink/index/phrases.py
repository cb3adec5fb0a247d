"""Counted phrases: what annotators and curators wrote for concepts, and how often.

The table comes with nymlink; ``recipes/phrases.py`` makes it. A phrase becomes a name of the concept that it
mostly means, and its counts decide among concepts that share a name.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import pyarrow as pa

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.vocabulary.concepts import Source, matching_languages
from nymlink.vocabulary.equivalence import ConceptIds
from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, Tables
from nymlink.vocabulary.vocabulary import Vocabulary

_LANGUAGE: Final = "en"

Times = Mapping[str, int]
"""Name of a corpus → number of mentions; of documents in the table that comes with nymlink."""

Meanings = Mapping[str, Mapping[str, Times]]
"""Text in its normal form → id of a concept → number of mentions in each corpus."""


def main_meaning(meanings: Mapping[str, Times]) -> tuple[str, float] | None:
    """Find the concept that most mentions with a text mean.

    Args:
        meanings: id of a concept → number of mentions in each corpus.

    Returns:
        Its id, and its share of the mentions by Laplace's rule of succession: (n + 1) / (N + 2). ``None`` if there
        are none, or if the share is not above one half.
    """
    times = {concept: sum(own.values()) for concept, own in meanings.items()}
    if not times:
        return None
    concept, count = max(times.items(), key=lambda item: item[1])
    share = (count + 1) / (sum(times.values()) + 2)
    return (concept, share) if share > 0.5 else None


class Phrases:
    """Phrases with the concepts that people meant by them.

    Args:
        rows: phrases in their normal form, ids of concepts, and numbers of mentions.
    """

    source: Final = Source("annotated phrases", "table")

    def __init__(self, rows: Iterable[tuple[str, str, Times]]) -> None:
        self._of: defaultdict[Key, list[tuple[str, Times]]] = defaultdict(list)
        for phrase, concept, times in rows:
            self._of[canonical(concept)].append((phrase, times))

    @classmethod
    @cache
    def shipped(cls) -> Phrases:
        """Read the table that comes with nymlink."""
        packed = files("nymlink.index").joinpath("data/phrases.tsv.gz").read_bytes()
        return cls(read_phrases(gzip.decompress(packed).decode("utf-8")))

    def add_to(
        self, vocabulary: Vocabulary, languages: Collection[str] | None
    ) -> tuple[Vocabulary, Meanings | None]:
        """Add to a vocabulary the phrases that mostly mean one of its concepts, and select the counts.

        Args:
            vocabulary: the vocabulary. It stays as it is if it has no English names.
            languages: languages of the names to search; ``None`` for all.

        Returns:
            The vocabulary with more names, and the meanings of the phrases; ``None`` if there are none.
        """
        spoken = vocabulary.counts("lang") if languages is None else languages
        if not matching_languages([_LANGUAGE, UNKNOWN_LANGUAGE], spoken):
            return vocabulary, None
        added, meanings = self.choose(vocabulary)
        if not len(added.names):
            return vocabulary, meanings or None
        parts = [*vocabulary.parts(), (self.source, added)]
        return Vocabulary.of(*parts, repeats=True, settings=vocabulary.settings), meanings

    def choose(self, vocabulary: Vocabulary) -> tuple[Tables, Meanings]:
        """Choose the phrases that mostly mean one concept of a vocabulary.

        A phrase that only other concepts have as a name is left out.

        Returns:
            The names to add, and the meanings of all chosen phrases.
        """
        rows: list[tuple[str, str, str, str]] = []
        chosen: dict[str, Mapping[str, Times]] = {}
        for phrase, own in self._meanings(vocabulary).items():
            if (known := main_meaning(own)) is None:
                continue
            owners = _owners(vocabulary, phrase)
            if not owners:
                rows.append((known[0], phrase, _LANGUAGE, "exact"))
            if not owners or known[0] in owners:
                chosen[phrase] = own
        names = NAME_SCHEMA.empty_table()
        if rows:
            columns = [pa.array(column) for column in zip(*rows, strict=True)]
            names = pa.Table.from_arrays(columns, schema=NAME_SCHEMA)
        return Tables(CONCEPT_SCHEMA.empty_table(), names, REDIRECT_SCHEMA.empty_table()), chosen

    def _meanings(self, vocabulary: Vocabulary) -> Meanings:
        """Select the phrases of the concepts of a vocabulary, with the ids that it gives them."""
        meanings: dict[str, dict[str, Counter[str]]] = {}
        for row, key in self._found(vocabulary):
            concept = vocabulary.concept_id(row)
            for phrase, times in self._of[key]:
                meanings.setdefault(phrase, {}).setdefault(concept, Counter()).update(times)
        return {text: {concept: dict(times) for concept, times in own.items()} for text, own in meanings.items()}

    def _found(self, vocabulary: Vocabulary) -> Iterator[tuple[int, Key]]:
        """Find concepts by their ids, else by references that are one-to-one."""
        ids = ConceptIds(vocabulary)
        yield from ((row, key) for key, row in ids.rows.items() if key in self._of)
        rows: defaultdict[Key, set[int]] = defaultdict(set)
        keys: defaultdict[tuple[int, str], set[Key]] = defaultdict(set)
        for row, key in ids.references():
            rows[key].add(row)
            keys[row, key[0]].add(key)
        for (row, _), own in keys.items():
            [key, *others] = own
            if not others and len(rows[key]) == 1 and key in self._of and key not in ids.rows:
                yield row, key


def _owners(vocabulary: Vocabulary, text: str) -> set[str]:
    """Find the ids of the live concepts that have a name."""
    columns = vocabulary.columns
    rows = {columns.names["concept"][name].as_py() for name in vocabulary.name_rows(text)}
    return {vocabulary.concept_id(row) for row in rows if not columns.concepts["obsolete"][row].as_py()}


def read_phrases(text: str) -> Iterator[tuple[str, str, Times]]:
    """Read the table: phrase, id of the concept, and the number of documents of each corpus, empty for none."""
    heading, *lines = text.splitlines()
    corpora = heading.split("\t")[2:]
    for line in lines:
        phrase, concept, *times = line.split("\t")
        yield phrase, concept, {corpora[place]: int(each) for place, each in enumerate(times) if each}


def write_phrases(meanings: Meanings) -> str:
    """Write the table that :func:`read_phrases` reads, in the order of phrases and ids."""
    corpora = sorted({corpus for own in meanings.values() for times in own.values() for corpus in times})
    lines = ["\t".join(("phrase", "concept", *corpora))]
    for phrase, own in sorted(meanings.items()):
        for concept, times in sorted(own.items()):
            lines.append("\t".join((phrase, concept, *(str(times.get(corpus, "")) for corpus in corpora))))
    return "\n".join(lines) + "\n"
