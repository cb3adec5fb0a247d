"""Names of chemicals and drugs are found by stricter rules than those of diseases."""

from __future__ import annotations

from typing import Final

import pytest

from nymlink.annotation.matcher import Matcher
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

CHEMICALS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "C:1": (("Acetaminophen", "preferred"), ("Paracetamol", "exact")),
    "C:2": (("Glutamates", "preferred"),),
    "C:3": (("Glutamic Acid", "preferred"), ("Glutamate", "related")),
    "C:4": (("Lipid Peroxides", "preferred"),),
    "C:5": (("Protein S", "preferred"),),
    "C:6": (("Proteins", "preferred"), ("Protein", "exact")),
    "C:7": (("5,7-Dihydroxytryptamine", "preferred"),),
    "C:8": (("Adrenergic Agents", "preferred"), ("Adrenergic", "exact")),
    "C:9": (("Ointments", "preferred"), ("Paste", "related")),
}
DISEASES: Final = {"D:1": "Calcification of the aorta", "D:2": "Down syndrome", "D:3": "Ear pain", "D:4": "Gout"}


def _matcher() -> Matcher:
    builder = TableBuilder()
    for concept, names in CHEMICALS.items():
        builder.concept(concept, semantic_types=("chemical",))
        for name, kind in names:
            builder.name(concept, name, lang="en", kind=kind)
    for concept, name in DISEASES.items():
        builder.concept(concept, semantic_types=("disease",))
        builder.name(concept, name, lang="en", kind="preferred")
    return Matcher.build(Vocabulary.of((Source("toy", "test"), builder.build())))


MATCHER: Final = _matcher()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("took paracetamol", [("paracetamol", "C:1")]),  # of general language, and of a chemical
        ("glutamate is released", [("glutamate", "C:3")]),  # the plural is a class of substances
        ("glutamates are released", [("glutamates", "C:2")]),
        ("lipid peroxides", [("lipid peroxides", "C:4")]),
        ("lipid peroxidation", []),  # derived words are of another thing
        ("aortic calcification", [("aortic calcification", "D:1")]),  # not so of diseases
        ("protein S deficiency", [("protein S", "C:5")]),
        ("the protein is made", [("protein", "C:6")]),
        ("Down's syndrome, DOWN'S SYNDROME", [("Down's syndrome", "D:2"), ("DOWN'S SYNDROME", "D:2")]),
        ("given 5,7-dihydroxytryptamine", [("5,7-dihydroxytryptamine", "C:7")]),  # no list of 5 and 7
        ("pain, ear", [("pain, ear", "D:3")]),  # as in a list of problems
        ("a pain, ear and nose", []),
        ("adrenergic receptors", []),  # an adjective
        ("those were adrenergic.", [("adrenergic", "C:8")]),
        ("in the past", []),  # no other word for paste
    ],
)
def test_products_are_found_as_they_are_written(text: str, expected: list[tuple[str, str]]) -> None:
    found = [
        (text[hit.start : hit.end], MATCHER.vocabulary.concept_id(MATCHER.concept(hit)))
        for hit in MATCHER.find(text)
    ]
    assert found == expected
