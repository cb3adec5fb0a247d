"""From the mentions of a document to the queries that an index is asked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from nymlink.corpus.model import Document
from nymlink.index.entries import Entries
from nymlink.text.forms import forms
from nymlink.text.prepare import Composites, prepare_document
from nymlink.text.spelling import correct

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


def queries(
    document: Document,
    entries: Entries,
    *,
    spelling: Mapping[str, str],
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """The prepared queries of each mention, see :func:`~nymlink.text.prepare.prepare_document`.

    A query that is no name of the index as it stands is mended by the table; if then it is none either, but is one
    in another regular form ("anaemias", "anemia"), it is asked for in that. A vocabulary that writes "tumour" is
    right to do so. What is prepared already is asked for as it is.
    """
    prepared = prepare_document(document, spelling=_NO_SPELLING, composites=composites, as_published=as_published)

    def mended(query: str) -> str:
        if entries.find(query) is not None:
            return query
        better = correct(query, spelling)
        others = () if as_published else chain(forms(better), forms(query))
        return next((one for one in chain([better], others) if entries.find(one) is not None), better)

    return tuple(
        parts if mention.prepared else tuple(map(mended, parts))
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )
