"""Link to several vocabularies at once: the best of each, and the best of all by confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from typing import Final

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.explanation import Explanation
from nymlink.linking.inputs import as_document
from nymlink.linking.link import Candidate, Link
from nymlink.linking.linker import Linker
from nymlink.linking.links import Links

CHANCE: Final = "confidence"
"""Score part of the first candidate of each vocabulary: the confidence in it."""


class SeveralLinkers:
    """Links mentions to several vocabularies, each with its own calibrated linker.

    The first candidate of a link is the best of all vocabularies: that of the highest confidence. The first
    candidates of the others follow, by confidence, then the further ones. A link is NIL if all are.

    Args:
        linkers: one for each vocabulary, with equal settings; the earlier wins of equal confidences.

    Raises:
        InputError: an index is not calibrated: its confidence cannot be compared. Or one re-ranks.
    """

    def __init__(self, linkers: Sequence[Linker]) -> None:
        if not linkers:
            raise ValueError("give at least one linker")
        for linker in linkers if len(linkers) > 1 else ():
            if linker.calibration is None:
                raise InputError(
                    "several vocabularies are compared by confidence, and this index is not calibrated: run "
                    "`nymlink calibrate`",
                    path=linker.index.directory,
                )
            if linker.reranker is not None:
                raise InputError("re-ranked candidates have no confidence: give one index, or do not re-rank")
        self.linkers = tuple(linkers)
        self.index = linkers[0].index
        self.pipeline = linkers[0].pipeline
        self.calibration = linkers[0].calibration
        self.top_k = linkers[0].top_k * len(linkers)

    def link(self, what: Document | Sequence[str | Mention]) -> Links:
        """Link a list of mentions, or the mentions of a document, as :meth:`Linker.link`."""
        [links] = self.link_documents([as_document(what, stacklevel=2)])
        return Links(links)

    def link_documents(self, documents: Iterable[Document]) -> Iterator[list[Link]]:
        """Link the mentions of documents as they come, as :meth:`Linker.link_documents`."""
        if len(self.linkers) == 1:
            return self.linkers[0].link_documents(documents)
        copies = tee(documents, len(self.linkers))
        found = [linker.link_documents(own) for linker, own in zip(self.linkers, copies, strict=True)]
        return (list(map(best_of, zip(*links, strict=True))) for links in zip(*found, strict=True))

    def explain(self, mention: str | Mention | Document) -> Explanation:
        """Explain the link of the vocabulary that has the best."""
        single = [mention] if isinstance(mention, str | Mention) else mention
        ranks = [_rank(linker.link(single)[0]) if len(self.linkers) > 1 else () for linker in self.linkers]
        return self.linkers[ranks.index(max(ranks))].explain(mention)


def best_of(links: Sequence[Link]) -> Link:
    """Join the links of one mention to several vocabularies; see :class:`SeveralLinkers`."""
    ordered = sorted(links, key=_rank, reverse=True)
    best = ordered[0]
    if best.parts:
        # Parts may be split otherwise in each vocabulary.
        return best
    firsts = [_with_chance(link) for link in ordered if link.candidates and not link.parts]
    others = [each for link in ordered if not link.parts for each in link.candidates[1:]]
    distinct: dict[str, Candidate] = {}
    for each in (*firsts, *others):
        distinct.setdefault(each.concept_id, each)
    return replace(best, candidates=tuple(distinct.values()))


def _rank(link: Link) -> tuple[bool, float]:
    return not link.nil, link.confidence or 0.0


def _with_chance(link: Link) -> Candidate:
    first = link.candidates[0]
    return replace(first, parts={**first.parts, CHANCE: round(link.confidence or 0.0, 6)})
