"""The encoder of an index with dense search: loaded as it was, asked for, refused where it is another."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError, StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from tests.encode import tiny
from tests.index.dense_samples import VOCABULARY, assert_same


def asks_for_the_encoder() -> pytest.WarningsRecorder:
    """Expect the warning of an index that loads an encoder from where it was."""
    return pytest.warns(UserWarning, match="asks for the encoder")


def test_opening_loads_no_model(saved: Path) -> None:
    script = (
        "import sys\n"
        "from nymlink.index.index import Index\n"
        "index = Index.load(sys.argv[1])\n"
        "print(index.settings['encoder']['width'], index.fusion.method)\n"
        "print(sorted({'torch', 'onnxruntime', 'faiss', 'transformers', 'tokenizers'} & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, str(saved)], capture_output=True, encoding="utf-8", check=True
    )
    assert found.stdout == "32 weighted\n[]\n"


def test_an_encoder_that_is_gone_is_asked_for(saved: Path, model: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["encoder"]["name"] == str(model)
    manifest["settings"]["encoder"]["name"] = str(tmp_path / "gone")
    write_manifest(directory, manifest)
    with asks_for_the_encoder(), pytest.raises(StoreError, match=r"(?s)gone: no such folder.*--encoder"):
        Index.load(directory).match(["heart"], 1)
    manifest["settings"]["encoder"]["name"] = None
    write_manifest(directory, manifest)
    with pytest.raises(StoreError, match=r"does not know the place.*--encoder"):
        Index.load(directory).match(["heart"], 1)
    assert_same(Index.load(directory, encoder=model), Index.load(saved, encoder=model))
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
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=place)
    otherwise = Encoder.load(place, pooling="mean")
    with pytest.raises(StoreError, match=r"is not the one .*: search with /.*/m, or build"):
        Index.load(tmp_path / "i", encoder=otherwise)
    shutil.rmtree(place)
    monkeypatch.setitem(tiny._SIZES, "hidden_size", width)
    tiny.folder(place, seed=1)
    advice = (
        "/m, or how its vectors are made, has changed since: build the index again, or say where the encoder is"
    )
    for encoder in (place, Encoder.load(place)):
        with pytest.raises(StoreError, match=f"{wrong}.*: /.*{advice}"):
            Index.load(tmp_path / "i", encoder=encoder).match(["heart"], 1)
    with asks_for_the_encoder(), pytest.raises(StoreError, match=f"{wrong}.*: /.*{advice}"):
        Index.load(tmp_path / "i").match(["heart"], 1)
    Index.load(tmp_path / "i", encoder=model).match(["heart"], 1)


@pytest.mark.filterwarnings("ignore:.*longer than 12 tokens")
def test_settings_of_the_encoder_are_those_it_was_built_with(model: Path, tmp_path: Path) -> None:
    loaded = Encoder.load(model, pooling="mean", max_length=12)
    built = Index.build(VOCABULARY, encoder=loaded)
    assert built.settings["encoder"]["name"] == str(model)
    built.save(tmp_path / "i")
    # The folder says otherwise, the index knows better.
    with asks_for_the_encoder():
        assert_same(built, Index.load(tmp_path / "i"))


@pytest.fixture(scope="module")
def mixed(model: Path, export_once: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as of a model on the hub: weights, and graphs that nothing says to be of these weights."""
    folder = tmp_path_factory.mktemp("mixed") / "tiny"
    # With the pooling of the graph that other tests export: none has to be traced here.
    export_once(model, folder, pooling="mean")
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
    with asks_for_the_encoder():
        assert_same(built, Index.load(tmp_path / "i"))
    assert_same(built, Index.load(tmp_path / "i", encoder=mixed))


def test_the_encoder_can_be_loaded_before_the_first_query(saved: Path, tmp_path: Path) -> None:
    with asks_for_the_encoder():
        Index.load(saved).load_encoder()
    Index.build(VOCABULARY, encoder=None).load_encoder()
    with pytest.raises(InputError, match="no such folder"):
        Index.load(saved, encoder=tmp_path / "elsewhere").load_encoder()


def test_an_index_without_dense_search_needs_no_encoder(encoder: Encoder, tmp_path: Path) -> None:
    Index.build(VOCABULARY, encoder=None).save(tmp_path / "i")
    with pytest.raises(InputError, match="needs no encoder"):
        Index.load(tmp_path / "i", encoder=encoder)


def test_an_index_is_handed_to_another_process_with_where_its_encoder_is(
    saved: Path, model: Path, tmp_path: Path
) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"]["encoder"]["name"] = str(tmp_path / "gone")
    write_manifest(directory, manifest)
    expected = Index.load(saved, encoder=model)
    for encoder in (model, str(model), Encoder.load(model)):
        assert_same(pickle.loads(pickle.dumps(Index.load(directory, encoder=encoder))), expected)
    with asks_for_the_encoder():
        assert_same(pickle.loads(pickle.dumps(Index.load(saved))), expected)
    nowhere = Encoder.load(model)
    nowhere.name = None
    with pytest.raises(InputError, match="the encoder of this index was made in memory"):
        pickle.dumps(Index.load(saved, encoder=nowhere))
