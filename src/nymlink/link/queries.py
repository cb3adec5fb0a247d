"""From the mentions of a document to the queries that an index is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from nymlink.corpus.model import Document, Mention
from nymlink.index.entries.entries import Entries
from nymlink.link.guesses import guess
from nymlink.text.english.forms import american, forms
from nymlink.text.english.paraphrases import paraphrases
from nymlink.text.english.spelling import correct
from nymlink.text.normalise import normalise
from nymlink.text.prepare import Composites, prepare_document

LONGEST_ACRONYM: Final = 6
"""Letters of it."""

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


class Asked(NamedTuple):
    """What an index is asked for a mention, or for a part of one.

    Attributes:
        text: a prepared text.
        said: the mention as it was prepared, before it was put in other words.
        fallback: what is asked for without a guess, where words of the text are guesses.
        acronym: whether this is a mention in capitals that no definition wrote out.
    """

    text: str
    said: str
    fallback: str | None = None
    acronym: bool = False


def queries(
    document: Document,
    entries: Entries,
    *,
    spelling: Mapping[str, str],
    guesses: bool = True,
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[Asked, ...], ...]:
    """The queries of each mention, prepared by :func:`~nymlink.text.prepare.prepare_document`, as names have them.

    A query that is no name of the index as it stands is mended by the table; if then it is none either, but is one
    in another regular form ("anaemias", "anemia") or in other words ("hepatic failure", "liver failure"), it is
    asked for in that. In what is still none, unknown words are guessed ("siezures") where ``guesses`` are allowed,
    see :func:`~nymlink.link.guesses.guess`; then other forms and words are tried again. A vocabulary that writes
    "tumour" is right to do so, and "AIDS" is no plural. The table is not for what was prepared already. With
    ``as_published`` the table is all.
    """
    prepared = prepare_document(document, spelling=_NO_SPELLING, composites=composites, as_published=as_published)

    def named(texts: Iterable[str]) -> str | None:
        return next((text for text in texts if entries.find(text) is not None), None)

    def asked(query: str, mention: Mention) -> Asked:
        acronym = _is_acronym(mention.text, query)
        if entries.find(query) is not None:
            return Asked(query, query, acronym=acronym)
        better = query if mention.prepared else correct(query, spelling)
        if as_published or acronym:
            return Asked(better, better, acronym=acronym)
        found = named(_others(better, query))
        if found is not None or not guesses or (guessed := guess(better, entries.words)) == better:
            return Asked(found or better, better)
        return Asked(named(_others(guessed)) or guessed, better, fallback=better)

    return tuple(
        tuple(asked(query, mention) for query in parts)
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )


def _others(*texts: str) -> Iterator[str]:
    """A text, then other forms of all that are given, then other words for the first."""
    yield texts[0]
    for text in dict.fromkeys(texts):
        yield from forms(text)
    for text in dict.fromkeys((texts[0], american(texts[0]))):
        yield from paraphrases(text)


def _is_acronym(text: str, query: str) -> bool:
    """Whether this is a mention in capitals that is asked for as it stands: one that is written out has words."""
    return text.isupper() and len(text) <= LONGEST_ACRONYM and normalise(text) == query
