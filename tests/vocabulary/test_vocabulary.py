"""Every look-up of a vocabulary, on chosen cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import UnknownNameError
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Concept, Name, Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


def source(name: str = "s") -> Source:
    return Source(name, "table")


@pytest.fixture
def heart() -> Vocabulary:
    builder = TableBuilder()
    builder.concept(
        "M:1", semantic_types=["disease"], xrefs=["D:1", "I:1"], parents=["M:2"], definition="dead tissue"
    )
    builder.name("M:1", "Infarto de miocardio", lang="es", kind="preferred")
    builder.name("M:1", "heart attack", lang="en")
    builder.name("M:1", "Myocardial infarction", lang="en", kind="preferred")
    builder.name("M:1", "MI", lang="en", kind="abbreviation")
    builder.name("M:1", "Crise cardiaque", lang="fr")
    builder.concept("M:2")
    builder.name("M:2", "Heart-attack (NOS)", lang="en", kind="related")
    builder.name("M:2", "Herzkrankheit", lang="de", kind="preferred")
    builder.concept("M:3", obsolete=True, replaced_by=["M:1", "M:2"])
    builder.name("M:3", "coronary", lang="en", kind="preferred")
    builder.concept("M:4")
    builder.redirect("OLD:1", "M:1")
    return Vocabulary.of((source(), builder.build()))


def test_a_concept_by_its_id(heart: Vocabulary) -> None:
    assert heart["M:1"] == Concept(
        id="M:1",
        name="Myocardial infarction",
        semantic_types=("disease",),
        xrefs=("D:1", "I:1"),
        parents=("M:2",),
        definition="dead tissue",
        source="s",
    )
    assert heart["M:3"].replaced_by == ("M:1", "M:2")
    assert heart["M:3"].obsolete
    assert (len(heart), heart.name_count) == (4, 8)
    assert "M:1" in heart
    assert "OLD:1" not in heart
    assert heart["M:1"].to_dict()["id"] == "M:1"


def test_the_preferred_name_is_english_where_there_is_one(heart: Vocabulary) -> None:
    preferred = [heart[concept_id].name for concept_id in ("M:1", "M:2", "M:3", "M:4")]
    assert preferred == ["Myocardial infarction", "Herzkrankheit", "coronary", "M:4"]


@pytest.mark.parametrize("concept_id", ["", "M", "M:", "M:0", "M:11", "Z", "\ud800", "M:1\0"])
def test_an_unknown_id_is_said(heart: Vocabulary, concept_id: str) -> None:
    assert concept_id not in heart
    assert heart.row(concept_id) is None
    assert heart.resolve(concept_id) == ()
    for look_up in (heart.__getitem__, heart.names, heart.ancestors):
        with pytest.raises(UnknownNameError, match=r"no concept .* in the vocabulary$"):
            look_up(concept_id)


def test_an_old_id_is_told_what_it_is_now(heart: Vocabulary) -> None:
    for look_up in (heart.__getitem__, heart.names, heart.ancestors):
        with pytest.raises(UnknownNameError, match=r"'OLD:1' in the vocabulary; it is now M:1$"):
            look_up("OLD:1")


def test_names_by_language_and_kind(heart: Vocabulary) -> None:
    texts = [name.text for name in heart.names("M:1")]
    assert texts == ["Myocardial infarction", "Infarto de miocardio", "heart attack", "MI", "Crise cardiaque"]
    assert [name.text for name in heart.names("M:1", lang="en", kinds={"exact", "abbreviation"})] == [
        "heart attack",
        "MI",
    ]
    assert heart.names("M:1", lang="fr") == (Name("Crise cardiaque", "M:1", "fr", "exact", "s"),)
    assert heart.names("M:1", lang="fi") == heart.names("M:1", kinds=()) == heart.names("M:4") == ()


def test_a_name_is_found_whatever_its_case_and_punctuation(heart: Vocabulary) -> None:
    for text in ("heart attack", "HEART  ATTACK", " heart-attack.", "ｈｅａｒｔ　attack", "heart\u00ad attack"):
        assert [name.concept_id for name in heart.find(text)] == ["M:1"]
    assert [name.text for name in heart.find("heart attack nos")] == ["Heart-attack (NOS)"]
    for text in ("", " ", "heart", "heart attack n", "zzz", "\0", "\ud800", "\U0010ffff"):
        assert heart.find(text) == ()


ODD = [
    "+++",
    "C++ \N{DNA DOUBLE HELIX}",
    "مرض القلب",
    "心筋梗塞",
    "𝛽-thalassämie",
    "Straße",
    "ﬁbrosis",
    "a\0b",
    "\u200bzero width",
    "İstanbul",
    "x" * 3_000,
    "é" * 3_000,
    "\U0001f1eb\U0001f1ee",
    "e\u0301clair",
]


def test_names_of_any_script_and_length(tmp_path: Path) -> None:
    builder = TableBuilder()
    for number, text in enumerate(ODD):
        builder.concept(f"O:{number}")
        builder.name(f"O:{number}", text)
    made = Vocabulary.of((source(), builder.build()))
    made.save(tmp_path / "v")
    for vocabulary in (made, Vocabulary.load(tmp_path / "v")):
        for number, text in enumerate(ODD):
            for asked in (text, text.upper(), f" {text} "):
                if normalise(asked) == normalise(text):
                    assert [name.text for name in vocabulary.find(asked)] == [text]
            assert f"O:{number}" in vocabulary.containing(text, limit=99)
        assert [name.text for name in vocabulary.find("STRASSE")] == ["Straße"]
        assert [name.text for name in vocabulary.find("ÉCLAIR")] == ["e\u0301clair"]
        assert [name.text for name in vocabulary.find("Β Thalassämie")] == ["𝛽-thalassämie"]


def test_containing(heart: Vocabulary) -> None:
    assert heart.containing("ATTACK", limit=9) == ("M:1", "M:2")
    assert heart.containing("attack", limit=1) == ("M:1",)
    assert heart.containing("corona", limit=9) == ("M:3",)
    assert heart.containing("(nos)", limit=9) == ("M:2",)
    assert heart.containing("HERZK", limit=9) == ("M:2",)
    for text in (".*", "no such", "\ud800"):
        assert heart.containing(text, limit=9) == ()


def chain(
    replacements: dict[str, list[str]], live: str = "", redirects: dict[str, str] | None = None
) -> Vocabulary:
    """Obsolete concepts with their replacements, and live ones, all of one letter."""
    builder = TableBuilder()
    for concept_id, replaced_by in replacements.items():
        builder.concept(concept_id, obsolete=True, replaced_by=replaced_by)
    for concept_id in live:
        builder.concept(concept_id)
    for old, new in (redirects or {}).items():
        builder.redirect(old, new)
    return Vocabulary.of((source(), builder.build()))


@pytest.mark.parametrize(
    ("vocabulary", "expected"),
    [
        (chain({}, "A"), "A"),
        (chain({"A": []}), "A"),
        (chain({"A": ["B"]}, "B"), "B"),
        (chain({"A": ["B"], "B": ["C"]}, "C"), "C"),
        (chain({"A": ["B", "C"]}, "CB"), "BC"),
        (chain({"A": ["B", "C"], "B": ["C"]}, "C"), "C"),
        (chain({"A": ["C", "B"], "B": ["C"]}, "C"), "C"),
        (chain({"A": ["gone"]}), "A"),
        (chain({"A": ["gone", "B"]}, "B"), "B"),
        (chain({"A": ["B", "C"], "B": []}, "C"), "C"),
        (chain({"A": ["B", "C"], "B": [], "C": []}), "BC"),
        (chain({"A": ["B"], "B": []}), "B"),
        (chain({"A": ["A"]}), "A"),
        (chain({"A": ["B"], "B": ["A"]}), "B"),
        (chain({"A": ["B"], "B": ["A", "C"]}, "C"), "C"),
        (chain({"A": ["old"]}, "B", {"old": "B"}), "B"),
        (chain({"A": ["old"]}, "", {"old": "gone"}), "A"),
        (chain({"A": []}, "B", {"A": "B"}), "B"),
        (chain({}, "AB", {"A": "B"}), "A"),
        (chain({}, "B", {"A": "older", "older": "B"}), "B"),
        (chain({}, "", {"A": "older", "older": "A"}), ""),
        (chain({"B": ["B"]}, "", {"A": "B"}), "B"),
    ],
)
def test_what_an_id_stands_for_now(vocabulary: Vocabulary, expected: str) -> None:
    assert "".join(vocabulary.resolve("A")) == expected


def test_a_long_chain_of_replacements() -> None:
    builder = TableBuilder()
    for number in range(3000):
        builder.concept(str(number), obsolete=True, replaced_by=[str(number + 1)], parents=[str(number + 1)])
    builder.concept("3000")
    vocabulary = Vocabulary.of((source(), builder.build()))
    assert vocabulary.resolve("0") == ("3000",)
    assert len(vocabulary.ancestors("0")) == 3000


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"A": ""}, ""),
        ({"A": "A"}, ""),
        ({"A": "BC", "B": "D", "C": "D"}, "BCD"),
        ({"A": "B", "B": "A"}, "B"),
        ({"A": "B", "B": "BC", "C": "AB"}, "BC"),
        ({"A": "XB", "B": "Y"}, "XBY"),
        ({"A": "BD", "B": "C", "C": "D", "D": "E"}, "BDCE"),
    ],
)
def test_ancestors_nearest_first(parents: dict[str, str], expected: str) -> None:
    builder = TableBuilder()
    for concept_id, above in parents.items():
        builder.concept(concept_id, parents=above)
    assert "".join(Vocabulary.of((source(), builder.build())).ancestors("A")) == expected


def batched(vocabulary: Vocabulary, **selection: object) -> list[str]:
    batches = list(vocabulary.name_batches(**selection))  # type: ignore[arg-type]
    for batch in batches:
        assert batch.schema.names == ["concept", "text", "lang", "kind", "source", "row"]
        for concept, text, row in zip(batch["concept"], batch["text"], batch["row"], strict=True):
            name = vocabulary.name(row.as_py())
            assert (name.text, name.concept_id) == (text.as_py(), vocabulary.concept_id(concept.as_py()))
    return [text for batch in batches for text in batch["text"].to_pylist()]


@pytest.mark.parametrize("batch_size", [1, 3, 65_536])
def test_names_in_batches(heart: Vocabulary, batch_size: int) -> None:
    assert len(batched(heart, batch_size=batch_size)) == 7
    assert "coronary" in batched(heart, batch_size=batch_size, obsolete=True)
    assert batched(heart, batch_size=batch_size, languages={"de", "fr"}) == ["Crise cardiaque", "Herzkrankheit"]
    assert batched(heart, batch_size=batch_size, kinds=["related"], languages=["en"]) == ["Heart-attack (NOS)"]
    assert batched(heart, batch_size=batch_size, languages=[]) == []


def test_counts_the_most_frequent_first(heart: Vocabulary) -> None:
    assert list(heart.counts("lang").items()) == [("en", 5), ("es", 1), ("fr", 1), ("de", 1)]
    assert heart.counts("kind") == {"preferred": 4, "exact": 2, "abbreviation": 1, "related": 1}
    assert heart.counts("source") == {"s": 8}


@pytest.mark.parametrize("concepts", [0, 2])
def test_one_without_names(tmp_path: Path, concepts: int) -> None:
    builder = TableBuilder()
    for number in range(concepts):
        builder.concept(str(number))
    made = Vocabulary.of((source(), builder.build()), (source("t"), builder.build()))
    made.save(tmp_path / "v")
    for vocabulary in (made, Vocabulary.load(tmp_path / "v")):
        assert (len(vocabulary), vocabulary.name_count) == (concepts, 0)
        assert list(vocabulary.name_batches()) == []
        assert vocabulary.counts("lang") == {}
        assert vocabulary.find("a") == vocabulary.containing("", limit=9) == vocabulary.resolve("x") == ()
        assert [vocabulary[str(number)].name for number in range(concepts)] == [str(n) for n in range(concepts)]


@pytest.mark.parametrize(
    ("kinds", "name"),
    [
        (["broad", "exact", "exact"], "exact 1"),
        (["broad", "narrow", "related"], "related 2"),
        (["narrow", "abbreviation", "tradename"], "abbreviation 1"),
        (["exact", "preferred", "preferred"], "preferred 1"),
        (["broad"], "broad 0"),
        ([], "A:1"),
    ],
)
def test_without_a_preferred_name_a_concept_is_called_by_the_surest(kinds: list[str], name: str) -> None:
    builder = TableBuilder()
    builder.concept("A:1")
    for number, kind in enumerate(kinds):
        builder.name("A:1", f"{kind} {number}", lang="en", kind=kind)
    vocabulary = Vocabulary.of((source("s"), builder.build()))
    assert (vocabulary["A:1"].name, vocabulary.preferred_name(0)) == (name, name)


def test_batches_of_a_language_have_its_regions_too(heart: Vocabulary) -> None:
    builder = TableBuilder()
    for lang in ("en-GB", "enm"):
        builder.name("M:1", f"name in {lang}", lang=lang)
    more = heart.extended(source("more"), builder.build())
    names = set(batched(more, languages={"EN"}, batch_size=4))
    assert names == {*batched(heart, languages={"en"}, batch_size=4), "name in en-GB"}
    assert batched(more, languages={"en_gb"}, batch_size=4) == ["name in en-GB"]


def test_a_vocabulary_is_extended_and_stays_as_it_was(heart: Vocabulary) -> None:
    builder = TableBuilder()
    builder.concept("M:1", xrefs=["X:1"])
    builder.name("M:1", "Heart attack", lang="en")
    builder.name("M:1", "heart attack", lang="en", kind="preferred")
    builder.concept("M:9", parents=["M:1"])
    builder.name("M:9", "silent MI", lang="en")
    builder.concept("M:3")
    builder.redirect("OLD:9", "M:9")
    more = heart.extended(Source("more", "corpus"), builder.build())
    assert [entry.name for entry in more.sources] == ["s", "more"]
    assert (len(more), len(heart), heart.name_count) == (5, 4, 8)
    assert more["M:1"].xrefs == ("D:1", "I:1", "X:1")
    assert more["M:1"].name == "Myocardial infarction"
    assert more["M:3"].obsolete
    assert [name.source for name in more.find("HEART ATTACK")] == ["more", "more"]
    assert more.resolve("OLD:9") == ("M:9",)
    assert more.resolve("OLD:1") == ("M:1",)
    assert [*more.ancestors("M:9")] == ["M:1", "M:2"]
