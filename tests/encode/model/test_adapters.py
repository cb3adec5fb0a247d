"""Adapters in tiny models of every kind: where they sit, how large they are, what is saved."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from nymlink.core.errors import InputError, OutputError, StoreError
from nymlink.core.store.manifest import seal, write_manifest
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.adapters import AdapterSettings, add_adapters, load_adapters, save_adapters
from nymlink.encode.model.torch_model import TorchModel
from nymlink.encode.onnx_export import export
from nymlink.encode.torch_backend import TorchNetwork
from tests.encode.kinds import IDS, KINDS, encode, tiny
from tests.encode.tiny import NAMES


def trained(model: PreTrainedModel) -> dict[str, torch.nn.Parameter]:
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


def shake(model: PreTrainedModel, scale: float = 0.3) -> None:
    """As if the adapters had been trained."""
    torch.manual_seed(1)
    with torch.no_grad():
        for value in trained(model).values():
            value.normal_(std=scale)


@pytest.mark.parametrize(
    ("reduction", "count", "millions", "percent"), [(1, 14_470_272, 14.47, 13.22), (16, 1_190_592, 1.19, 1.09)]
)
def test_published_sizes(reduction: int, count: int, millions: float, percent: float) -> None:
    """Of BERT-base: twelve bottlenecks with their biases, and the invertible adapter behind the embeddings."""
    with torch.device("meta"):
        model = transformers.BertModel(transformers.BertConfig())
    own = sum(value.numel() for value in model.parameters())
    assert round(own / 1e6, 2) == 109.48
    add_adapters(model, AdapterSettings(reduction=reduction))
    sizes = {name: value.numel() for name, value in trained(model).items()}
    assert sum(sizes.values()) == count
    assert round(count / 1e6, 2) == millions
    assert round(100 * count / own, 2) == percent
    inside = 768 // reduction
    behind_embeddings = sum(size for name, size in sizes.items() if name.startswith("embeddings."))
    assert behind_embeddings == 2 * (2 * 384 * 192 + 192 + 384)
    assert count - behind_embeddings == 12 * (2 * 768 * inside + inside + 768)


@pytest.mark.parametrize("invertible", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model(kind: str, invertible: bool) -> None:
    model = tiny(kind)
    before, names = encode(model), set(model.state_dict())
    add_adapters(model, AdapterSettings(reduction=2, invertible=invertible))
    assert torch.equal(encode(model), before), "training starts from the model as it was"
    assert names < set(model.state_dict()), "no weight of the model has another name"
    assert all(".adapter." in name for name in trained(model))
    assert len(trained(model)) == 3 * 4 + invertible * 8
    shake(model)
    assert not torch.allclose(encode(model), before, atol=0.01)
    encode(model).square().sum().backward()
    for name, value in model.named_parameters():
        assert (value.grad is not None) == (".adapter." in name), name
    for name, value in trained(model).items():
        assert value.grad is not None
        assert value.grad.any(), name


def test_the_adapter_is_where_pfeiffer_et_al_have_it() -> None:
    """Its input is normalised, its output is added before the residual connection, and normalised with it."""
    model = tiny("Bert")
    add_adapters(model, AdapterSettings(reduction=4, invertible=False))
    shake(model)
    x = model.embeddings(IDS)
    for layer in model.encoder.layer:
        x = layer.attention(x)[0]
        h = layer.output.dense(layer.intermediate(x))
        norm = layer.output.LayerNorm

        def normalise(values: Tensor, norm: torch.nn.Module = norm) -> Tensor:
            return torch.nn.functional.layer_norm(values, (16,), norm.weight, norm.bias, norm.eps)

        z = normalise(h + x)
        x = normalise(norm.adapter.up(torch.relu(norm.adapter.down(z))) + h + x)
    torch.testing.assert_close(x, model(input_ids=IDS).last_hidden_state)


def test_the_invertible_adapter_is_behind_the_embeddings() -> None:
    model = tiny("Bert", num_hidden_layers=1)
    x = model.embeddings(IDS)
    add_adapters(model, AdapterSettings(reduction=4))
    shake(model)
    adapter = model.embeddings.adapter
    first, second = x[..., :8], x[..., 8:]
    first = first + adapter.first.up(torch.relu(adapter.first.down(second)))
    second = second + adapter.second.up(torch.relu(adapter.second.down(first)))
    torch.testing.assert_close(model.embeddings(IDS), torch.cat([first, second], -1))


def test_gradient_checkpointing_copying_and_lower_precision() -> None:
    model = tiny("Bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).train()
    add_adapters(model, AdapterSettings(reduction=2))
    shake(model)
    encode(model).sum().backward()
    expected = {name: value.grad for name, value in trained(model).items()}
    model.zero_grad()
    model.activation_checkpointing_enable()
    encode(model).sum().backward()
    for name, value in trained(model).items():
        torch.testing.assert_close(value.grad, expected[name])
    other, before = copy.deepcopy(model), encode(model)
    shake(other, 1.0)
    assert torch.equal(encode(model), before), "a copy has adapters of its own"
    assert not torch.equal(encode(other), before)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(encode(model).float(), before, atol=0.1, rtol=0.1)


def test_adapters_of_a_half_precision_model_are_trained_in_single() -> None:
    model = tiny("Bert").to(torch.bfloat16)
    add_adapters(model, AdapterSettings(reduction=2))
    assert {value.dtype for value in trained(model).values()} == {torch.float32}
    assert encode(model).dtype == torch.bfloat16


@pytest.mark.parametrize("kind", ["Albert", "GPT2"])
def test_what_is_not_known_is_listed(kind: str) -> None:
    with pytest.raises(InputError, match=r"has 3 layers, but 0 places for adapters .* first layer has: .*mlp|ffn"):
        add_adapters(tiny(kind, n_layer=3, n_embd=16, n_head=2), AdapterSettings())


def test_adapters_are_added_once() -> None:
    model = tiny("Bert")
    add_adapters(model, AdapterSettings())
    with pytest.raises(InputError, match="has adapters already"):
        add_adapters(model, AdapterSettings())
    with pytest.raises(ValueError, match="reduction must be at least 1, not 0"):
        AdapterSettings(reduction=0)


@pytest.mark.parametrize("kind", ["Bert", "ModernBert"])
def test_saved_adapters_are_loaded_onto_their_model(kind: str, tmp_path: Path) -> None:
    settings = AdapterSettings(reduction=8, invertible=False)
    model = tiny(kind)
    add_adapters(model, settings)
    shake(model)
    save_adapters(model, settings, tmp_path / "adapters")
    assert {file.name for file in (tmp_path / "adapters").iterdir()} == {"adapters.safetensors", "manifest.json"}
    size = sum(value.numel() for value in trained(model).values())
    assert 4 * size < (tmp_path / "adapters" / "adapters.safetensors").stat().st_size < 4 * size + 2000
    again = tiny(kind)
    load_adapters(again, tmp_path / "adapters")
    assert torch.equal(encode(again), encode(model))
    half = tiny(kind).to(torch.bfloat16)
    load_adapters(half, tmp_path / "adapters")
    torch.testing.assert_close(encode(half).float(), encode(model), atol=0.1, rtol=0.1)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    settings, folder = AdapterSettings(reduction=8), tmp_path / "adapters"
    model = tiny("Bert")
    add_adapters(model, settings)
    save_adapters(model, settings, folder)
    other = tiny("Bert")
    with torch.no_grad():
        other.encoder.layer[0].output.dense.weight += 0.1
    for wrong in (other, tiny("Roberta"), tiny("Bert", num_hidden_layers=2)):
        with pytest.raises(StoreError, match=r"trained on another model \(of type bert\): load that one"):
            load_adapters(wrong, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for change in ({"settings": {"reduction": 4, "invertible": True}}, {"settings": {"width": 4}}, {"files": {}}):
        write_manifest(folder, {**manifest, **change})
        with pytest.raises(StoreError, match=r"train (them|the adapters) again"):
            load_adapters(tiny("Bert"), folder)
    write_manifest(folder, manifest)
    weights = folder / "adapters.safetensors"
    weights.write_bytes(b"x" * weights.stat().st_size)
    with pytest.raises(StoreError, match=r"adapters\.safetensors is damaged .*: train it again"):
        load_adapters(tiny("Bert"), folder)
    seal(folder, manifest)
    with pytest.raises(StoreError, match=r"the adapters cannot be read .* train them again"):
        load_adapters(tiny("Bert"), folder)
    with pytest.raises(StoreError, match="no such adapter"):
        load_adapters(tiny("Bert"), tmp_path / "missing")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(OutputError, match="not a directory that nymlink made"):
        save_adapters(model, settings, tmp_path / "full")


@pytest.fixture(scope="module")
def adapted(bert: Path) -> TorchModel:
    """A model with adapters in memory; it was not loaded with them."""
    model = TorchModel.load(bert, pooling="mean")
    model.add_adapters(AdapterSettings(reduction=4))
    shake(model.transformer)
    return model


@pytest.fixture(scope="module")
def folder(adapted: TorchModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as nymlink writes it."""
    folder = tmp_path_factory.mktemp("adapted") / "bert"
    adapted.save(folder)
    return folder


