"""Annotated mentions as queries with gold concepts, to train encoders on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.text.prepare import prepare_document
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class AnnotatedQuery:
    """An annotated mention as a query.

    Attributes:
        query: the mention's text, prepared as for a search.
        concept_ids: the gold ids of the corpus.
        concepts: rows of the gold concepts in the vocabulary.
    """

    query: str
    concept_ids: tuple[str, ...]
    concepts: frozenset[int]


def annotated_queries(
    vocabulary: Vocabulary, corpora: Iterable[Corpus], *, types: Collection[str] = ()
) -> Iterator[AnnotatedQuery]:
    """Prepare the mentions with a gold concept in the vocabulary.

    A repeated query with the same gold ids counts once, as in the training of BioSyn. A composite mention that can
    be split is left out, since no annotation says which part has which id. A composite mention that cannot be
    split becomes a query with all its concepts.

    Args:
        vocabulary: vocabulary of the concepts.
        corpora: corpora of the mentions.
        types: prepare mentions of these types only; all if empty.
    """
    resolver = GoldResolver(vocabulary)
    distinct = dict.fromkeys(
        (parts[0], mention.concept_ids)
        for corpus in corpora
        for document in corpus.documents
        for mention, parts in zip(document.mentions, prepare_document(document, composites="gold"), strict=True)
        if len(parts) == 1 and (not types or mention.type in types)
    )
    for query, concept_ids in distinct:
        concepts = resolver.rows(concept_ids)
        if concepts:
            yield AnnotatedQuery(query, concept_ids, concepts)


def no_concept_error(types: Collection[str]) -> InputError:
    """Make the error of corpora without a gold concept in the vocabulary."""
    return InputError(
        f"no mention{_of_types(types)} has a gold id that is in the vocabulary: check that the corpus is "
        "annotated with ids of this vocabulary"
    )


def no_gold_error(held_out: HeldOutCorpus, types: Collection[str]) -> InputError:
    """Make the error of a held-out corpus without a gold id in its dictionary."""
    return InputError(
        f"no mention{_of_types(types)} has a gold id that is in {held_out.dictionary}: check that the corpus is "
        "annotated with ids of this dictionary",
        path=held_out.corpus,
    )


def _of_types(types: Collection[str]) -> str:
    return f" of type {', '.join(types)}" if types else ""


def describe_corpus(path: Path) -> dict[str, Any]:
    """Return the provenance of a corpus, as JSON values: its name, and the SHA-256 of each file."""
    if not path.is_dir():
        return {"name": path.name, "files": {path.name: sha256(path)}}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {"name": path.name, "files": {file.relative_to(path).as_posix(): sha256(file) for file in files}}
