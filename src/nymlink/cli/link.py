"""`nymlink link`: mentions in, concepts out, line by line as they come."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from typing import IO, Final

import click

from nymlink.cli.common import finish, mapping, reported_problems
from nymlink.cli.corpus_options import corpus_options
from nymlink.cli.rows import Batch, line_batches, open_table
from nymlink.cli.writers import FORMATS, CsvWriter, JsonWriter, LinkWriter, link_writer
from nymlink.core.files import open_bytes
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.places import find_mention
from nymlink.corpus.read import read_documents
from nymlink.encode.truncation import Cuts
from nymlink.index.index import Index
from nymlink.link.calibration import Calibration
from nymlink.link.default import default_index
from nymlink.link.linker import Linker
from nymlink.rerank.reranker import Reranker

_CANDIDATES: Final = 10_000
"""Candidates looked for in one go, over all mentions of a batch."""


@click.command()
@click.argument("mentions", nargs=-1, metavar="[MENTION...]")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Read mentions from this file, one a line; - for standard input.",
)
@click.option(
    "--index", type=click.Path(path_type=Path), help="The index to link to; without it the embedded default."
)
@click.option("--encoder", metavar="MODEL", help="Where the encoder of the index is now, if it was moved.")
@click.option("--top-k", default=1, show_default=True, type=click.IntRange(min=1), help="Candidates per mention.")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="Form of the output; without it a table for a terminal, TSV for a file or a pipe.",
)
@click.option(
    "--columns",
    multiple=True,
    metavar="COLUMN",
    help="The input is a CSV or TSV with a header: link this column (name or number), keep all columns "
    "and add those of the link.",
)
@click.option(
    "--target-precision",
    type=click.FloatRange(0, 1),
    help="Share of links to be right: link only mentions that are sure enough for that, as `nymlink calibrate` "
    "found it; others are NIL.",
)
@click.option(
    "--guess/--no-guess",
    default=True,
    show_default=True,
    help="Whether misspelt words are guessed; a link that has a guess says so.",
)
@corpus_options
@click.option("--context", metavar="TEXT", help="The text in which the one MENTION stands, first as a whole word.")
@click.option(
    "--rerank",
    type=click.Path(path_type=Path),
    help="A folder that `nymlink train rerank` or `cross-encoder` wrote: put candidates into another order, by "
    "the text around a mention and what `nymlink rerank fit` found; with --corpus or --context.",
)
def link(
    mentions: tuple[str, ...],
    file: Path | None,
    index: Path | None,
    encoder: str | None,
    top_k: int,
    format: str | None,
    columns: tuple[str, ...],
    target_precision: float | None,
    guess: bool,
    corpus: Path | None,
    corpus_format: str | None,
    corpus_columns: tuple[str, ...],
    context: str | None,
    rerank: Path | None,
) -> None:
    """Link mentions to concepts.

    Mentions are arguments, lines of a file, lines of standard input, or those of annotated documents; they are
    linked as they come, so the input may be endless. Without --index they are linked to the Human Phenotype
    Ontology. Where the index is calibrated, each link has a confidence.

    \b
    nymlink link "short stature" "seizures"
    nymlink link --file mentions.txt --top-k 5 --format jsonl > links.jsonl
    nymlink link --file table.csv --columns diagnosis > linked.csv
    cut -f 3 notes.tsv | nymlink link --index mondo-index | head
    nymlink link --index mesh-index --corpus notes.PubTator.txt --rerank reranker > links.tsv
    nymlink link --index mesh-index --rerank reranker MI --context "He died of MI in 1990."
    """
    if bool(mentions) + (file is not None) + (corpus is not None) > 1:
        raise click.UsageError("give mentions, --file or --corpus, only one of them")
    if corpus is None and (corpus_format is not None or corpus_columns):
        raise click.UsageError("--corpus-format and --corpus-column say how a --corpus is read: give one")
    if context is not None and len(mentions) != 1:
        raise click.UsageError("--context is the text around one mention: give one MENTION")
    if rerank is not None and corpus is None and context is None:
        raise click.UsageError(
            "--rerank goes by the text around a mention: give annotated documents (--corpus), or one mention "
            "with its --context"
        )
    if rerank is not None and target_precision is not None:
        raise click.UsageError(
            "--target-precision goes by how sure the index is of its own first candidate, which --rerank may "
            "change: give one of them"
        )
    if len(columns) > 1:
        raise click.UsageError("--columns names the one column to link: run link once for each")
    if (mentions or corpus is not None) and columns:
        raise click.UsageError("--columns goes with a table as input, not with mentions as arguments or documents")
    if columns and format == "table":
        raise click.UsageError("with --columns the output is the input's table, or jsonl")
    if encoder is not None and index is None:
        raise click.UsageError("--encoder goes with --index: the embedded default needs none")
    if not mentions and file is None and corpus is None and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("nothing to link: give mentions, --file, --corpus, or lines on standard input")
    document = None if context is None else _document(mentions[0], context)
    opened = default_index(progress=True) if index is None else Index.load(index, encoder=encoder)
    # Now: an encoder that is missing, or a damaged file, is to be said before any output.
    opened.load_encoder()
    opened.verify()
    least = 0.0 if target_precision is None else Calibration.of(opened).threshold(target_precision)
    reranker = None if rerank is None else _reranker(rerank, opened)
    linker = Linker(opened, top_k=top_k, rerank=reranker, guesses=guess, min_confidence=least)
    problems = reported_problems()
    cuts = Cuts()
    with cuts.collected():
        if document is not None:
            _write_documents(linker, [document], _writer(linker, format))
        elif corpus is not None:
            options = CorpusOptions(columns=mapping(corpus_columns))
            documents = read_documents(corpus, format=corpus_format, options=options, problems=problems)
            _write_documents(linker, documents, _writer(linker, format, located=True))
        elif mentions:
            _write(linker, [Batch(list(mentions))], _writer(linker, format))
        else:
            source = Path("-") if file is None else file
            column = columns[0] if columns else None
            if str(source) == "-":
                _link_stream(linker, sys.stdin.buffer, Path("standard input"), column, format, problems)
            else:
                with open_bytes(source) as stream:
                    _link_stream(linker, stream, source, column, format, problems)
    cuts.say(stacklevel=1)
    finish(problems)


def _reranker(folder: Path, index: Index) -> Reranker:
    from nymlink.rerank.folder import fitted

    if fitted(folder) is None:
        warnings.warn(
            f"{folder}: what the index says counts nothing yet beside the context, which alone is a worse guide: "
            "run `nymlink rerank fit`",
            stacklevel=1,
        )
    return Reranker.load(folder, index)


def _link_stream(
    linker: Linker, stream: IO[bytes], path: Path, column: str | None, format: str | None, problems: Problems
) -> None:
    if column is None:
        _write(linker, line_batches(stream, path, problems), _writer(linker, format))
        return
    table = open_table(stream, path, column, problems)
    writer: LinkWriter
    if format == "jsonl":
        writer = JsonWriter(sys.stdout, header=table.header.fields)
    else:
        calibrated = linker.calibration is not None
        writer = CsvWriter(sys.stdout, table.header, table.delimiter, confidence=calibrated)
    _write(linker, table.batches, writer)


def _document(mention: str, text: str) -> Document:
    """A text with one mention, which is taken as it stands there; of a blank text, the mention alone."""
    if not text.strip():
        return Document("", mentions=(Mention(mention),))
    place = find_mention(mention, text) or find_mention(mention, text, any_case=True)
    if place is None:
        raise click.UsageError(f"the mention {mention!r} does not occur in the --context")
    return Document("", text, (Mention(text[slice(*place)], *place),))


def _writer(linker: Linker, format: str | None, *, located: bool = False) -> LinkWriter:
    format = format or ("table" if sys.stdout.isatty() else "tsv")
    return link_writer(format, sys.stdout, confidence=linker.calibration is not None, located=located)


def _write_documents(linker: Linker, documents: Iterable[Document], writer: LinkWriter) -> None:
    for links in linker.link_documents(documents):
        for link in links:
            writer.write(link, None)
        sys.stdout.flush()
    writer.close()


def _write(linker: Linker, batches: Iterable[Batch], writer: LinkWriter) -> None:
    # Memory grows with mentions times candidates: many of these, fewer of those at a time.
    size = max(1, _CANDIDATES // linker.top_k)
    for batch in (portion for whole in batches for portion in whole.portions(size)):
        for link, row in zip(linker.link(batch.mentions), batch.rows or repeat(None), strict=False):
            writer.write(link, row)
        sys.stdout.flush()
    writer.close()
