"""Formats of single corpora: AskAPatient, BioSyn's, GSC+, XL-BEL.

AskAPatient has ids of SNOMED CT or AMT. Limsopatham & Collier, "Normalising medical concepts in social media texts
by learning semantic representation" (ACL 2016).

A line of BioSyn is ``pmid||start|end||type||mention||ids``. The mention is normalised with its abbreviations
expanded; the parts of a composite mention are written out and joined by ``|``; ``ids`` are joined by ``|`` or
``+``. Offsets refer to a text that is not included. The format is that of Sung et al., "Biomedical entity
representations with synonym marginalization" (ACL 2020).

A line of GSC+ is ``[start::end]<TAB>HP_0001156 | mention``; offsets are half-open. Groza et al., "Automatic
concept recognition using the Human Phenotype Ontology reference and test suite corpora" (2015); corrected by Lobo
et al., "Identifying human phenotype terms by combining machine learning and validation rules" (2017).

In XL-BEL several gold ids are alternatives, joined by ``|``. The name of a published file states the language of
its mentions (``es_1k_test_query.txt``). Liu et al., "Learning domain-specialised representations for cross-lingual
biomedical entity linking" (ACL 2021).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, check_offsets, to_code_points
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import (
    CorpusOptions,
    first_lines,
    most_match,
    require_documents,
    source_name,
    split_ids,
    split_parts,
)
from nymlink.tables.columns import is_mention
from nymlink.tables.foreign_formats import describe_format

_ID: Final = re.compile(r"[0-9]{6,18}")
# The third column must not look like an id; otherwise the columns are PMID, mention, concept.
_LINE_ASKAPATIENT: Final = re.compile(r"[0-9]{6,18}\t[^\t]*\t(?!\s*[A-Za-z]{0,12}[:_]?[0-9]+\s*$)[^\t]+$")


def _recognises_askapatient(_: Path, head: str) -> bool:
    lines = first_lines(head)
    return most_match(lines, _LINE_ASKAPATIENT) and not any(map(is_mention, lines[0].split("\t")))


def _read_askapatient(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents_askapatient(path, problems), path=path, problems=problems)


def _documents_askapatient(path: Path, problems: Problems) -> Iterator[Document]:
    mentions = []
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        row = [cell.strip() for cell in line.split("\t")]
        if len(row) != 3 or not _ID.fullmatch(row[0]) or not row[2]:
            problems.reject(path, number, "not of the form id<TAB>label<TAB>phrase with a SNOMED CT or AMT id")
            continue
        mentions.append(Mention(row[2], concept_ids=(row[0],)))
    if mentions:
        yield Document(source_name(path), mentions=tuple(mentions))


ASKAPATIENT: Final[CorpusFormat] = Format(
    name="askapatient",
    description="AskAPatient: concept id, label and phrase in three columns without a header",
    recognises=_recognises_askapatient,
    read=_read_askapatient,
)


_LINE_BIOSYN: Final = re.compile(
    r"\s*([^|\s][^|]*)\|\|\s*([0-9]{1,9})\s*\|{1,2}\s*([0-9]{1,9})\s*\|\|([^|]*)\|\|(.*?)\|\|(.*)",
    re.DOTALL,
)


def _recognises_biosyn(path: Path, head: str) -> bool:
    return bool(_concept_files(path)) if path.is_dir() else most_match(first_lines(head), _LINE_BIOSYN)


def _concept_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith((".concept", ".concept.gz")))


def _read_biosyn(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    usable = False
    for file in _concept_files(path) if path.is_dir() else [path]:
        for document in _documents_biosyn(file, problems):
            usable = usable or bool(document.mentions)
            yield document
    if not usable:
        raise InputError("no line of the form pmid||start|end||type||mention||ids in it", path=path)


def _documents_biosyn(path: Path, problems: Problems) -> Iterator[Document]:
    mentions: dict[str, list[Mention]] = {}
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        match = _LINE_BIOSYN.fullmatch(line)
        if match is None or not match[5].strip(" |"):
            problems.reject(path, number, "not of the form pmid||start|end||type||mention||ids")
            continue
        if int(match[2]) > int(match[3]):
            problems.repair(path, number, f"{match[2]} and {match[3]} are not offsets: they were left out")
        mentions.setdefault(match[1].strip(), []).append(_mention(match))
    if not mentions:
        # An abstract without annotations has an empty file.
        yield Document(source_name(path))
    for id_, own_mentions in mentions.items():
        yield Document(id_, mentions=tuple(own_mentions))


def _mention(match: re.Match[str]) -> Mention:
    parts = split_parts(match[5])
    start, end = int(match[2]), int(match[3])
    return Mention(
        # Parts are joined by blanks, because a normalised query has no punctuation.
        " ".join(parts) if parts else match[5].strip(" |"),
        start=start if start <= end else None,
        end=end if start <= end else None,
        type=match[4].strip(),
        concept_ids=split_ids(match[6], "|+"),
        parts=parts,
        prepared=True,
    )


BIOSYN: Final[CorpusFormat] = Format(
    name="biosyn",
    description="BioSyn's preprocessed queries: a folder of .concept files, or one of them",
    recognises=_recognises_biosyn,
    read=_read_biosyn,
)


_ANNOTATIONS: Final = "ann"
_TEXTS: Final = "corpus"
_LINE_GSC: Final = re.compile(r"\[([0-9]{1,9})::([0-9]{1,9})\]\t\s*([A-Za-z]+)[_:](\w+)\s*\|\s*(\S(?:.*\S)?)\s*")

_EXAMINED: Final = 20
"""Number of files in a folder that are examined for the format; abstracts without annotations have empty files."""


def _recognises_gsc(path: Path, head: str) -> bool:
    if not path.is_dir():
        return most_match(first_lines(head), _LINE_GSC)
    return any(map(_is_annotations, islice(_files(path), _EXAMINED)))


def _is_annotations(path: Path) -> bool:
    try:
        return most_match(first_lines(read_head(path)), _LINE_GSC)
    except InputError:
        return False


def _files(path: Path) -> Iterator[Path]:
    inside = path / _ANNOTATIONS
    folder = inside if inside.is_dir() else path
    # Skip hidden files of file managers and editors.
    return (file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith("."))


def _read_gsc(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
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
        if (match := _LINE_GSC.fullmatch(line)) is None:
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
    # Not the stem: the name 10.1093 has no ending.
    return Document(path.name.removesuffix(".gz"), text, tuple(mentions))


def _text(annotations: Path, problems: Problems) -> str:
    """Read the annotated text; return an empty text if it is missing."""
    folder = annotations.parent.parent / _TEXTS
    path = folder / annotations.name
    if annotations.parent.name != _ANNOTATIONS or not folder.is_dir():
        return ""
    if not path.is_file():
        problems.repair(annotations, None, f"the text {path} does not exist: the offsets were left out")
        return ""
    return "\n".join(line for _, line in read_lines(path, problems))


GSC: Final[CorpusFormat] = Format(
    name="gsc",
    description="GSC+: folders corpus and ann, with files of the same names (Human Phenotype Ontology)",
    recognises=_recognises_gsc,
    read=_read_gsc,
)


_LINE_XLBEL: Final = re.compile(r"[^\s|]+(\|[^\s|]+)*\|\|[^|]*[^|\s]")
_PUBLISHED: Final = re.compile(r"([a-z]{2,3})_[0-9]+k_")
"""Beginning of the names of the published files: ``es_1k_test_query.txt``."""
_TAG: Final = re.compile(r"</?tgt>")


def _recognises_xlbel(_: Path, head: str) -> bool:
    return most_match(first_lines(head), _LINE_XLBEL) and describe_format(head) is None


def _read_xlbel(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents_xlbel(path, problems), path=path, problems=problems)


def _documents_xlbel(path: Path, problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    published = _PUBLISHED.match(name)
    language = None if published is None else normalise_language(published[1])
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        fields = line.split("||", 2)
        if len(fields) < 2 or not fields[1].strip():
            problems.reject(path, number, "not of the form id||mention or id||mention||context")
            continue
        surface, ids = fields[1].strip(), split_ids(fields[0], "|")
        text, start, end = "", None, None
        if len(fields) == 3:
            text = _TAG.sub("", fields[2])
            tagged = fields[2].find("<tgt>"), fields[2].find("</tgt>") - len("<tgt>")
            if 0 <= tagged[0] <= tagged[1]:
                start, end = check_offsets(text, surface, *tagged, path=path, line=number, problems=problems)
            else:
                problems.repair(path, number, f"no <tgt> tags in the context: {surface!r} kept without offsets")
        mention = Mention(surface, start=start, end=end, concept_ids=ids, language=language)
        yield Document(f"{name}:{number}", text, (mention,))


XLBEL: Final[CorpusFormat] = Format(
    name="xlbel",
    description="XL-BEL: id||mention, or id||mention||context with <tgt>mention</tgt> in the context",
    recognises=_recognises_xlbel,
    read=_read_xlbel,
    priority=10,
)
