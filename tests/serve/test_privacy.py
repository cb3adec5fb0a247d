"""What is asked is in no log, error, metric, trace or temporary file: not when requests fail, nor after a kill."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.running import Server

MARK = "Qzvxroe"
"""A name that is in every text that is sent, and nowhere else."""
TOKEN = "Kwjtoken4711"
TEXT = f"{MARK} has a heart attack. {MARK} 心筋梗塞 (MI)."

_FAILING = """
import sys
from nymlink.cli import nymlink
from nymlink.index.completion import Completer
from nymlink.linking.linker import Linker
link = Linker.link_documents
def fail(self, documents, **settings):
    documents = list(documents)
    if any("break" in mention.text for each in documents for mention in each.mentions):
        raise RuntimeError(repr(documents))
    return link(self, documents, **settings)
Linker.link_documents = fail
def fail_search(self, text, limit, **settings):
    raise KeyError(text)
Completer.complete = fail_search
nymlink(sys.argv[1:])
"""
"""A server whose linker and completion fail with errors that quote what was asked."""


class Place:
    """Folders of one process, and what is searched afterwards.

    Attributes:
        folder: of it all.
        environment: of a process that has its temporary files and its cache there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("tmp", "cache", "home"):
            (folder / name).mkdir(parents=True)
        own = {"TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp", "NYMLINK_CACHE": "cache", "HOME": "home"}
        self.environment = {**os.environ, **{name: str(folder / place) for name, place in own.items()}}

    def marked(self) -> list[str]:
        """List the files that hold a mark, by their names too."""
        encoded = [mark.encode(code) for mark in (MARK, TOKEN) for code in ("utf-8", "utf-16-le")]
        found = []
        for name in ("tmp", "cache", "home"):
            for path in (self.folder / name).rglob("*"):
                content = str(path).encode() + (path.read_bytes() if path.is_file() else b"")
                found += [str(path)] if any(each in content for each in encoded) else []
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def workbook() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    for title, header in (("a", "term"), (MARK, "other header")):
        sheet = book.create_sheet(title)
        for row in ([header], [TEXT], [f"=CONCAT({MARK})"]):
            sheet.append(row)
    book.save(file := io.BytesIO())
    return file.getvalue()


