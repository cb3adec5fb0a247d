"""Indexes with dense search: built, resumed, saved, loaded with the right encoder, refused with another."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.encode.cache import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.export import export
from nymlink.errors import InputError, MissingExtraError, StoreError, UnknownNameError
from nymlink.index import codes as codes_module
from nymlink.index import dense as dense_module
from nymlink.index.codes import Codes
from nymlink.index.dense import DenseSearch
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index, store_fusion
from tests.encode import tiny
from tests.index.small import entries, many_names, vocabulary

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = many_names(320)
VOCABULARY = vocabulary({f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(80)})
QUERIES = [*NAMES[::40], *(name[1:] for name in NAMES[::40]), "", "\0"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def encoder(model: Path) -> Encoder:
    return Encoder.load(model)


@pytest.fixture(scope="module")
def saved(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("index") / "dense"
    Index.write(directory, VOCABULARY, encoder=model)
    return directory


def assert_same(one: Index, other: Index) -> None:
    first, second = one.match(QUERIES, 5), other.match(QUERIES, 5)
    assert np.array_equal(first.concepts, second.concepts)
    np.testing.assert_allclose(first.scores, second.scores, atol=1e-6)
    assert first.parts.keys() == second.parts.keys()


@pytest.mark.parametrize("sparse", ["nymlink", "le-nguyen", "none"])
def test_it_is_the_same_in_memory_saved_and_written(encoder: Encoder, tmp_path: Path, sparse: str) -> None:
    built = Index.build(VOCABULARY, sparse=sparse, encoder=encoder)
    built.save(tmp_path / "saved")
    Index.write(tmp_path / "written", VOCABULARY, sparse=sparse, encoder=encoder)
    assert "dense" in built.search.parts
    for name in ("saved", "written"):
        assert_same(built, Index.load(tmp_path / name, encoder=encoder))
        assert np.load(tmp_path / name / "dense/vectors.npy").dtype == np.float16


def test_scores_are_cosines_of_the_encoder(encoder: Encoder, saved: Path) -> None:
    index = Index.load(saved)
    hits = index.search.parts["dense"].search(QUERIES[:8], 3)
    texts = index.entries.texts.to_pylist()
    entries, queries = encoder.encode(texts), encoder.encode(QUERIES[:8])
    for query, rows, scores in zip(queries, hits.rows, hits.scores, strict=True):
        cosines = entries @ query
        np.testing.assert_allclose(scores, cosines[rows], atol=2e-3)
        np.testing.assert_allclose(scores, np.sort(cosines)[::-1][:3], atol=2e-3)


def test_a_query_without_a_token_finds_nothing(saved: Path) -> None:
    assert (Index.load(saved).search.parts["dense"].search(["", " ", "\0"], 3).rows == -1).all()


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
        Index.write(tmp_path / "i", VOCABULARY, encoder=encoder, cache=EmbeddingCache(tmp_path / "cache"))
    assert not (tmp_path / "i").exists()
    given.clear()
    given.extend([0] * 1000)
    Index.write(tmp_path / "i", VOCABULARY, encoder=encoder, cache=EmbeddingCache(tmp_path / "cache"))
    assert 0 < sum(given) <= 320 - 128
    monkeypatch.undo()
    assert_same(Index.load(tmp_path / "i", encoder=encoder), Index.build(VOCABULARY, encoder=encoder))


def test_opening_loads_no_model(saved: Path) -> None:
    script = (
        "import sys\n"
        "from nymlink.index.index import Index\n"
        "index = Index.load(sys.argv[1])\n"
        "print(index.settings['encoder']['width'], index.fusion.method)\n"
        "print(sorted({'torch', 'onnxruntime', 'faiss', 'transformers', 'tokenizers'} & set(sys.modules)))\n"
    )
    found = subprocess.run([sys.executable, "-c", script, str(saved)], capture_output=True, text=True, check=True)
    assert found.stdout == "32 weighted\n[]\n"


def test_an_encoder_that_is_gone_is_asked_for(saved: Path, model: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["settings"]["encoder"]["name"] == str(model)
    for name, said in ((str(tmp_path / "gone"), "gone: no such folder"), (None, "does not say where")):
        manifest["settings"]["encoder"]["name"] = name
        (directory / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(StoreError, match=f"(?s){said}.*--encoder"):
            Index.load(directory).match(["heart"], 1)
    assert_same(Index.load(directory, encoder=model), Index.load(saved))
    with pytest.raises(InputError, match="no such folder"):
        Index.load(directory, encoder=tmp_path / "elsewhere").match(["heart"], 1)


def test_another_encoder_is_refused(saved: Path, tmp_path: Path) -> None:
    other = tiny.folder(tmp_path / "other", seed=1)
    with pytest.raises(StoreError, match="is not the one that the index was built with"):
        Index.load(saved, encoder=other).match(["heart"], 1)
    with pytest.raises(StoreError, match="is not the one that the index was built with"):
        Index.load(saved, encoder=Encoder.load(other))


def test_an_encoder_of_another_width_is_refused(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tiny._SIZES, "hidden_size", 48)
    wide = tiny.folder(tmp_path / "wide")
    for encoder in (wide, Encoder.load(wide)):
        with pytest.raises(
            StoreError, match="vectors of width 48, but those of the index have width 32: search with"
        ):
            Index.load(saved, encoder=encoder).match(["heart"], 1)


@pytest.mark.parametrize(("width", "wrong"), [(32, "is not the one"), (48, "vectors of width 48")])
def test_an_encoder_that_has_changed_where_it_was_is_not_asked_for_again(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, wrong: str
) -> None:
    place = shutil.copytree(model, tmp_path / "m")
    Index.write(tmp_path / "i", VOCABULARY, encoder=place)
    otherwise = Encoder.load(place, pooling="mean")
    with pytest.raises(StoreError, match=r"is not the one .*: search with /.*/m, or build"):
        Index.load(tmp_path / "i", encoder=otherwise)
    shutil.rmtree(place)
    monkeypatch.setitem(tiny._SIZES, "hidden_size", width)
    tiny.folder(place, seed=1)
    advice = "/m, or how its vectors are made, has changed since: build the index again, or give the encoder as it"
    for encoder in (None, place, Encoder.load(place)):
        with pytest.raises(StoreError, match=f"{wrong}.*: /.*{advice}"):
            Index.load(tmp_path / "i", encoder=encoder).match(["heart"], 1)
    Index.load(tmp_path / "i", encoder=model).match(["heart"], 1)


@pytest.mark.filterwarnings("ignore:.*longer than 12 tokens")
def test_settings_of_the_encoder_are_those_it_was_built_with(model: Path, tmp_path: Path) -> None:
    loaded = Encoder.load(model, pooling="mean", max_length=12)
    built = Index.build(VOCABULARY, encoder=loaded)
    assert built.settings["encoder"]["name"] == str(model)
    built.save(tmp_path / "i")
    # The folder says otherwise, the index knows better.
    assert_same(built, Index.load(tmp_path / "i"))


@pytest.fixture(scope="module")
def mixed(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as of a model on the hub: weights, and graphs that nothing says to be of these weights."""
    folder = tmp_path_factory.mktemp("mixed") / "tiny"
    export(model, folder)
    (folder / "manifest.json").unlink()
    shutil.copy(folder / "onnx" / "model.onnx", folder / "onnx" / "model_int8.onnx")
    shutil.copy(model / "model.safetensors", folder)
    return folder


