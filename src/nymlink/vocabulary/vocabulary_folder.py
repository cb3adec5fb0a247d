"""Vocabularies on disk: memory-mapped Arrow and NumPy files beside a ``manifest.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nymlink.core.errors import StoreError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.store.arrays import map_array, save_array
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.vocabulary.columns import Columns
from nymlink.vocabulary.concepts import Source

KIND: Final = "vocabulary"
VERSION: Final = 2
_TABLES: Final = ("concepts", "names", "redirects")
_ARRAYS: Final = ("name_offsets", "concepts_by_id", "names_by_key")


def save(columns: Columns, sources: Sequence[Source], target: Path, *, settings: Mapping[str, Any]) -> None:
    """Write a vocabulary directory atomically.

    Raises:
        OutputError: it cannot be written; nothing is left behind.
    """
    body = {
        "concepts": columns.concepts.num_rows,
        "names": columns.names.num_rows,
        "sources": [source.to_dict() for source in sources],
        "settings": dict(settings),
    }
    with write_directory(target, kind=KIND, version=VERSION, body=body) as directory:
        for name in _TABLES:
            table: pa.Table = getattr(columns, name)
            with (
                pa.OSFile(str(directory / f"{name}.arrow"), "wb") as sink,
                pa.ipc.new_file(sink, table.schema) as file,
            ):
                file.write_table(table)
        for name in _ARRAYS:
            save_array(directory, name, getattr(columns, name))


def load(directory: Path) -> tuple[Columns, tuple[Source, ...], dict[str, Any]]:
    """Open a vocabulary directory: its columns (memory-mapped), sources and settings.

    Raises:
        StoreError: it is missing, damaged, or of another format version.
    """
    manifest = read_manifest(directory, kind=KIND, version=VERSION)
    try:
        require_files(manifest, [f"{name}.arrow" for name in _TABLES] + [f"{name}.npy" for name in _ARRAYS])
        tables = {name: _map_table(directory / f"{name}.arrow") for name in _TABLES}
        arrays = {name: map_array(directory, name) for name in _ARRAYS}
        columns = Columns(**tables, **arrays)
        sources = tuple(to_dataclass(Source, source) for source in member(manifest, "sources", list))
        return columns, sources, member(manifest, "settings", dict)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"the vocabulary is damaged ({error}): build it again", path=directory) from error


def _map_table(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        table: pa.Table = pa.ipc.open_file(source).read_all()
    # Validate everything now: Arrow does not check offsets and dictionary codes when it uses them.
    table.validate(full=True)
    return table
