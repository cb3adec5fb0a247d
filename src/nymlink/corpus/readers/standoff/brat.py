"""Reader of BRAT standoff: a folder of ``.ann`` files with their ``.txt``, or one ``.ann`` file beside its text.

::

    T1<TAB>Disease 0 5;16 22<TAB>breast cancer
    N1<TAB>Reference T1 MESH:D001943<TAB>Breast Neoplasms

Lines that begin with T are mentions, in pieces where they are discontinuous; those with N give their concepts.
Other lines (relations, events, attributes, notes) are ignored. Offsets count every character of the text, those of
line ends too (https://brat.nlplab.org/standoff.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name, read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.core.structured.text_blocks import read_text_blocks
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.offset_units import OffsetUnit, to_code_points
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import clean_ids, first_lines, most_match
from nymlink.corpus.readers.offsets import place_mention

LOCAL_PREFIX: Final = "id:"
"""Before a concept id without a prefix of its own: BRAT wants the name of a database before every id."""

_MENTION: Final = re.compile(r"(T\S*)\t(\S+) ([0-9]{1,10} [0-9]{1,10}(?:;[0-9]{1,10} [0-9]{1,10})*)(?:\t(.*))?")
_CONCEPT: Final = re.compile(r"N\S*\t\S+ (T\S*) (\S+)(?:\t.*)?")
_OTHER: Final = re.compile(r"[REAM*#]\S*\t.*")
_LINE: Final = re.compile(rf"(?:{_MENTION.pattern}|{_CONCEPT.pattern}|[REAM*#][0-9]*\t\S.*)$")
_ANNOTATIONS: Final = (".ann", ".ann.gz")


class _Draft(NamedTuple):
    """A line of a mention."""

    line: int
    mention: Mention
    pieces: list[tuple[int, int]]


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return next(_annotation_files(path), None) is not None
    lines = first_lines(head)
    return most_match(lines, _LINE) and any(map(_MENTION.fullmatch, lines))


def _annotation_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.name.endswith(_ANNOTATIONS) and path.name[0] != ".")


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    usable = False
    for file in _annotation_files(path) if path.is_dir() else [path]:
        document = _document(file, options.offsets, problems)
        usable = usable or bool(document.mentions)
        yield document
    if not usable:
        raise InputError("no line of the form T1<TAB>Type 0 5<TAB>mention in it", path=path)


def _document(path: Path, unit: OffsetUnit, problems: Problems) -> Document:
    drafts: dict[str, _Draft] = {}
    concepts: dict[str, list[str]] = {}
    for number, line in read_lines(path, problems):
        if not line.strip() or _OTHER.fullmatch(line):
            continue
        if match := _MENTION.fullmatch(line):
            places = (piece.split(" ") for piece in match[3].split(";"))
            pieces = [(int(start), int(end)) for start, end in places]
            drafts[match[1]] = _Draft(number, Mention(match[4] or "", type=match[2], id=match[1]), pieces)
        elif match := _CONCEPT.fullmatch(line):
            concepts.setdefault(match[1], []).append(match[2].removeprefix(LOCAL_PREFIX))
        else:
            problems.reject(path, number, "not of the form T1<TAB>Type 0 5<TAB>mention, nor a line of BRAT")
    text = _text(path, problems)
    offsets = to_code_points(text, unit)
    mentions = []
    for id_, draft in drafts.items():
        ids = clean_ids(concepts.pop(id_, ()))
        mention = Mention(draft.mention.text, type=draft.mention.type, concept_ids=ids, id=id_)
        pieces = [(offsets(start), offsets(end)) for start, end in draft.pieces] if text else []
        placed = place_mention(mention, text, pieces, path=path, line=draft.line, problems=problems)
        if placed is not None:
            mentions.append(placed)
    for id_ in concepts:
        problems.reject(path, None, f"a concept of {id_}, and there is no such mention")
    # Not the stem: a name like 10.1093 has no ending.
    return Document(decoded_name(path).removesuffix(".gz").removesuffix(".ann"), text, tuple(mentions))


def _text(annotations: Path, problems: Problems) -> str:
    """Read the annotated text with its line ends as they are; empty where there is none."""
    stem = annotations.name.removesuffix(".gz").removesuffix(".ann")
    for name in (f"{stem}.txt", f"{stem}.txt.gz"):
        if (path := annotations.with_name(name)).is_file():
            return "".join(read_text_blocks(path, problems))
    problems.repair(annotations, None, f"there is no {stem}.txt beside it: the offsets were left out")
    return ""


FORMAT: Final[CorpusFormat] = Format(
    name="brat",
    description="BRAT standoff: a folder of .ann files with their .txt, or one .ann file",
    recognises=_recognises,
    read=_read,
)
