"""The ranker of an index: kept with it, stored in its folder, dropped where its scores become others."""

from __future__ import annotations

import json
import pickle
import warnings
from functools import cache
from pathlib import Path

import pytest

from nymlink.core.errors import StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration, store_fusion, store_ranker
from nymlink.linking.linker import Linker
from tests.linking.toy import CALIBRATION
from tests.rank.toy import LAST_FIRST, built_index, damaged, ranker

RANKER = ranker(LAST_FIRST).to_dict()


@cache
def ranked_index() -> Index:
    return built_index().with_ranker(RANKER)


@cache
def other_fusion() -> Fusion:
    return Fusion.of(built_index().search.parts, weights={"exact": 0.5, "sparse": 0.5})


MENTIONS = ["hart attack", "cancer of the breast", "MI", "zzzz", ""]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    ranked_index().save(tmp_path / "index")
    return tmp_path / "index"


def test_an_index_keeps_it(saved: Path) -> None:
    assert dict(Index.load(saved).ranker) == RANKER
    links = Linker.load(saved, top_k=5).link(MENTIONS)
    assert links == Linker(ranked_index(), top_k=5).link(MENTIONS)
    assert links != Linker(built_index(), top_k=5).link(MENTIONS)


def test_it_is_stored_in_one_step(saved: Path, tmp_path: Path) -> None:
    built_index().with_calibration(CALIBRATION.to_dict()).save(tmp_path / "other")
    with pytest.warns(
        UserWarning, match="its calibration was of another order, and removed: run `nymlink calibrate`"
    ):
        store_ranker(tmp_path / "other", RANKER, fusion=built_index().fusion)
    manifests = [
        json.loads((path / "manifest.json").read_text(encoding="utf-8")) for path in (saved, tmp_path / "other")
    ]
    # The calibration was of another order, and is gone.
    assert manifests[0] == manifests[1]
    store_calibration(tmp_path / "other", CALIBRATION.to_dict(), fusion=built_index().fusion)
    opened = Index.load(tmp_path / "other")
    assert (dict(opened.ranker), dict(opened.calibration)) == (RANKER, CALIBRATION.to_dict())


def test_it_is_not_stored_where_scores_are_others(saved: Path, tmp_path: Path) -> None:
    before = (saved / "manifest.json").read_bytes()
    with pytest.raises(StoreError, match="its fusion has changed since: run `nymlink train rank` again"):
        store_ranker(saved, RANKER, fusion=other_fusion())
    assert (saved / "manifest.json").read_bytes() == before
    with pytest.raises(StoreError, match="no such index"):
        store_ranker(tmp_path / "nowhere", RANKER, fusion=built_index().fusion)


def test_another_fusion_removes_it(saved: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store_fusion(saved, built_index().fusion)
    assert Index.load(saved).ranker is not None
    with pytest.warns(
        UserWarning, match="its ranker learned from other scores, and removed: run `nymlink train rank` again"
    ):
        store_fusion(saved, other_fusion())
    assert Index.load(saved).ranker is None
    assert ranked_index().with_fusion(other_fusion()).ranker is None
    assert ranked_index().ranker is not None


def test_another_fusion_removes_both_and_says_so(saved: Path) -> None:
    store_calibration(saved, CALIBRATION.to_dict(), fusion=built_index().fusion)
    with pytest.warns(
        UserWarning,
        match="its ranker and calibration learned .* `nymlink train rank` and `nymlink calibrate` again",
    ):
        store_fusion(saved, other_fusion())
    opened = Index.load(saved)
    assert opened.ranker is opened.calibration is None


def test_another_ranker_is_of_another_calibration() -> None:
    both = ranked_index().with_calibration(CALIBRATION.to_dict())
    assert both.ranker is not None
    assert both.with_ranker(None).calibration is None
    assert both.with_ranker(RANKER).calibration is None
    assert both.with_ranker(None).ranker is None


def test_another_process_has_it(saved: Path) -> None:
    linker = Linker.load(saved, top_k=5)
    assert pickle.loads(pickle.dumps(linker)).link(MENTIONS) == linker.link(MENTIONS)
    # What was changed after it was opened goes with it.
    plain = Linker(Index.load(saved).with_ranker(None), top_k=5)
    again = pickle.loads(pickle.dumps(plain))
    assert again.index.ranker is None
    assert again.link(MENTIONS) == plain.link(MENTIONS)


def test_an_index_over_another_vocabulary_keeps_it() -> None:
    assert dict(ranked_index().rebuild(built_index().vocabulary).ranker) == RANKER


@pytest.mark.parametrize("value", [[], 3, "trees"])
def test_what_is_no_ranker_is_damage(saved: Path, value: object) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    write_manifest(saved, {**manifest, "ranker": value})
    with pytest.raises(StoreError, match=r"damaged \(its ranker is none\)"):
        Index.load(saved)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"version": 0}, "learned from other features .*: build the index again, or train its ranker again"),
        ({"trees": {}}, "the ranker is damaged .*: build the index again"),
    ],
)
def test_one_that_cannot_be_used_is_said_before_anything_is_linked(
    saved: Path, changes: dict[str, object], match: str
) -> None:
    store_ranker(saved, damaged(**changes), fusion=built_index().fusion)
    with pytest.raises(StoreError, match=match):
        Linker.load(saved)
    # It can be replaced where it is.
    store_ranker(saved, RANKER, fusion=built_index().fusion)
    assert Linker.load(saved).link("heart attack").candidates
