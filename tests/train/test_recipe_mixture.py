"""The pairs that nymlink-mini learns from: which names are left out, and which are changed."""

from __future__ import annotations

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import mixture


def vocabulary(source: str, names: dict[str, list[str]]) -> Vocabulary:
    builder = TableBuilder()
    for concept, own in names.items():
        builder.concept(concept)
        for name in own:
            builder.name(concept, name, lang="en")
    return Vocabulary.of((Source(source, "table", licence="CC0"), builder.build()))


TITLES = {
    "MONDO:1": ["hypomagnesemia 6, renal", "hypomagnesemia 6", "renal", "low magnesium"],
    "MONDO:2": ["chronic kidney disease", "kidney disease", "CKD"],
    "MONDO:3": ["one", "shared name"],
    "MONDO:4": ["two", "Shared name"],
    "MONDO:5": ["three", "shared-name"],
}


def test_pieces_of_collected_titles_are_found() -> None:
    collected = vocabulary("wikidata_medical", TITLES)
    texts = collected.columns.names["text"].to_pylist()
    found = [text for text, piece in zip(texts, mixture.fragments(collected).tolist(), strict=True) if piece]
    assert found == ["hypomagnesemia 6", "renal", "shared name", "Shared name", "shared-name"]
    assert not mixture.fragments(vocabulary("mondo", TITLES)).any()


def test_pairs_are_of_names_as_they_are_searched() -> None:
    names = {"MONDO:1": ["Kidney Failure (disorder)", "renal-failure"], "MONDO:2": ["CKD", "ckd"]}
    made = mixture.mixture(vocabulary("mondo", names), modified=0.0)
    assert made.to_pylist() == [{"concept": "MONDO:1", "name1": "kidney failure", "name2": "renal failure"}]


def test_names_of_clinical_concepts_are_modified() -> None:
    names = {f"{prefix}:{n}": [f"name {n}", f"other {n}"] for n in range(50) for prefix in ("MONDO", "GO")}
    plain = mixture.mixture(vocabulary("toy", names), modified=0.0)
    always = mixture.mixture(vocabulary("toy", names), modified=1.0)
    for one, other in zip(plain.to_pylist(), always.to_pylist(), strict=True):
        assert (one["concept"], one["name1"]) == (other["concept"], other["name1"])
        assert other["name2"].endswith(one["name2"])
        assert (one["name2"] != other["name2"]) == one["concept"].startswith("MONDO")
