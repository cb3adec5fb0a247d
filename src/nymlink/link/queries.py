"""From the mentions of a document to the queries that an index is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from nymlink.corpus.model import Document, Mention
from nymlink.encode.embedded import common_words
from nymlink.index.entries import Entries
from nymlink.index.words import Words
from nymlink.text.forms import american, forms
from nymlink.text.normalise import normalise
from nymlink.text.paraphrases import paraphrases
from nymlink.text.prepare import Composites, prepare_document
from nymlink.text.slips import may_be_misspelt
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
    asked for in that. What is still none is mended once more: a word that is known nowhere becomes the word of the
    index of which it is a slip ("siezures"). A vocabulary that writes "tumour" is right to do so, and "AIDS" is no
    plural. The table is not for what was prepared already. With ``as_published`` the table is all.
    """
    prepared = prepare_document(document, spelling=_NO_SPELLING, composites=composites, as_published=as_published)

    def named(texts: Iterable[str]) -> str | None:
        return next((text for text in texts if entries.find(text) is not None), None)

    def mended(query: str, mention: Mention) -> str:
        if entries.find(query) is not None:
            return query
        better = query if mention.prepared else correct(query, spelling)
        if as_published or _is_acronym(mention.text, query):
            return better
        found = named(_others(better, query))
        if found is not None:
            return found
        corrected = _without_slips(better, entries.words)
        return better if corrected == better else named(_others(corrected)) or corrected

    return tuple(
        tuple(mended(query, mention) for query in parts)
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )


def _others(*texts: str) -> Iterator[str]:
    """A text, then other forms of all that are given, then other words for the first."""
    yield texts[0]
    for text in dict.fromkeys(texts):
        yield from forms(text)
    for text in dict.fromkeys((texts[0], american(texts[0]))):
        yield from paraphrases(text)


def _without_slips(text: str, words: Words) -> str:
    """The text, each word of it that is known nowhere being the word of the index of which it is a slip."""
    return " ".join([_without_slip(word, words) for word in text.split(" ")])


def _without_slip(word: str, words: Words) -> str:
    if not may_be_misspelt(word) or word in common_words() or word in words:
        return word
    return words.nearest(word) or word


def _is_acronym(text: str, query: str) -> bool:
    """Whether this is a mention in capitals that is asked for as it stands: one that is written out has words."""
    return text.isupper() and len(text) <= _LONGEST_ACRONYM and normalise(text) == query
