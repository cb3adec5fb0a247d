"""Texts that nobody would write take no more time for their length than others.

Each case took from half a minute to years where its time grew with the square of the length, or faster.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path
from string import ascii_uppercase
from typing import Final

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.toml_settings import line_of
from nymlink.core.xml_files import root_name
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.read import read_documents
from nymlink.linking.context import contexts_of
from nymlink.text.abbreviations import find_definitions
from nymlink.text.contradictions import contradiction
from nymlink.text.english.forms import deep_stem
from nymlink.text.expansion import expand, expand_text
from nymlink.text.prepare import prepare_document
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.read import read_vocabulary
from nymlink.xlbel.wikitext import Sentences

LONGEST: Final = 8.0
"""Seconds of one processor: linear, each takes a tenth at most."""

DEFINITIONS: Final = "".join(
    f"{a}one {b}two {c}three ({a}{b}{c}). " for a, b, c in islice(product(ascii_uppercase, repeat=3), 6_000)
)
MENTIONS: Final = tuple(Mention("AAA BBB", number, number + 7) for number in range(6_000))


SEIZURES: Final = tuple(Mention("seizure", 18 * place + 3, 18 * place + 10) for place in range(4_000))


def timed(act: Callable[[], object]) -> float:
    start = time.thread_time()
    act()
    return time.thread_time() - start


@pytest.mark.parametrize(
    ("name", "act"),
    {
        "locants": lambda: find_definitions(f"some {'1' * 60}xy-tetrahydrocannabinol (THC)."),
        "locants with letters": lambda: find_definitions(f"some {'1a-' * 40}xy-tetrahydrocannabinol (THC)."),
        "one word": lambda: contradiction("a" * 300_000, "seizure", language="en"),
        "negations": lambda: contradiction("no seizure of " * 20_000 + "no", "seizure", language="en"),
        "words between": lambda: contradiction("no " + "of no " * 20_000, "seizure", language="en"),
        "opposites": lambda: contradiction("right acute " * 20_000 + "left", "acute left seizure", language="en"),
        "numerals": lambda: contradiction(" ".join(map(str, range(20_000))), "seizure 2a", language="en"),
        "comments in XML": lambda: root_name("<!-- " * 100_000),
        "instructions in XML": lambda: root_name("<?" * 200_000),
        "many definitions": lambda: expand_text(DEFINITIONS, find_definitions(DEFINITIONS)),
        "mentions between definitions": lambda: prepare_document(Document("1", DEFINITIONS, MENTIONS)),
        "glosses": lambda: expand("cancer (CA) " * 20_000, find_definitions("cancer (CA)")),
        "sentences without end": lambda: contexts_of("no seizure but no " * 4_000, SEIZURES),
        "vowels": lambda: deep_stem("a" * 100_000),
        "marks that end sentences": lambda: Sentences("!" * 50_000),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_long_texts(name: str, act: Callable[[], object]) -> None:
    assert timed(act) < LONGEST, name


def toml(path: Path) -> None:
    line_of("a", path, ())


def documents(path: Path) -> None:
    list(read_documents(path, problems=Problems()))


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("a.gsc", "[0::5]\tHP_0000118 | apnea\n" + "[0::5]\tHP_0000118 | a" + " " * 100_000 + "\x01\n", documents),
        ("a.txt", f"1|t|{'a ' * 50_000}\n1|a|b\n1\t3\t9\t{'a ' * 50_000}b\tD\tD:1\n", documents),
        ("a.toml", " " * 5_000 + "a", toml),
        ("b.toml", "[" + " " * 5_000 + "a", toml),
        ("a.sssom.tsv", "# a:" + " " * 100_000 + "\n", read_mappings),
        ("a.ofn", "\n" * 60_000 + "a", read_vocabulary),
        ("a.omn", "Prefix:" + " " * 60_000 + "a", read_vocabulary),
    ],
)
def test_long_lines_of_files(tmp_path: Path, name: str, text: str, read: Callable[[Path], object]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    def act() -> None:
        with contextlib.suppress(InputError):
            read(path)

    assert timed(act) < LONGEST
