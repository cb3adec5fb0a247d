"""Reader of GSC+: abstracts in a folder ``corpus``, annotations in a folder ``ann``, in files of the same names.

A line of annotations is ``[start::end]<TAB>HP_0001156 | mention``; offsets are half-open. Groza et al., "Automatic
concept recognition using the Human Phenotype Ontology reference and test suite corpora" (2015); corrected by Lobo
et al., "Identifying human phenotype terms by combining machine learning and validation rules" (2017).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.offset_units import OffsetUnit, to_code_points
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import first_lines, most_match
from nymlink.corpus.readers.offsets import check_offsets

_ANNOTATIONS: Final = "ann"
_TEXTS: Final = "corpus"
_LINE: Final = re.compile(r"\[([0-9]{1,9})::([0-9]{1,9})\]\t\s*([A-Za-z]+)[_:](\w+)\s*\|\s*(\S.*?)\s*")

_EXAMINED: Final = 20
"""Files of a folder examined to recognise the format; the file of an abstract without annotations is empty."""


def _recognises(path: Path, head: str) -> bool:
    if not path.is_dir():
        return most_match(first_lines(head), _LINE)
    return any(map(_is_annotations, islice(_files(path), _EXAMINED)))


def _is_annotations(path: Path) -> bool:
    try:
        return most_match(first_lines(read_head(path)), _LINE)
    except InputError:
        return False


def _files(path: Path) -> Iterator[Path]:
    inside = path / _ANNOTATIONS
    folder = inside if inside.is_dir() else path
    # File managers and editors leave hidden files.
    return (file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith("."))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    usable = False
    for file in _files(path) if path.is_dir() else [path]:
        document = _document(file, options.offsets, problems)
        usable = usable or bool(document.mentions)
        yield document
    if not usable:
        raise InputError("no line of the form [start::end]<TAB>id | mention in it", path=path)


def _document(path: Path, unit: OffsetUnit, problems: Problems) -> Document:
    text = _text(path, problems)
    offsets = to_code_points(text, unit)
    mentions = []
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        if (match := _LINE.fullmatch(line)) is None:
            problems.reject(path, number, "not of the form [start::end]<TAB>id | mention")
            continue
        surface, concept_id = match[5], f"{match[3]}:{match[4]}"
        start, end = (
            check_offsets(
                text,
                surface,
                offsets(int(match[1])),
                offsets(int(match[2])),
                path=path,
                line=number,
                problems=problems,
            )
            if text
            else (None, None)
        )
        mentions.append(Mention(surface, start=start, end=end, concept_ids=(concept_id,)))
    # Not the stem: a name like 10.1093 has no ending.
    return Document(path.name.removesuffix(".gz"), text, tuple(mentions))


def _text(annotations: Path, problems: Problems) -> str:
    """Read the annotated text; empty where there is none."""
    folder = annotations.parent.parent / _TEXTS
    path = folder / annotations.name
    if annotations.parent.name != _ANNOTATIONS or not folder.is_dir():
        return ""
    if not path.is_file():
        problems.repair(annotations, None, f"the text {path} does not exist: the offsets were left out")
        return ""
    return "\n".join(line for _, line in read_lines(path, problems))


FORMAT: Final[CorpusFormat] = Format(
    name="gsc",
    description="GSC+: folders corpus and ann, with files of the same names (Human Phenotype Ontology)",
    recognises=_recognises,
    read=_read,
)
