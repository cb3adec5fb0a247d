"""The command that finds mentions in texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial, wraps
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

import click

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import (
    DICTIONARY_DETECTOR,
    GIVEN_DETECTOR,
    MIN_CONFIDENCE,
    AnnotatorSettings,
)
from nymlink.annotation.stream import KeptShards, annotate_stream, annotation_folder
from nymlink.annotation.texts import JSON_LINES, PLAIN, read_stream, read_texts
from nymlink.cli.common import (
    finish,
    read_settings,
    reported_problems,
    require_files,
    restriction_options,
    settings_option,
    with_options,
)
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.ownership import MANIFEST
from nymlink.core.terminal import show_read_progress, tell
from nymlink.core.toml_settings import make_settings
from nymlink.corpus.documents import Document
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import DistinctIds, source_name
from nymlink.index.index import Index
from nymlink.linking.default import default_index
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import (
    format_of,
    open_target,
    open_writer,
    require_free_folder,
    standard_output,
)
from nymlink.linking.writers.writer import LinksInfo, LinkWriter
from nymlink.vocabulary.restriction import Restriction

_OPTIONS: Final = (
    click.option(
        "--detector",
        metavar="NAME",
        help="Source of mentions: dictionary; given, the mentions of the documents; spacy:MODEL; hf:MODEL.  "
        "[default: dictionary]",
    ),
    click.option(
        "--language",
        metavar="CODE",
        help="Language of texts and names, for the comparison of words; auto detects it for each text; any for "
        "all names, word for word.  [default: en]",
    ),
    click.option(
        "--min-confidence",
        type=click.FloatRange(0, 1),
        help=f"Leave out mentions with a lower confidence.  [default: {MIN_CONFIDENCE}]",
    ),
)
"""Options of the command for one machine; `nymlink bulk annotate` has them among --settings."""

_SHARED: Final = (
    click.option(
        "--fuzzy/--no-fuzzy",
        default=None,
        help="Also link phrases that are not exact names, found by search: finds more, several times slower.  "
        "[default: no-fuzzy]",
    ),
    restriction_options,
    settings_option(
        "language, detector, min_confidence, fuzzy_confidence, overlaps, flags …; in a file, under [restriction], "
        "also branch, types, sources, ids and exclude. Options override it"
    ),
)


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The settings of an annotator, from a file and from options.

    Attributes:
        settings: the settings.
        has_detector: whether they name a detector.
    """

    settings: AnnotatorSettings
    has_detector: bool


