"""A mention that equals a name of one concept is answered without a search, and as by one."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nymlink.index.fusion import EXACT_MATCH, Fusion, HybridSearch
from nymlink.index.index import Index
from nymlink.linking.candidates import RANKED
from nymlink.linking.linker import Linker
from nymlink.vocabulary.read import read_vocabulary
from tests.linking.toy import CALIBRATION, VOCABULARY, built_index
from tests.rank.toy import ranked


@cache
def ranked_index() -> Index:
    return ranked(built_index(), {"names": (0.8, 2, -3), "exact": (0.5, 0, 1)})


@cache
def sure_index() -> Index:
    return ranked_index().with_calibration(CALIBRATION.to_dict())


def first(linker: Linker, names: list[str], top_k: int) -> list[dict[str, Any]]:
    """The links with their first candidates, without what only the ranker says of them."""
    links = [link.to_dict() for link in linker.link(names, top_k=top_k)]
    for link in links:
        link["candidates"] = link["candidates"][:1]
        for candidate in link["candidates"]:
            candidate["parts"].pop(RANKED, None)
    return links


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are searched for."""
    texts: list[str] = []
    search = HybridSearch.search

    def listed(self: HybridSearch, queries: Any, k: int) -> Any:
        texts.extend(queries)
        return search(self, queries, k)

    monkeypatch.setattr(HybridSearch, "search", listed)
    return texts


@pytest.mark.parametrize("made", [built_index, ranked_index, sure_index], ids=["unranked", "ranked", "calibrated"])
def test_it_is_the_first_candidate_of_the_full_way(made: Callable[[], Index]) -> None:
    linker = Linker(made())
    names = [name.text for row in range(len(VOCABULARY)) for name in VOCABULARY.names(VOCABULARY.concept_id(row))]
    names += [written for name in names for written in (name.upper(), name.title())]
    names += ["cancer of the breast", "", "liver tumours", "ovarian cancer"]
    assert first(linker, names, 1) == first(linker, names, 2)


def test_nothing_is_searched(asked: list[str]) -> None:
    [sure, capital, other] = Linker(ranked_index()).link(["heart attack", "Heart Attack", "heart pain"])
    assert "heart attack" not in asked
    assert other.query in asked
    assert RANKED not in sure.candidates[0].parts
    assert capital.best.concept_id == sure.best.concept_id


@pytest.mark.parametrize("mention", ["MI", "hart attack", "mental"])
def test_what_may_be_another_is_searched(asked: list[str], mention: str) -> None:
    Linker(built_index()).link(mention)
    assert asked


def test_several_candidates_are_searched(asked: list[str]) -> None:
    Linker(built_index(), top_k=2).link("heart attack")
    assert asked == ["heart attack"]


@pytest.mark.parametrize("method", ["weighted", "reciprocal-rank"])
def test_other_ways_to_join_searches_give_the_same(method: str) -> None:
    parts = list(built_index().search.parts)
    weights = {name: 0.0 if name == EXACT_MATCH and method == "weighted" else 1.0 for name in parts}
    linker = Linker(built_index().with_fusion(Fusion.of(parts, method, weights)))
    names = ["heart attack", "ovarian cancer", "liver tumour"]
    assert first(linker, names, 1) == first(linker, names, 2)


@pytest.fixture(scope="module")
def hpo(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A linker to real names, calibrated and with a ranker that prefers concepts of few names."""
    some = tmp_path_factory.mktemp("hpo") / "some.tsv"
    with gzip.open(data / "vocabularies/hpo.tsv.gz", "rt", encoding="utf-8") as lines:
        some.write_text("".join(islice(lines, 20_000)), encoding="utf-8")
    built = Index.build(read_vocabulary(some), encoder=None)
    return Linker(ranked(built, {"names": (2, 1, -1)}).with_calibration(CALIBRATION.to_dict()))


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 40))
def test_real_names_in_any_batch(hpo: Linker, seed: int, count: int) -> None:
    vocabulary = hpo.index.vocabulary
    rows = np.random.default_rng(seed).choice(vocabulary.name_count, count)
    written = (str, str.lower, str.upper, str.capitalize)
    names = [written[row % len(written)](vocabulary.name(int(row)).text) for row in rows]
    full = first(hpo, names, 2)
    assert first(hpo, names, 1) == full
    assert first(hpo, names[:1], 1) == full[:1]