def in_memory(model: TorchModel) -> Any:
    network = TorchNetwork(copy.deepcopy(model), "fp32", "cpu")
    return Encoder(network, model.tokenizer, model.settings).encode(NAMES)


def test_an_encoder_is_loaded_with_its_adapters(adapted: TorchModel, folder: Path, saved: Path) -> None:
    expected = in_memory(adapted)
    found = Encoder.load(folder, precision="fp32").encode(NAMES)
    assert np.allclose(found, expected, atol=1e-6)
    assert (Encoder.load(folder, precision="bf16").encode(NAMES) * expected).sum(1).min() > 0.99
    assert (Encoder.load(saved, precision="fp32").encode(NAMES) * expected).sum(1).max() < 0.99


def test_a_loaded_encoder_is_written_with_its_adapters(adapted: TorchModel, folder: Path, tmp_path: Path) -> None:
    model = TorchModel.load(folder)
    assert all(value.requires_grad for value in model.parameters()), "it can be trained like any other"
    model.save(tmp_path / "again")
    assert np.allclose(in_memory(TorchModel.load(tmp_path / "again")), in_memory(adapted), atol=1e-6)


def test_the_fingerprint_is_of_the_adapters_too(
    adapted: TorchModel, folder: Path, saved: Path, tmp_path: Path
) -> None:
    other = copy.deepcopy(adapted)
    shake(other.transformer, 0.2)
    other.save(tmp_path / "other")
    assert len({Encoder.load(each).fingerprint for each in (folder, saved, tmp_path / "other")}) == 3


@pytest.mark.large
def test_adapters_are_exported(adapted: TorchModel, folder: Path, tmp_path: Path) -> None:
    export(folder, tmp_path / "onnx")
    exported = Encoder.load(tmp_path / "onnx")
    assert (exported.encode(NAMES) * in_memory(adapted)).sum(1).min() > 0.9999
    assert exported.fingerprint == Encoder.load(folder).fingerprint


def test_adapters_beside_other_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "mixed")
    (tmp_path / "mixed" / "manifest.json").unlink()
    weights = tmp_path / "mixed" / "model.safetensors"
    save_file({name: value + 0.1 for name, value in load_file(weights).items()}, weights, {"format": "pt"})
    with pytest.raises(StoreError, match="trained on another model"):
        Encoder.load(tmp_path / "mixed")