def annotator_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options of an annotator, given to the command as ``chosen``, :class:`ChosenSettings`."""

    @wraps(command)
    def with_settings(
        *,
        fuzzy: bool | None,
        restriction: Restriction,
        settings: tuple[str, ...],
        detector: str | None = None,
        language: str | None = None,
        min_confidence: float | None = None,
        **others: Any,
    ) -> None:
        values, path = read_settings(settings)
        chosen = make_settings(AnnotatorSettings, values, path=path)
        given: dict[str, Any] = {"fuzzy": fuzzy, "detector": detector, "language": language}
        given["min_confidence"] = min_confidence
        chosen = replace(chosen, **{name: value for name, value in given.items() if value is not None})
        if restriction:
            own = {name: values for name, values in asdict(restriction).items() if values}
            chosen = replace(chosen, restriction=replace(chosen.restriction, **own))
        command(chosen=ChosenSettings(chosen, detector is not None or "detector" in values), **others)

    return with_options(with_settings, _SHARED)


_STREAM: Final = Path("-")

_LOOKED_AT: Final = 64
"""Number of first documents checked for mentions: some documents have none."""


@click.command(cls=GroupedCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="Annotate this text. Repeatable.")
@click.option(
    "--index", type=click.Path(path_type=Path), help="Index with the names; if not given, the embedded default."
)
@click.option(
    "--input-format",
    type=click.Choice([PLAIN, JSON_LINES, *CORPUS_FORMATS.names()]),
    help="Format of the files; recognised by the content if not given.",
)
@partial(with_options, options=_OPTIONS)
@annotator_options
@click.option("--processes", type=click.IntRange(min=1), help="Number of processes; one per core if not given.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write (for brat, folder); standard output if not given.",
)
@click.option(
    "--format",
    type=click.Choice(LINK_FORMATS.names()),
    help="Format of the output. If not given: by the ending of --output; else table for a terminal, else jsonl.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue a killed run to the same --output; each document is annotated exactly once.",
)
def annotate(
    files: tuple[Path, ...],
    texts: tuple[str, ...],
    index: Path | None,
    input_format: str | None,
    chosen: ChosenSettings,
    processes: int | None,
    output: Path | None,
    format: str | None,
    resume: bool,
) -> None:
    """Find mentions of concepts in texts, and link them.

    FILE is a text, a file of JSON lines with "id" and "text", a corpus in any known format, or a folder of such
    files; without FILE and --text, standard input is one text. All names of the index are found, in any order and
    form of their words, also as abbreviations defined in the text. No training is needed. Mentions of an
    annotated corpus are linked unchanged, unless --detector is given.

    Each mention has a confidence, and flags from its sentence: negated, of the family, hypothetical, historical.
    Documents are read, annotated and written one by one, so there may be millions.

    \b
    A text:
      nymlink annotate --text "No seizures, but short and broad thumbs."
      nymlink annotate letter.txt --format jsonl

    \b
    Many abstracts, on all cores; --resume continues a killed run:
      nymlink annotate abstracts.jsonl --index hpo-index -o mentions.jsonl
      nymlink annotate abstracts.jsonl --index hpo-index -o mentions.jsonl --resume

    \b
    A part of a vocabulary; also phrases that are not exact names:
      nymlink annotate abstracts.jsonl --index hpo-index --branch HP:0000118 -o phenotypes.tsv
      nymlink annotate letter.txt --index hpo-index --fuzzy
    """
    if files and texts:
        raise click.UsageError("give files or --text, only one of them")
    if not files and not texts and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("nothing to annotate: give files, --text, or a text on standard input")
    if output == _STREAM:
        output = None
    if format is None:
        format = format_of(output) if output is not None else "table" if sys.stdout.isatty() else "jsonl"
    # A pipe or a device cannot be written again.
    is_stream = output is not None and output.exists() and not (output.is_file() or output.is_dir())
    if resume and (output is None or is_stream):
        raise click.UsageError("--resume continues a file: give --output")
    given = [*(file for file in files if file != _STREAM), index]
    if output is not None and LINK_FORMATS.get(format).target == "folder":
        require_free_folder(output)
        require_files([], given)
    else:
        require_files([output], given)
    opened = default_index(progress=True) if index is None else Index.load(index)
    problems = reported_problems()
    with show_read_progress():
        documents = _documents(files, texts, input_format, problems)
        first = list(islice(documents, _LOOKED_AT))
        settings = chosen.settings
        if any(document.mentions for document in first) and not chosen.has_detector:
            tell("the documents come with mentions, which are linked: --detector dictionary finds others")
            settings = replace(settings, detector=GIVEN_DETECTOR)
        run = _Run(
            Annotator(opened, settings, progress=True),
            chain(first, documents),
            processes,
            title=source_name(files[0]) if len(files) == 1 and files[0] != _STREAM else "",
        )
        if output is None:
            stream = standard_output(format)
            run.write(open_writer(format, stream, run.info), stream)
        elif is_stream:
            with open_target(output, format) as target:
                run.write(open_writer(format, target, run.info))
        else:
            described = _described(files, index, opened, settings)
            with (
                annotation_folder(output, described, resume=resume) as kept,
                open_target(output, format) as target,
            ):
                run.write(open_writer(format, target, run.info), kept=kept)
    finish(problems)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run over documents, with its output."""

    annotator: Annotator
    documents: Iterator[Document]
    processes: int | None
    title: str

    @property
    def info(self) -> LinksInfo:
        """Facts about the links, known before the first one."""
        index, settings = self.annotator.index, self.annotator.settings
        return LinksInfo(
            # The confidences of the dictionary are no measured probabilities.
            calibrated=settings.detector != DICTIONARY_DETECTOR and index.calibration is not None,
            annotated=True,
            multilingual=len(index.vocabulary.counts("lang")) > 1,
            located=True,
            has_documents=True,
            vocabulary=index.vocabulary,
            title=self.title,
        )

    def write(
        self, writer: LinkWriter, stream: TextIO | BinaryIO | None = None, kept: KeptShards | None = None
    ) -> None:
        """Annotate documents and write the links; a stream gets each document at once."""
        found = annotate_stream(self.annotator, self.documents, processes=self.processes, kept=kept)
        try:
            for document, links in found:
                writer.begin_document(document)
                for link in links:
                    writer.write(link)
                if stream is not None:
                    stream.flush()
        except BaseException:
            writer.abandon()
            raise
        writer.close()


def _documents(
    files: tuple[Path, ...], texts: tuple[str, ...], format: str | None, problems: Problems
) -> Iterator[Document]:
    if texts:
        yield from (Document(f"text:{number}", text) for number, text in enumerate(texts, 1))
    ids = DistinctIds()
    for file in files or (() if texts else (_STREAM,)):
        if file == _STREAM:
            yield read_stream(sys.stdin.buffer, problems)
        else:
            try:
                yield from read_texts([file], problems, format=format, ids=ids)
            except InputError as error:
                # Of several files one that cannot be read is left out.
                if len(files) == 1:
                    raise
                problems.reject(file, error.line, error.message)


def _described(
    files: tuple[Path, ...], index: Path | None, opened: Index, settings: AnnotatorSettings
) -> dict[str, Any]:
    """List the settings and input of a run; a resumed run must have the same."""
    return {
        "input": [[str(file), file.stat().st_size if file.is_file() else None] for file in files],
        "index": opened.digest if index is None else sha256(index / MANIFEST),
        "settings": asdict(settings),
    }
