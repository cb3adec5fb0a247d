"""What Arrow's threads read outlives the interpreter, which otherwise is aborted as it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.vocabulary.readers.umls.rrf_files import atom, write

from nymlink.vocabulary.readers.column_files import copy_to_arrow

# The children end while Arrow's threads may still be at work, a quarter of them aborted before it was mended.
_ENDS: Final = """
import os, sys
from pathlib import Path
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.umls.rrf import FORMAT

ends = []
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        try:
            FORMAT.read(Path(sys.argv[1]), options=ReadOptions(sources=frozenset({"NOPE"})), problems=Problems())
        except InputError:
            sys.exit(3)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(*sorted(set(ends)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="starting many interpreters takes too long")
def test_the_interpreter_may_end_while_arrow_reads(tmp_path: Path) -> None:
    path = write(tmp_path / "META", MRCONSO=[atom(f"C{number:07}", f"name {number}") for number in range(4000)])
    done = subprocess.run(
        [sys.executable, "-c", _ENDS, str(path), "6"], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == ["3"], done.stderr


def test_what_is_copied_is_what_was_there() -> None:
    assert copy_to_arrow([b"ab", b"", b"c\0d"]).read() == b"abc\0d"
    assert copy_to_arrow([]).read() == b""
