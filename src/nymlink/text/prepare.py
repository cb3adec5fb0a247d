"""Prepare mentions for search, in the order of Sung et al. (2020).

First, abbreviations are expanded with the definitions in the document. Then composite mentions are split. Last,
each part is normalised and its spelling is corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from nymlink.corpus.documents import Document, Mention
from nymlink.text.abbreviations import Definition, find_definitions
from nymlink.text.expansion import Glossary, expand
from nymlink.text.languages import rules_for
from nymlink.text.normalise import normalise
from nymlink.text.spelling import correct

Composites = Literal["given", "gold", "always"]
"""Which composite mentions are split, see :func:`prepare_document`."""

PUBLISHED_LANGUAGE: Final = "en"
"""The language of the published queries of BioSyn. It is fixed, so that rules for other languages do not change
them."""


def prepare(
    text: str,
    *,
    definitions: Iterable[Definition] = (),
    language: str | None = None,
    spelling: Mapping[str, str] | None = None,
    as_published: bool = False,
) -> str:
    """Prepare one surface form: expand abbreviations, normalise, correct the spelling.

    Args:
        text: the surface form; a composite one is not split.
        definitions: abbreviations that its document defines.
        language: code of its language; ``None`` if unknown, see :func:`~nymlink.text.languages.rules_for`.
        spelling: misspelt word → correct word; empty for no corrections, ``None`` for the table of its language.
        as_published: expand only as the published queries of BioSyn do, see
            :func:`~nymlink.text.expansion.expand`.

    Returns:
        The query; empty only for a blank text.
    """
    prepared = normalise(expand(text, definitions, tokens_only=as_published))
    if spelling is None:
        spelling = rules_for(prepared, PUBLISHED_LANGUAGE if as_published else language).spelling()
    return correct(prepared, spelling)


def prepare_document(
    document: Document,
    *,
    language: str | None = None,
    spelling: Mapping[str, str] | None = None,
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """Prepare all mentions of a document with the abbreviations that its text defines.

    A prepared mention is returned unchanged. If the corpus gives the parts of a mention, each part is a query.

    Args:
        document: a text with mentions, or mentions alone.
        language: code of the language of mentions that state none; ``None`` if unknown, see
            :func:`~nymlink.text.languages.rules_for`.
        spelling: misspelt word → correct word; empty for no corrections, ``None`` for the table of its language.
        composites: which mentions without given parts are split by rule. ``"given"``: none. ``"gold"``: mentions
            with several gold ids, if the rule finds as many parts as there are ids. This is the published
            protocol; it uses the gold ids. ``"always"``: all mentions that the rule can split.
        as_published: prepare mentions like the published queries of BioSyn. These keep a short form if its
            definition does not follow Schwartz & Hearst, if it is in a compound ("APC-related"), or if it is in a
            bracket after its long form.

    Returns:
        For each mention, in order, its queries: one, or one for each part of a composite mention.
    """
    surfaces = expand_document(document, language=language, composites=composites, as_published=as_published)
    return tuple(
        own
        if mention.prepared
        else tuple(
            prepare(
                surface,
                language=language_of_mention(mention, language, as_published=as_published),
                spelling=spelling,
            )
            for surface in own
        )
        for mention, own in zip(document.mentions, surfaces, strict=True)
    )


def expand_document(
    document: Document,
    *,
    language: str | None = None,
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """Expand all mentions of a document with the abbreviations that its text defines, and split composite ones.

    Unlike :func:`prepare_document`, this keeps case and signs.

    Args:
        document: a text with mentions, or mentions alone.
        language: see :func:`prepare_document`.
        composites: which mentions are split.
        as_published: see :func:`prepare_document`.

    Returns:
        For each mention, in order, its surface forms: one, or one for each part of a composite mention.
    """
    glossary = Glossary(find_definitions(document.text, classic=as_published)) if document.text else None

    def surfaces(mention: Mention) -> tuple[str, ...]:
        if mention.prepared:
            return mention.parts or (mention.text,)

        def expanded(text: str) -> str:
            if glossary is None:
                return text
            return expand(text, glossary.needed(text, mention.end), tokens_only=as_published)

        if mention.parts:
            return tuple(map(expanded, mention.parts))
        surface = expanded(mention.text)
        return _split(
            surface, mention, composites, language_of_mention(mention, language, as_published=as_published)
        )

    return tuple(map(surfaces, document.mentions))


def language_of_mention(mention: Mention, language: str | None, *, as_published: bool = False) -> str | None:
    """Choose the language of a mention: its own, else the one given for all mentions."""
    return PUBLISHED_LANGUAGE if as_published else mention.language or language


def _split(surface: str, mention: Mention, composites: Composites, language: str | None) -> tuple[str, ...]:
    if composites == "given" or (composites == "gold" and len(mention.concept_ids) < 2):
        return (surface,)
    parts = rules_for(normalise(surface), language).split_composite(surface)
    return (surface,) if composites == "gold" and len(parts) != len(mention.concept_ids) else parts
