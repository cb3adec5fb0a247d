from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nymlink.core.files import MAX_LINE
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel
from tests.cli.conftest import Run
from tests.encode import tiny
from tests.index.small import many_names, vocabulary


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT as nymlink writes it."""
    place = tmp_path_factory.mktemp("model")
    TorchModel.load(tiny.folder(place / "base"), pooling="mean").save(place / "saved")
    return place / "saved"


@pytest.fixture(scope="module")
def graph(model: Path, export_once: Callable[..., Any]) -> Path:
    """The same for ONNX Runtime."""
    export_once(model, model.parent / "onnx")
    return model.parent / "onnx"


def lines(tmp_path: Path, *names: str) -> Path:
    path = tmp_path / "names.txt"
    path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return path


@pytest.mark.usefixtures("export_once")
def test_export(run: Run, model: Path, graph: Path, tmp_path: Path) -> None:
    result = run("encoder", "export", model, "-o", tmp_path / "onnx")
    assert (result.exit_code, result.stdout) == (0, f"0 MB → {tmp_path / 'onnx'}\n")
    assert Encoder.load(tmp_path / "onnx").fingerprint == Encoder.load(graph).fingerprint


@pytest.mark.usefixtures("export_once")
def test_export_int8_says_what_it_costs(run: Run, model: Path, tmp_path: Path) -> None:
    names = many_names(300)
    concepts = {f"T:{number}": [f"{name} seizure", name] for number, name in enumerate(names)}
    vocabulary(concepts).save(tmp_path / "vocab")
    arguments = ("encoder", "export", model, "-o", tmp_path / "int8", "--precision", "int8")
    result = run(*arguments, "--vocab", tmp_path / "vocab")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("recall@1 of 600 names: ")
    info = run("encoder", "info", tmp_path / "int8").stdout
    assert "precision    int8 on cpu" in info
    assert "export       quality: {'queries': 600" in info


def test_average(run: Run, model: Path, tmp_path: Path) -> None:
    other = tiny.folder(tmp_path / "base", seed=1)
    TorchModel.load(other, pooling="mean").save(tmp_path / "other")
    arguments = ("encoder", "average", model, tmp_path / "other", "-o", tmp_path / "mean")
    result = run(*arguments, "--weight", 3, "--weight", 1)
    assert (result.exit_code, result.stdout) == (0, f"the mean of 2 encoders → {tmp_path / 'mean'}\n")
    found, one, two = (TorchModel.load(place).state_dict() for place in (tmp_path / "mean", model, other))
    name = next(iter(found))
    assert np.allclose(found[name], 0.75 * one[name] + 0.25 * two[name], atol=1e-6)
    refused = run(*arguments[:3], "-o", tmp_path / "one")
    assert refused.exit_code == 2
    assert "two encoders or more" in refused.stderr
    assert not (tmp_path / "one").exists()


def test_export_refuses(run: Run, model: Path, built: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("--precision", "int8", "--vocab", built / "vocab"), "choose a larger one"),
        (("--precision", "int8", "--vocab", tmp_path / "missing"), "no such vocabulary"),
        (("--max-length", "9999"), "9999"),
        (("--precision", "bf16"), "'bf16' is not one of"),
    ):
        result = run("encoder", "export", model, "-o", tmp_path / "out", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Traceback" not in result.output
        assert not (tmp_path / "out").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    result = run("encoder", "export", model, "-o", tmp_path / "full")
    assert (result.exit_code, "not a directory that nymlink made" in result.stderr) == (2, True)


def test_info(run: Run, model: Path, graph: Path) -> None:
    text = run("encoder", "info", model, "--precision", "fp32", "--device", "cpu").stdout
    assert text.splitlines()[:5] == [
        "width        32",
        "pooling      mean",
        "max_length   25",
        "lowercase    False",
        "precision    fp32 on cpu",
    ]
    assert Encoder.load(model).fingerprint in text
    assert "export       opset: " in run("encoder", "info", graph).stdout
    changed = run("encoder", "info", model, "--pooling", "cls", "--max-length", "9").stdout
    assert "pooling      cls\nmax_length   9\n" in changed


def test_each_line_has_a_row(run: Run, graph: Path, tmp_path: Path) -> None:
    file = lines(tmp_path, "seizure", "", "x" * (MAX_LINE + 1), "  ", "short stature", "seizure", "")
    result = run("encoder", "encode", graph, "--file", file, "-o", tmp_path / "vectors.npy")
    assert result.exit_code == 1
    assert "names.txt:3: " in result.stderr
    assert result.stdout == f"7 vectors of width 32 → {tmp_path / 'vectors.npy'}\n"
    vectors = np.load(tmp_path / "vectors.npy")
    assert (vectors.dtype, vectors.shape) == (np.float32, (7, 32))
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 0, 0, 0, 1, 1, 0]
    assert np.allclose(vectors[[0, 4]], Encoder.load(graph).encode(["seizure", "short stature"]), atol=1e-6)


def test_a_rejected_last_line_has_a_row_too(run: Run, graph: Path, tmp_path: Path) -> None:
    file = lines(tmp_path, "seizure", "x" * (MAX_LINE + 1), "fever", "x" * (MAX_LINE + 1))
    result = run("encoder", "encode", graph, "--file", file, "-o", tmp_path / "vectors.npy")
    assert result.exit_code == 1
    assert np.linalg.norm(np.load(tmp_path / "vectors.npy"), axis=1).round(5).tolist() == [1, 0, 1, 0]


def test_a_cache_is_gone_on_with(run: Run, graph: Path, tmp_path: Path) -> None:
    cache, output = tmp_path / "cache", tmp_path / "vectors.npy"

    def encode(*names: str) -> np.ndarray:
        result = run("encoder", "encode", graph, "--file", lines(tmp_path, *names), "-o", output, "--cache", cache)
        assert result.exit_code == 0, result.output
        return np.asarray(np.load(output))

    first = encode(*tiny.NAMES[:3])
    (block,) = cache.rglob("*.npy")
    kept = block.stat().st_size
    again = encode("", *tiny.NAMES[:6])
    added = sum(path.stat().st_size for path in cache.rglob("*.npy") if path != block)
    assert added == kept, "three further names, and no more"
    assert (again[1:4] == first).all()
    assert not again[0].any()
    before = set(cache.rglob("*.npy"))
    assert (encode("", *tiny.NAMES[:6]) == again).all()
    assert set(cache.rglob("*.npy")) == before


def test_cut_names_are_counted(run: Run, graph: Path, tmp_path: Path) -> None:
    file = lines(tmp_path, "seizure " * 40, "seizure")
    result = run("encoder", "encode", graph, "--file", file, "-o", tmp_path / "vectors.npy")
    assert result.exit_code == 0
    assert result.stderr == "Warning: 1 of 2 names are longer than 25 tokens and were cut (max_length)\n"


def test_compare(run: Run, graph: Path) -> None:
    result = run("encoder", "compare", graph, "seizure", "short stature", "Seizure")
    assert result.exit_code == 0
    rows = [row.split("\t") for row in result.stdout.splitlines()]
    assert rows[0] == ["1.0000", "seizure", "Seizure"]
    assert [float(row[0]) for row in rows] == sorted((float(row[0]) for row in rows), reverse=True)
    assert len(rows) == 3
    assert run("encoder", "compare", graph, "seizure").exit_code == 2


@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_a_model_that_makes_texts_is_refused(run: Run, model: Path, tmp_path: Path, kind: str) -> None:
    folder = shutil.copytree(model, tmp_path / kind, ignore=shutil.ignore_patterns("manifest.json"))
    said = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {"model_type": kind}
    (folder / "config.json").write_text(
        json.dumps({key: value for key, value in said.items() if value is not None}), encoding="utf-8"
    )
    result = run("encoder", "compare", folder, "seizure", "fever")
    assert result.exit_code == 2
    assert f"not an encoder: a model of type {kind}" in result.stderr


@pytest.mark.parametrize("command", ["info", "encode", "compare"])
def test_bad_input_is_said_in_a_line(run: Run, model: Path, graph: Path, tmp_path: Path, command: str) -> None:
    more = {
        "info": (),
        "encode": ("--file", lines(tmp_path, "seizure"), "-o", tmp_path / "vectors.npy"),
        "compare": ("seizure", "x"),
    }[command]
    cut = tmp_path / "cut"
    shutil.copytree(model, cut)
    (cut / "manifest.json").unlink()
    (cut / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:-1000])
    mixed = tmp_path / "mixed"
    shutil.copytree(model, mixed)
    (mixed / "manifest.json").unlink()
    shutil.copy(tiny.folder(tmp_path / "modernbert", "modernbert") / "model.safetensors", mixed)
    (tmp_path / "empty").mkdir()
    for given, message in (
        ((tmp_path / "no" / "such" / "folder",), "no such folder"),
        ((tmp_path / "empty",), "the model folder is incomplete"),
        ((cut,), "the model cannot be loaded ("),
        ((mixed,), "do not belong together"),
        ((graph, "--backend", "nonsense"), "unknown encoder back end 'nonsense'"),
        ((graph, "--device", "cuda"), "no device 'cuda' with ONNX Runtime"),
        ((graph, "--precision", "fp16"), "no precision 'fp16'"),
        ((model, "--device", "tpu"), "no device 'tpu'"),
        ((model, "--device", "cuda:x"), "no device 'cuda:x'"),
        ((model, "--device", "cpu", "--precision", "fp16"), "no precision 'fp16' on cpu"),
        ((model, "--max-length", 9999), "9999"),
    ):
        result = run("encoder", command, *given, *more)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
        assert "Traceback" not in result.output
    assert not (tmp_path / "vectors.npy").exists()


def test_files_that_cannot_be_used(run: Run, graph: Path, tmp_path: Path) -> None:
    names = lines(tmp_path, "x")
    for file, output in (
        (tmp_path / "missing", tmp_path / "v.npy"),
        (names, names / "v.npy"),
        (names, tmp_path / "nowhere" / "v.npy"),
        (names, tmp_path),
    ):
        cache = tmp_path / "cache"
        result = run("encoder", "encode", graph, "--file", file, "-o", output, "--cache", cache)
        assert result.exit_code == 2
        assert not cache.exists()
        assert "Traceback" not in result.output


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy"])
def test_names_of_a_vocabulary_are_encoded_with_their_ids(
    run: Run, built: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"names.{ending}"
    given = ("encoder", "encode", "nymlink-mini", "--vocab", built / "vocab", "-o", output)
    result = run(*given, "--cache", tmp_path / "cache")
    assert result.exit_code == 0, result.output
    if ending == "npy":
        ids = [line.split("\t")[0] for line in (tmp_path / "names.tsv").read_text().splitlines()[1:]]
        vectors = np.load(output)
    else:
        table = pq.read_table(output) if ending == "parquet" else pa.ipc.open_file(output).read_all()
        assert table.column_names == ["id", "name", "vector"]
        ids, vectors = table["id"].to_pylist(), np.stack(table["vector"].to_pylist())
    assert ids == ["X:1"] * 4 + ["X:2"] * 2 + ["X:3"]
    assert vectors.shape == (7, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
