"""The linker: the whole way from mention to link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, overload

from nymlink.core.errors import InputError
from nymlink.corpus.model import Document, Mention
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.model.embedded import MINI
from nymlink.index.index import Index
from nymlink.link.calibration import Calibration
from nymlink.link.candidates import candidates_of
from nymlink.link.doubts import GUESSED, contradicts, doubts_about
from nymlink.link.evidence import DEPTH, features_of
from nymlink.link.inputs import as_document, checked, is_missing
from nymlink.link.links import Links
from nymlink.link.model import Candidate, Link
from nymlink.link.queries import Asked, queries
from nymlink.text.english.spelling import DEFAULT_SPELLING
from nymlink.text.prepare import Composites
from nymlink.vocabulary.read import open_vocabulary, read_vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

_MENTIONS: Final = 512
_CANDIDATES: Final = 2**15
"""Documents are linked together until they have as many mentions, or would have as many candidates: searching for
a few mentions costs nearly as much as for many, but what is found takes memory."""


class Reranking(Protocol):
    """Puts the candidates of mentions into another order: :class:`nymlink.rerank.reranker.Reranker` does.

    Attributes:
        candidates: how many it is to be given.
    """

    candidates: int

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """The links of a document, one for each mention, with the same candidates in another order."""
        ...


class Linker:
    """Links mentions to the concepts of an index.

    It can be handed to another process (pickled) where its index was loaded from a folder, which is opened again
    there; threads may share one.

    Args:
        index: what to link to.
        top_k: how many candidates a link has at most.
        rerank: puts candidates into another order, by the text around the mention; a mention of no document, or
            in one without text, is linked as without it.
        spelling: misspelt word → right word, applied to whole words of a mention that is no name as it stands.
        guesses: whether misspelt words that it does not have are guessed.
        composites: which mentions are split into parts that are linked one by one: those whose parts are
            ``"given"``, or ``"always"`` those that look composite ("breast and ovarian cancer").
        min_confidence: links of less confidence are NIL; :meth:`Calibration.threshold` says which precision it
            takes. Needs a calibrated index.

    Raises:
        InputError: a confidence is asked for, and the index is not calibrated, or candidates are re-ranked: a
            confidence is that of the index's own first candidate.
        StoreError: the calibration of the index is damaged.
    """

    def __init__(
        self,
        index: Index,
        *,
        top_k: int = 5,
        rerank: Reranking | None = None,
        spelling: Mapping[str, str] = DEFAULT_SPELLING,
        guesses: bool = True,
        composites: Composites = "given",
        min_confidence: float = 0.0,
    ) -> None:
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        if not 0 <= min_confidence <= 1:
            raise ValueError(f"min_confidence must be from 0 to 1, not {min_confidence}")
        if composites not in ("given", "always"):
            raise ValueError(f'composites must be "given" or "always", not {composites!r}')
        if rerank is not None and min_confidence > 0:
            raise InputError(
                "a confidence says how sure the index is of its own first candidate: ask for a least one, or "
                "re-rank, not both"
            )
        self.index = index
        self.top_k = top_k
        self.reranker = rerank
        wanted = top_k if rerank is None else max(top_k, rerank.candidates)
        self._depth = min(wanted, max(len(index.vocabulary), 1))
        self.spelling = spelling
        self.guesses = guesses
        self.composites = composites
        self.min_confidence = min_confidence
        calibrated = index.calibration is not None or min_confidence > 0
        self.calibration = Calibration.of(index) if calibrated else None

    @classmethod
    def load(cls, directory: str | Path, *, top_k: int = 5, encoder: Encoder | str | Path | None = None) -> Linker:
        """A linker over an index directory.

        Args:
            directory: the index.
            top_k: how many candidates a link has at most.
            encoder: of its dense search, see :meth:`nymlink.index.index.Index.load`.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or it needs another encoder.
        """
        return cls(Index.load(directory, encoder=encoder), top_k=top_k)

    def __reduce__(self) -> tuple[Any, ...]:
        # By path, as its index is: another process opens the files and shares what is mapped of them.
        settings = {
            "top_k": self.top_k,
            "rerank": self.reranker,
            "spelling": None if self.spelling is DEFAULT_SPELLING else dict(self.spelling),
            "guesses": self.guesses,
            "composites": self.composites,
            "min_confidence": self.min_confidence,
        }
        return _opened, (self.index, {name: value for name, value in settings.items() if value is not None})

    @classmethod
    def build(
        cls,
        *sources: str | Path,
        encoder: Encoder | str | Path | None = MINI,
        top_k: int = 5,
        progress: bool = False,
    ) -> Linker:
        """Make a linker over source files or vocabulary folders, in memory.

        Vectors of names go to the user's cache, so that the next time is fast. For large vocabularies, or to keep
        the index, see :meth:`nymlink.index.index.Index.build` and :meth:`load`.

        Args:
            sources: files of any known format, or one folder that `nymlink vocab build` wrote.
            encoder: of the dense search; ``None`` for none.
            top_k: how many candidates a link has at most.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            InputError: a source cannot be read, or has no name to search, or the encoder cannot be loaded.
            StoreError: a vocabulary folder is damaged.
        """
        vocabulary = open_vocabulary(Path(sources[0])) if len(sources) == 1 else read_vocabulary(*sources)
        cache = EmbeddingCache.of_user()
        return cls(Index.build(vocabulary, encoder=encoder, cache=cache, progress=progress), top_k=top_k)

    @overload
    def link(self, what: str) -> Link: ...  # type: ignore[overload-overlap]  # a string is a sequence of strings
    @overload
    def link(self, what: Document | Sequence[str | Mention]) -> Links: ...

    def link(self, what: str | Document | Sequence[str | Mention]) -> Link | Links:
        """Link a mention, a list of mentions, or all mentions of a document.

        The mentions of a document are read with the abbreviations that it defines. What is missing in a list
        (None, NaN, pandas.NA) has an empty link; a warning counts it.

        Returns:
            A link for a string; else a list of links, one for each mention, in order.

        Raises:
            InputError: this is nothing of that, or offsets are not those of a mention; the message says which.
        """
        if isinstance(what, str) or is_missing(what):
            return next(self.link_documents([as_document([what], stacklevel=2)]))[0]
        return Links(next(self.link_documents([as_document(what, stacklevel=2)])))

    def link_documents(self, documents: Iterable[Document]) -> Iterator[list[Link]]:
        """Link the mentions of documents as they come: a list of links for each document, one for each mention.

        A few documents are taken at a time, as searching for their mentions together is faster. Where the next one
        cannot be had, those before it are linked before the error is raised.

        Raises:
            InputError: the offsets of a mention are not in the text, or it does not stand there.
        """
        for group in self._groups(documents):
            for document, links in zip(group, self._linked(group), strict=True):
                if self.reranker is not None:
                    links = [_cut(link, self.top_k) for link in self.reranker.rerank(document, links)]
                yield links

    def _groups(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        """Documents that are linked together."""
        enough = min(_MENTIONS, _CANDIDATES // self._depth)
        group: list[Document] = []
        mentions = 0
        try:
            for document in map(checked, documents):
                group.append(document)
                mentions += len(document.mentions) or 1
                if mentions >= enough:
                    yield group
                    group, mentions = [], 0
        except Exception:
            yield group
            raise
        yield group

    def _linked(self, documents: Sequence[Document]) -> Iterator[list[Link]]:
        """The links of each document as the index has them."""
        prepared = [
            queries(
                document,
                self.index.entries,
                spelling=self.spelling,
                guesses=self.guesses,
                composites=self.composites,
            )
            for document in documents
        ]
        asked_for = (
            text
            for one in prepared
            for parts in one
            for query in parts
            for text in (query.text, query.fallback)
            if text is not None
        )
        distinct = list(dict.fromkeys(asked_for))
        found = dict(zip(distinct, self._found(distinct), strict=True))
        for document, asked in zip(documents, prepared, strict=True):
            links = [
                self._composite([self._judged(found, query, mention) for query in parts])
                for mention, parts in zip(document.mentions, asked, strict=True)
            ]
            yield [
                replace(link, mention=mention, document_id=document.id or None)
                for mention, link in zip(document.mentions, links, strict=True)
            ]

    def _found(self, texts: Sequence[str]) -> list[Link]:
        """The link of each query, as sure as how it was found makes it."""
        # The confidence takes the next concept, whether that is asked for or not.
        depth = self._depth if self.calibration is None else max(self._depth, DEPTH)
        matches = self.index.match(texts, depth)
        confidences: list[float | None] = [None] * len(texts)
        if self.calibration is not None:
            confidences = self.calibration.confidence(features_of(matches, texts, self.index)).tolist()
        found = candidates_of(self.index, matches, self._depth)
        return [
            Link(Mention(text, prepared=True), text, candidates, confidence=confidence)
            for text, candidates, confidence in zip(texts, found, confidences, strict=True)
        ]

    def _judged(self, found: Mapping[str, Link], asked: Asked, mention: Mention) -> Link:
        """The link of a query with what there is to doubt.

        A guess is half as sure, or as sure as without it if that finds the same concept.
        """
        link = found[asked.text]
        if not link.candidates:
            return replace(link, nil=True)
        candidates = tuple(self._contradicted(asked, candidate) for candidate in link.candidates)
        first = candidates[0]
        doubts = doubts_about(self.index, asked, mention, first, first.contradiction)
        confidence = link.confidence
        if confidence is not None:
            if asked.fallback is not None:
                without = found[asked.fallback]
                same = without.best is not None and without.best.concept_id == first.concept_id
                confidence = max(confidence * GUESSED, (without.confidence or 0.0) if same else 0.0)
            confidence = round(confidence * doubts.factor, 6)
        return replace(
            link,
            candidates=candidates,
            confidence=confidence,
            nil=self._doubtful(confidence),
            guessed=asked.fallback is not None,
            meanings=doubts.meanings,
            ordinary=doubts.ordinary,
        )

    def _contradicted(self, asked: Asked, candidate: Candidate) -> Candidate:
        """The same candidate with what contradicts it."""
        why = contradicts(self.index, asked, candidate)
        return candidate if why is None else replace(candidate, contradiction=why)

    def _composite(self, parts: Sequence[Link]) -> Link:
        """The link of a mention with these parts: of one, itself."""
        if len(parts) == 1:
            return parts[0]
        confidences = [part.confidence for part in parts if part.confidence is not None]
        confidence = None if self.calibration is None else round(prod(confidences), 6)
        query = " | ".join(part.query for part in parts)
        return Link(
            Mention(query, prepared=True),
            query,
            parts=tuple(parts),
            confidence=confidence,
            guessed=any(part.guessed for part in parts),
            nil=any(part.nil for part in parts) or self._doubtful(confidence),
        )

    def _doubtful(self, confidence: float | None) -> bool:
        return confidence is not None and confidence < self.min_confidence


def _opened(index: Index, settings: dict[str, Any]) -> Linker:
    return Linker(index, **settings)


def _cut(link: Link, top_k: int) -> Link:
    """A link with the first candidates only; of a composite one, of each part."""
    return replace(link, candidates=link.candidates[:top_k], parts=tuple(_cut(part, top_k) for part in link.parts))