class Client:
    """Sends requests with the token, and remembers their statuses."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.statuses: list[int] = []

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        named = {"Authorization": f"Bearer {TOKEN}", **{name.replace("_", "-"): headers[name] for name in headers}}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            named = {"Content-Type": "application/json", **named}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        self.statuses.append(answer.status)
        content = answer.read()
        connection.close()
        return content


def ask_everything(ask: Client, project: bytes) -> None:
    """Ask all routes with marked texts, rightly and wrongly."""
    words = TEXT.replace(" ", "%20").encode("ascii", "ignore").decode()
    ask("POST", "/link", {"mentions": [MARK, TEXT], "text": TEXT, "top_k": 3})
    for wrong in (
        {"mentions": MARK},
        {MARK: MARK},
        {"mentions": [MARK], "index": MARK},
        {"mentions": [{MARK: 1}]},
    ):
        ask("POST", "/link", wrong)
    ask("POST", "/link", {"mentions": [{"text": MARK, "start": 3, "end": 4}], "text": "x" * 9})
    ask("POST", "/link", {"mentions": [MARK], "language": MARK})
    ask("POST", "/link", f'{{"mentions": ["{MARK}'.encode(), Content_Type="application/json")
    ask("POST", "/link", TEXT.encode(), Content_Type="text/plain")
    ask("POST", "/link", {"mentions": [f"{MARK} break"]})
    ask("POST", "/annotate", {"text": TEXT * 50})
    ask("GET", f"/search?q={words}")
    for path in (f"/concepts/{MARK}", f"/concept/toy/{MARK}", f"/{MARK}", f"/?text={words}", f"/table/{MARK}"):
        ask("GET", path)
        ask("GET", path, Accept="text/html")
    ask("GET", f"/health?token={TOKEN}")
    ask("GET", f"/metrics?token={TOKEN}", Authorization=f"Bearer {MARK}")
    ask("POST", "/session", Cookie=f"nymlink_token={TOKEN}")
    ask("GET", "/reconcile/toy?queries=" + f"%7B%22{MARK}%22:%7B%22query%22:%22{MARK}%22%7D%7D")
    ask("POST", "/reconcile/toy/match", {"queries": [{"conditions": [{"matchType": "x", "propertyValue": MARK}]}]})
    ask("POST", "/reconcile/toy/extend", {"ids": [MARK], "properties": [{"id": MARK}]})
    ask("GET", f"/reconcile/toy/suggest/entity?prefix={MARK}&callback={MARK}")
    ask("POST", "/projects", {"name": "a", "title": MARK})
    ask("POST", "/projects", {"name": f"{MARK}/..", "title": MARK})
    table = f"term,{MARK}\n{TEXT},1\n{MARK} break,{MARK}\n".encode()
    for name, content in (
        ("t.csv", table),
        ("t.csv.gz", gzip.compress(table)),
        ("t.xlsx", workbook()),
        ("t", b"\0"),
    ):
        for path in ("preview", f"preview?column={MARK}", "a/files", "a/import"):
            ask("POST", f"/projects/{path}", content, X_File_Name=f"{MARK}-{name}")
    ask("POST", "/projects/a/import?reviewer=" + MARK, project, X_File_Name="p.nymlink")
    decision = {"reviewer": MARK, "term": 1, "verdict": "nil", "comment": TEXT}
    for body in (decision, decision, {**decision, "targets": [{"concept_id": MARK}], "verdict": "concept"}):
        ask("POST", "/projects/a/decisions", body)
    for path in ("terms?q=" + MARK, "terms/1", f"concepts/{MARK}", "names", "changes"):
        ask("GET", f"/projects/a/{path}")
    for path in ("learn", "accept", "assign", "undo", "rebase", "cancel", "continue"):
        ask("POST", f"/projects/a/{path}", {"reviewer": MARK, "above": 0.5})
        ask("POST", f"/projects/a/{path}", {"reviewer": MARK} if path in ("undo", "assign") else {})
    for format in ("csv", "tsv", "jsonl", "xlsx", "parquet", "usagi", "sssom", "fhir-r5", "table", MARK):
        ask("GET", f"/projects/a/export?format={format}")


@contextlib.contextmanager
def failing_server(place: Place, index: Path) -> Iterator[tuple[Server, list[str]]]:
    """Run a server that fails; collect what it says."""
    tokens = place.folder / "tokens"
    tokens.write_text(f"{TOKEN}\n", encoding="utf-8")
    said: list[str] = []
    options = ("--index", f"toy={index}", "--port", "0", "--projects", str(place.folder / "projects"))
    server = Server("-c", _FAILING, "serve", *options, "--token-file", str(tokens), environment=place.environment)
    assert server.process.stderr is not None
    reading = threading.Thread(target=lambda: said.extend(server.process.stderr or ()))
    reading.start()
    try:
        yield server, said
    finally:
        server.process.kill()
        server.process.wait()
        reading.join(30)


@pytest.fixture
def project(tmp_path: Path) -> bytes:
    """A project file with marks in it."""
    from nymlink.project.add_file import add_table
    from nymlink.project.index_reference import IndexReference
    from nymlink.project.project import Project
    from tests.serve.toy import built_index

    path = tmp_path / "sent.nymlink"
    with Project.create(path, index=IndexReference.of("toy", built_index()), title=MARK) as made:
        add_table(made, f"term\n{TEXT}\n".encode(), "t.csv")
    return path.read_bytes()


@pytest.mark.large
@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
def test_a_server_keeps_what_it_is_asked_to_itself(place: Place, index: Path, project: bytes) -> None:
    with failing_server(place, index) as (server, said):
        ask = Client(server.port)
        ask_everything(ask, project)
        with server.connect() as raw:
            raw.sendall(f"{MARK} /{MARK} HTTP/9\r\n{MARK}: {TOKEN}\r\n\r\n".encode())
            raw.recv(1000)
        metrics = ask("GET", "/metrics").decode()
    text = "".join(said)
    assert {200, 201, 400, 401, 404, 409, 415, 422, 500} <= set(ask.statuses)
    assert "RuntimeError in " in text, "the failures are logged"
    assert "KeyError in " in text
    for mark in (MARK, TOKEN, "心筋梗塞"):
        assert mark not in text, [line for line in said if mark in line]
        assert mark not in metrics
    assert place.marked() == []


@pytest.mark.large
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_server_that_is_killed_leaves_nothing_elsewhere(place: Place, index: Path, project: bytes) -> None:
    with failing_server(place, index) as (server, said):
        ask = Client(server.port)
        ask("POST", "/projects", {"name": "a"})
        rows = "".join(f"{MARK} {number}\n" for number in range(20_000))
        ask("POST", "/projects/a/files", f"term\n{rows}".encode(), X_File_Name="t.csv")
        book = workbook()

        def go_on(method: str, path: str, body: bytes | None) -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    Client(server.port)(method, path, body, X_File_Name=f"{MARK}.xlsx")

        asked = [
            *(("GET", f"/projects/a/export?format={format}", None) for format in ("xlsx", "parquet", "csv")),
            ("GET", "/projects/a/names", None),
            *(("POST", f"/projects/{path}", book) for path in ("preview", "a/files")),
            ("POST", "/projects/a/import", project),
        ]
        threads = [threading.Thread(target=go_on, args=each) for each in asked]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        server.process.kill()
        for thread in threads:
            thread.join(60)
    assert MARK not in "".join(said)
    assert place.marked() == []


COMMANDS = (
    ("link", "--index", "INDEX", MARK, TEXT),
    ("link", "--index", "INDEX", "--file", "mentions.csv", "--column", "term", "-o", "out.xlsx"),
    ("link", "--index", "INDEX", "--file", "mentions.csv", "--column", "no such"),
    ("link", "--index", "nowhere", MARK),
    ("link", "--index", "INDEX", "--file", "nowhere.csv", MARK),
    ("link", "--index", "INDEX", "--language", "english", MARK),
    ("annotate", "letter.txt", "--index", "INDEX", "--format", "jsonl", "-o", "found.jsonl"),
    ("project", "new", "p.nymlink", "--index", "INDEX"),
    ("project", "add", "p.nymlink", "mentions.csv"),
    ("project", "add", "p.nymlink", "broken.csv"),
    ("project", "export", "p.nymlink", "-o", "x.xlsx", "--format", "xlsx"),
    ("project", "export", "p.nymlink", "-o", "x.sssom.tsv"),
    ("project", "import", "p.nymlink", "mentions.csv"),
)


_ALL = """
import json, sys
from nymlink.cli import nymlink
statuses = []
for command in json.loads(sys.argv[1]):
    try:
        nymlink(command)
    except SystemExit as end:
        statuses.append(end.code)
