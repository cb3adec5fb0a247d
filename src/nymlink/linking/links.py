"""Lists of links, as rows and data frames."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

import pyarrow as pa

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.corpus.documents import Document
from nymlink.linking.link import DOMAIN, FLAGS, REVIEW, Candidate, Link
from nymlink.linking.writers.link_files import format_of, open_target, open_writer, require_input
from nymlink.linking.writers.writer import LinksInfo
from nymlink.tables.arrow import arrow_table, pandas_table
from nymlink.vocabulary.crossing import Crossed, Crossing
from nymlink.vocabulary.mappings import MappingSet
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame
    from polars import DataFrame as PolarsFrame


PLACE: Final = ("document_id", "start", "end")
LANGUAGE: Final = "matched_language"
CANDIDATE: Final = ("rank", "concept_id", "concept_name", "matched_name", LANGUAGE, "score")
CONFIDENCE: Final = "confidence"
NOTE: Final = "note"
PART: Final = "part"
NEGATED: Final = "negated"
SPLIT: Final = (PART, NEGATED)
"""Columns of cells that were split: the part that a row is of, and whether the cell denies it."""

LINK_SCHEMA: Final = pa.schema(
    [
        ("mention", pa.string()),
        ("rank", pa.int64()),
        ("concept_id", pa.string()),
        ("concept_name", pa.string()),
        ("matched_name", pa.string()),
        (LANGUAGE, pa.string()),
        ("score", pa.float64()),
        (CONFIDENCE, pa.float64()),
        (NOTE, pa.string()),
        (PART, pa.string()),
        ("document_id", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        *((flag, pa.bool_()) for flag in FLAGS),
        *zip(DOMAIN, (pa.string(), pa.float64()), strict=True),
    ]
)
"""Columns of links in data frames, Arrow tables and Parquet, whatever the links hold; all are nullable."""

REVIEW_SCHEMA: Final = pa.schema([(name, pa.string()) for name in REVIEW])
"""Columns of decisions, which follow those of :data:`LINK_SCHEMA` if people decided on some of the links."""


def rows(link: Link) -> list[dict[str, Any]]:
    """List the rows of a link, see :func:`part_rows`."""
    return [row for part in part_rows(link) for row in part]


def part_rows(link: Link) -> list[list[dict[str, Any]]]:
    """List the rows of a link, part by part: one row for each candidate, or one row without a candidate.

    A NIL link, or a NIL part of a link, has one row without a candidate; the other parts keep theirs.

    Returns:
        A list for each part of a composite mention, otherwise one list. Each row is a dictionary with the columns
        of :data:`LINK_SCHEMA` and those of the decision of a person (:data:`~nymlink.linking.link.REVIEW`).
        Missing values are ``None``, so is a missing mention. Confidence, note and domain belong to the first
        candidate and are only in its row.
    """
    return [_rows_of_part(link, part) for part in link.singles]


def is_located(links: Iterable[Link]) -> bool:
    """Whether any link has a document id or offsets."""
    return any(link.document_id is not None or link.mention.start is not None for link in links)


def _rows_of_part(link: Link, part: Link) -> list[dict[str, Any]]:
    mention = {
        "mention": link.mention.text or None,
        "document_id": link.document_id,
        "start": link.mention.start,
        "end": link.mention.end,
        **(dict.fromkeys(FLAGS) if link.context is None else link.context.flags),
        PART: part.mention.text if link.parts else None,
        **({NEGATED: part.is_denied} if link.parts else {}),
    }
    candidates = [
        {
            "rank": rank,
            "concept_id": candidate.concept_id,
            "concept_name": candidate.concept_name,
            "matched_name": candidate.matched.text,
            LANGUAGE: candidate.matched.lang,
            "score": _score(candidate, link),
        }
        for rank, candidate in enumerate(() if part.nil else part.candidates, start=1)
    ]
    # A decided part has its own relation.
    review = part.review or link.review
    domain = (None, None) if part.domain is None else (part.domain.name, part.domain.confidence)
    first = {
        CONFIDENCE: part.confidence,
        NOTE: "; ".join(part.notes) or None,
        **dict(zip(DOMAIN, domain, strict=True)),
    }
    return [
        {
            **mention,
            **candidate,
            **(first if place == 0 else dict.fromkeys(first)),
            **(dict.fromkeys(REVIEW) if review is None else review.cells(place)),
        }
        for place, candidate in enumerate(candidates or [dict.fromkeys(CANDIDATE)])
    ]


def _score(candidate: Candidate, link: Link) -> float | None:
    """Return the score; ``None`` for a concept that a person gave and no search found."""
    return None if link.review is not None and not candidate.parts else candidate.score


_SHOWN: Final = 20
"""Number of links of a longer list that are printed."""


class Links(list[Link]):
    """The links of mentions, in their order.

    Attributes:
        vocabulary: the vocabulary that they were linked to; ``None`` if unknown. It is not pickled.
        subjects: the vocabulary whose concepts are the mentions; ``None`` for other mentions. It is not pickled.

    Example:
        >>> from nymlink import Linker
        >>> links = Linker.build("diseases.obo", encoder=None).link(["asthma", "gout"])
        >>> [row["concept_id"] for row in links.to_dicts()]
        ['MONDO:0004979', 'MONDO:0005393']
        >>> links.to_arrow().num_rows
        2
    """

    vocabulary: Vocabulary | None = None
    subjects: Vocabulary | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Links, (list(self),)

    def to_ids(
        self, prefix: str, *, mappings: Iterable[MappingSet] = (), vocabulary: Vocabulary | None = None
    ) -> list[tuple[Crossed, ...]]:
        """Find the ids of another vocabulary for the concepts of the links, with what is lost.

        Args:
            prefix: prefix of the ids, in any spelling: ``"ICD10CM"``.
            mappings: mappings beside the cross-references of the vocabulary.
            vocabulary: the vocabulary of the links; ``None`` for the one that they were linked to.

        Returns:
            For each link the ids of its concept, or of the concepts of its parts, the closest first; none for NIL.

        Raises:
            InputError: no concept has an id of this prefix, or the vocabulary is unknown.
        """
        vocabulary = vocabulary or self.vocabulary
        if vocabulary is None:
            raise InputError("the vocabulary of these links is unknown: give vocabulary=linker.index.vocabulary")
        crossing = Crossing(vocabulary, prefix, mappings)
        found = ([part.best.concept_id for part in link.singles if part.best and not part.nil] for link in self)
        return [tuple(crossed for each in ids for crossed in crossing.of(each)) for ids in found]

    def __str__(self) -> str:
        """Write a line for each link; for a long list, the first ones and the number of the others."""
        lines = [str(link) for link in self[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"… and {len(self) - _SHOWN} more")
        return "\n".join(lines)

    def to_dicts(self) -> list[dict[str, Any]]:
        """List the rows of a table: one for each candidate, and one for a NIL link.

        Returns:
            Dictionaries with the columns of :meth:`to_arrow` as keys. Missing values are ``None``.
        """
        names = self._schema().names
        return [{name: row[name] for name in names} for link in self for row in rows(link)]

    def to_arrow(self) -> pa.Table:
        """Make an Arrow table: a row for each candidate, and one for a NIL link.

        Returns:
            A table with the columns of :data:`LINK_SCHEMA`, whatever the links hold. The rank is from 1.
            Confidence and note belong to the first candidate and are only in its row. The rows of the parts of a
            composite mention follow each other. If people decided on some of the links, the columns ``decision``,
            ``relation``, ``reviewer``, ``decided_at`` and ``comment`` are added.
        """
        schema = self._schema()
        return arrow_table([tuple(row.values()) for row in self.to_dicts()], schema)

    def to_pandas(self) -> DataFrame:
        """Make a pandas table of :meth:`to_arrow`, with the nullable types of pandas (``Int64``, ``string``).

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return pandas_table(self.to_arrow())

    def to_polars(self) -> PolarsFrame:
        """Make a polars table of :meth:`to_arrow`.

        Raises:
            MissingExtraError: polars is not installed.
        """
        try:
            from polars import DataFrame as PolarsFrame
        except ImportError as error:
            raise MissingExtraError("polars", purpose="A polars table") from error
        return PolarsFrame(self.to_arrow())

    def _schema(self) -> pa.Schema:
        reviewed = [REVIEW_SCHEMA] if any(link.review is not None for link in self) else []
        return pa.unify_schemas([LINK_SCHEMA, *reviewed])

    def write(
        self,
        target: str | Path | TextIO | BinaryIO,
        *,
        format: str | None = None,
        documents: Iterable[Document] = (),
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Write the links as `nymlink link` does.

        Args:
            target: a file, which is replaced in one step, or a stream, which stays open; for the format ``"brat"``
                a folder.
            format: name of a format (``"jsonl"``, ``"pubtator"``, or one that a package adds); by default, the
                format of the file's ending, and TSV for a stream.
            documents: the documents whose mentions were linked or found, in order; formats of documents need them.
            vocabulary: the vocabulary that was linked to, if not :attr:`vocabulary`; formats of mappings state its
                sources, licence and domains.

        Raises:
            InputError: no format has this ending, or the format needs input that is missing.
            OutputError: the file cannot be written.
            UnknownNameError: no format has this name.
        """
        given = list(documents)
        if not isinstance(target, str | Path):
            self._write(target, format or "tsv", given, vocabulary)
            return
        name = format or format_of(Path(target))
        require_input(name, documents=bool(given))
        with open_target(Path(target), name) as out:
            self._write(out, name, given, vocabulary)

    def _write(
        self,
        out: TextIO | BinaryIO | Path,
        format: str,
        documents: list[Document],
        vocabulary: Vocabulary | None,
    ) -> None:
        annotated = any(link.context is not None for link in self)
        calibrated = not annotated and any(link.confidence is not None for link in self)
        candidates = (candidate for link in self for part in link.singles for candidate in part.candidates)
        languages = {candidate.matched.lang for candidate in candidates}
        info = LinksInfo(
            calibrated=calibrated,
            annotated=annotated,
            split=any(link.parts for link in self),
            multilingual=len(languages) > 1,
            several=any(part.domain is not None for link in self for part in link.singles),
            located=is_located(self),
            has_documents=bool(documents),
            vocabulary=vocabulary or self.vocabulary,
            subjects=self.subjects,
        )
        if not documents:
            shares = [list(self)]
        else:
            shares = self._found_in(documents) if annotated else self._given_in(documents)
        writer = open_writer(format, out, info)
        for document, links in zip_longest(documents, shares):
            if document is not None:
                writer.begin_document(document)
            for link in links:
                writer.write(link)
        writer.close()

    def _given_in(self, documents: list[Document]) -> list[list[Link]]:
        """Divide links of given mentions among their documents."""
        count = sum(len(document.mentions) for document in documents)
        if count != len(self):
            raise InputError(
                f"the documents have {count:,} mentions, and there are {len(self):,} links: give the "
                "documents that were linked"
            )
        links = iter(self)
        return [list(islice(links, len(document.mentions))) for document in documents]

    def _found_in(self, documents: list[Document]) -> list[list[Link]]:
        """Divide links of mentions that were found in texts among the documents, by their ids."""
        found: dict[str, list[Link]] = {}
        for link in self:
            found.setdefault(link.document_id or "", []).append(link)
        shares = [found.pop(document.id, []) for document in documents]
        if found:
            raise InputError(
                f"there are links of document {next(iter(found))!r}, which is not given: give the documents that "
                "were annotated"
            )
        return shares
