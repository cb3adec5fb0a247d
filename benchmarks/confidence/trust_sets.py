"""Mentions that must not be linked with confidence: names turned into their opposites, and junk."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

WORDS: Final = tuple(
    tuple(pair.split("/"))
    for pair in (
        "increased/decreased elevated/reduced high/low left/right normal/abnormal unilateral/bilateral "
        "absent/present upper/lower proximal/distal anterior/posterior medial/lateral acute/chronic "
        "benign/malignant congenital/acquired primary/secondary early/late long/short wide/narrow thick/thin "
        "large/small with/without complete/incomplete maternal/paternal dominant/recessive positive/negative "
        "male/female internal/external superior/inferior dorsal/ventral central/peripheral severe/mild "
        "transient/persistent typical/atypical symmetric/asymmetric hereditary/acquired agonist/antagonist "
        "inhibitor/activator systolic/diastolic"
    ).split()
)
PREFIXES: Final = tuple(
    tuple(pair.split("/"))
    for pair in (
        "macro/micro hyper/hypo tachy/brady poly/oligo endo/exo intra/extra pre/post uni/bi mono/tri"
    ).split()
)
NEXT: Final = {"1": "2", "2": "3", "3": "4", "4": "5", "i": "ii", "ii": "iii", "iii": "iv", "iv": "v", "v": "vii"}
GREEK: Final = {"alpha": "beta", "beta": "alpha"}

JUNK: Final = (
    *"car moon hammer scarf judgment improved cold Michigan xyz QWE AB12 table weather yesterday".split(),
    *"blue window Monday invoice football n/a".split(),
    *"John Smith;John Crohn;the patient;12 mg;500 ml;37.5 C;see above;follow up".split(";"),
)
"""Mentions that no vocabulary of diseases should link with confidence."""


@dataclass(frozen=True)
class Turned:
    """Name turned into its opposite.

    Attributes:
        text: the turned name.
        kind: kind of the change.
        concept_id: the concept of the original name.
    """

    text: str
    kind: str
    concept_id: str


def turned_names(vocabulary: Vocabulary, index: Index, *, most: int = 4000, seed: int = 0) -> list[Turned]:
    """Turn the preferred names of a vocabulary, leaving out results that are names of the index."""
    found: dict[str, Turned] = {}
    drawn = random.Random(seed)
    for row in range(len(vocabulary)):
        name = normalise(vocabulary.preferred_name(row))
        concept_id = vocabulary.concept_id(row)
        for kind, text in _turned(name):
            found.setdefault(text, Turned(text, kind, concept_id))
        if drawn.random() < 0.02:
            for kind, text in (("negation", f"no {name}"), ("normality", f"normal {name}")):
                if "normal" not in name:
                    found.setdefault(text, Turned(text, kind, concept_id))
    lacking = [one for one in found.values() if index.entries.find(one.text) is None]
    drawn.shuffle(lacking)
    return lacking[:most]


def _turned(name: str) -> Iterator[tuple[str, str]]:
    words = name.split(" ")

    def instead(place: int, word: str) -> str:
        return " ".join([*words[:place], word, *words[place + 1 :]])

    for place, word in enumerate(words):
        for one, other in (*WORDS, *(pair[::-1] for pair in WORDS)):
            if word == one:
                yield "word", instead(place, other)
        for one, other in (*PREFIXES, *(pair[::-1] for pair in PREFIXES)):
            if word.startswith(one) and len(word) > len(one) + 3:
                yield "prefix", instead(place, other + word.removeprefix(one))
        if place and word in NEXT:
            yield "numeral", instead(place, NEXT[word])
        if word in GREEK:
            yield "letter", instead(place, GREEK[word])
        arm = re.fullmatch(r"(\d+)([pq])", word)
        if arm is not None:
            yield "chromosome", instead(place, arm[1] + ("q" if arm[2] == "p" else "p"))


@cache
def names_of(table: Path, count: int, *, seed: int = 0) -> list[tuple[str, frozenset[str]]]:
    """Draw English names of a table, each with the cross-references of its concept."""
    vocabulary = read_vocabulary(table)
    found = [
        (name.text, frozenset(concept.xrefs))
        for concept in vocabulary
        for name in vocabulary.names(concept.id)
        if name.lang == "en"
    ]
    random.Random(seed).shuffle(found)
    return found[:count]
