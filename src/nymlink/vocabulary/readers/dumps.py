"""Dumps: folders of delimited files without headers. NCBI Taxonomy and MedDRA.

NCBI Taxonomy: ``names.dmp``, ``nodes.dmp`` and ``merged.dmp``, in a folder or still in the archive
(``taxdump.tar.gz``, ``taxdmp.zip``); columns as in its ``taxdump_readme.txt``. The millions of names are read by
columns.

MedDRA: the folder ``MedAscii`` of a release, columns as in its distribution file format document. Each term of any
level is a concept. Terms of the lowest level that are not current are obsolete, replaced by their preferred term.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.column_files import (
    CODE,
    NUMBER,
    TEXT,
    RowFormat,
    group_lists,
    map_distinct,
    name_table,
    read_blocks,
    read_columns,
)
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, TableBuilder, Tables


def _find(folder: Path, name: str) -> Path | None:
    """Find a file in a folder, plain or gzip, in any case."""
    names = (name, f"{name}.gz")
    with contextlib.suppress(OSError):
        return next(
            (path for path in sorted(folder.iterdir()) if path.name.lower() in names and path.is_file()), None
        )
    return None


_NAMES, _NODES, _MERGED = "names.dmp", "nodes.dmp", "merged.dmp"
_DMP: Final[Mapping[str, RowFormat]] = {
    _NAMES: RowFormat(
        ("tax_id", "name", "unique_name", "class"),
        {"tax_id": NUMBER, "name": TEXT, "class": CODE},
        ("name",),
        delimiter="|",
        is_closed=True,
    ),
    _NODES: RowFormat(
        (
            *("tax_id", "parent", "rank", "embl_code", "division", "inherited_division", "code", "inherited_code"),
            *("mitochondrial", "inherited_mitochondrial", "hidden", "hidden_subtree", "comments"),
        ),
        {"tax_id": NUMBER, "parent": NUMBER, "rank": CODE},
        (),
        delimiter="|",
        is_closed=True,
    ),
    _MERGED: RowFormat(("old", "new"), {"old": NUMBER, "new": NUMBER}, (), delimiter="|", is_closed=True),
}
_KINDS: Final = {
    "scientific name": "preferred",
    "acronym": "abbreviation",
    "genbank acronym": "abbreviation",
    "includes": "narrow",
    "in-part": "broad",
}
"""Kinds of names by their class; names of the other classes are exact."""
_NO_NAMES: Final = ("authority", "type material")
"""Classes of what is no name: citations and specimens."""
_TAXON: Final = "NCBITaxon:"
_ARCHIVES: Final = (".tar.gz", ".tgz", ".tar", ".zip")
_MOST_BYTES: Final = 4 << 30
"""Bytes of a file in an archive at most, unpacked."""


def _is_taxonomy(path: Path, _: str) -> bool:
    if path.is_dir():
        return all(_find(path, name) is not None for name in (_NAMES, _NODES))
    if not path.is_file() or not path.name.lower().endswith(_ARCHIVES):
        return False
    with contextlib.suppress(InputError), _archive(path) as members:
        return {_NAMES, _NODES} <= members.keys()
    return False


@contextlib.contextmanager
def _archive(path: Path) -> Iterator[dict[str, tuple[int, IO[bytes]]]]:
    """Open the files of the taxonomy in an archive: name → size and content.

    Raises:
        InputError: the archive is damaged.
    """
    try:
        with contextlib.ExitStack() as stack:
            members = {}
            if zipfile.is_zipfile(path):
                archive = stack.enter_context(zipfile.ZipFile(path))
                for info in archive.infolist():
                    if (name := Path(info.filename).name) in _DMP:
                        members[name] = (info.file_size, stack.enter_context(archive.open(info)))
            else:
                tar = stack.enter_context(tarfile.open(path))
                for member in tar:
                    if (name := Path(member.name).name) in _DMP and (file := tar.extractfile(member)):
                        members[name] = (member.size, file)
            yield members
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, RuntimeError, zlib.error) as error:
        raise InputError(f"the archive is damaged ({error}): download it again", path=path) from error


def _read_taxonomy(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the taxa: ranks are types; ids that were merged into others redirect to these."""
    if path.is_dir():
        return _taxonomy(path, path, options, problems)
    with tempfile.TemporaryDirectory() as folder:
        with _archive(path) as members:
            for name, (size, file) in members.items():
                if size > _MOST_BYTES:
                    raise InputError(f"{name} has more than {_MOST_BYTES >> 30} GB", path=path)
                with open(Path(folder, name), "wb") as copy:
                    shutil.copyfileobj(file, copy)
        return _taxonomy(Path(folder), path, options, problems)


