"""`nymlink annotate` over damaged files of every format: some are read, some refused, none is a bug."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from tests.annotation.toy import built_index
from tests.cli.conftest import Run
from tests.contract.test_binary_corpora import SAMPLES as BINARY
from tests.contract.test_corpus_readers import SAMPLES, make, write

TIMES: Final = 3
OUTPUTS: Final = ("jsonl", "tsv", "pubtator", "bioc-xml", "bioc-json", "conll", "parquet")
PIECES: Final = (b"\0", b"\t", b"\n", b'"', b"{", b"]", b"<a>", b"</document>", b"9" * 20, b"-1", b"null", b"|t|")
CODES: Final = ("utf-8", "utf-16", "utf-16-le", "cp1252")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("malformed") / "index"
    built_index().save(folder)
    return folder


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Change a file in a few places: leave out, repeat, put in, cut off, write in another encoding."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 2, 5, 20))):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.randrange(1, 40))
        change = chance.randrange(6)
        if change == 0:
            del data[start:end]
        elif change == 1:
            data[start:end] = data[start:end] * 3
        elif change == 2:
            data[start:start] = chance.choice(PIECES)
        elif change == 3:
            data[start:start] = chance.randbytes(4)
        elif change == 4:
            del data[max(start, 40) :]
        else:
            text = bytes(data).decode("utf-8", "replace")
            data = bytearray(text.encode(chance.choice(CODES), "replace"))
    return bytes(data)


@pytest.mark.parametrize("name", [*SAMPLES, *BINARY])
def test_no_file_is_a_bug(run: Run, index: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    whole = BINARY[name]() if name in BINARY else make(name, 3)[0].encode()
    for number in range(TIMES):
        folder = tmp_path / str(number)
        folder.mkdir()
        if name in BINARY:
            path = folder / f"x.{name}"
            path.write_bytes(damaged(whole, chance))
        else:
            path = write(folder, name, damaged(whole, chance))
        told = ("--input-format", name) if chance.random() < 0.5 else ()
        done = run(
            *("annotate", path, "--index", index, "--format", chance.choice(OUTPUTS), "-o", folder / "out"), *told
        )
        assert done.exit_code in (0, 1, 2)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