@pytest.mark.parametrize(
    "how",
    [
        {"precision": "int8"},
        {"precision": "fp32"},
        {"backend": "torch"},
        # One of them is not how the graph pools.
        {"backend": "torch", "pooling": "cls"},
        {"backend": "torch", "pooling": "mean"},
    ],
)
def test_the_encoder_is_loaded_as_it_was_built_with(mixed: Path, tmp_path: Path, how: dict[str, Any]) -> None:
    built = Index.build(VOCABULARY, encoder=Encoder.load(mixed, **how))
    built.save(tmp_path / "i")
    assert_same(built, Index.load(tmp_path / "i"))
    assert_same(built, Index.load(tmp_path / "i", encoder=mixed))


def test_names_that_are_cut_are_told_of_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_module, "_ENCODED", 64)
    short = Encoder.load(model, max_length=3)
    with pytest.warns(UserWarning, match=r"of 320 names are longer than 3 tokens") as caught:
        Index.build(VOCABULARY, encoder=short)
    with pytest.warns(UserWarning, match="were cut") as expected:
        short.encode(NAMES)
    assert [str(one.message) for one in caught] == [str(one.message) for one in expected]


def test_searches_of_several_threads_do_not_disturb_each_other(saved: Path) -> None:
    index = Index.load(saved)
    part = index.search.parts["dense"]
    assert isinstance(part, DenseSearch)

    class Contended(DenseSearch):
        """Whatever it remembers, another thread has replaced when it looks."""

        _last = property(lambda _: {}, lambda *_: None)  # type: ignore[assignment]

    found = Contended(index.entries, part.encoder, part.vectors).search(QUERIES, 3)
    assert np.array_equal(found.rows, part.search(QUERIES, 3).rows)


def test_the_encoder_can_be_loaded_before_the_first_query(saved: Path, tmp_path: Path) -> None:
    Index.load(saved).load_encoder()
    Index.build(VOCABULARY).load_encoder()
    with pytest.raises(InputError, match="no such folder"):
        Index.load(saved, encoder=tmp_path / "elsewhere").load_encoder()


