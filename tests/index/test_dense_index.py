"""Indexes with dense search: built, resumed, saved, searched, refused where they are damaged."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError, MissingExtraError, StoreError, UnknownNameError
from nymlink.core.store.manifest import seal, write_manifest
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.index.dense import dense_search as dense_module
from nymlink.index.dense import exact as codes_module
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.dense.exact import Int8Codes
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import store_fusion
from tests.index.dense_samples import NAMES, QUERIES, VOCABULARY, assert_same
from tests.index.small import entries, vocabulary


@pytest.mark.parametrize("sparse", ["nymlink", "le-nguyen", "none"])
def test_it_is_the_same_in_memory_saved_and_written(encoder: Encoder, tmp_path: Path, sparse: str) -> None:
    built = Index.build(VOCABULARY, sparse=sparse, encoder=encoder)
    built.save(tmp_path / "saved")
    Index.build(VOCABULARY, directory=tmp_path / "written", sparse=sparse, encoder=encoder)
    assert "dense" in built.search.parts
    for name in ("saved", "written"):
        assert_same(built, Index.load(tmp_path / name, encoder=encoder))
        assert np.load(tmp_path / name / "dense/vectors.npy").dtype == np.float16


def test_scores_are_cosines_of_the_encoder(encoder: Encoder, saved: Path) -> None:
    index = Index.load(saved, encoder=encoder)
    hits = index.search.parts["dense"].search(QUERIES[:8], 3)
    texts = index.entries.texts.to_pylist()
    entries, queries = encoder.encode(texts), encoder.encode(QUERIES[:8])
    for query, rows, scores in zip(queries, hits.rows, hits.scores, strict=True):
        cosines = entries @ query
        np.testing.assert_allclose(scores, cosines[rows], atol=2e-3)
        np.testing.assert_allclose(scores, np.sort(cosines)[::-1][:3], atol=2e-3)


@pytest.mark.parametrize("sparse", ["nymlink", "none"])
def test_what_equals_a_name_scores_1_and_nothing_else_does(encoder: Encoder, sparse: str) -> None:
    index = Index.build(VOCABULARY, sparse=sparse, encoder=encoder)
    matches = index.match(NAMES, 3)
    assert matches.parts["dense"][:, 0].round(6).tolist() == [1] * len(NAMES)
    scores = matches.scores.round(6)
    assert scores[:, 0].tolist() == [1] * len(NAMES)
    assert scores[:, 1:].max() < 1
    assert index.match([f"{name} x" for name in NAMES], 1).scores.round(6).max() < 1


def test_a_query_without_a_token_finds_nothing(encoder: Encoder, saved: Path) -> None:
    dense = Index.load(saved, encoder=encoder).search.parts["dense"]
    assert (dense.search(["", " ", "\0"], 3).rows == -1).all()


def test_a_build_that_was_stopped_goes_on(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_module, "_ENCODED", 64)
    given: list[int] = []
    network = encoder.network

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(network, name)

        def vectors(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
            given.append(len(ids))
            if sum(given) > 150 and len(given) < 1000:
                given.extend([0] * 1000)
                raise KeyboardInterrupt
            return network.vectors(ids, mask)

    monkeypatch.setattr(encoder, "network", Counting())
    with pytest.raises(KeyboardInterrupt):
        Index.build(
            VOCABULARY, directory=tmp_path / "i", encoder=encoder, cache=EmbeddingCache(tmp_path / "cache")
        )
    assert not (tmp_path / "i").exists()
    given.clear()
    given.extend([0] * 1000)
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, cache=EmbeddingCache(tmp_path / "cache"))
    assert 0 < sum(given) <= 320 - 128
    monkeypatch.undo()
    assert_same(Index.load(tmp_path / "i", encoder=encoder), Index.build(VOCABULARY, encoder=encoder))


def test_names_that_are_cut_are_told_of_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_module, "_ENCODED", 64)
    short = Encoder.load(model, max_length=3)
    with pytest.warns(UserWarning, match=r"of 320 names are longer than 3 tokens") as caught:
        Index.build(VOCABULARY, encoder=short)
    with pytest.warns(UserWarning, match="were cut") as expected:
        short.encode(NAMES)
    assert [str(one.message) for one in caught] == [str(one.message) for one in expected]


def test_searches_of_several_threads_do_not_disturb_each_other(encoder: Encoder, saved: Path) -> None:
    index = Index.load(saved, encoder=encoder)
    part = index.search.parts["dense"]
    assert isinstance(part, DenseSearch)

    class Contended(DenseSearch):
        """Whatever it remembers, another thread has replaced when it looks."""

        _last = property(lambda _: [{}], lambda *_: None)  # type: ignore[assignment]

    found = Contended(index.entries, part.encoder, part.vectors).search(QUERIES, 3)
    assert np.array_equal(found.rows, part.search(QUERIES, 3).rows)


def test_codes_find_what_the_vectors_say(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Index.build(VOCABULARY, encoder=encoder).save(tmp_path / "saved")
    Index.build(VOCABULARY, directory=tmp_path / "written", encoder=encoder)
    counted: list[bool] = []
    original = Int8Codes.candidates

    def candidates(self: Int8Codes, *given: Any) -> Any:
        found = original(self, *given)
        counted.append(found is not None)
        return found

    monkeypatch.setattr(Int8Codes, "candidates", candidates)
    for name in ("saved", "written"):
        assert {path.name for path in (tmp_path / name / "dense").iterdir()} == {"vectors.npy", *Int8Codes.FILES}
        dense = Index.load(tmp_path / name, encoder=encoder).search.parts["dense"]
        monkeypatch.setattr(codes_module, "_SHARE", 320)
        expected = dense.search(QUERIES, 9)
        monkeypatch.setattr(codes_module, "_SHARE", 1)
        hits = dense.search(QUERIES, 9)
        # Nor are they of use where more is asked for than there are groups.
        dense.search(QUERIES[:1], 21)
        assert counted == [False, True, False]
        counted.clear()
        assert hits.rows.tolist() == expected.rows.tolist()
        assert hits.scores.tolist() == expected.scores.tolist()


@pytest.mark.parametrize("coded", [False, True])
def test_vectors_that_rounding_made_too_long_are_no_better_than_the_best(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, coded: bool
) -> None:
    monkeypatch.setattr(codes_module, "_SHARE", 1)
    asked = np.full((1, 16), 0.25, np.float32)
    vectors = np.zeros((64, 16), np.float16)
    # Each longer than the one before: one coordinate more is the next larger number.
    vectors[20:28] = np.where(np.tri(8, 16, -1), np.nextafter(np.float16(0.25), np.float16(1)), np.float16(0.25))
    vectors[10] = 0.2499
    search = DenseSearch(
        entries(NAMES[:64]), encoder, vectors, int8_codes=Int8Codes.of(vectors) if coded else None
    )
    codes = search._int8_codes
    assert (codes is not None and codes.candidates(asked, 4) is not None) is coded
    hits = search.search_vectors(asked, 4)
    assert (hits.rows.tolist(), hits.scores.tolist()) == ([[20, 21, 22, 23]], [[1, 1, 1, 1]])


@pytest.mark.parametrize("file", Int8Codes.FILES)
def test_codes_that_are_damaged_or_gone_are_noticed(model: Path, tmp_path: Path, file: str) -> None:
    directory = tmp_path / "i"
    Index.build(VOCABULARY, directory=directory, encoder=model)
    path = directory / "dense" / file
    np.save(path, np.load(path)[:-1])
    seal(directory, json.loads((directory / "manifest.json").read_text(encoding="utf-8")))
    with pytest.raises(StoreError, match="its codes are"):
        Index.load(directory)
    path.unlink()
    with pytest.raises(StoreError, match=f"{file}"):
        Index.load(directory)


@pytest.mark.parametrize("file", ["vectors.npy"])
def test_vectors_that_do_not_fit_are_noticed(saved: Path, tmp_path: Path, file: str) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    for damaged in (np.zeros((320, 31), np.float16), np.zeros((319, 32), np.float16), np.zeros((320, 32))):
        np.save(directory / "dense" / file, damaged)
        seal(directory, json.loads((directory / "manifest.json").read_text(encoding="utf-8")))
        with pytest.raises(StoreError, match="its vectors are"):
            Index.load(directory)


@pytest.mark.parametrize(
    "change",
    [
        {"encoder": {"name": "x"}},
        {"encoder": "x"},
        {"dense": "best"},
        {"fusion": {"method": "best", "weights": {"exact": 1, "sparse": 1, "dense": 1}}},
        {"fusion": {"method": "weighted", "weights": {"exact": 1, "sparse": 1}}},
        {"fusion": {"method": "weighted", "weights": {"exact": -1, "sparse": 1, "dense": 1}}},
        {"fusion": {"method": "weighted", "weights": {"exact": "a", "sparse": "b", "dense": "c"}}},
        {"fusion": None},
    ],
)
def test_settings_that_make_no_sense_are_an_error(saved: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"] |= change
    write_manifest(directory, manifest)
    with pytest.raises(StoreError, match="damaged"):
        Index.load(directory)


def test_fusion_is_changed_in_place(encoder: Encoder, saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    fusion = Fusion.of(["exact", "sparse", "dense"], "reciprocal-rank", {"sparse": 1, "dense": 3})
    store_fusion(directory, fusion)
    loaded = Index.load(directory, encoder=encoder)
    assert loaded.fusion == fusion
    assert dict(loaded.search.weights) == {"exact": 0, "sparse": 0.25, "dense": 0.75}
    assert_same(loaded, Index.load(saved, encoder=encoder).with_fusion(fusion))


@pytest.mark.parametrize(
    "fusion",
    [
        Fusion.of(["exact", "sparse"]),
        Fusion.of(["exact", "characters", "words", "dense"]),
        Fusion("best", {"exact": 0.1, "sparse": 0.15, "dense": 0.75}),
        Fusion("weighted", {"exact": 0.0, "sparse": 0.0, "dense": 0.0}),
    ],
)
def test_a_fusion_that_the_index_cannot_have_is_refused(saved: Path, tmp_path: Path, fusion: Fusion) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    with pytest.raises(InputError, match=r"copy: its searches cannot be joined so \(.*Fusion\.of"):
        store_fusion(directory, fusion)
    assert (directory / "manifest.json").read_bytes() == (saved / "manifest.json").read_bytes()
    Index.load(directory)


def test_another_vocabulary_is_searched_alike(encoder: Encoder) -> None:
    fusion = Fusion.of(["exact", "sparse", "dense"], "weighted", {"dense": 1})
    index = Index.build(VOCABULARY, encoder=encoder).with_fusion(fusion)
    other = index.rebuild(vocabulary({"Y:1": ["heart attack", "short stature"]}))
    assert other.fusion == fusion
    assert other.match(["heart attack"], 1).parts["dense"][0, 0] == pytest.approx(1, abs=2e-3)


def test_a_rebuilt_index_searches_added_names_of_no_language() -> None:
    spanish = vocabulary({"Y:1": ["heart attack"]})
    index = Index.build(spanish, languages=["und"], encoder=None)
    assert len(index.rebuild(VOCABULARY).entries) == 320


@pytest.mark.parametrize("kind", ["hnsw", "ivf-pq"])
def test_approximate_search_says_how_much_it_finds(
    encoder: Encoder, saved: Path, tmp_path: Path, kind: str
) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, dense=kind)
    index, exact = (Index.load(directory, encoder=encoder) for directory in (tmp_path / "i", saved))
    assert index.settings["dense"] == kind
    assert 0.8 < index.settings["recall@20"] <= 1
    some, all_ = (each.search.parts["dense"].search(QUERIES, 10) for each in (index, exact))
    shared = [len(set(a) & set(b)) for a, b in zip(some.rows.tolist(), all_.rows.tolist(), strict=True)]
    assert np.mean(shared[:-2]) > 8
    # Whatever is found has its exact score.
    np.testing.assert_allclose(some.scores, exact.search.parts["dense"].score(QUERIES, some.rows), atol=1e-6)


def test_a_damaged_approximate_search_is_an_error(encoder: Encoder, tmp_path: Path) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, dense="hnsw")
    path = tmp_path / "i/dense/neighbours.faiss"
    path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(StoreError, match=r"neighbours\.faiss is damaged"):
        Index.load(tmp_path / "i", encoder=encoder).match(["heart"], 1)
    seal(tmp_path / "i", json.loads((tmp_path / "i" / "manifest.json").read_text(encoding="utf-8")))
    with pytest.raises(StoreError, match=r"neighbours\.faiss: cannot be read"):
        Index.load(tmp_path / "i", encoder=encoder).match(["heart"], 1)


def test_kinds_are_refused_before_anything_is_encoded(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing could be encoded if it were tried.
    monkeypatch.setattr(encoder, "encode", None)
    with pytest.raises(UnknownNameError, match="known: exact, hnsw, ivf-pq"):
        Index.build(VOCABULARY, encoder=encoder, dense="best")
    with pytest.raises(UnknownNameError, match="known: weighted, reciprocal-rank"):
        Index.build(VOCABULARY, encoder=encoder, fusion="best")
    with pytest.raises(InputError, match="needs an encoder"):
        Index.build(VOCABULARY, dense="hnsw", encoder=None)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"nymlink\[faiss\]"):
        Index.build(VOCABULARY, encoder=encoder, dense="hnsw")
    monkeypatch.undo()
    with pytest.raises(InputError, match="at least 256 names"):
        Index.build(vocabulary({"Y:1": ["heart"]}), encoder=encoder, dense="ivf-pq")


def test_vectors_are_those_of_the_dense_part(saved: Path) -> None:
    part = Index.load(saved).search.parts["dense"]
    assert isinstance(part, DenseSearch)
    assert part.recall(5) == pytest.approx(1, abs=0.01)
