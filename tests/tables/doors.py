"""The doors that tables come in by, each as a function from a file to its mentions."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner

from nymlink.annotation.texts import read_texts
from nymlink.bulk.job import run_job
from nymlink.bulk.tasks import LinkTask
from nymlink.cli import nymlink
from nymlink.core.files import split_part
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.index.index import Index
from nymlink.project.add_file import add_table
from nymlink.project.index_reference import IndexReference
from nymlink.project.project import Project
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

NAMES = ("gout", "naïve cell", "brain, left", 'a "quoted" word', "line end", "7", "2.5", "true", "heart attack")
"""Names of the index: concept X:0 has the first one."""

Door = Callable[[Path, str, Path, str | None], tuple[list[str], list[str]]]
"""From a file, its column, a folder with an ``index`` and the column of languages to mentions and problems."""


def build_index(folder: Path) -> None:
    builder = TableBuilder()
    for place, name in enumerate(NAMES):
        builder.concept(f"X:{place}")
        builder.name(f"X:{place}", name, lang="en", kind="preferred")
    index = Index.build(Vocabulary.of((Source("toy", "table"), builder.build())), encoder=None)
    index.save(folder / "index")


def plain(mentions: Sequence[str | None]) -> list[str]:
    """Write mentions with single blanks, without empty and missing ones."""
    return [" ".join(mention.split()) for mention in mentions if mention and mention.strip()]


def link(path: Path, column: str, folder: Path, language: str | None) -> tuple[list[str], list[str]]:
    further = [] if language is None else ["--map-column", f"language={language}"]
    arguments = [
        "link",
        str(path),
        "--index",
        str(folder / "index"),
        "--column",
        column,
        "--format",
        "csv",
        *further,
    ]
    result = CliRunner().invoke(nymlink, arguments)
    assert result.exit_code in (0, 1), result.output
    text = result.stdout.removeprefix("\ufeff")
    if text[:5].strip('"').lower() == "sep=" or text.lower().startswith("sep="):
        text = text.partition("\n")[2]
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#") or "," in line)
    # The first column of a link follows those of the table.
    delimiter = text[text.index("rank") + len("rank")]
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    found = [NAMES[int(row["concept_id"].removeprefix("X:"))] for row in rows if row["concept_id"]]
    return found, result.stderr.splitlines()


def evaluate(path: Path, column: str, folder: Path, language: str | None) -> tuple[list[str], list[str]]:  # noqa: ARG001
    problems = Problems()
    columns = {"mention": column} | ({} if language is None else {"language": language})
    options = CorpusOptions(columns={} if column == "sourceName" else columns)
    documents = read_documents(path, options=options, problems=problems)
    mentions = [mention.text for document in documents for mention in document.mentions]
    return plain(mentions), list(map(str, problems.first))


def bulk(path: Path, column: str, folder: Path, language: str | None) -> tuple[list[str], list[str]]:
    problems = Problems()
    further = {} if language is None else {"language": language}
    out = folder / "bulk"
    task = LinkTask(index=str(folder / "index"))
    run_job(
        [path], out, task, workers=0, column=column, further=further, shard_rows=2, restart=True, problems=problems
    )
    rows = pq.read_table(out / "parts").to_pylist()
    return plain([row["mention"] for row in rows if row["error"] is None]), list(map(str, problems.first))


def project(path: Path, column: str, folder: Path, language: str | None) -> tuple[list[str], list[str]]:
    file = folder / "visits.nymlink"
    file.unlink(missing_ok=True)
    columns = {"mention": column} | ({} if language is None else {"language": language})
    reference = IndexReference.of("toy", Index.load(folder / "index"))
    with Project.create(file, index=reference, title="Visits") as made:
        report = add_table(made, split_part(path)[0].read_bytes(), path.name, columns=columns)
    connection = sqlite3.connect(file)
    found = connection.execute("SELECT term.text FROM row JOIN term ON term.id = row.term ORDER BY row.number")
    mentions = [text for (text,) in found]
    connection.close()
    return plain(mentions), [problem["message"] for problem in report["problems"]["first"]]


def annotate(path: Path, column: str, folder: Path, language: str | None) -> tuple[list[str], list[str]]:  # noqa: ARG001
    problems = Problems()
    found = [mention.text for document in read_texts([path], problems) for mention in document.mentions]
    return plain(found), list(map(str, problems.first))


DOORS: dict[str, Door] = {"link": link, "evaluate": evaluate, "bulk": bulk, "project": project}


def _link_column(path: Path, folder: Path) -> list[str]:
    return ["link", str(path), "--index", str(folder / "index"), "--column", "mention"]


def _evaluate(path: Path, folder: Path) -> list[str]:
    options = ["--index", str(folder / "index"), "--corpus", str(path), "--input-format"]
    format = "xlsx" if path.suffix == ".xlsx" else "parquet" if path.read_bytes()[:4] == b"PAR1" else "table"
    return ["evaluate", *options, format, "--map-column", "mention=mention", "--map-column", "concept_id=note"]


def _bulk(path: Path, folder: Path) -> list[str]:
    out = folder / "bulk-command"
    options = [
        "--column",
        "mention",
        "--index",
        str(folder / "index"),
        "-o",
        str(out),
        "--workers",
        "0",
        "--restart",
    ]
    return ["bulk", "link", str(path), *options]


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "link": lambda path, folder: ["link", "--file", str(path), "--index", str(folder / "index")],
    "link --column": _link_column,
    "evaluate": _evaluate,
    "bulk": _bulk,
    "annotate": lambda path, folder: ["annotate", str(path), "--index", str(folder / "index")],
}
"""Commands that read mentions or texts: from a file and a folder with an index to their arguments."""