def test_an_index_without_dense_search_needs_no_encoder(encoder: Encoder, tmp_path: Path) -> None:
    Index.build(VOCABULARY).save(tmp_path / "i")
    with pytest.raises(InputError, match="needs no encoder"):
        Index.load(tmp_path / "i", encoder=encoder)


def test_codes_find_what_the_vectors_say(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Index.build(VOCABULARY, encoder=model).save(tmp_path / "saved")
    Index.write(tmp_path / "written", VOCABULARY, encoder=model)
    counted: list[bool] = []
    original = Codes.candidates

    def candidates(self: Codes, queries: Any, k: int) -> Any:
        found = original(self, queries, k)
        counted.append(found is not None)
        return found

    monkeypatch.setattr(Codes, "candidates", candidates)
    for name in ("saved", "written"):
        assert {path.name for path in (tmp_path / name / "dense").iterdir()} == {"vectors.npy", *Codes.FILES}
        dense = Index.load(tmp_path / name).search.parts["dense"]
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
    search = DenseSearch(entries(NAMES[:64]), encoder, vectors, codes=Codes.of(vectors) if coded else None)
    assert (search._codes is not None and search._codes.candidates(asked, 4) is not None) is coded
    hits = search.nearest(asked, 4)
    assert (hits.rows.tolist(), hits.scores.tolist()) == ([[20, 21, 22, 23]], [[1, 1, 1, 1]])


@pytest.mark.parametrize("file", Codes.FILES)
def test_codes_that_are_damaged_or_gone_are_noticed(model: Path, tmp_path: Path, file: str) -> None:
    directory = tmp_path / "i"
    Index.write(directory, VOCABULARY, encoder=model)
    path = directory / "dense" / file
    np.save(path, np.load(path)[:-1])
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["files"][f"dense/{file}"] = path.stat().st_size
    (directory / "manifest.json").write_text(json.dumps(manifest))
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
        manifest = json.loads((directory / "manifest.json").read_text())
        manifest["files"][f"dense/{file}"] = (directory / "dense" / file).stat().st_size
        (directory / "manifest.json").write_text(json.dumps(manifest))
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
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["settings"] |= change
    (directory / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="damaged"):
        Index.load(directory)


def test_fusion_is_changed_in_place(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    fusion = Fusion.of(["exact", "sparse", "dense"], "reciprocal-rank", {"sparse": 1, "dense": 3})
    store_fusion(directory, fusion)
    loaded = Index.load(directory)
    assert loaded.fusion == fusion
    assert dict(loaded.search.weights) == {"exact": 0, "sparse": 0.25, "dense": 0.75}
    assert_same(loaded, Index.load(saved).with_fusion(fusion))


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
    index = Index.build(spanish, languages=["und"])
    assert len(index.rebuild(VOCABULARY).entries) == 320


@pytest.mark.parametrize("kind", ["hnsw", "ivf-pq"])
def test_approximate_search_says_how_much_it_finds(model: Path, saved: Path, tmp_path: Path, kind: str) -> None:
    Index.write(tmp_path / "i", VOCABULARY, encoder=model, dense=kind)
    index, exact = Index.load(tmp_path / "i"), Index.load(saved)
    assert index.settings["dense"] == kind
    assert 0.8 < index.settings["recall@20"] <= 1
    some, all_ = (each.search.parts["dense"].search(QUERIES, 10) for each in (index, exact))
    shared = [len(set(a) & set(b)) for a, b in zip(some.rows.tolist(), all_.rows.tolist(), strict=True)]
    assert np.mean(shared[:-2]) > 8
    # Whatever is found has its exact score.
    np.testing.assert_allclose(some.scores, exact.search.parts["dense"].score(QUERIES, some.rows), atol=1e-6)


def test_a_damaged_approximate_search_is_an_error(model: Path, tmp_path: Path) -> None:
    Index.write(tmp_path / "i", VOCABULARY, encoder=model, dense="hnsw")
    path = tmp_path / "i/dense/neighbours.faiss"
    path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(StoreError, match=r"neighbours\.faiss: cannot be read"):
        Index.load(tmp_path / "i").match(["heart"], 1)


def test_kinds_are_refused_before_anything_is_encoded(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing could be encoded if it were tried.
    monkeypatch.setattr(encoder, "encode", None)
    with pytest.raises(UnknownNameError, match="known: exact, hnsw, ivf-pq"):
        Index.build(VOCABULARY, encoder=encoder, dense="best")
    with pytest.raises(UnknownNameError, match="known: weighted, reciprocal-rank"):
        Index.build(VOCABULARY, encoder=encoder, fusion="best")
    with pytest.raises(InputError, match="needs an encoder"):
        Index.build(VOCABULARY, dense="hnsw")
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