print(json.dumps(statuses))
"""
"""A process that runs all commands."""


@pytest.mark.large
@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
def test_commands_keep_what_they_read_to_themselves(place: Place, index: Path, tmp_path: Path) -> None:
    (tmp_path / "mentions.csv").write_text(f"term,n\n{TEXT},1\n{MARK},2\n", encoding="utf-8")
    (tmp_path / "broken.csv").write_bytes(f'term,n\n"{MARK}\n{MARK},1,2,3\n'.encode() + b"\xff\xfe\n")
    (tmp_path / "letter.txt").write_text(TEXT, encoding="utf-8")
    commands = [[str(index) if each == "INDEX" else each for each in command] for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", _ALL, json.dumps(commands)],
        cwd=tmp_path,
        env=place.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=True,
    )
    assert MARK.encode() not in done.stderr, done.stderr
    statuses = json.loads(done.stdout.splitlines()[-1])
    assert {0, 2} <= set(statuses), statuses
    assert place.marked() == []


@pytest.mark.large
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("ending", ["xlsx", "parquet", "tsv"])
def test_a_command_that_is_killed_leaves_nothing_elsewhere(
    place: Place, index: Path, tmp_path: Path, ending: str
) -> None:
    rows = "".join(f"{MARK} {number}\n" for number in range(20_000))
    (tmp_path / "mentions.csv").write_text(f"term\n{rows}", encoding="utf-8")
    command = ("link", "--index", str(index), "--file", "mentions.csv", "--column", "term", "-o", f"out.{ending}")
    process = subprocess.Popen(
        [sys.executable, "-m", "nymlink", *command],
        cwd=tmp_path,
        env=place.environment,
        stderr=subprocess.DEVNULL,
    )
    # Until it writes.
    until = time.monotonic() + 30
    while time.monotonic() < until and not list(tmp_path.glob("*out*")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(1)
    process.kill()
    process.wait()
    assert place.marked() == []


def test_newer_fastapi_hands_no_address_to_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pytest.importorskip("opentelemetry.trace", reason="no newer FastAPI")
    from tests.serve.toy import serving

    kept: list[Any] = []

    class Tracer(trace.NoOpTracer):  # type: ignore[misc, name-defined]
        def start_span(self, *named: Any, **attributes: Any) -> Any:
            kept.append((named, attributes))
            return super().start_span(*named, **attributes)

    class Provider(trace.NoOpTracerProvider):  # type: ignore[misc, name-defined]
        def get_tracer(self, *_: Any, **__: Any) -> Any:
            return Tracer()

    monkeypatch.setattr(trace, "_TRACER_PROVIDER", Provider())
    with serving() as client:
        client.get("/search", params={"q": MARK})
        client.post("/link", json={MARK: MARK})
    assert kept == []
