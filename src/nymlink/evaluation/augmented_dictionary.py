"""The augmented dictionary: a vocabulary plus the names by which annotated mentions call its concepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nymlink.corpus.model import Corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.text.prepare import prepare_document
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
    """Add the prepared mentions of corpora (training, development) as names of their gold concepts.

    This is the dictionary of the published NCBI and BC5CDR figures. Composite mentions are left out: which of
    their parts means which concept is not annotated.
    """
    resolver = GoldResolver(vocabulary)
    added = TableBuilder()
    for corpus in corpora:
        for document in corpus.documents:
            prepared = prepare_document(document, spelling=spelling, composites="gold", as_published=as_published)
            for mention, parts in zip(document.mentions, prepared, strict=True):
                if len(parts) > 1:
                    continue
                for row in sorted(resolver.rows(mention.concept_ids)):
                    concept_id = vocabulary.concept_id(row)
                    added.concept(concept_id)
                    added.name(concept_id, parts[0])
    return vocabulary.extended(Source("training mentions", "corpus"), added.build())
