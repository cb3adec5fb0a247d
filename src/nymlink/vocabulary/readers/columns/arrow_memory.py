"""Copy bytes into memory that Arrow owns, for its functions that read on several threads.

Arrow's threads may let go of their input after the function has returned. Memory of Python's needs the interpreter
for that; where the interpreter ends meanwhile, as after an error, the process is aborted (SIGABRT; see
https://github.com/apache/arrow/issues/49942). Memory of Arrow's own needs no interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa


def copy_to_arrow(pieces: Iterable[bytes]) -> pa.BufferReader:
    """Copy pieces of a file into one buffer of Arrow's, and open it for reading."""
    sink = pa.BufferOutputStream()
    for piece in pieces:
        sink.write(piece)
    return pa.BufferReader(sink.getvalue())
