"""Every look-up of a vocabulary against a naive twin: dictionaries and loops over what the sources hold."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.vocabulary.test_vocabulary import batched, source

from nymlink.text.normalise import normalise
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.concepts import KINDS, Concept, Name
from nymlink.vocabulary.tables import TableBuilder, Tables
from nymlink.vocabulary.vocabulary import Vocabulary

IDS = [f"A:{number}" for number in range(6)]
TEXTS = ["a", "A", "a-b", "A B", "b", "ä", "Ä.", "+", "心", "ﬁ", "fi"]
LANGS = ["en", "en-GB", "de", "und"]


@st.composite
def some_tables(draw: st.DrawFn) -> Tables:
    builder = TableBuilder()
    any_ids = st.lists(st.sampled_from([*IDS, "X:1", "X:2"]), max_size=3)
    for concept_id in draw(st.lists(st.sampled_from(IDS), max_size=5)):
        builder.concept(
            concept_id,
            definition=draw(st.sampled_from([None, "d", "e"])),
            xrefs=draw(st.lists(st.sampled_from("xyz"), max_size=2)),
            parents=draw(any_ids),
            obsolete=draw(st.booleans()),
            replaced_by=draw(any_ids),
        )
        for text in draw(st.lists(st.sampled_from(TEXTS), max_size=5)):
            builder.name(concept_id, text, lang=draw(st.sampled_from(LANGS)), kind=draw(st.sampled_from(KINDS)))
    for old in draw(any_ids):
        builder.redirect(old, draw(st.sampled_from([*IDS, "X:1"])))
    return builder.build()


class Twin:
    def __init__(self, parts: list[tuple[str, Tables]]) -> None:
        self.concepts: dict[str, dict[str, object]] = {}
        self.redirects: set[tuple[str, str]] = set()
        given: dict[str, list[Name]] = {}
        for label, tables in parts:
            for row in tables.concepts.to_pylist():
                known = self.concepts.setdefault(row["id"], {**row, "source": label})
                known["definition"] = known["definition"] or row["definition"]
                for field in ("semantic_types", "xrefs", "parents", "replaced_by"):
                    known[field] = list(dict.fromkeys([*known[field], *row[field]]))  # type: ignore[misc]
            self.redirects |= {(row["old"], row["new"]) for row in tables.redirects.to_pylist()}
            for row in tables.names.to_pylist():
                name = Name(row["text"], row["concept_id"], row["lang"], row["kind"], label)
                given.setdefault(row["concept_id"], []).append(name)
        self.names = {concept_id: list(self._each_once(given.get(concept_id, []))) for concept_id in self.concepts}

    @staticmethod
    def _each_once(names: list[Name]) -> Iterator[Name]:
        def place(name: Name) -> int:
            english = name.lang in ("en", "en-GB")
            return 2 if name.kind != "preferred" else 0 if english else 1

        said = set()
        for name in sorted(names, key=place):
            same = [other for other in names if (other.text, other.lang) == (name.text, name.lang)]
            if (name.text, name.lang) not in said:
                said.add((name.text, name.lang))
                kind = min((other.kind for other in same), key=KINDS.index)
                yield Name(name.text, name.concept_id, name.lang, kind, name.source)

    def steps(self, concept_id: str) -> set[str]:
        onward = {new for old, new in self.redirects if old == concept_id}
        if concept_id not in self.concepts:
            return onward
        row = self.concepts[concept_id]
        return onward | set(row["replaced_by"]) if row["obsolete"] else set()  # type: ignore[call-overload]

    def reached(self, concept_id: str) -> set[str]:
        reached = {concept_id}
        while more := {new for at in reached for new in self.steps(at)} - reached:
            reached |= more
        return reached

    def heights(self, concept_id: str) -> dict[str, int]:
        """How many steps up each ancestor is."""
        heights = {concept_id: 0}
        for height in range(1, len(IDS) + 3):
            for at in [known for known, below in heights.items() if below == height - 1]:
                for parent in self.concepts.get(at, {}).get("parents", []):  # type: ignore[attr-defined]
                    heights.setdefault(parent, height)
        del heights[concept_id]
        return heights


def check(vocabulary: Vocabulary, twin: Twin) -> None:
    every = [name for names in twin.names.values() for name in names]
    assert (len(vocabulary), vocabulary.name_count) == (len(twin.concepts), len(every))
    assert [vocabulary.name(row) for row in range(len(every))] == every
    for row, concept_id in enumerate(twin.concepts):
        assert (vocabulary.row(concept_id), vocabulary.concept_id(row)) == (row, concept_id)
    for concept_id in [*IDS, "X:1", "X:2", ""]:
        assert (concept_id in vocabulary) == (concept_id in twin.concepts)
        check_resolved(vocabulary, twin, concept_id)
        if concept_id not in twin.concepts:
            continue
        names = twin.names[concept_id]
        assert vocabulary[concept_id] == Concept(
            name=min(names, key=lambda name: KINDS.index(name.kind)).text if names else concept_id,
            **{
                field: tuple(value) if isinstance(value, list) else value
                for field, value in twin.concepts[concept_id].items()
            },  # type: ignore[arg-type]
        )
        assert list(vocabulary.names(concept_id)) == names
        assert list(vocabulary.names(concept_id, lang="en", kinds={"exact", "broad"})) == [
            name for name in names if name.lang == "en" and name.kind in ("exact", "broad")
        ]
        heights = twin.heights(concept_id)
        ancestors = vocabulary.ancestors(concept_id)
        assert ancestors == heights
        assert sorted(ancestors, key=heights.__getitem__) == list(ancestors)
    for text in [*TEXTS, "a b", " ", "c"]:
        equal = [name for name in every if normalise(name.text) == normalise(text)]
        keys = {name: (-writing_likeness(text, name.text), KINDS.index(name.kind)) for name in equal}
        assert list(vocabulary.find(text)) == sorted(equal, key=keys.__getitem__)
        having = dict.fromkeys(name.concept_id for name in every if text.lower() in name.text.lower())
        assert vocabulary.containing(text, limit=3) == tuple(having)[:3]
    for obsolete in (False, True):
        live = [name for name in every if obsolete or not twin.concepts[name.concept_id]["obsolete"]]
        assert batched(vocabulary, obsolete=obsolete, batch_size=4) == [name.text for name in live]
        assert batched(vocabulary, obsolete=obsolete, languages={"de"}, kinds=KINDS[:3]) == [
            name.text for name in live if name.lang == "de" and name.kind in KINDS[:3]
        ]
    for field in ("lang", "kind", "source"):
        assert vocabulary.counts(field) == Counter(getattr(name, field) for name in every)


def check_resolved(vocabulary: Vocabulary, twin: Twin, concept_id: str) -> None:
    resolved = vocabulary.resolve(concept_id)
    known = twin.reached(concept_id) & twin.concepts.keys()
    live = {at for at in known if not twin.concepts[at]["obsolete"]}
    assert len(set(resolved)) == len(resolved)
    if live or not known:
        assert set(resolved) == live
    else:
        assert resolved
        assert set(resolved) <= known


@given(st.lists(some_tables(), min_size=1, max_size=3))
def test_every_look_up_is_that_of_the_naive_twin(tables: list[Tables]) -> None:
    parts = [(f"s{number}", part) for number, part in enumerate(tables)]
    twin = Twin(parts)
    made = Vocabulary.of(*((source(label), part) for label, part in parts))
    check(made, twin)
    with tempfile.TemporaryDirectory() as directory:
        made.save(Path(directory) / "v")
        check(Vocabulary.load(Path(directory) / "v"), twin)
        # One after the other is the same as all at once, from memory or from disk.
        grown = Vocabulary.of((source("s0"), tables[0]))
        for label, part in parts[1:]:
            grown.save(Path(directory) / "w")
            grown = Vocabulary.load(Path(directory) / "w").extended(source(label), part)
        check(grown, twin)
