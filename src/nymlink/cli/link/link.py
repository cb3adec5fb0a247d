"""`nymlink link`: concepts for mentions, line by line."""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, Final, TextIO

import click
from click.core import ParameterSource

from nymlink.cli.common import (
    finish,
    input_format_option,
    language_option,
    map_column_option,
    mapping,
    reported_problems,
    require_files,
    restriction_options,
    settings_option,
    top_k_option,
)
from nymlink.cli.link.input_rows import Batch, InputTable, line_batches, open_cells, open_table
from nymlink.cli.link.link_source import STANDARD_STREAM, LinkSource, link_settings, link_source
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.encodings import UTF_8
from nymlink.core.files import split_part
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.encode.batches import TruncationCounts
from nymlink.index.index import Index
from nymlink.linking.default import default_index
from nymlink.linking.inputs import UnknownScripts, as_document
from nymlink.linking.judge import Judge
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.processes import link_in_processes
from nymlink.linking.several import SeveralLinkers
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import (
    format_of,
    open_target,
    open_writer,
    require_free_folder,
    require_input,
    standard_output,
)
from nymlink.linking.writers.writer import LinksInfo, LinkWriter, UserTable
from nymlink.rerank.reranker import Reranker
from nymlink.tables.parquet import is_parquet, parquet_schema
from nymlink.tables.workbooks import table_cells
from nymlink.vocabulary.restriction import Restriction

Output = TextIO | BinaryIO | Path
"""A stream, or the folder that some formats write files into."""

_REASONS: Final = "reasons"
"""Value of ``--format`` for explanations in place of links."""

_OF_ONE_VOCABULARY: Final = ("sssom", "omop", "fhir")
"""Formats that state the vocabulary of all links."""

_CANDIDATES: Final = 10_000
"""Most candidates per search, over all mentions of a batch."""


