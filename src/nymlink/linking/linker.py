"""Link mentions to the concepts of an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, overload

from nymlink.core.errors import InputError
from nymlink.core.language_codes import language_of
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.model.folder import MINI
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.explanation import Explanation, LinkChoices, LinkerSettings, Reranking
from nymlink.linking.inputs import UnknownScripts, as_document, checked, is_missing
from nymlink.linking.judge import Judge
from nymlink.linking.link import Link
from nymlink.linking.links import Links
from nymlink.linking.pipeline import Pipeline
from nymlink.linking.writers.frames import Frame, LinkableTable, is_table
from nymlink.text.prepare import Composites
from nymlink.vocabulary.read import open_vocabulary, read_vocabulary
from nymlink.vocabulary.restriction import EVERYTHING, Restriction, Values

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

_MENTIONS: Final = 512
_CANDIDATES: Final = 2**15
"""Documents are linked together until they have this many mentions, or would have this many candidates. Searching
for a few mentions takes nearly as long as for many, but the results need memory."""


class Linker:
    """Links mentions to the concepts of an index.

    A linker can be pickled for another process if its index was loaded from a folder; the other process opens that
    folder again. Threads may share a linker.

    Args:
        index: the index to link to.
        top_k: largest number of candidates of a link.
        rerank: reorders candidates by the text around the mention. A mention without a document, or in a document
            without text, keeps its order.
        target_precision: share of links that must be correct, 0 to 1. Mentions whose confidence is too low for it,
            by the calibration of the index, are NIL. ``None``: only mentions without any candidate are NIL.
        judge: asks a chat model about doubtful links, after everything else.
        spelling: misspelt word → correct word, applied to whole words of a mention that is no name as it stands;
            ``None`` for the table of its language.
        guesses: whether to guess the correct form of misspelt words that the table lacks.
        language: code of the language of the mentions ("en"), unless a mention states its own or :meth:`link` gets
            another; selects the rules for spelling, forms and paraphrases. ``None``: the language of each mention
            is recognised.
        composites: which mentions are split into parts that are linked one by one: ``"given"`` for mentions whose
            parts are given, ``"always"`` also for mentions that look composite ("breast and ovarian cancer").
        restriction: conditions on the names to link to, unless :meth:`link` gets others; no other concept is a
            candidate.

    Attributes:
        pipeline: takes documents to links with these settings.
        calibration: turns scores into confidences; ``None`` if the index is not calibrated.
        min_confidence: threshold of the target precision; links below it are NIL.

    Raises:
        InputError: the language is no valid code. Or a target precision is given, and the index is not calibrated,
            or the precision cannot be reached, or candidates are re-ranked (confidences are for the first
            candidate of the index). Or the restriction names what does not occur, or leaves nothing.
        StoreError: the calibration of the index is damaged.

    Example:
        >>> from nymlink import Linker
        >>> linker = Linker.build("diseases.obo", encoder=None)  # by letters alone: quick to build
        >>> linker.link("hart attack").best.concept_name
        'myocardial infarction'
        >>> [link.best.concept_id for link in linker.link(["asthma", "gout"], top_k=3)]
        ['MONDO:0004979', 'MONDO:0005393']
    """

    def __init__(
        self,
        index: Index,
        *,
        top_k: int = 1,
        rerank: Reranking | None = None,
        judge: Judge | None = None,
        target_precision: float | None = None,
        spelling: Mapping[str, str] | None = None,
        guesses: bool = True,
        language: str | None = None,
        composites: Composites = "given",
        restriction: Restriction = EVERYTHING,
    ) -> None:
        if target_precision is not None and not 0 <= target_precision <= 1:
            raise ValueError(f"target_precision must be from 0 to 1, not {target_precision}")
        if composites not in ("given", "always"):
            raise ValueError(f'composites must be "given" or "always", not {composites!r}')
        if rerank is not None and target_precision is not None:
            raise InputError(
                "a target precision needs the confidence of the index in its own first candidate, and re-ranking "
                "may replace that candidate: ask for one of them"
            )
        self.index = index
        self.top_k = _checked_top_k(top_k)
        self.reranker = rerank
        self.judge = judge
        self.target_precision = target_precision
        if judge is not None and index.calibration is None:
            raise InputError("a judge is asked about links of low confidence: run `nymlink calibrate` first")
        calibrated = index.calibration is not None or target_precision is not None
        calibration = Calibration.of(index) if calibrated else None
        threshold = 0.0
        if calibration is not None and target_precision is not None:
            threshold = calibration.threshold(target_precision)
        self.restriction = restriction
        self.pipeline = Pipeline(
            index.restricted(restriction),
            language=language_of(language),
            # A plain dictionary can be handed to another process.
            spelling=None if spelling is None else dict(spelling),
            guesses=guesses,
            composites=composites,
            calibration=calibration,
            min_confidence=threshold,
        )

    @property
    def calibration(self) -> Calibration | None:
        return self.pipeline.calibration

    @property
    def min_confidence(self) -> float:
        return self.pipeline.min_confidence

    @classmethod
    def load(
        cls,
        directory: str | Path,
        *,
        encoder: Encoder | str | Path | None = None,
        **settings: Unpack[LinkerSettings],
    ) -> Linker:
        """Make a linker over an index directory.

        Args:
            directory: the index.
            encoder: encoder of its dense search, see :meth:`nymlink.index.index.Index.load`.
            settings: settings of the linker.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or it needs another encoder.
            InputError: this index cannot satisfy the settings.
        """
        return cls(Index.load(directory, encoder=encoder), **settings)

    @classmethod
    def build(
        cls,
        *sources: str | Path,
        encoder: Encoder | str | Path | None = MINI,
        progress: bool = False,
        **settings: Unpack[LinkerSettings],
    ) -> Linker:
        """Make a linker over source files or a vocabulary folder, in memory.

        For large vocabularies, or to keep the index, see :meth:`nymlink.index.index.Index.build` and
        :meth:`load`.

        Args:
            sources: files of any known format, or one folder that `nymlink vocab build` wrote.
            encoder: encoder of the dense search; ``None`` for none.
            progress: whether to show progress when standard error is a terminal.
            settings: settings of the linker.

        Raises:
            InputError: a source cannot be read, or has no name to search, or the encoder cannot be loaded.
            StoreError: a vocabulary folder is damaged.
        """
        vocabulary = open_vocabulary(Path(sources[0])) if len(sources) == 1 else read_vocabulary(*sources)
        return cls(Index.build(vocabulary, encoder=encoder, progress=progress), **settings)

    @overload
    def link(self, what: str | Mention | None, **choices: Unpack[LinkChoices]) -> Link: ...  # type: ignore[overload-overlap]  # a string is an iterable of strings
    @overload
    def link(self, what: Document | Iterable[str | Mention | None], **choices: Unpack[LinkChoices]) -> Links: ...
    @overload
    def link(self, what: Frame, *, column: str, **choices: Unpack[LinkChoices]) -> Frame: ...

    def link(
        self,
        what: Any,
        *,
        column: str | None = None,
        language: str | None = None,
        top_k: int | None = None,
        types: Values = (),
        branch: Values = (),
        ids: Values = (),
        exclude: Values = (),
    ) -> Any:
        """Link a mention, a list of mentions, all mentions of a document, or a column of a table.

        The abbreviations that a document defines apply to its mentions. A missing value in a list (None, NaN,
        pandas.NA) gets an empty link; a warning counts missing values.

        Args:
            what: a string or a mention, a list of them, a document, or a table: a data frame of pandas or polars,
                an Arrow table, a relation of DuckDB, or another object with the method ``__arrow_c_stream__``.
            column: name of the column of mentions, if ``what`` is a table. Numbers in it are read as text; cells
                with lists or objects are counted in a warning, and get an empty link.
            language: code of the language ("en") of mentions that state none; ``None`` for that of the linker.
            top_k: largest number of candidates of a link; ``None`` for the linker's own setting.
            types: link to concepts of these semantic types only. With any of these four, the restriction of the
                linker does not apply.
            branch: link to these concepts, given by id, and those below them only.
            ids: link to these concepts only.
            exclude: never link to these concepts, given by id, or those below them; or by these names.

        Returns:
            A link for a string or a mention. For a table, one of the same kind (of Arrow if it is of none of these
            libraries) with added columns and a row for each candidate. Otherwise a list with one link for each
            mention, in order.

        Raises:
            InputError: ``what`` has another type, or the text at the offsets of a mention is not the mention; the
                message says which. Or an id, a type or an excluded name does not occur, or nothing is left to link
                to.
        """
        restriction = Restriction.of(types=types, branch=branch, ids=ids, exclude=exclude)
        if not isinstance(what, str | Mention) and is_table(what):
            table = LinkableTable(what, column, stacklevel=2)
            document = as_document(table.mentions, stacklevel=2)
            [links] = self._link_documents([document], language, top_k, restriction, stacklevel=3)
            return table.with_links(
                links,
                several=self.pipeline.domains.are_several,
                split=self.pipeline.composites == "always",
            )
        if column is not None:
            raise InputError("column= names a column of a table: give a data frame or another table")
        if isinstance(what, str | Mention) or is_missing(what):
            document = as_document([what], stacklevel=2)
            [[link]] = self._link_documents([document], language, top_k, restriction, stacklevel=3)
            return link
        document = as_document(what, stacklevel=2)
        [links] = self._link_documents([document], language, top_k, restriction, stacklevel=3)
        found = Links(links)
        found.vocabulary = self.index.vocabulary
        return found

    def link_documents(
        self,
        documents: Iterable[Document],
        *,
        language: str | None = None,
        top_k: int | None = None,
        restriction: Restriction = EVERYTHING,
    ) -> Iterator[list[Link]]:
        """Link the mentions of documents as they come: for each document a list with one link for each mention.

        Documents are taken a few at a time, because searching for their mentions together is faster. If the next
        document cannot be read, the ones before it are linked before the error is raised.

        Args:
            documents: texts with mentions.
            language: code of the language ("en") of mentions that state none; ``None`` for that of the linker.
            top_k: largest number of candidates of a link; ``None`` for the linker's own setting.
            restriction: conditions on the names to link to; empty for those of the linker.

        Raises:
            InputError: the offsets of a mention are outside the text, or the text there is not the mention; or the
                restriction names what does not occur.
        """
        return self._link_documents(documents, language, top_k, restriction, stacklevel=2)

    def _link_documents(
        self,
        documents: Iterable[Document],
        language: str | None,
        top_k: int | None,
        restriction: Restriction,
        *,
        stacklevel: int,
    ) -> Iterator[list[Link]]:
        """Link documents, and at the end warn of mentions that the encoder cannot read.

        Args:
            documents: texts with mentions.
            language: see :meth:`link_documents`.
            top_k: see :meth:`link_documents`.
            restriction: see :meth:`link_documents`.
            stacklevel: the line that the warning names: 2 for the line that takes the last links.
        """
        pipeline = self._pipeline_of(language, restriction)
        most = self.top_k if top_k is None else _checked_top_k(top_k)
        depth = self._depth(most)
        unknown = UnknownScripts()
        for group in _groups(documents, depth):
            found = pipeline.search(group, depth)
            for parts in (parts for mentions in found.queries for parts in mentions):
                unknown.add([query.text for query in parts], self.index)
            linked = found.links()
            if self.reranker is not None:
                linked = map(self.reranker.rerank, group, linked)
            if self.judge is not None:
                linked = iter(self.judge.judge(group, list(linked), self.index.vocabulary))
            for links in linked:
                yield [cut(link, most) for link in links]
        unknown.warn(stacklevel=stacklevel)

    def explain(self, mention: str | Mention | Document, *, language: str | None = None) -> Explanation:
        """Link a mention and say why its first candidate is before the second.

        Args:
            mention: a mention by itself; or a document with that mention alone, in its context. For a composite
                mention, its first part is explained.
            language: code of its language, see :meth:`link`.

        Raises:
            InputError: ``mention`` has another type, or the language is no valid code; or it is a document with
                several mentions.
        """
        pipeline = self._pipeline_of(language)
        document = checked(mention) if isinstance(mention, Document) else as_document([mention], stacklevel=2)
        if len(document.mentions) != 1:
            raise InputError(f"a document with {len(document.mentions)} mentions: one at a time can be explained")
        if isinstance(mention, Document) and self.reranker is not None:
            [links] = pipeline.search([document], self._depth(self.top_k)).links()
            [explanation] = self.reranker.explain(document, links)
            return explanation
        found = pipeline.search([document], max(self._depth(self.top_k), 2))
        [[link]] = found.links()
        link = replace(link.singles[0], mention=document.mentions[0])
        first, second, *_ = (*link.candidates, None, None)
        question, uses = found.queries[0][0][0].question, pipeline.ranking.uses
        annotated = None if uses is None or first is None else uses.said(question.text, first.concept_id)
        return Explanation(link, first, second, pipeline.ranking.explain(question), annotated=annotated)

    def _pipeline_of(self, language: str | None, restriction: Restriction = EVERYTHING) -> Pipeline:
        """Return the pipeline for mentions of a language, restricted to a part of the index."""
        changes: dict[str, Any] = {} if language is None else {"language": language_of(language)}
        if restriction:
            changes["index"] = self.index.restricted(restriction)
        return replace(self.pipeline, **changes) if changes else self.pipeline

    def _depth(self, top_k: int) -> int:
        """Return the number of candidates to search for; later steps may need more than ``top_k``."""
        steps = (step for step in (self.reranker, self.judge) if step is not None)
        wanted = max(top_k, *(step.candidates for step in steps), 1)
        return min(wanted, max(len(self.index.vocabulary), 1))


def _checked_top_k(top_k: int) -> int:
    if isinstance(top_k, bool) or not isinstance(top_k, Integral) or top_k < 1:
        raise InputError(f"top_k is a whole number from 1, not {top_k!r}")
    return top_k


def _groups(documents: Iterable[Document], depth: int) -> Iterator[list[Document]]:
    """Batch documents. Mentions of a batch are searched for together, with ``depth`` candidates each."""
    enough = min(_MENTIONS, _CANDIDATES // depth)
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


def cut(link: Link, top_k: int) -> Link:
    """Truncate the candidates of a link, or of the parts of a composite one, to ``top_k``."""
    if len(link.candidates) <= top_k and not link.parts:
        return link
    return replace(link, candidates=link.candidates[:top_k], parts=tuple(cut(part, top_k) for part in link.parts))
