"""Time against length: texts of one pattern, ever longer, through all that reads text.

The length doubles until a use takes long; the time may grow no faster than the text.
"""

from __future__ import annotations

import contextlib
import json
import math
import random
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.sax.saxutils import escape

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import row
from nymlink.annotation.annotator import Annotator
from nymlink.core.errors import NymlinkError
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.read import read_documents
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.abbreviations import find_definitions
from nymlink.text.english.composite import split_composite
from nymlink.text.expansion import expand_text
from nymlink.text.prepare import prepare_document
from nymlink.vocabulary.read import read_vocabulary

_SHORTEST: Final = 1 << 12
_LONGEST: Final = 1 << 15, 1 << 20
"""Characters of the texts; the last with ``--long``."""
_FLOOR: Final = 0.1
"""Seconds below which a time says nothing."""
_FURTHEST: Final = 8.0
"""Seconds after which no longer text is tried."""
_TIMES: Final = 3
"""Measurements, the shortest of which counts, where the first looks bad."""
_POWER: Final = 1.3
"""The time may grow with this power of the length: noise and caches of the processor add some tenths."""

_UNITS: Final = {
    "one letter": "a",
    "one capital": "A",
    "one word": "seizure ",
    "name of a concept": "myocardial infarction ",
    "names in a list": "heart attack, focal seizure and ",
    "and": "and ",
    "commas": ", ",
    "open brackets": "(",
    "open brackets and letters": "(A ",
    "empty brackets": "()",
    "closing brackets": ")",
    "definitions": "myocardial infarction (MI) of ",
    "definitions in brackets": "MI (myocardial infarction), ",
    "definitions that nest": "(myocardial infarction (MI) ",
    "locants": "2-(4-",
    "descriptors": "alpha-",
    "hyphens": "-",
    "hyphens between letters": "a-",
    "slashes": "and/or/",
    "words and slashes": "breast/ovarian ",
    "digits": "1",
    "numbers": "1.5 ",
    "numbers and letters": "type 1a, ",
    "roman numerals": "iv",
    "combining marks": "\u0301",
    "letters and marks": "e\u0301\u0323",
    "marks out of order": "a\u0301\u0327\u0323",
    "ligatures": "\ufb03",
    "emoji": "\U0001f469\u200d\U0001f52c",
    "blanks": " ",
    "line breaks": "\n",
    "line breaks of Windows": "a\r\n",
    "sentences": "No MI. ",
    "negations": "no seizure but no ",
    "mixed scripts": "инфаркт 心筋梗塞 قلب ",
    "Han": "心",
    "Han with a blank": "心筋 ",
    "Turkish capitals": "İ",
    "Greek letters": "αβ-",
    "apostrophes": "'s ",
    "quotation marks": '"',
    "misspelt": "siezure hart atack ",
    "backslashes": "\\",
    "angle brackets": "<a ",
    "ampersands": "&a;",
    "equals": "a=",
    "colons": "a: ",
    "stops": "a. A",
}


