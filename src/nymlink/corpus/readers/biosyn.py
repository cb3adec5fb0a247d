"""Reader of BioSyn's preprocessed queries: a folder of ``*.concept`` files, one per document, or one such file.

A line is ``pmid||start|end||type||mention||ids``. The mention is normalised, its abbreviations are expanded, and
the parts of a composite mention are written out with ``|`` between them; ``ids`` are joined by ``|`` or ``+``.
Offsets refer to a text that is not included. The format is that of Sung et al., "Biomedical entity representations
with synonym marginalization" (ACL 2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import first_lines, most_match, source_name, split_ids, split_parts

_LINE: Final = re.compile(
    r"\s*([^|\s][^|]*)\|\|\s*([0-9]{1,9})\s*\|{1,2}\s*([0-9]{1,9})\s*\|\|([^|]*)\|\|(.*?)\|\|(.*)"
)


def _recognises(path: Path, head: str) -> bool:
    return bool(_concept_files(path)) if path.is_dir() else most_match(first_lines(head), _LINE)


def _concept_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith((".concept", ".concept.gz")))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    usable = False
    for file in _concept_files(path) if path.is_dir() else [path]:
        for document in _documents(file, problems):
            usable = usable or bool(document.mentions)
            yield document
    if not usable:
        raise InputError("no line of the form pmid||start|end||type||mention||ids in it", path=path)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    mentions: dict[str, list[Mention]] = {}
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None or not match[5].strip(" |"):
            problems.reject(path, number, "not of the form pmid||start|end||type||mention||ids")
            continue
        if int(match[2]) > int(match[3]):
            problems.repair(path, number, f"{match[2]} and {match[3]} are not offsets: they were left out")
        mentions.setdefault(match[1].strip(), []).append(_mention(match))
    if not mentions:
        # The file of an abstract without annotations is empty.
        yield Document(source_name(path))
    for id_, own_mentions in mentions.items():
        yield Document(id_, mentions=tuple(own_mentions))


def _mention(match: re.Match[str]) -> Mention:
    parts = split_parts(match[5])
    start, end = int(match[2]), int(match[3])
    return Mention(
        # Parts joined by blanks: a normalised query has no punctuation.
        " ".join(parts) if parts else match[5].strip(" |"),
        start=start if start <= end else None,
        end=end if start <= end else None,
        type=match[4].strip(),
        concept_ids=split_ids(match[6], "|+"),
        parts=parts,
        prepared=True,
    )


FORMAT: Final[CorpusFormat] = Format(
    name="biosyn",
    description="BioSyn's preprocessed queries: a folder of .concept files, or one of them",
    recognises=_recognises,
    read=_read,
)