@click.command(cls=GroupedCommand)
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Read mentions from this file, one per line, or with --column from this table; - for standard input.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="COLUMN",
    help="The input is a table (CSV, TSV, JSON lines, XLSX or Parquet): link this column, given by its name or "
    "number, and keep the others. A sheet is FILE.xlsx#Sheet2, with its header in row 4 FILE.xlsx#Sheet2!4.",
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="Link the mentions of annotated documents: a file or folder; gold ids are not needed.",
)
@input_format_option("the --corpus", CORPUS_FORMATS.names())
@map_column_option("language=lang (of a table also code= and frequency=)", "Of a table, or a --corpus that is one")
@click.option(
    "--context", metavar="TEXT", help="Text around the one MENTION: its first occurrence as a whole word."
)
@click.option(
    "--index",
    "indexes",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Index to link to; the embedded default if not given. Of several, each gives its best, the one of the "
    "highest confidence first. Repeatable.",
)
@restriction_options
@top_k_option
@language_option
@settings_option("composites, target_precision, rerank, judge, offsets or processes (see above)")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write (for brat, folder), at the end; if not given, standard output, line by line.",
)
@click.option(
    "--format",
    type=click.Choice((*LINK_FORMATS.names(), _REASONS)),
    help="Format of the output. Without it: by the ending of --output; else csv or tsv for a table as input, "
    "table for a terminal, tsv for a file or a pipe. reasons: why the first candidate of each MENTION is before "
    "the second, for people.",
)
def link(
    inputs: tuple[str, ...],
    file: Path | None,
    columns: tuple[str, ...],
    corpus: Path | None,
    input_format: str | None,
    mapped_columns: tuple[str, ...],
    context: str | None,
    indexes: tuple[Path, ...],
    restriction: Restriction,
    top_k: int,
    language: str | None,
    settings: tuple[str, ...],
    output: Path | None,
    format: str | None,
) -> None:
    """Link mentions to concepts.

    INPUT is one mention or more; with --column it is one table. Without INPUT, mentions are the lines of a --file
    or of standard input, or those of annotated documents (--corpus). They are linked one by one, so the input may
    be endless. Without --index they are linked to the Human Phenotype Ontology. With a calibrated index, each link
    has a confidence.

    \b
    Settings (--settings composites=always, or a TOML file):
      composites        always: split mentions that list several findings, too: "fever, no cough"
      target_precision  share of right links. Mentions below its confidence, as measured by
                        `nymlink calibrate`, are NIL
      rerank            order candidates by the text around a mention (--corpus, --context): a
                        folder written by `nymlink train rerank` or `cross-encoder`
      judge             address of a chat model (OpenAI's form) that is asked about doubtful links;
                        in a file, a table [judge]
      offsets           utf-16 or bytes, if those of the --corpus do not count characters
      processes         number of processes, for many mentions; each opens the index

    \b
    Mentions, and the lines of a file:
      nymlink link "short stature" "seizures"
      nymlink link --file mentions.txt --top-k 5 -o links.jsonl
      cut -f 3 notes.tsv | nymlink link --index mondo-index | head

    \b
    Why a concept and not another:
      nymlink link --format reasons "short stature"
      nymlink link --index mesh-index --settings rerank=reranker --format reasons MI --context "Death by MI."

    \b
    Phenotypic abnormalities only, never seizures:
      nymlink link "fits" --branch HP:0000118 --exclude HP:0001250

    \b
    Two vocabularies, the best of each:
      nymlink link "seizures" --index mondo-index --index hpo-index

    \b
    A column of a table; a large one on four cores:
      nymlink link table.csv --column diagnosis -o linked.csv
      nymlink link table.csv --column diagnosis -o linked.csv --settings processes=4
      nymlink link visits.csv --column finding --settings composites=always
      nymlink link visits.csv --column finding --map-column language=lang
      nymlink link terms.csv --column title --map-column code=code --index mondo-index --format sssom

    \b
    Documents, and one mention in its text:
      nymlink link --index mesh-index --corpus notes.PubTator.txt --settings rerank=reranker -o links.tsv
      nymlink link --index mesh-index --corpus notes.PubTator.txt -o notes.bioc.xml
      nymlink link --index mesh-index --settings rerank=reranker MI --context "Death by MI."
    """
    chosen, rerank, judge_settings = link_settings(settings)
    source = link_source(
        inputs,
        file=file,
        columns=columns,
        corpus=corpus,
        input_format=input_format,
        mapped_columns=mapping(mapped_columns),
        context=context,
        offsets=chosen.offsets,
    )
    explain = format == _REASONS
    if explain and not source.mentions:
        raise click.UsageError(
            '--format reasons is for mentions given as arguments: `nymlink link --format reasons "short stature"`'
        )
    if explain and judge_settings is not None:
        raise click.UsageError("--format reasons asks no judge: leave judge out")
    if explain and output is not None:
        raise click.UsageError("--format reasons prints no links: it does not go with --output")
    if rerank is not None and not source.has_documents:
        raise click.UsageError(
            "rerank goes by the text around a mention: give annotated documents (--corpus), or one mention "
            "with its --context"
        )
    if rerank is not None and chosen.target_precision is not None:
        raise click.UsageError(
            "target_precision goes by the confidence in the first candidate of the index, which rerank may "
            "change: give one of them"
        )
    for name, given in (("rerank", rerank), ("judge", judge_settings)):
        if given is not None and chosen.processes > 1:
            raise click.UsageError(f"{name} works in one process: leave processes out")
        if given is not None and len(indexes) > 1:
            raise click.UsageError(
                f"{name} goes with one --index: its first candidates have no confidences to compare"
            )
    if output == STANDARD_STREAM:
        output = None
    if format is None and output is not None:
        format = format_of(output)
    if format is not None and not explain:
        require_input(format, documents=source.has_documents)
    if output is not None and format is not None and LINK_FORMATS.get(format).target == "folder":
        require_free_folder(output)
    else:
        read = [None if path is None else split_part(path)[0] for path in (source.file, source.corpus)]
        require_files([output], [*read, *indexes, rerank])
    judge = None if judge_settings is None else Judge(judge_settings)
    if len(indexes) > 1 and format in _OF_ONE_VOCABULARY:
        raise click.UsageError(f"--format {format} describes one vocabulary: give one --index")
    opened = [Index.load(each) for each in indexes] or [default_index(progress=True)]
    for each in opened:
        # Load now, so that a missing encoder or a damaged file is reported before any output.
        each.load_encoder()
        each.verify()
    reranker = None if rerank is None else _reranker(rerank, opened[0])
    linker = SeveralLinkers(
        [
            Linker(
                each,
                top_k=top_k,
                rerank=reranker,
                judge=judge,
                language=language,
                target_precision=chosen.target_precision,
                composites=chosen.composites,
                restriction=restriction,
            )
            for each in opened
        ]
    )
    if explain:
        for mention in source.mentions if source.document is None else (source.document,):
            click.echo(str(linker.explain(mention)))
        return
    problems = reported_problems()
    target: AbstractContextManager[Output] = (
        nullcontext(sys.stdout if format is None else standard_output(format))
        if output is None or format is None
        else open_target(output, format, encoding=source.encoding if format in ("csv", "tsv") else UTF_8)
    )
    truncation, unknown_scripts = TruncationCounts(), UnknownScripts()
    with truncation.collected(), unknown_scripts.collected(), target as out:
        _link(linker, source, out, format, problems, chosen.processes)
    truncation.warn(stacklevel=1)
    unknown_scripts.warn(stacklevel=1)
    finish(problems)


