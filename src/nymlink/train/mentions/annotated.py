"""What annotated mentions say, as the queries that they are when they are linked, and what they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.corpus.model import Corpus
from nymlink.evaluate.gold import GoldResolver
from nymlink.text.prepare import prepare_document
from nymlink.train.settings.common import HeldOut
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Annotated:
    """A query with what it means.

    Attributes:
        query: a mention as it is searched for.
        concept_ids: its gold ids, as the corpus writes them.
        concepts: the rows of the concepts of the vocabulary that these stand for.
    """

    query: str
    concept_ids: tuple[str, ...]
    concepts: frozenset[int]


def annotated_queries(
    vocabulary: Vocabulary, corpora: Iterable[Corpus], *, types: Collection[str] = ()
) -> Iterator[Annotated]:
    """The queries of all mentions that mean a concept of the vocabulary.

    A mention that occurs often with the same ids counts once, as it does in the training of BioSyn. Composite
    mentions are left out: which of their parts means which concept is not annotated. One that has several ids and
    cannot be split means them all: whoever takes it so or leaves it out decides.

    Args:
        vocabulary: has the concepts.
        corpora: have the mentions.
        types: mentions of these types only; of all if there are none.
    """
    resolver = GoldResolver(vocabulary)
    found = dict.fromkeys(
        (parts[0], mention.concept_ids)
        for corpus in corpora
        for document in corpus.documents
        for mention, parts in zip(document.mentions, prepare_document(document, composites="gold"), strict=True)
        if len(parts) == 1 and (not types or mention.type in types)
    )
    for query, concept_ids in found:
        concepts = resolver.rows(concept_ids)
        if concepts:
            yield Annotated(query, concept_ids, concepts)


def no_concept(types: Collection[str]) -> InputError:
    """What to say where :func:`annotated_queries` has nothing."""
    return InputError(
        f"no mention{_of(types)} means a concept of the vocabulary: are its ids those of the corpus?"
    )


def nothing_right(held_out: HeldOut, types: Collection[str]) -> InputError:
    """What to say where nothing of a held-out corpus can be measured."""
    return InputError(
        f"no mention{_of(types)} has a gold id that {held_out.dictionary} has: nothing could be right",
        path=held_out.corpus,
    )


def _of(types: Collection[str]) -> str:
    return f" of type {', '.join(types)}" if types else ""


def describe_corpus(path: Path) -> dict[str, Any]:
    """What a corpus was read from, as JSON values."""
    if not path.is_dir():
        return {"name": path.name, "files": {path.name: sha256(path)}}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {"name": path.name, "files": {file.relative_to(path).as_posix(): sha256(file) for file in files}}
