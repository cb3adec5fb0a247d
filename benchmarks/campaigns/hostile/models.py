"""Changes to the files of encoders: weights, graphs of ONNX, tokenizers."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

_DEEP: Final = "[" * 100_000


class Change(NamedTuple):
    """One change to a folder.

    Attributes:
        kind: its kind.
        folder: name of the folder: ``bare``, a model of Hugging Face, or ``onnx``, an encoder.
        name: what is changed.
        change: changes a folder.
        refused: whether using the folder without an error is a failure.
    """

    kind: str
    folder: str
    name: str
    change: Callable[[Path], object]
    refused: bool = False


def model_changes(tokenizer: str) -> Iterator[Change]:
    """List changes to the files of encoders.

    Args:
        tokenizer: text of the genuine ``tokenizer.json``.
    """
    yield from _weights()
    yield from _tokenizers(tokenizer)


def _weights() -> Iterator[Change]:
    kind = "weights: safetensors and ONNX"
    for name, header in {
        "length of 2^63": (2**63 - 1, b"{}"),
        "length of 99 MB": (99 << 20, b"{}"),
        "100,000 levels": (None, b'{"a":' + _DEEP.encode()),
        "twice the same": (
            None,
            b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        ),
        "overlapping": (
            None,
            b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        ),
        "behind the end": (None, b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[900000,900004]}}'),
        "shape of 2^62": (None, b'{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}'),
        "shape below 0": (None, b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}'),
        "no object": (None, b"[]"),
    }.items():
        yield Change(kind, "bare", f"safetensors: {name}", partial(_safetensors, *header))
    for name, place in {
        "absolute": "/etc/passwd",
        "above": "../genuine",
        "far above": "../" * 20 + "etc/passwd",
        "device": "/dev/zero",
        "beside": "weights.bin",
        "through a link": "link/passwd",
        "NUL": "a\0b",
    }.items():
        yield Change(kind, "onnx", f"ONNX: external data {name}", partial(_external, place, 0), True)
    for name, offset in {"below 0": -8, "of 2^62": 2**62}.items():
        yield Change(kind, "onnx", f"ONNX: offset {name}", partial(_external, "weights.bin", offset), True)
    for name in ("endless loop", "huge constant", "no vectors", "NaN", "other width", "recursion"):
        yield Change(kind, "onnx", f"ONNX: {name}", partial(_graph, name))


def _safetensors(length: int | None, header: bytes, folder: Path) -> None:
    size = len(header) if length is None else length
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", size) + header + bytes(16))


def _external(place: str, offset: int, folder: Path) -> None:
    import onnx

    path = folder / "onnx/model.onnx"
    model = onnx.load(path)
    weights = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    (path.parent / "weights.bin").write_bytes(weights.raw_data)
    (path.parent / "link").symlink_to("/etc")
    size = len(weights.raw_data)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    keys = {"location": place, "offset": str(offset), "length": str(size)}
    if place == "weights.bin" and not offset:
        keys["length"] = str(10 * size)
    for key, value in keys.items():
        weights.external_data.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())


def _graph(name: str, folder: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    ids = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["b", "t"])
        for each in ("input_ids", "attention_mask")
    ]
    width = 33 if name == "other width" else 32
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", width])
    start = [
        helper.make_node("Shape", ["input_ids"], ["both"]),
        helper.make_node("Gather", ["both", "zero"], ["count"]),
        helper.make_node("Concat", ["count", "width"], ["shape"], axis=0),
    ]
    constants = [
        helper.make_tensor("zero", TensorProto.INT64, [1], [0]),
        helper.make_tensor("width", TensorProto.INT64, [1], [32]),
        helper.make_tensor("huge", TensorProto.INT64, [2], [1 << 20, 1 << 20]),
        helper.make_tensor("always", TensorProto.BOOL, [], [True]),
        helper.make_tensor("many", TensorProto.INT64, [], [2**62]),
    ]
    fill = helper.make_tensor("value", TensorProto.FLOAT, [1], [float("nan") if name == "NaN" else 1.0])
    last = helper.make_node("ConstantOfShape", ["shape"], ["out"], value=fill)
    nodes = [*start, last]
    if name == "huge constant":
        nodes = [
            *start,
            helper.make_node("ConstantOfShape", ["huge"], ["large"], value=fill),
            helper.make_node("ReduceSum", ["large"], ["sum"], keepdims=0),
            helper.make_node("ConstantOfShape", ["shape"], ["ones"], value=fill),
            helper.make_node("Mul", ["ones", "sum"], ["out"]),
        ]
    if name == "endless loop":
        number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
        going = helper.make_tensor_value_info("going", TensorProto.BOOL, [])
        went = helper.make_tensor_value_info("went", TensorProto.BOOL, [])
        body = helper.make_graph(
            [helper.make_node("Identity", ["going"], ["went"])], "body", [number, going], [went]
        )
        nodes = [*start, last, helper.make_node("Loop", ["many", "always"], [], body=body)]
    if name == "no vectors":
        nodes = [*start, helper.make_node("Identity", ["width"], ["out"])]
    functions = []
    if name == "recursion":
        inner = helper.make_node("F", ["x"], ["y"], domain="own")
        functions = [helper.make_function("own", "F", ["x"], ["y"], [inner], [helper.make_opsetid("own", 1)])]
        nodes = [*start, helper.make_node("ConstantOfShape", ["shape"], ["ones"], value=fill)]
        nodes.append(helper.make_node("F", ["ones"], ["out"], domain="own"))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    graph = helper.make_graph(nodes, "g", ids, [output], constants)
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)
    (folder / "onnx/model.onnx").write_bytes(model.SerializeToString())
    assert onnx


def _tokenizers(own: str) -> Iterator[Change]:
    def having(**parts: Any) -> str:
        return json.dumps({**json.loads(own), **parts})

    def replacing(pattern: str, content: str) -> dict[str, Any]:
        return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}

    longer = replacing("x", "xxxxxxxxxx")
    for name, text in {
        "pattern that explodes": having(normalizer=replacing("(x+x+)+y", "z")),
        "pattern that explodes, splitting": having(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"Regex": "(x|xx|x*)*y"},
                "behavior": "Isolated",
                "invert": False,
            }
        ),
        "text that grows": having(normalizer={"type": "Sequence", "normalizers": [longer] * 12}),
        "pattern no pattern": having(normalizer=replacing("(", "")),
        "100,000 levels": own.rstrip()[:-1] + ',"more":' + _DEEP + "]" * 100_000 + "}",
        "sequence of 900 levels": _nested_sequence(own),
        "ids above the model's": having(
            added_tokens=[
                {
                    **{"id": 10**6, "content": "gout", "special": False, "normalized": False},
                    **{"single_word": False, "lstrip": False, "rstrip": False},
                }
            ]
        ),
        "ids of words above the model's": own.replace('"heart":', '"heart": 1000000, "was":'),
        "ids below 0": own.replace('"heart":', '"heart": -5, "was":'),
        "special ids above": having(
            post_processor={
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [10**7], "tokens": ["[CLS]"]}},
            }
        ),
        "a million words": json.dumps(
            {
                **json.loads(own),
                "model": {**json.loads(own)["model"], "vocab": {f"w{at}": at for at in range(10**6)}},
            }
        ),
        "longest word of 2^62": having(model={**json.loads(own)["model"], "max_input_chars_per_word": 2**62}),
        "no unknown token": having(model={**json.loads(own)["model"], "unk_token": "none"}),
        "precompiled map": having(normalizer={"type": "Precompiled", "precompiled_charsmap": "//////8="}),
        "padding": having(
            padding={
                "strategy": {"Fixed": 2**40},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "x",
            }
        ),
        "pad to nothing": having(
            padding={
                "strategy": "BatchLongest",
                "direction": "Right",
                "pad_to_multiple_of": 0,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "x",
            }
        ),
        "not UTF-8": "\udcff",
    }.items():
        yield Change("tokenizers", "onnx", name, partial(_tokenizer, text))


def _nested_sequence(own: str) -> str:
    inner = '{"type":"Sequence","normalizers":[' * 900 + "]}" * 900
    return json.dumps({**json.loads(own), "normalizer": "@"}).replace('"@"', inner)


def _tokenizer(text: str, folder: Path) -> None:
    (folder / "tokenizer.json").write_text(text, encoding="utf-8", errors="surrogateescape")