def _link(
    linker: SeveralLinkers,
    source: LinkSource,
    out: Output,
    format: str | None,
    problems: Problems,
    processes: int,
) -> None:
    """Link the mentions of a source as they arrive, and write the links."""

    def writer(
        *, located: bool = False, has_documents: bool = False, table: UserTable | None = None
    ) -> LinkWriter:
        vocabulary = linker.index.vocabulary
        info = LinksInfo(
            calibrated=linker.calibration is not None,
            multilingual=len(vocabulary.counts("lang")) > 1,
            several=len(linker.linkers) == 1 and linker.pipeline.domains.are_several,
            located=located,
            split=linker.pipeline.composites == "always",
            has_documents=has_documents,
            table=table,
            vocabulary=vocabulary,
            title=source.title,
            options=_given_options(),
        )
        return open_writer(format or _usual_format(out, table), out, info)

    if source.document is not None:
        _write_documents(linker, [source.document], writer(has_documents=True), out, processes=1)
    elif source.corpus is not None:
        options = CorpusOptions(columns=source.mapped_columns, offsets=source.offsets, keep_repeated=True)
        documents = read_documents(source.corpus, format=source.input_format, options=options, problems=problems)
        _write_documents(linker, documents, writer(located=True, has_documents=True), out, processes)
    elif source.file is None:
        _write(linker, [Batch([Mention(text) for text in source.mentions])], writer(), out, processes=1)
    elif source.column is not None and (cells := table_cells(source.file, problems)) is not None:
        schema = parquet_schema(source.file) if is_parquet(source.file) else None
        table = open_cells(
            cells, source.file, source.column, problems, further=source.mapped_columns, schema=schema
        )
        _write_table(linker, table, writer, out, processes)
    else:
        with source.opened() as (stream, path):
            if source.column is None:
                _write(linker, line_batches(stream, path, problems), writer(), out, processes)
            else:
                table = open_table(stream, path, source.column, problems, further=source.mapped_columns)
                _write_table(linker, table, writer, out, processes)


def _given_options() -> frozenset[str]:
    """List the options given on the command line."""
    context = click.get_current_context()
    return frozenset(
        parameter.opts[-1]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name is not None
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    )


def _usual_format(out: Output, table: UserTable | None) -> str:
    if table is not None:
        return "tsv" if table.delimiter == "\t" else "csv"
    return "table" if not isinstance(out, Path) and out.isatty() else "tsv"


def _reranker(folder: Path, index: Index) -> Reranker:
    from nymlink.rerank.folder import read_fitted

    if read_fitted(folder) is None:
        warnings.warn(
            f"{folder}: what the index says counts nothing yet beside the context, which alone is a worse guide: "
            "run `nymlink rerank fit`",
            stacklevel=1,
        )
    return Reranker.load(folder, index)


def _write_documents(
    linker: SeveralLinkers, documents: Iterable[Document], writer: LinkWriter, out: Output, processes: int
) -> None:
    linked = _linked(linker, documents) if processes == 1 else link_in_processes(linker, documents, processes)
    for document, links in linked:
        writer.begin_document(document)
        for link in links:
            writer.write(link)
        _flush(out)
    writer.close()


def _linked(linker: SeveralLinkers, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
    # The linker reads some documents ahead.
    waiting: deque[Document] = deque()

    def read_ahead() -> Iterator[Document]:
        for document in documents:
            waiting.append(document)
            yield document

    for links in linker.link_documents(read_ahead()):
        yield waiting.popleft(), links


def _write_table(
    linker: SeveralLinkers, table: InputTable, writer: Callable[..., LinkWriter], out: Output, processes: int
) -> None:
    has_types = table.header.cells is not None and table.schema is None
    layout = UserTable(table.header, table.delimiter, table.code, table.frequency, table.schema, has_types)
    _write(linker, table.batches, writer(table=layout), out, processes)


def _write(
    linker: SeveralLinkers, batches: Iterable[Batch], writer: LinkWriter, out: Output, processes: int
) -> None:
    # Memory grows with mentions times candidates: with many candidates, take fewer mentions at a time.
    size = max(1, _CANDIDATES // linker.top_k)
    waiting: deque[Batch] = deque()

    def documents() -> Iterator[Document]:
        for batch in (portion for whole in batches for portion in whole.portions(size)):
            waiting.append(batch)
            yield as_document(batch.mentions, stacklevel=1)

    linked = (
        # One by one, so that a slow pipe gets an answer to each line.
        ((document, linker.link(document)) for document in documents())
        if processes == 1
        else link_in_processes(linker, documents(), processes, shard=1)
    )
    for _, links in linked:
        for link, row in zip(links, waiting.popleft().rows or repeat(None), strict=False):
            writer.write(link, row)
        _flush(out)
    writer.close()


def _flush(out: Output) -> None:
    if not isinstance(out, Path):
        out.flush()
