"""Models are data: nothing in their folders is run, and nothing outside of them is read."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers.dynamic_module_utils import resolve_trust_remote_code

from nymlink.core.errors import InputError, NymlinkError, StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel, quiet_transformers
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.encode import hostile


@pytest.fixture
def folder(bert: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bert, tmp_path / "model")


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    return tmp_path / "ran"


@pytest.fixture(autouse=True)
def yes(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard input that agrees with everything."""
    answers = io.StringIO("y\n" * 20)
    monkeypatch.setattr("sys.stdin", answers)
    return answers


@pytest.mark.parametrize("asking", hostile.ASKING_FOR_CODE)
def test_code_of_a_model_is_refused(
    asking: Callable[[Path, Path], Path], folder: Path, ran: Path, yes: io.StringIO
) -> None:
    file = asking(folder, ran)
    with pytest.raises(InputError, match=r"asks for .*and that was refused") as caught:
        Encoder.load(folder)
    assert caught.value.path == str(file)
    assert not ran.exists()
    assert yes.tell() == 0


def test_transformers_never_asks(yes: io.StringIO) -> None:
    with quiet_transformers(), pytest.raises(ValueError, match="trust_remote_code"):
        resolve_trust_remote_code(None, "some/model", has_local_code=False, has_remote_code=True)
    assert yes.tell() == 0


def test_what_is_refused_is_said_in_short_and_without_control_characters(folder: Path) -> None:
    hostile.said(folder / "config.json", auto_map={"AutoModel": "\x1b[2Jcode.Model" + "l" * 1000})
    with pytest.raises(InputError, match=r"u001b\[2Jcode.Model") as caught:
        Encoder.load(folder)
    assert "\x1b" not in str(caught.value)
    assert len(caught.value.message) < 400


def test_a_graph_needs_no_code_to_run(exported: Path, ran: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(exported, tmp_path / "exported")
    _unlisted(folder)
    hostile.known_model(folder, ran)
    assert Encoder.load(folder).encode(["heart attack"]).shape == (1, 32)
    assert not ran.exists()


def test_another_model_is_neither_loaded_nor_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object, **__: object) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("socket.getaddrinfo", connect)
    hostile.said(folder / "config.json", model_type="dpt", backbone="some/model", is_hybrid=True)
    with pytest.raises(InputError, match=r"asks for another model, \"some/model\", and that was refused"):
        Encoder.load(folder)


def test_settings_elsewhere_are_refused(folder: Path) -> None:
    hostile.said(folder / "config.json", configuration_files=["../config.4.0.0.json"])
    with pytest.raises(InputError, match=r"asks for \"../config.4.0.0.json\", outside of the model"):
        Encoder.load(folder)


class Payload:
    """Runs a command when it is unpickled."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch '{self.ran}'",)


@pytest.mark.parametrize("kind", ["torch", "pickle"])
def test_pickled_weights_run_nothing(folder: Path, ran: Path, kind: str) -> None:
    weights = TorchModel.load(folder).transformer.state_dict()
    (folder / "model.safetensors").unlink()
    file = folder / "pytorch_model.bin"
    torch.save(dict(weights), file)
    assert Encoder.load(folder).width == 32
    weights["embeddings.word_embeddings.weight"] = Payload(ran)
    if kind == "torch":
        torch.save(weights, file)
    else:
        file.write_bytes(pickle.dumps(weights))
    with pytest.raises(InputError, match="nymlink does not run: get them as safetensors"):
        Encoder.load(folder)
    assert not ran.exists()


@pytest.mark.parametrize("place", ["../secret.safetensors", "/secret.safetensors", "..\\secret.safetensors"])
def test_weights_elsewhere_are_refused(folder: Path, place: str) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001.safetensors")
    index = {"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": place}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(InputError, match=r"asks for .*secret.* outside of the model, and that was refused"):
        Encoder.load(folder)


def test_a_pooling_elsewhere_is_refused(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "saved")
    modules = (folder / "modules.json").read_text(encoding="utf-8")
    (folder / "modules.json").write_text(modules.replace("1_Pooling", "../1_Pooling"), encoding="utf-8")
    shutil.copytree(folder / "1_Pooling", tmp_path / "1_Pooling")
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"asks for \"../1_Pooling\", outside of the model"):
        Encoder.load(folder)


@pytest.mark.parametrize("place", ["../../secret", "{tmp}/secret", "link"])
@pytest.mark.parametrize("file", ["onnx/model.onnx", "onnx/model_int8.onnx"])
def test_numbers_of_a_graph_elsewhere_are_refused(exported: Path, tmp_path: Path, file: str, place: str) -> None:
    import onnx

    folder = shutil.copytree(exported, tmp_path / "exported")
    (folder / "manifest.json").unlink()
    graph = onnx.load(folder / "onnx" / "model.onnx")
    weights = max(graph.graph.initializer, key=lambda each: len(each.raw_data))
    (tmp_path / "secret").write_bytes(weights.raw_data)
    (folder / "onnx" / "link").symlink_to(tmp_path / "secret")
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value=place.format(tmp=tmp_path))
    (folder / "onnx" / "model.onnx").unlink()
    (folder / file).write_bytes(graph.SerializeToString())
    with pytest.raises(InputError, match="this graph cannot be loaded"):
        Encoder.load(folder)
    if "int8" in file:
        with pytest.raises(InputError, match="not an int8 graph"):
            TorchModel.load(folder)


@pytest.mark.parametrize("kind", ["cross", "dual"])
def test_code_of_a_re_ranker_is_refused(kind: str, bert: Path, tmp_path: Path, ran: Path) -> None:
    folder = tmp_path / "reranker"
    if kind == "cross":
        CrossEncoder.from_encoder(bert, CrossEncoderConfig(max_length=32)).save(folder)
    else:
        DualEncoder.from_encoder(bert, DualEncoderConfig(max_length=32)).save(folder)
    _unlisted(folder)
    part = folder / ("encoder" if kind == "cross" else "entity")
    hostile.model(part, ran)
    load = CrossEncoder.load if kind == "cross" else DualEncoder.load
    with pytest.raises(StoreError, match=r"asks for Python code .*code\.Model.*, and that was refused"):
        load(folder)
    assert not ran.exists()


def test_a_missing_part_of_a_re_ranker_is_not_fetched(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: list[str] = []
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: asked.append(name))
    monkeypatch.chdir(tmp_path)
    CrossEncoder.from_encoder(bert, CrossEncoderConfig(max_length=32)).save(Path("reranker"))
    _unlisted(Path("reranker"))
    shutil.rmtree("reranker/encoder")
    with pytest.raises(NymlinkError, match="reranker/encoder: no such folder"):
        CrossEncoder.load("reranker")
    assert asked == []


def _unlisted(folder: Path) -> None:
    """Let a manifest list no model, as one would who changes it."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    files = {name: size for name, size in manifest["files"].items() if name == "head.safetensors"}
    write_manifest(folder, {**manifest, "files": files})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("odd", ["link", "device", "pipe"])
def test_files_elsewhere_pipes_and_devices_are_refused(folder: Path, tmp_path: Path, name: str, odd: str) -> None:
    (folder / name).rename(tmp_path / "elsewhere")
    if odd == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to(tmp_path / "elsewhere" if odd == "link" else "/dev/zero")
    for load in (Encoder.load, TorchModel.load):
        with pytest.raises(InputError, match=r"this is a (link to a file outside of|pipe or a device)") as caught:
            load(folder)
        assert caught.value.path == str(folder / name)