def _repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _words(length: int, letters: str) -> str:
    """Write words that differ."""
    chance = random.Random(0)
    words = ("".join(chance.choices(letters, k=chance.randrange(3, 12))) for _ in range(length // 4))
    return " ".join(words)[:length]


def _definitions(length: int) -> str:
    """Define short forms that differ."""
    chance = random.Random(0)

    def one() -> str:
        words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(4)]
        return f"{' '.join(words)} ({''.join(word[0] for word in words).upper()}). "

    return "".join(one() for _ in range(length // 30))[:length]


_MADE: Final[dict[str, Callable[[int], str]]] = {
    "brackets that nest": lambda length: "(" * (length // 2) + ")" * (length // 2),
    "brackets of three kinds that nest": lambda length: "([{" * (length // 6) + "}])" * (length // 6),
    "brackets that cross": lambda length: "(" * (length // 2) + "]" * (length // 2),
    "words that differ": partial(_words, letters="abcdefghijklmnopqrstuvwxyz"),
    # As long as the others when normalised.
    "a ligature of 18 letters": lambda length: "\ufdfa" * (length // 18),
    "words of few letters": partial(_words, letters="aest"),
    "definitions that differ": _definitions,
    "numbers that differ": lambda length: " ".join(f"type {number}" for number in range(length // 8))[:length],
    "a number of that many digits": lambda length: "9" * length,
    "one word without an end": lambda length: ("siezure" * length)[:length],
}
PATTERNS: Final[dict[str, Callable[[int], str]]] = {
    **{name: partial(_repeated, unit) for name, unit in _UNITS.items()},
    **_MADE,
}


def _index() -> Index:
    from tests.serve.toy import built_index

    return built_index()


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _corpus(name: str, written: Callable[[str], str], text: str, folder: Path) -> None:
    """Read a corpus in which a text is written."""
    (folder / name).write_bytes(written(text).encode())
    (folder / "a.txt").write_bytes(text.encode())
    for _ in read_documents(folder / name):
        pass


def _passage(text: str) -> dict[str, object]:
    annotation = {"text": text, "infons": {"identifier": text}, "locations": [{"offset": 0, "length": len(text)}]}
    return {"id": "1", "passages": [{"offset": 0, "text": text, "annotations": [annotation]}]}


def _xml(text: str) -> str:
    inner = escape(text)
    return (
        f"<collection><document><id>1</id><passage><offset>0</offset><text>{inner}</text><annotation>"
        f'<location offset="0" length="{len(text)}"/><text>{inner}</text>'
        "</annotation></passage></document></collection>"
    )


def _flat(text: str) -> str:
    return " ".join(text.split())


_FILES: Final[dict[str, Callable[[str], str]]] = {
    "table.csv": lambda text: f"term,id\n{_cell(text)},{_cell(text)}\n",
    "cells.csv": lambda text: f"term,id\n{text}\n",
    "table.jsonl": lambda text: json.dumps({"term": text, "id": text}) + "\n",
    "any": lambda text: text,
    "bioc.json": lambda text: json.dumps({"documents": [_passage(text)]}),
    "bioc.xml": _xml,
    "pubtator.txt": lambda text: (
        f"1|t|{_flat(text)}\n1|a|{_flat(text)}\n1\t0\t1\t{_flat(text)}\tD\t{_flat(text)}\n"
    ),
    "a.ann": lambda text: f"T1\tDisease 0 1\t{_flat(text)}\nN1\tReference T1 {_flat(text)}\n",
    "a.conll": lambda text: f"a\t0\t1\tB-D\t{_flat(text)}\n{_flat(text)}\n",
}
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_OWL: Final = "http://www.w3.org/2002/07/owl#"
_VOCABULARIES: Final[dict[str, Callable[[str], str]]] = {
    "names.tsv": lambda text: f"id\tname\nA:1\t{_flat(text)}\nA:2\ta\n",
    "names.csv": lambda text: f"id,name,synonyms\nA:1,a,{_cell(text)}\n",
    "a.obo": lambda text: (
        f'format-version: 1.2\n\n[Term]\nid: A:1\nname: {_flat(text)}\nsynonym: "{_flat(text)}" EXACT []\n'
        f'synonym: {_flat(text)}\ndef: "{_flat(text)}" [{_flat(text)}]\n'
    ),
    "a.ttl": lambda text: (
        f"@prefix rdfs: <{_RDFS}> .\n@prefix owl: <{_OWL}> .\n"
        f"<http://a/A_1> a owl:Class ; rdfs:label {json.dumps(text)} .\n"
        f"<http://a/A_2> a owl:Class ; {_flat(text)} .\n"
    ),
    "a.ofn": lambda text: (
        f"Prefix(owl:=<{_OWL}>)\nOntology(<http://a>\nDeclaration(Class(<http://a/A_1>))\n"
        f"AnnotationAssertion(rdfs:label <http://a/A_1> {_cell(text)})\n{_flat(text)}\n)\n"
    ),
    "a.owl": lambda text: (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="{_OWL}" '
        f'xmlns:rdfs="{_RDFS}">'
        f'<owl:Class rdf:about="http://a/A_1"><rdfs:label>{escape(text)}</rdfs:label></owl:Class></rdf:RDF>'
    ),
}


def _vocabulary(name: str, written: Callable[[str], str], text: str, folder: Path) -> None:
    (folder / name).write_bytes(written(text).encode())
    read_vocabulary(folder / name)


def _in_document(text: str) -> Document:
    """Make a text with mentions from its beginning on, one of them all of it."""
    starts = range(0, min(len(text), 9_000), 9)
    mentions = (Mention(text[start : start + 9], start, min(start + 9, len(text))) for start in starts)
    return Document("1", text, (Mention(text, 0, len(text)), *mentions))


USES: Final[dict[str, Callable[[str, Path], object]]] = {
    "link": lambda text, _: Linker(_index(), composites="always").link(text),
    "link in a document": lambda text, _: Linker(_index()).link(_in_document(text)),
    "annotate": lambda text, _: Annotator(_index()).annotate(text),
    "abbreviations": lambda text, _: expand_text(text, find_definitions(text)),
    "composites": lambda text, _: split_composite(text),
    "preparation": lambda text, _: prepare_document(_in_document(text), composites="always"),
    **{f"reader of {name}": partial(_corpus, name, written) for name, written in _FILES.items()},
    **{f"reader of {name}": partial(_vocabulary, name, written) for name, written in _VOCABULARIES.items()},
}


def growth(use: Callable[[str, Path], object], pattern: Callable[[int], str], longest: int) -> tuple[float, float]:
    """Measure how the time of a use grows with the length of a text.

    Args:
        use: what is done with a text, and a folder for it.
        pattern: makes a text of a length.
        longest: characters of the longest text.

    Returns:
        The power of the length with which the time grows, 0 where it takes no time to speak of; and the last time
        in seconds.
    """
    earlier, last = 0.0, _seconds(use, pattern(_SHORTEST))
    length = _SHORTEST
    while length < longest and last < _FURTHEST:
        length *= 2
        earlier, last = last, _seconds(use, pattern(length))
    if last < _FLOOR:
        return 0.0, last
    if last > earlier * 2**_POWER:
        earlier, last = (
            min(_seconds(use, pattern(size)) for _ in range(_TIMES)) for size in (length // 2, length)
        )
    return math.log2(last / max(earlier, 1e-6)), last


def _seconds(use: Callable[[str, Path], object], text: str) -> float:
    with TemporaryDirectory() as folder:
        start = time.thread_time()
        # What is no file of its format is refused.
        with contextlib.suppress(NymlinkError):
            use(text, Path(folder))
        return time.thread_time() - start


def run(folder: Path, *, long: bool) -> list[Row]:  # noqa: ARG001 - each text has a folder of its own
    """Try each use with each pattern: a row for each use.

    Args:
        folder: an empty folder.
        long: whether texts are as long as 1 MB.
    """
    warnings.simplefilter("ignore")
    rows = []
    for name, use in USES.items():
        found = {pattern: growth(use, make, _LONGEST[long]) for pattern, make in PATTERNS.items()}
        fallen = [f"{pattern}: power {power:.1f}" for pattern, (power, _) in found.items() if power > _POWER]
        slowest = max(seconds for _, seconds in found.values())
        rows.append(row(f"time against length: {name}", len(found), fallen, f"{slowest:.1f} s at most"))
    return rows
