"""The file itself: locked, damaged, newer, missing, killed."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.project.decisions import decide
from nymlink.project.export import export_project
from nymlink.project.index_reference import IndexReference, vocabulary_digest
from nymlink.project.project import Project
from nymlink.project.rows import LockedError, NotSavedError, ProjectError
from nymlink.project.summary import last_entry, summary
from nymlink.project.terms import TermFilter, list_terms, term_details
from tests.project.conftest import NAMES, index_of, vocabulary

DECIDE = """
import os, sys
from nymlink.project.project import Project
from nymlink.project.decisions import decide
from nymlink.project.terms import TermFilter, list_terms, term_details
from nymlink.project.summary import summary
project = Project(sys.argv[1])
for term in (1, 2, 3):
    print(decide(project, reviewer="Ann", term=term, verdict="nil").id, flush=True)
os.kill(os.getpid(), 9)
"""


def test_only_one_writes(linked: Project, path: Path) -> None:
    with pytest.raises(LockedError, match="another nymlink"):
        Project(path)
    with Project(path, writes=False) as read:
        assert read.title == "Visits"
        decide(linked, reviewer="Ann", term=1, verdict="nil")
        assert last_entry(read) == 1
    linked.close()
    Project(path).close()
    # At rest it is one file.
    assert [each.name for each in path.parent.iterdir() if not each.name.startswith(".")] == [path.name]


def test_a_killed_process_loses_nothing(linked: Project, path: Path) -> None:
    linked.close()
    run = subprocess.run(
        [sys.executable, "-c", DECIDE, str(path)], capture_output=True, encoding="utf-8", check=False
    )
    assert (run.returncode, run.stdout.split()) == (-9, ["1", "2", "3"])
    with Project(path) as again:
        assert last_entry(again) == 3


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_project_that_cannot_be_written_to_is_not_said_to_be_damaged(linked: Project, path: Path) -> None:
    import resource

    linked.close()
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(NotSavedError, match="the project cannot be read or written"):
            Project(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    Project(path).close()


def test_a_file_is_not_replaced(project: Project, path: Path) -> None:
    with pytest.raises(NotSavedError, match="the file exists already"):
        Project.create(path, index=project.index)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_project_is_made_whole_or_not_at_all(project: Project, tmp_path: Path) -> None:
    index, folder = project.index, tmp_path / "made"
    path, statuses = folder / "x.nymlink", [-9]

    def create(before_change: int) -> None:
        """Make a project in this process, which is killed before a change of files."""
        changes = iter(range(before_change))

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            changed = event in ("open", "os.rename", "os.remove", "sqlite3.connect")
            if changed and str(folder) in str(arguments[0]) and next(changes, None) is None:
                os.kill(os.getpid(), 9)

        sys.addaudithook(watch)
        Project.create(path, index=index, title="x").close()

    folder.mkdir()
    while statuses[-1] == -9:
        path.unlink(missing_ok=True)
        process = get_context("fork").Process(target=create, args=(len(statuses) - 1,))
        process.start()
        process.join()
        statuses.append(process.exitcode or 0)
        if path.exists():
            with Project(path) as made:
                assert (made.title, made.index) == ("x", index)
    assert statuses[-1] == 0
    assert len(statuses) > 5
    # What those that were killed began is removed by the next.
    assert sorted(each.name for each in folder.iterdir()) == [".x.nymlink.lock", "x.nymlink"]


def test_of_two_that_make_a_project_one_is_refused(project: Project, path: Path) -> None:
    path.unlink()
    with pytest.raises(LockedError, match="another nymlink"):
        Project.create(path, index=project.index)
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be opened"), (b"", "no project file"), (b"term,code\n", "no project file")],
)
def test_what_is_no_project_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "x.nymlink"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ProjectError, match=said):
        Project(path)


def test_other_databases_and_newer_projects_are_refused(project: Project, path: Path, tmp_path: Path) -> None:
    project.close()
    for pragma, said in (("user_version = 3", "has format 3"), ("application_id = 7", "not a project of nymlink")):
        other = tmp_path / "other.nymlink"
        shutil.copy(path, other)
        connection = sqlite3.connect(other)
        connection.execute(f"PRAGMA {pragma}")
        connection.close()
        with pytest.raises(ProjectError, match=said):
            Project(other)
        with pytest.raises(ProjectError, match=said):
            Project(other, writes=False)


def read_all(path: Path) -> None:
    with Project(path, writes=False) as project:
        summary(project)
        for term in list_terms(project, TermFilter())["terms"]:
            term_details(project, term["id"])
        export_project(project, io.StringIO(), format="tsv")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW settled; CREATE VIEW settled AS SELECT 1 AS term, 1 AS decision",
        "CREATE TRIGGER spy AFTER INSERT ON decision BEGIN DELETE FROM row; END",
        "DROP TABLE assignment",
    ],
)
def test_tables_of_others_are_refused(project: Project, path: Path, statement: str) -> None:
    project.close()
    connection = sqlite3.connect(path)
    connection.executescript(statement)
    connection.close()
    with pytest.raises(ProjectError, match="tables are not those of a project"):
        Project(path)


@pytest.mark.parametrize("writes", [True, False])
def test_a_name_of_a_table_that_is_no_text_is_damage(linked: Project, path: Path, writes: bool) -> None:
    linked.close()
    whole = path.read_bytes()
    # The first statement of the schema, which SQLite quotes in its message.
    path.write_bytes(whole.replace(b"CREATE TABLE", b"CRE\xce\xffE TABLE", 1))
    with pytest.raises(ProjectError, match="damaged"):
        Project(path, writes=writes)


@pytest.mark.parametrize("place", range(50, 90_000, 6000))
def test_damage_is_said(linked: Project, path: Path, place: int) -> None:
    linked.close()
    whole = bytearray(path.read_bytes())
    whole[place : place + 3000] = b"\xa5" * 3000
    path.write_bytes(whole)
    # SQLite does not know what cells were; what cannot be read is said.
    with contextlib.suppress(ProjectError):
        read_all(path)
    path.write_bytes(whole[:20_000])
    with pytest.raises(ProjectError, match=r"damaged|no project"):
        read_all(path)


def test_a_vocabulary_is_known_again(index: Index, tmp_path: Path) -> None:
    digest = vocabulary_digest(index.vocabulary)
    index.save(tmp_path / "index")
    saved = Index.load(tmp_path / "index")
    assert vocabulary_digest(saved.vocabulary) == digest
    reference = IndexReference.of("toy", saved)
    assert (reference.path, reference.sources) == (str(tmp_path / "index"), "toy 1")
    assert IndexReference.from_dict(reference.to_dict()) == reference
    assert [reference.state(each) for each in (digest, "", None)] == ["same", "changed", "gone"]
    for other in (
        vocabulary({**NAMES, "X:6": ("cough",)}),
        vocabulary({**NAMES, "X:5": ("seizures",)}),
        vocabulary(NAMES, version="2"),
        index_of(NAMES, X_9="X:1").vocabulary,
    ):
        assert vocabulary_digest(other) != digest
