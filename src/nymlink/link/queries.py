"""From the mentions of a document to the queries that an index is asked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from nymlink.corpus.model import Document
from nymlink.index.entries import Entries
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

    The spelling of a query is mended unless the index has that very name: a vocabulary that writes "tumour" is
    right to do so.
    """
    prepared = prepare_document(document, spelling=_NO_SPELLING, composites=composites, as_published=as_published)

    def mended(query: str) -> str:
        better = correct(query, spelling)
        return query if better == query or entries.find(query) is not None else better

    return tuple(
        parts if mention.prepared else tuple(map(mended, parts))
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )
