"""Features of candidates, against loops over the names that were found."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.encode.encoder import Encoder
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.rank.features import FEATURES, NAMES, features_of
from nymlink.rank.retrieval import CANDIDATES, ConceptTable, Question, retrieve
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.concepts import KINDS, Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny
from tests.index.small import many_names, vocabulary
from tests.rank.test_word_overlap import naive
from tests.rank.toy import built_index

_OTHERS = many_names(90, seed=11)


@cache
def large_index() -> Index:
    return Index.build(
        vocabulary(
            {
                **{f"X:{number}": _OTHERS[3 * number : 3 * number + 3] for number in range(30)},
                "Y:1": ["heart attack", ("MI", "abbreviation"), "attack of the heart"],
                "Y:2": ["mitral insufficiency", ("MI", "related"), ("Heart Attack", "broad")],
            }
        ),
        encoder=None,
    )


ASKED = st.sampled_from([*_OTHERS, "heart attack", "mi", "hearts attack", "", "zzzz", "mi zzzz"]) | st.lists(
    st.sampled_from(sorted({word for name in _OTHERS for word in name.split()})), min_size=1, max_size=4
).map(" ".join)
NAN = math.nan


def described(index: Index, *questions: Question) -> np.ndarray:
    """float32 (Q, K, F)."""
    table = ConceptTable.of(index)
    return np.concatenate([features_of(block, index, table) for block in retrieve(index, questions)])


def column(values: np.ndarray, name: str) -> np.ndarray:
    return values[..., NAMES.index(name)]


def of_first(values: np.ndarray) -> dict[str, float]:
    """The features of the first candidate of the first question."""
    return dict(zip(NAMES, values[0, 0].tolist(), strict=True))


def twin(index: Index, question: Question) -> list[dict[str, float]]:
    """The features of each candidate that can be said in a few words, one loop after the other."""
    matches, hits = index.match_with_hits([question.text], CANDIDATES, surfaces=[question.surface])
    texts = index.entries.texts.to_pylist()
    rows = [row for row in hits.hits.rows[0].tolist() if row != NONE]
    alike = dict(zip(rows, hits.parts["sparse"][0].tolist(), strict=False))
    known = {word for text in texts for word in text.split(" ")}
    asked = question.text.split(" ")
    lines = []
    for place, (concept, name_row, score) in enumerate(
        zip(*(values[0].tolist() for values in (matches.concepts, matches.names, matches.scores)), strict=True)
    ):
        if concept == NONE:
            continue
        name = index.vocabulary.name(name_row)
        own = [row for row in range(len(texts)) if concept in index.concepts_of(row)]
        found = [row for row in rows if row in own]
        likenesses = [*sorted((alike[row] for row in found), reverse=True), NAN, NAN]
        words = {row: naive(question.text, texts[row], texts) for row in found}
        exact = float(matches.parts["exact"][0, place])
        equal = exact == 1 and question.surface is not None
        [entry] = [
            row
            for row in own
            if name_row in index.entries.names[slice(*index.entries.offsets[row : row + 2])].tolist()
        ]
        line = {
            "score": score,
            "exact": exact,
            "sparse": float(matches.parts["sparse"][0, place]),
            "place": place,
            "best_sparse": likenesses[0],
            "second_sparse": likenesses[1],
            "mean_sparse": sum(alike[row] for row in found) / len(found) if found else NAN,
            "names_found": len(found),
            "share_found": len(found) / len(own),
            "names": math.log1p(len(own)),
            "kind": KINDS.index(name.kind),
            "sharing": int(np.diff(index.entries.offsets)[entry]),
            "writing": writing_likeness(question.surface, name.text) if equal else NAN,
            "equal": float((matches.parts["exact"][0] == 1).any()),
            "best_score": float(matches.scores[0].max()),
            "letters": len(question.text),
            "words": len(asked),
            "known": sum(word in known for word in asked) / len(asked),
        }
        if found:
            line |= words[found[0]]
            for feature in ("covered", "covering", "agreement"):
                line[f"best_{feature}"] = max(words[row][feature] for row in found)
            for feature in ("missing", "extra"):
                line[f"fewest_{feature}"] = min(words[row][feature] for row in found)
        lines.append(line)
    best = max((line["best_sparse"] for line in lines if not math.isnan(line["best_sparse"])), default=NAN)
    for line in lines:
        line["behind_best_sparse"] = line["best_sparse"] - best
        line["behind_score"] = line["score"] - max(other["score"] for other in lines)
    return lines


@given(text=ASKED, surface=st.sampled_from([None, "Heart Attack", "MI", "Mi"]))
def test_is_what_loops_over_names_find(text: str, surface: str | None) -> None:
    question = Question(text, surface if surface and surface.lower() == text else None)
    [found] = described(large_index(), question)
    lines = twin(large_index(), question)
    assert np.isnan(found[len(lines) :]).all()
    for line, expected in zip(found, lines, strict=False):
        values = dict(zip(NAMES, line.tolist(), strict=True))
        assert {name: values[name] for name in expected} == pytest.approx(expected, abs=2e-4, nan_ok=True)


def test_each_feature_has_a_name_of_its_own_and_says_what_it_is() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(FEATURES)
    assert all(feature.meaning and feature.range for feature in FEATURES)


def test_they_are_in_their_ranges() -> None:
    values = described(
        large_index(), *(Question(text, text) for text in [*_OTHERS[:40], "heart attack", "mi", ""])
    )
    for feature in FEATURES:
        own = column(values, feature.name)
        own = own[~np.isnan(own)]
        if match := [
            float(part)
            for part in feature.range.replace("and more", "").split(" to ")
            if part.strip("-. ").isdigit()
        ]:
            assert own.min(initial=match[0]) >= match[0] - 1e-5, feature.name
            assert len(match) == 1 or own.max(initial=match[1]) <= match[1] + 1e-5, feature.name
        if feature.range == "0 or 1":
            assert set(own.tolist()) <= {0, 1}


def test_the_question_says_how_it_was_made() -> None:
    plain = of_first(described(built_index(), Question("mi")))
    other = of_first(described(built_index(), Question("mi", rewritten=True, guessed=True, acronym=True)))
    changed = {name for name in NAMES if not (plain[name] == other[name] or math.isnan(plain[name]))}
    assert changed == {"rewritten", "guessed", "acronym"}


def test_of_a_concept_the_surest_name_is_compared_too() -> None:
    values = of_first(described(built_index(), Question("heart attack", "heart attack")))
    assert values["preferred"] == 0
    assert values["preferred_covered"] == values["preferred_end"] == 0
    assert (values["writing"], values["exact"], values["covered"]) == (1, 1, 1)
    values = of_first(described(built_index(), Question("myocardial infarction")))
    assert (values["preferred"], values["preferred_covered"], values["preferred_covering"]) == (1, 1, 1)


def test_references_elsewhere_are_counted() -> None:
    builder = TableBuilder()
    builder.concept("X:1", xrefs=["UMLS:1", "MESH:2", "OMIM:3"])
    builder.name("X:1", "gout", kind="preferred")
    builder.concept("X:2")
    builder.name("X:2", "gout attack", kind="preferred")
    index = Index.build(Vocabulary.of((Source("small", "test"), builder.build())), encoder=None)
    values = column(described(index, Question("gout")), "references")
    assert values[0, :2].tolist() == pytest.approx([math.log1p(3), 0])


def test_without_candidates_there_is_nothing_to_describe() -> None:
    assert np.isnan(described(built_index(), Question(""), Question("zzzz"))).all()
    assert not np.isnan(described(built_index(), Question("heart attack"))[0, 0]).all()


DENSE_ONLY = {name for name in NAMES if "dense" in name}
SPARSE_ONLY = {name for name in NAMES if "sparse" in name}


def missing(values: np.ndarray) -> set[str]:
    return {name for name in NAMES if np.isnan(column(values, name)).all()}


@pytest.mark.filterwarnings("ignore:.* names are longer")
def test_features_of_a_search_that_an_index_lacks_are_missing(tmp_path: Path) -> None:
    encoder = Encoder.load(tiny.folder(tmp_path / "model"))
    asked = [Question(text, text) for text in ("heart attack", "cancer of the breast")]
    assert missing(described(built_index(), *asked)) == DENSE_ONLY
    dense = Index.build(built_index().vocabulary, sparse="none", encoder=encoder)
    assert missing(described(dense, *asked)) == SPARSE_ONLY
    both = Index.build(built_index().vocabulary, encoder=encoder)
    values = described(both, *asked)
    assert missing(values) == set()
    # The cosine of the surest name is that of its vector, whether it was found or not.
    texts = [both.vocabulary.preferred_name(row).lower() for row in retrieved_concepts(both, asked[1])]
    cosines = encoder.encode(texts) @ encoder.encode([asked[1].text])[0]
    np.testing.assert_allclose(column(values, "preferred_dense")[1, : len(texts)], cosines, atol=5e-3)
    best, second, third = (column(values, f"{which}_dense") for which in ("best", "second", "third"))
    for higher, lower in ((best, second), (second, third), (best, column(values, "mean_dense"))):
        there = ~np.isnan(lower)
        assert (higher[there] >= lower[there] - 1e-6).all()


def retrieved_concepts(index: Index, question: Question) -> list[int]:
    return [row for row in index.match([question.text], CANDIDATES).concepts[0].tolist() if row != NONE]


def test_several_sparse_searches_count_as_one() -> None:
    published = Index.build(built_index().vocabulary, sparse="le-nguyen", encoder=None)
    sparse = [name for name in published.search.parts if name != "exact"]
    matches = published.match(["breast cancer"], CANDIDATES)
    values = described(published, Question("breast cancer"))
    expected = np.mean([matches.parts[name][0] for name in sparse], axis=0)
    there = ~np.isnan(column(values, "sparse")[0])
    np.testing.assert_allclose(column(values, "sparse")[0, there], expected[there], atol=1e-6)


class TestConceptTable:
    def test_it_knows_the_surest_name_of_each_concept(self) -> None:
        names = vocabulary(
            {"X:1": [("b", "related"), ("a", "exact"), ("c", "exact")], "X:2": ["d"], "X:3": [("e", "broad"), "d"]}
        )
        index = Index.build(names, encoder=None)
        table = ConceptTable.of(index)
        surest = [index.entries.text(row) for row in table.preferred_entry.tolist()]
        assert surest == ["a", "d", "d"]
        assert table.entry_counts.tolist() == [3, 1, 2]
        for row in range(index.vocabulary.name_count):
            name = index.vocabulary.name(row)
            assert index.entries.text(int(table.entry_of_name[row])) == name.text
            assert KINDS[table.kind_of_name[row]] == name.kind

    def test_names_that_are_not_searched_have_no_entry(self) -> None:
        names = vocabulary({"X:1": ["a"], "X:2": ["old"]}, replaced={"X:2": ["X:1"]})
        index = Index.build(names, encoder=None)
        table = ConceptTable.of(index)
        [old] = [row for row in range(2) if index.vocabulary.name(row).text == "old"]
        assert table.entry_of_name[old] == NONE
        gone = index.vocabulary.row("X:2")
        assert (table.preferred_entry[gone], table.entry_counts[gone]) == (NONE, 0)
