"""What every back end must do, whatever it runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError, NymlinkError
from nymlink.encode.backend import BACKENDS, Network
from nymlink.encode.encoder import Encoder, locate
from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.tokenizer import load_tokenizer
from nymlink.encode.model.torch_model import TorchModel
from tests.encode import tiny


@pytest.fixture(params=["onnx", "torch"])
def network(request: pytest.FixtureRequest, saved: Path, exported: Path) -> Network:
    folder = {"onnx": exported, "torch": saved}[request.param]
    return BACKENDS.get(request.param).open(folder, EncoderSettings.read(folder), "fp32", "cpu")


def test_the_built_in_ones_are_registered() -> None:
    assert {"onnx", "torch"} <= set(BACKENDS.names())
    for name, backend in BACKENDS:
        assert backend.name == name
        assert backend.description


def test_vectors_are_those_of_the_names_alone(network: Network, saved: Path) -> None:
    tokens = tokenise(load_tokenizer(saved, EncoderSettings.read(saved)), tiny.NAMES)
    ids, mask = tokens.padded(np.arange(len(tokens)), pad_id=network.pad_id)
    together = network.vectors(ids, mask)
    assert (together.dtype, together.shape) == (np.float32, (len(tokens), network.width))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for row, length in enumerate(tokens.lengths.tolist()):
        alone = network.vectors(ids[row : row + 1, :length], mask[row : row + 1, :length])
        assert np.allclose(alone[0], together[row], atol=1e-5)


def test_it_says_what_it_is(network: Network) -> None:
    assert (network.precision, network.device, network.pad_id) == ("fp32", "cpu", 0)
    assert len(network.digest()) == 64
    assert 0 <= network.padding < 1
    assert network.batch_tokens > 25


def test_both_give_the_same_vectors_and_fingerprint(saved: Path, exported: Path) -> None:
    one, other = Encoder.load(saved, precision="fp32"), Encoder.load(exported)
    assert (one.encode(tiny.NAMES) * other.encode(tiny.NAMES)).sum(1).min() > 0.99999
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_names_of_which_nothing_is_known_are_zeros_with_all(backend: str, saved: Path, exported: Path) -> None:
    encoder = Encoder.load({"onnx": exported, "torch": saved}[backend], backend=backend)
    assert encoder.encode(["🫀", "seizure", "รักษา 心"]).any(1).tolist() == [False, True, False]


def test_onnx_files_are_preferred(saved: Path, exported: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    shutil.copytree(saved, both)
    shutil.copytree(exported / "onnx", both / "onnx")
    assert type(Encoder.load(both).network).__name__ == "OnnxNetwork"
    assert type(Encoder.load(both, backend="torch").network).__name__ == "TorchNetwork"


def test_what_is_asked_for_decides_where_a_folder_has_both(saved: Path, exported: Path, tmp_path: Path) -> None:
    both = shutil.copytree(saved, tmp_path / "both")
    shutil.copytree(exported / "onnx", both / "onnx")
    for backend, precision, device in (
        ("onnx", "fp32", None),
        ("onnx", None, "cpu"),
        ("onnx", "int8", None),
        ("torch", "bf16", None),
        ("torch", "bf16", "cpu"),
        ("torch", None, "cuda"),
        ("torch", "fp32", "cuda:1"),
    ):
        _, chosen = locate(both, backend=None, precision=precision, device=device)  # type: ignore[arg-type]
        assert chosen.name == backend
    # Where only int8 is exported, fp32 is the weights' own.
    (both / "onnx" / "model.onnx").rename(both / "onnx" / "model_int8.onnx")
    assert Encoder.load(both).network.precision == "int8"
    assert type(Encoder.load(both, precision="fp32").network).__name__ == "TorchNetwork"


def test_a_graph_that_does_not_pool_is_pooled(exported: Path, bert: Path, tmp_path: Path) -> None:
    """Models on the hub come with the last layer as the output, and ask for token types."""
    from onnx import TensorProto, helper, load, save

    folder = shutil.copytree(bert, tmp_path / "hub")
    whole = load(exported / "onnx" / "model.onnx")
    graph = whole.graph
    last = [node.output[0] for node in graph.node if node.op_type == "LayerNormalization"][-1]
    types = helper.make_tensor_value_info("token_type_ids", TensorProto.INT64, ["b", "t"])
    # Token types that are not 0 change the vectors.
    graph.node.extend(
        [
            helper.make_node("Cast", ["token_type_ids"], ["type"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["type", "last"], ["wide"]),
            helper.make_node("Add", [last, "wide"], ["last_hidden_state"]),
        ]
    )
    graph.initializer.append(helper.make_tensor("last", TensorProto.INT64, [1], [-1]))
    graph.input.append(types)
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "t", 32]))
    (folder / "onnx").mkdir()
    save(whole, folder / "onnx" / "model.onnx")
    for pooling in ("cls", "mean"):
        expected = Encoder.load(bert, pooling=pooling, precision="fp32").encode(tiny.NAMES)  # type: ignore[arg-type]
        vectors = Encoder.load(folder, pooling=pooling).encode(tiny.NAMES)  # type: ignore[arg-type]
        assert (vectors * expected).sum(1).min() > 0.99999


def test_a_graph_that_pools_keeps_its_pooling(exported: Path, bert: Path, tmp_path: Path) -> None:
    assert Encoder.load(exported, pooling="mean").fingerprint == Encoder.load(exported).fingerprint
    with pytest.raises(InputError, match=r"has the pooling mean built in, and not cls: leave the pool"):
        Encoder.load(exported, pooling="cls")
    other = foreign(shutil.copytree(bert, tmp_path / "other"))
    assert Encoder.load(other).settings.pooling == "cls"
    with pytest.raises(InputError, match="and not mean"):
        Encoder.load(other, pooling="mean")


@pytest.mark.parametrize("output", [["b", "t"], ["b"]])
def test_scores_of_words_or_classes_are_no_vectors(bert: Path, tmp_path: Path, output: list[str]) -> None:
    """Models on the hub that fill in masked words, or judge texts, have such graphs."""
    from onnx import TensorProto, helper, numpy_helper, save

    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in ("input_ids", "attention_mask")
    ]
    for words, message in ((120, r"not an encoder \(.*output logits of shape .*, 120\]\)"), (32, None)):
        folder = shutil.copytree(bert, tmp_path / str(words))
        graph = helper.make_graph(
            [
                helper.make_node("Gather", ["table", "input_ids"], ["all"]),
                helper.make_node("ReduceMax", ["all", "axis"], ["most"], keepdims=0),
                helper.make_node("Identity", ["all" if "t" in output else "most"], ["logits"]),
            ],
            "words",
            inputs,
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*output, words])],
            [
                numpy_helper.from_array(np.ones((120, words), np.float32), "table"),
                numpy_helper.from_array(np.array([1]), "axis"),
            ],
        )
        (folder / "onnx").mkdir()
        opset = [helper.make_opsetid("", 20)]
        save(helper.make_model(graph, opset_imports=opset, ir_version=10), str(folder / "onnx" / "model.onnx"))
        if message is None:
            assert Encoder.load(folder).width == words
        else:
            with pytest.raises(InputError, match=message):
                Encoder.load(folder)


def test_a_graph_that_took_its_place_has_another_digest(bert: Path, exported: Path, tmp_path: Path) -> None:
    folder = foreign(shutil.copytree(bert, tmp_path / "other"))
    loaded = Encoder.load(folder)
    graph = folder / "onnx" / "model.onnx"
    graph.write_bytes(graph.read_bytes())
    with pytest.raises(InputError, match=r"model\.onnx: has changed since"):
        _ = loaded.fingerprint
    # An export says what it was made of, and that is read with it.
    folder = shutil.copytree(exported, tmp_path / "exported")
    loaded = Encoder.load(folder)
    shutil.rmtree(folder)
    assert loaded.fingerprint == Encoder.load(exported).fingerprint


def test_damaged_graphs_are_refused(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(bert, folder)
    (folder / "onnx").mkdir()
    graph = folder / "onnx" / "model.onnx"
    for content in (b"", b"no graph", b"\0" * 1000):
        graph.write_bytes(content)
        with pytest.raises(InputError, match=r"model\.onnx: this graph cannot be loaded"):
            Encoder.load(folder)


def test_a_graph_of_something_else_is_refused(bert: Path, tmp_path: Path) -> None:
    from onnx import TensorProto, helper, save

    folder = tmp_path / "else"
    shutil.copytree(bert, folder)
    (folder / "onnx").mkdir()
    picture, score = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in ("picture", "score")
    )
    graph = helper.make_graph([helper.make_node("Abs", ["picture"], ["score"])], "else", [picture], [score])
    opset = [helper.make_opsetid("", 20)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=10), str(folder / "onnx" / "model.onnx"))
    with pytest.raises(InputError, match="this graph is not an encoder"):
        Encoder.load(folder)


def test_torch_without_memory(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    encoder = Encoder.load(saved, backend="torch", device="cpu", batch_tokens=50)
    monkeypatch.setattr(TorchModel, "forward", lambda *_: torch.empty(1 << 50, dtype=torch.uint8))
    with pytest.raises(NymlinkError, match=r"out of memory on cpu: a name of \d+ tokens does not fit"):
        encoder.encode(tiny.NAMES)


def foreign(folder: Path, *further: str) -> Path:
    """A folder with a graph whose vectors are (5, the number of tokens, 0, …); it may ask for more."""
    from onnx import TensorProto, helper, numpy_helper, save

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
        for name in ("input_ids", "attention_mask", *further)
    ]
    graph = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["attention_mask", "axis"], ["count"], keepdims=1),
            helper.make_node("Cast", ["count"], ["real"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["real", "second"], ["scaled"]),
            helper.make_node("Add", ["scaled", "first"], ["vectors"]),
        ],
        "foreign",
        inputs,
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["b", 32])],
        [
            numpy_helper.from_array(np.array([1]), "axis"),
            numpy_helper.from_array(5 * np.eye(32, dtype=np.float32)[:1], "first"),
            numpy_helper.from_array(np.eye(32, dtype=np.float32)[1:2], "second"),
        ],
    )
    (folder / "onnx").mkdir()
    opset = [helper.make_opsetid("", 20)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=10), str(folder / "onnx" / "model.onnx"))
    return folder


def test_vectors_of_graphs_that_others_made_get_length_1(bert: Path, tmp_path: Path) -> None:
    vectors = Encoder.load(foreign(shutil.copytree(bert, tmp_path / "other"))).encode(tiny.NAMES)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_graphs_with_other_inputs_are_refused(bert: Path, tmp_path: Path) -> None:
    folder = foreign(shutil.copytree(bert, tmp_path / "other"), "position_ids")
    with pytest.raises(
        InputError, match=r"not an encoder \(inputs input_ids, attention_mask, position_ids, output"
    ):
        Encoder.load(folder)


def test_onnx_without_memory(saved: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from onnx import TensorProto, helper, numpy_helper, save

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
        for name in ("input_ids", "attention_mask")
    ]
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMax", ["input_ids"], ["one"], keepdims=0),
            helper.make_node("Expand", ["one", "large"], ["enormous"]),
            helper.make_node("Cast", ["enormous"], ["vectors"], to=TensorProto.FLOAT),
        ],
        "enormous",
        inputs,
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["b", 1 << 22])],
        [numpy_helper.from_array(np.array([1 << 22, 1 << 22]), "large")],
    )
    folder = tmp_path / "enormous"
    shutil.copytree(saved, folder)
    (folder / "manifest.json").unlink()
    # Else its width would give it away.
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["hidden_size"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "onnx").mkdir()
    opset = [helper.make_opsetid("", 20)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=10), str(folder / "onnx" / "model.onnx"))
    with pytest.raises(NymlinkError, match=r"out of memory on cpu: a name of \d+ tokens does not fit"):
        Encoder.load(folder).encode(tiny.NAMES)
    assert capfd.readouterr() == ("", "")


def test_what_onnx_cannot_do_is_said(saved: Path, exported: Path) -> None:
    with pytest.raises(InputError, match="no ONNX files: export the model"):
        Encoder.load(saved, backend="onnx")
    with pytest.raises(InputError, match=r"no precision 'int8' in .*: choose from fp32"):
        Encoder.load(exported, precision="int8")
    with pytest.raises(InputError, match="no device 'cuda' with ONNX Runtime"):
        Encoder.load(exported, device="cuda")
    with pytest.raises(InputError, match="the model has no weights"):
        Encoder.load(exported, backend="torch")
