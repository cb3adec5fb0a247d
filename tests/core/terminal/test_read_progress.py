"""Progress of reading: seen on a terminal by who wants it, and by nobody else."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from nymlink.core import terminal
from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes
from nymlink.core.terminal import show_read_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.gz"
    path.write_bytes(gzip.compress(os.urandom(300_000)))
    return path


def seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, shown: bool, delay: float = 0
) -> str:
    monkeypatch.setattr(terminal, "_DELAY", delay)
    monkeypatch.setattr(sys, "stderr", stream)
    with show_read_progress(shown=shown), open_bytes(path) as file:
        assert len(file.read()) == 300_000
    return stream.getvalue()


def test_a_bar_tells_how_far_it_is(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = seen(large, monkeypatch, Terminal(), shown=True)
    assert "large.gz:" in text
    assert "/300k" in text


def test_it_is_shown_only_where_it_is_of_use(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(large, monkeypatch, Terminal(), shown=False) == ""
    assert seen(large, monkeypatch, io.StringIO(), shown=True) == ""
    assert seen(large, monkeypatch, Terminal(), shown=True, delay=60) == ""
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with open_bytes(large) as file:
        file.read()
    assert stream.getvalue() == ""


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with show_read_progress(), pytest.raises(InputError, match="no such file"), open_bytes(tmp_path / "nowhere"):
        pass
    with show_read_progress(), pytest.raises(InputError, match="directory"), open_bytes(tmp_path):
        pass
