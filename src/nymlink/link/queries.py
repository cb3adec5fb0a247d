"""From the mentions of a document to the queries that an index is asked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from nymlink.corpus.model import Document, Mention
from nymlink.index.entries import Entries
from nymlink.text.forms import american, forms
from nymlink.text.normalise import normalise
from nymlink.text.paraphrases import paraphrases
from nymlink.text.prepare import Composites, prepare_document
from nymlink.text.spelling import correct

_LONGEST_ACRONYM: Final = 6

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


def queries(
    document: Document,
    entries: Entries,
    *,
    spelling: Mapping[str, str],
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """The queries of each mention, prepared by :func:`~nymlink.text.prepare.prepare_document`, as names have them.

    A query that is no name of the index as it stands is mended by the table; if then it is none either, but is one
    in another regular form ("anaemias", "anemia") or in other words ("hepatic failure", "liver failure"), it is
    asked for in that. A vocabulary that writes "tumour" is right to do so, and "AIDS" is no plural. The table is
    not for what was prepared already. With ``as_published`` the table is all.
    """
    prepared = prepare_document(document, spelling=_NO_SPELLING, composites=composites, as_published=as_published)

    def mended(query: str, mention: Mention) -> str:
        if entries.find(query) is not None:
            return query
        better = query if mention.prepared else correct(query, spelling)
        if as_published or _is_acronym(mention.text, query):
            return better
        spelt = dict.fromkeys((better, american(better)))
        others = chain([better], forms(better), forms(query), *map(paraphrases, spelt))
        return next((one for one in others if entries.find(one) is not None), better)

    return tuple(
        tuple(mended(query, mention) for query in parts)
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )


def _is_acronym(text: str, query: str) -> bool:
    """Whether this is a mention in capitals that is asked for as it stands: one that is written out has words."""
    return text.isupper() and len(text) <= _LONGEST_ACRONYM and normalise(text) == query
