"""Annotations beside texts: BRAT, and CoNLL with offsets.

BRAT::

    T1<TAB>Disease 0 5;16 22<TAB>breast cancer
    N1<TAB>Reference T1 MESH:D001943<TAB>Breast Neoplasms

Lines that begin with T are mentions; discontinuous mentions have several pieces. Lines that begin with N give the
concepts of mentions. Other lines (relations, events, attributes, notes) are ignored. Offsets count every character
of the text, including line ends (https://brat.nlplab.org/standoff.html).

CoNLL::

    # newdoc id = 7
    Breast<TAB>0<TAB>6<TAB>B-Disease<TAB>MESH:D001943
    cancer<TAB>7<TAB>13<TAB>I-Disease

The columns may be in the order of BRAT's converter (tag, start, end, token). The last column of the first token of
a mention has its concepts. Documents begin at ``# newdoc id =`` or ``-DOCSTART-``, and their offsets begin at 0.
The reader writes blanks for the gap between two tokens, and a line break for an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name, read_lines, read_text_blocks
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, place_mention, to_code_points, unit_length
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import (
    CorpusOptions,
    clean_ids,
    distinct_documents,
    first_lines,
    most_match,
    require_documents,
    source_name,
    split_ids,
)

LOCAL_PREFIX: Final = "id:"
"""Put before a concept id without a prefix, because BRAT requires a database name before every id."""

_MENTION: Final = re.compile(r"(T\S*)\t(\S+) ([0-9]{1,10} [0-9]{1,10}(?:;[0-9]{1,10} [0-9]{1,10})*)(?:\t(.*))?")
_CONCEPT: Final = re.compile(r"N\S*\t\S+ (T\S*) (\S+)(?:\t.*)?")
_OTHER: Final = re.compile(r"[REAM*#]\S*\t.*")
_LINE_BRAT: Final = re.compile(rf"(?:{_MENTION.pattern}|{_CONCEPT.pattern}|[REAM*#][0-9]*\t\S.*)$")
_ANNOTATIONS: Final = (".ann", ".ann.gz")


class _BratDraft(NamedTuple):
    """The line of a mention."""

    line: int
    mention: Mention
    pieces: list[tuple[int, int]]


def _recognises_brat(path: Path, head: str) -> bool:
    if path.is_dir():
        return next(_annotation_files(path), None) is not None
    lines = first_lines(head)
    return most_match(lines, _LINE_BRAT) and any(map(_MENTION.fullmatch, lines))


def _annotation_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.name.endswith(_ANNOTATIONS) and path.name[0] != ".")


def _read_brat(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    usable = False
    for file in _annotation_files(path) if path.is_dir() else [path]:
        document = _document(file, options.offsets, problems)
        usable = usable or bool(document.mentions)
        yield document
    if not usable:
        raise InputError("no line of the form T1<TAB>Type 0 5<TAB>mention in it", path=path)


def _document(path: Path, unit: OffsetUnit, problems: Problems) -> Document:
    drafts: dict[str, _BratDraft] = {}
    concepts: dict[str, list[str]] = {}
    for number, line in read_lines(path, problems):
        if not line.strip() or _OTHER.fullmatch(line):
            continue
        if match := _MENTION.fullmatch(line):
            places = (piece.split(" ") for piece in match[3].split(";"))
            pieces = [(int(start), int(end)) for start, end in places]
            drafts[match[1]] = _BratDraft(number, Mention(match[4] or "", type=match[2], id=match[1]), pieces)
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
    # Not the stem: the name 10.1093 has no ending.
    return Document(decoded_name(path).removesuffix(".gz").removesuffix(".ann"), text, tuple(mentions))


def _text(annotations: Path, problems: Problems) -> str:
    """Read the annotated text with its line ends unchanged; return an empty text if it is missing."""
    stem = annotations.name.removesuffix(".gz").removesuffix(".ann")
    for name in (f"{stem}.txt", f"{stem}.txt.gz"):
        if (path := annotations.with_name(name)).is_file():
            return "".join(read_text_blocks(path, problems))
    problems.repair(annotations, None, f"there is no {stem}.txt beside it: the offsets were left out")
    return ""


BRAT: Final[CorpusFormat] = Format(
    name="brat",
    description="BRAT standoff: a folder of .ann files with their .txt, or one .ann file",
    recognises=_recognises_brat,
    read=_read_brat,
)


_OFFSETS: Final = r"([0-9]{1,10})\t([0-9]{1,10})"
_TAG: Final = r"([BIOESLUMW](?:-[^\t]*)?)"
_TOKEN_FIRST: Final = re.compile(rf"([^\t]+)\t{_OFFSETS}\t{_TAG}(?:\t(.*))?")
_TAG_FIRST: Final = re.compile(rf"{_TAG}\t{_OFFSETS}\t([^\t]+)(?:\t(.*))?")
_NEW_DOCUMENT: Final = re.compile(r"#\s*(?:newdoc(?:\s+id\s*=(.*))?|doc_id\s*=(.*))|-DOCSTART-(.*)")
_LINE_CONLL: Final = re.compile(f"{_TOKEN_FIRST.pattern}$|{_TAG_FIRST.pattern}$|{_NEW_DOCUMENT.pattern}$")
_BEGIN: Final = frozenset("BSUW")
"""Letters of tags that begin a mention, in BIO, BIOES and BILOU."""
_WIDEST_GAP: Final = 10_000
"""Largest number of characters between two tokens; a larger gap means a wrong offset."""


class _Token(NamedTuple):
    """The line of a token, with its offsets in units of the file."""

    text: str
    start: int
    end: int
    tag: str
    concepts: str


@dataclass(slots=True)
class _ConllDraft:
    """A document, token by token."""

    id: str
    line: int
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    end: int = 0
    is_new_line: bool = False
    mentions: list[tuple[int, int, str, str]] = field(default_factory=list)
    is_open: bool = False

    def add(self, token: _Token, unit: OffsetUnit) -> str | None:
        """Append a token; return its fault, or ``None``."""
        gap = token.start - self.end
        if not 0 <= gap <= _WIDEST_GAP:
            return f"the token at {token.start} begins {'before' if gap < 0 else 'far from'} the one before it"
        if unit_length(token.text, unit) != token.end - token.start:
            return f"the token {token.text!r} is not as long as from {token.start} to {token.end}"
        between = "\n" + " " * (gap - 1) if gap and self.is_new_line else " " * gap
        self.pieces += (between, token.text)
        start = self.length + gap
        self.length, self.end, self.is_new_line = start + len(token.text), token.end, False
        self._tag(token, start)
        return None

    def _tag(self, token: _Token, start: int) -> None:
        letter, _, kind = token.tag.partition("-")
        if letter == "O":
            self.is_open = False
        elif letter in _BEGIN or not self.is_open or self.mentions[-1][2] != kind:
            self.mentions.append((start, self.length, kind, token.concepts))
            self.is_open = True
        else:
            begin, _, _, concepts = self.mentions[-1]
            self.mentions[-1] = (begin, self.length, kind, concepts)

    def document(self) -> Document:
        text = "".join(self.pieces)
        mentions = (
            Mention(text[start:end], start, end, kind, split_ids(concepts, "|"))
            for start, end, kind, concepts in self.mentions
        )
        return Document(self.id, text, tuple(mentions))


def _recognises_conll(_: Path, head: str) -> bool:
    lines = first_lines(head)
    return most_match(lines, _LINE_CONLL) and any(map(_token, lines))


def _read_conll(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    drafts = _drafts(path, options.offsets, problems)
    documents = ((draft.line, draft.document()) for draft in drafts if draft.pieces)
    return require_documents(
        distinct_documents(documents, path, problems, keep=options.keep_repeated), path=path, problems=problems
    )


def _drafts(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[_ConllDraft]:
    name = source_name(path)
    draft = _ConllDraft(name, 1)
    for number, line in read_lines(path, problems):
        if not line.strip():
            draft.is_new_line, draft.is_open = True, False
        elif match := _NEW_DOCUMENT.fullmatch(line):
            yield draft
            stated = (match[1] or match[2] or (match[3] or "").partition("\t")[0]).strip(" ()\t")
            draft = _ConllDraft(
                stated if stated not in ("", "-X- -X- O", "-X- O O") else f"{name}:{number}", number
            )
        elif (token := _token(line)) is None:
            if not line.startswith("# "):
                problems.reject(path, number, "not of the form token<TAB>start<TAB>end<TAB>tag")
        elif (fault := draft.add(token, unit)) is not None:
            problems.reject(path, number, fault)
    yield draft


def _token(line: str) -> _Token | None:
    if match := _TOKEN_FIRST.fullmatch(line):
        text, start, end, tag, concepts = match.groups()
    elif match := _TAG_FIRST.fullmatch(line):
        tag, start, end, text, concepts = match.groups()
    else:
        return None
    return _Token(text, int(start), int(end), tag, "" if concepts in (None, "_") else concepts)


CONLL: Final[CorpusFormat] = Format(
    name="conll",
    description="CoNLL with offsets: token, start, end, tag and concepts in columns",
    recognises=_recognises_conll,
    read=_read_conll,
    priority=10,
)
