"""Settle ties by the document: "AKT" is the concept that the text elsewhere calls by another of its names.

A word has mostly one meaning in a document (Gale et al., "One sense per discourse", 1992).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from nymlink.corpus.model import Document
from nymlink.index.fusion.fusion import EXACT_MATCH
from nymlink.linking.model import Candidate, Link
from nymlink.text.normalisation.compact import compact
from nymlink.text.normalisation.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

_RUN: Final = re.compile(r"[^\W_]+")

_SHORTEST: Final = 3
"""Letters of the shortest other name that is looked for."""


def settle_ties(document: Document, links: Sequence[Link], vocabulary: Vocabulary) -> list[Link]:
    """Put the one concept of a tie first that the rest of a document speaks for.

    For a concept speaks another name of it in the text, or another mention that names it alone. Where they speak
    for several concepts of a tie the links stay as they are, and where the text has other members of a series
    ("AKT1, AKT2": "AKT" may be all of them). The confidence stays that of a tie.

    Args:
        document: a text with mentions; without a text nothing is known.
        links: of its mentions, each with all its tied candidates.
        vocabulary: of the candidates.
    """
    if not document.text or all(link.tied < 2 for link in links):
        return list(links)
    text = _Text(document.text)
    named = {
        link.candidates[0].concept_id
        for link in links
        if link.tied == 1 and link.candidates[0].parts.get(EXACT_MATCH) == 1 and not link.nil
    }
    return [link if link.tied < 2 else _settle(link, text, named, vocabulary) for link in links]


class _Text:
    """The words of a text, in which names are looked for.

    Args:
        text: of a document.
    """

    def __init__(self, text: str) -> None:
        runs = _RUN.findall(text)
        self.words = frozenset(run.casefold() for run in runs)
        self._written = f" {' '.join(runs)} "
        self._folded = self._written.casefold()

    def has(self, name: str) -> bool:
        """Whether a name is in the text; one that is a word of letters is written with the same capitals there."""
        runs = " ".join(_RUN.findall(name))
        if len(runs) < _SHORTEST:
            return False
        return f" {runs} " in self._written if runs.isalpha() else f" {runs.casefold()} " in self._folded


def _settle(link: Link, text: _Text, named: Iterable[str], vocabulary: Vocabulary) -> Link:
    # A ranker may put other candidates between them.
    score = link.candidates[0].score
    tied = [each for each in link.candidates if each.score == score and each.parts.get(EXACT_MATCH) == 1]
    own = compact(link.query)
    others = {each.concept_id: _other_names(each, own, vocabulary) for each in tied}
    supported = [
        each
        for each in tied
        if each.concept_id in named or any(text.has(name) for name in others[each.concept_id])
    ]
    if len(supported) != 1:
        return link
    [chosen] = supported
    member = re.compile(rf"{re.escape(own)}\d{{1,2}}")
    members = {word for word in text.words if member.fullmatch(word)}
    if not members <= {compact(normalise(name)) for name in others[chosen.concept_id]}:
        return link
    rest = (each for each in link.candidates if each is not chosen)
    return replace(link, candidates=(chosen, *rest), settled=True)


def _other_names(candidate: Candidate, own: str, vocabulary: Vocabulary) -> list[str]:
    """List the names of a concept that are not written like the mention."""
    names = (name.text for name in vocabulary.names(candidate.concept_id))
    return [name for name in names if compact(normalise(name)) != own]