def _taxonomy(folder: Path, source: Path, options: ReadOptions, problems: Problems) -> Tables:
    languages = LanguageFilter(options)
    names = _rows(folder, source, _NAMES, problems)
    nodes = _rows(folder, source, _NODES, problems)
    if not len(names):
        raise InputError("no taxon that could be used: names.dmp holds them", path=source)
    names = names.filter(pa.array(map_distinct(names["class"], lambda value: _word(value) not in _NO_NAMES, bool)))
    ids = pc.unique(pa.chunked_array([*names["tax_id"].chunks, *nodes["tax_id"].chunks]))
    order = pc.index_in(ids, nodes["tax_id"]).to_numpy(zero_copy_only=False)
    known = ~np.isnan(order)
    taken = nodes.take(pa.array(order[known].astype(np.int64)))
    # The root is its own parent.
    child = taken["parent"].to_numpy() != taken["tax_id"].to_numpy()
    rows = np.flatnonzero(known)
    ranks = pa.array([_word(rank) for rank in taken["rank"].to_pylist()], TEXT)
    no_lists = group_lists(np.array([], np.int64), pa.array([], TEXT), len(ids))
    kinds = map_distinct(names["class"], lambda value: _KINDS.get(_word(value), "exact"), object)
    merged = _rows(folder, source, _MERGED, problems)
    return Tables(
        concepts=pa.table(
            {
                "id": _curies(ids),
                "definition": pa.nulls(len(ids), TEXT),
                "semantic_types": group_lists(rows, ranks, len(ids)),
                "xrefs": no_lists,
                "parents": group_lists(rows[child], _curies(taken["parent"].filter(pa.array(child))), len(ids)),
                "obsolete": np.zeros(len(ids), bool),
                "replaced_by": no_lists,
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(
            pa.table(
                {
                    "concept_id": _curies(names["tax_id"]),
                    "name": names["name"],
                    "lang": pa.repeat(languages.default, len(names)),
                    "kind": pa.array(kinds, TEXT),
                }
            ),
            languages,
        ),
        redirects=pa.table({"old": _curies(merged["old"]), "new": _curies(merged["new"])}, schema=REDIRECT_SCHEMA),
    )


_LONGEST_LINE: Final = 1 << 16
"""Bytes of the first line that are read to count the columns."""


def _with_further_columns(layout: RowFormat, file: Path) -> RowFormat:
    """Add the columns that follow the known ones, as in NCBI's new_taxdump, to the layout of a file."""
    with open_bytes(file) as opened:
        count = opened.readline(_LONGEST_LINE).count(b"|")
    further = (f"further {number}" for number in range(len(layout.columns), count))
    return replace(layout, columns=(*layout.columns, *further))


def _rows(folder: Path, source: Path, name: str, problems: Problems) -> pa.Table:
    """Read a file of the taxonomy; no rows where it is missing."""
    layout = _DMP[name]
    empty = pa.schema(list(layout.wanted.items())).empty_table()
    file = _find(folder, name)
    if file is None:
        return empty
    named = problems.named(source / file.name)
    if name == _NODES:
        layout = _with_further_columns(layout, file)
    with open_bytes(file) as opened:
        blocks = read_columns(read_blocks(opened, file, named), layout, named)
        tables = [empty, *(block.select(list(layout.wanted)) for block in blocks)]
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _word(value: str | None) -> str:
    """Strip a cell, which has tabs around it."""
    return (value or "").strip()


def _curies(numbers: pa.Array | pa.ChunkedArray) -> pa.Array:
    ids = pc.binary_join_element_wise(_TAXON, pc.cast(numbers, TEXT), "")
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids


NCBI_TAXONOMY: Final[VocabularyFormat] = Format(
    name="ncbi-taxonomy",
    description="NCBI Taxonomy: the folder or archive with names.dmp and nodes.dmp",
    recognises=_is_taxonomy,
    read=_read_taxonomy,
    is_binary=True,
)


_LEVELS: Final = ("soc", "hlgt", "hlt", "pt", "llt")
_LINKS: Final = ("soc_hlgt", "hlgt_hlt", "hlt_pt")
"""Files whose rows hold a term and one of the level below it."""
_HIERARCHY: Final = "mdhier"
_RELEASE: Final = "meddra_release"
_FOLDER: Final = "medascii"
_MEDDRA: Final = "MEDDRA:"
_CODE: Final = re.compile(r"\d{1,10}")
_CURRENCY: Final = 9
"""Place of the flag in a row of llt.asc that says whether the term is current."""


def _meddra_folder(path: Path) -> Path | None:
    """Find the folder of the files: the one given, or ``MedAscii`` in it."""
    if not path.is_dir():
        return None
    with contextlib.suppress(OSError):
        folders = [path, *(inner for inner in sorted(path.iterdir()) if inner.name.lower() == _FOLDER)]
        return next((folder for folder in folders if _find(folder, "llt.asc")), None)
    return None


def _read_meddra(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the terms of all levels; their level is their type, parents come from the files of the hierarchy."""
    folder = _meddra_folder(path)
    if folder is None:
        raise InputError("no llt.asc in the folder, nor in a folder MedAscii in it", path=path)
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for level in _LEVELS:
        for fields in _asc_rows(folder, level, 3 if level == "llt" else 2, problems):
            id_, above = _MEDDRA + fields[0], _MEDDRA + fields[2]
            is_lowest = level == "llt" and id_ != above
            is_old = level == "llt" and fields[_CURRENCY:][:1] == ["N"]
            kind = "exact" if id_ in builder else "preferred"
            builder.concept(
                id_,
                semantic_types=[level.upper()] if id_ not in builder else [],
                parents=[above] if is_lowest else [],
                obsolete=is_old,
                replaced_by=[above] if is_old and is_lowest else [],
            )
            if languages.wants(languages.default):
                builder.name(id_, fields[1], lang=languages.default, kind=kind)
    if not len(builder):
        raise InputError("no term that could be used", path=path)
    pairs = [fields[:2] for name in _LINKS for fields in _asc_rows(folder, name, 2, problems)]
    if not pairs:
        rows = _asc_rows(folder, _HIERARCHY, 4, problems)
        pairs = [pair for pt, hlt, hlgt, soc, *_ in rows for pair in ([soc, hlgt], [hlgt, hlt], [hlt, pt])]
    for above, below in pairs:
        if _MEDDRA + below in builder:
            builder.concept(_MEDDRA + below, parents=[_MEDDRA + above])
    release = _find(folder, f"{_RELEASE}.asc")
    if release is not None:
        line = next((line for _, line in read_lines(release, problems) if line.strip()), "")
        builder.version = line.partition("$")[0].strip() or None
    return builder.build()


def _asc_rows(folder: Path, name: str, least: int, problems: Problems) -> Iterator[list[str]]:
    """Yield the rows of a file with a code and ``least`` fields that are not blank; none of a missing file."""
    file = _find(folder, f"{name}.asc")
    for number, line in read_lines(file, problems) if file is not None else ():
        if not line.strip():
            continue
        fields = [*map(str.strip, line.split("$"))]
        if len(fields) <= least or not all(fields[:least]) or not _CODE.fullmatch(fields[0]):
            problems.reject(file or folder, number, f"not a row of {name}.asc: code and name, separated by $")
        else:
            yield fields


MEDDRA: Final[VocabularyFormat] = Format(
    name="meddra",
    description="MedDRA: a folder with llt.asc and pt.asc (MedAscii)",
    recognises=lambda path, _: _meddra_folder(path) is not None,
    read=_read_meddra,
)
