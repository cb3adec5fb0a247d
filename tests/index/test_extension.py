"""Names added to an index: found as in one that was built with them, without building its searches anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.encode.encoder import Encoder
from nymlink.index.fusion import ExtendedSearch
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder, Tables
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.dense_samples import NAMES, VOCABULARY
from tests.index.fixed import FixedSearch
from tests.index.small import many_names, vocabulary

SOURCE = Source("reviewed", "test")
NEW = [name for name in many_names(120, seed=7) if VOCABULARY.find(name) == ()][:40]


def tables(names: dict[str, str]) -> Tables:
    """Names by text, each of a concept."""
    builder = TableBuilder()
    for text, concept_id in names.items():
        builder.concept(concept_id)
        builder.name(concept_id, text)
    return builder.build()


ADDED = {name: f"X:{number}" for number, name in enumerate(NEW)}


@pytest.fixture(scope="module")
def index(encoder: Encoder) -> Index:
    return Index.build(VOCABULARY, encoder=encoder)


@pytest.fixture(scope="module")
def extended(index: Index) -> Index:
    return index.with_names(SOURCE, tables(ADDED))


def test_entries_and_names_are_those_of_an_index_built_with_them(index: Index, extended: Index) -> None:
    built = index.rebuild(extended.vocabulary)
    assert extended.entries.texts.equals(built.entries.texts)
    assert np.array_equal(extended.entries.names, built.entries.names)
    assert np.array_equal(extended.owners, built.owners)
    assert len(extended.entries) == len(index.entries) + len(NEW)
    assert len(extended.vocabulary) == len(index.vocabulary)


def test_similarity_in_meaning_is_that_of_an_index_built_with_them(index: Index, extended: Index) -> None:
    queries = [*NEW[:10], *NAMES[:10], "something else", NEW[3][1:]]
    rows = np.tile(np.arange(len(extended.entries), dtype=np.int32), (len(queries), 1))
    built = index.rebuild(extended.vocabulary).search.parts["dense"]
    found = extended.search.parts["dense"]
    np.testing.assert_allclose(found.score(queries, rows), built.score(queries, rows), atol=2e-3)
    hits, wanted = found.search(queries, 9), built.search(queries, 9)
    np.testing.assert_allclose(hits.scores, wanted.scores, atol=2e-3)


def test_similarity_in_spelling_is_weighted_as_before(index: Index, extended: Index) -> None:
    before = [index.entries.find(text) for text in extended.entries.texts.to_pylist()]
    old = [row for row, place in enumerate(before) if place is not None]
    before = [place for place in before if place is not None]
    queries = [NAMES[0], NAMES[5][1:], NEW[0]]
    (name,) = [name for name in extended.search.parts if name not in ("exact", "dense")]
    now = extended.search.parts[name].score(queries, np.array([old] * 3, np.int32))
    assert np.array_equal(now, index.search.parts[name].score(queries, np.array([before] * 3, np.int32)))
    # A name that was added is as like itself as any other.
    own = [extended.entries.find(text) for text in NEW]
    scores = extended.search.parts[name].score(NEW, np.array(own, np.int32)[:, None])
    np.testing.assert_allclose(scores, 1, atol=1e-5)


def test_added_names_and_what_is_like_them_lead_to_their_concepts(extended: Index) -> None:
    for text, concept_id in ADDED.items():
        matches = extended.match([text, f"{text}s"], 1)
        assert [extended.vocabulary.concept_id(row) for row in matches.concepts[:, 0]] == [concept_id] * 2
        assert matches.scores[0, 0] == pytest.approx(1, abs=1e-5)


def test_a_name_in_another_order_of_words_is_the_entry_that_there_was(encoder: Encoder) -> None:
    index = Index.build(vocabulary({"A:1": ["pain of the back"], "A:2": ["fever"]}), encoder=encoder)
    extended = index.with_names(SOURCE, tables({"back pain of the": "A:1", "a fever": "A:2"}))
    assert len(extended.entries) == 3
    assert extended.vocabulary.concept_id(int(extended.match(["back pain of the"], 1).concepts[0, 0])) == "A:1"
    # The same words that mean something else are an entry of their own.
    other = index.with_names(SOURCE, tables({"back pain of the": "A:2"}))
    assert other.vocabulary.concept_id(int(other.match(["back pain of the"], 1).concepts[0, 0])) == "A:2"


def test_names_of_no_language_are_searched_in_an_index_of_one() -> None:
    builder = TableBuilder()
    builder.concept("A:1")
    builder.name("A:1", "gout", lang="en")
    builder.name("A:1", "podagra", lang="la")
    english = Index.build(Vocabulary.of((SOURCE, builder.build())), encoder=None, languages=["en"])
    extended = english.with_names(Source("other", "test"), tables({"sore toe": "A:1"}))
    assert extended.entries.texts.to_pylist() == ["gout", "sore toe"]


def test_what_does_not_go_is_refused(index: Index, extended: Index, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an index with added names is not written"):
        extended.save(tmp_path / "index")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="to concepts of the vocabulary only"):
        index.with_names(SOURCE, tables({"unheard of": "Z:1"}))
    with pytest.raises(ValueError, match="extended once"):
        extended.with_names(SOURCE, tables({"one more": "X:1"}))


def test_an_opened_index_is_extended_and_stays_as_it_is(saved: Path, model: Path) -> None:
    opened = Index.load(saved, encoder=model)
    extended = opened.with_names(SOURCE, tables(ADDED))
    assert extended.directory is None
    assert extended.encoder is opened.encoder
    assert opened.match([NEW[0]], 1).scores[0, 0] < 0.99
    assert extended.match([NEW[0]], 1).scores[0, 0] == pytest.approx(1, abs=1e-5)


def test_hits_of_both_parts_are_in_one_order() -> None:
    whole = FixedSearch({"q": {0: 0.9, 1: 0.8, 2: 0.5}})
    added = FixedSearch({"q": {0: 0.85, 1: 0.8}})
    # Rows now: the first part at 1, nowhere and 3; the second at 0 and 2.
    both = ExtendedSearch(whole, added, np.array([1, NONE, 3], np.int32), np.array([0, 2], np.int32))
    hits = both.search(["q"], 5)
    assert hits.rows.tolist() == [[1, 0, 2, 3, NONE]]
    np.testing.assert_allclose(hits.scores, [[0.9, 0.85, 0.8, 0.5, 0]])
    scores = both.score(["q"], np.array([[3, NONE, 0, 1]], np.int32))
    np.testing.assert_allclose(scores, [[0.5, 0, 0.85, 0.9]])
