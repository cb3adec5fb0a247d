"""The augmented dictionary: a vocabulary plus the names by which annotated mentions call its concepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nymlink.corpus.model import Corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.text.normalisation.normalise import normalise
from nymlink.text.prepare import expand_document, prepare_document
from nymlink.text.writing import ALIKE, writing_likeness
from nymlink.vocabulary.model import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


def augment(
    vocabulary: Vocabulary,
    corpora: Iterable[Corpus],
    *,
    spelling: Mapping[str, str] | None = None,
    as_published: bool = False,
) -> Vocabulary:
    """Add the mentions of corpora (training, development), expanded, as names of their gold concepts.

    This is the dictionary of the published NCBI and BC5CDR figures. Composite mentions are left out: which of
    their parts means which concept is not annotated.
    """
    resolver = GoldResolver(vocabulary)
    added = TableBuilder()
    for corpus in corpora:
        for document in corpus.documents:
            prepared = prepare_document(document, spelling=spelling, composites="gold", as_published=as_published)
            surfaces = expand_document(document, composites="gold", as_published=as_published)
            for mention, parts, (surface, *_) in zip(document.mentions, prepared, surfaces, strict=True):
                if len(parts) > 1:
                    continue
                # Capitals and signs are evidence; a mended spelling is another name.
                name = parts[0] if as_published or normalise(surface) != parts[0] else surface
                for row in sorted(resolver.rows(mention.concept_ids)):
                    concept_id = vocabulary.concept_id(row)
                    added.concept(concept_id)
                    if as_published or not _has_name(vocabulary, concept_id, name):
                        added.name(concept_id, name)
    return vocabulary.extended(Source("training mentions", "corpus"), added.build())


def _has_name(vocabulary: Vocabulary, concept_id: str, text: str) -> bool:
    """Whether a concept has a name that is written alike, but for typesetting and the capital of a sentence."""
    return any(
        name.concept_id == concept_id and writing_likeness(text, name.text) > ALIKE
        for name in vocabulary.find(text)
    )
