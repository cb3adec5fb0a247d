from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError, NymlinkError, UnknownNameError
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.average import average
from nymlink.encode.onnx_export import export
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.encode import tiny


@pytest.fixture(scope="module")
def encoder(saved: Path) -> Encoder:
    return Encoder.load(saved, precision="fp32")


class Stub:
    """A network that counts what it is given; a name's vector tells its tokens."""

    width, pad_id, precision, device, batch_tokens, padding, at_once = 3, 0, "fp32", "cpu", 8, 0.0, 1

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    def vectors(self, ids: Any, mask: Any) -> Any:
        self.shapes.append(ids.shape)
        found = np.stack([ids.sum(1), mask.sum(1), np.ones(len(ids))], 1).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def digest(self) -> str:
        return "stub"


def test_rows_are_in_the_order_of_the_names_and_of_length_one(encoder: Encoder) -> None:
    vectors = encoder.encode(tiny.NAMES)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(tiny.NAMES), encoder.width))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for row, name in enumerate(tiny.NAMES):
        assert np.allclose(vectors[row], encoder.encode([name])[0], atol=1e-5)


def test_a_sum_of_encoders_is_not_exported_averaged_or_trained(tmp_path: Path) -> None:
    (tmp_path / "sum" / "beside").mkdir(parents=True)
    attempts: dict[str, Callable[[Path], object]] = {
        "exported": lambda folder: export(folder, tmp_path / "out"),
        "averaged": lambda folder: average([str(folder), str(folder)]),
        "trained": lambda folder: DualEncoder.from_encoder(folder, DualEncoderConfig()),
        "trained as": lambda folder: CrossEncoder.from_encoder(folder, CrossEncoderConfig()),
    }
    for what, attempt in attempts.items():
        with pytest.raises(InputError, match=f"two encoders, and cannot be {what.split()[0]}"):
            attempt(tmp_path / "sum")


def test_a_second_encoder_adds_its_vectors(saved: Path, tmp_path: Path) -> None:
    first = Encoder.load(saved, precision="fp32")
    second = Encoder.load(tiny.folder(tmp_path / "second", seed=1), pooling="mean", precision="fp32")
    shutil.copytree(saved, tmp_path / "sum", ignore=shutil.ignore_patterns("manifest.json"))
    shutil.copytree(tmp_path / "second", tmp_path / "sum" / "beside")
    names = [*tiny.NAMES, "", "\U0001f600"]
    sums = [
        Encoder.load(tmp_path / "sum", pooling="mean", precision="fp32", batch_tokens=n) for n in (1, 30, None)
    ]
    for both in sums:
        for name, vector in zip(names, both.encode(names), strict=True):
            expected = first.encode([name])[0] + second.encode([name])[0]
            np.testing.assert_allclose(vector, expected / (np.linalg.norm(expected) or 1), atol=1e-5)
    assert len({first.fingerprint, second.fingerprint, sums[0].fingerprint}) == 3
    assert sums[0].fingerprint == sums[1].fingerprint
    cache = EmbeddingCache(tmp_path / "cache")
    again = [sums[0].encode(names, cache=cache) for _ in range(2)]
    np.testing.assert_array_equal(again[0], again[1])
    with pytest.raises(InputError, match=r"vectors of width 3 and \d+ have no sum"):
        Encoder(Stub(), first._tokenizer, first.settings, beside=second)  # type: ignore[arg-type]


def test_numbers_that_only_the_first_encoder_has_follow_the_sum(saved: Path, tmp_path: Path) -> None:
    first = Encoder.load(saved, precision="fp32")
    second = tiny.folder(tmp_path / "second", seed=1, hidden_size=32, num_attention_heads=2)
    shutil.copytree(saved, tmp_path / "sum", ignore=shutil.ignore_patterns("manifest.json"))
    shutil.copytree(second, tmp_path / "sum" / "beside")
    both = Encoder.load(tmp_path / "sum", pooling="mean", precision="fp32", backend="torch")
    second_alone = Encoder.load(second, pooling="mean", precision="fp32")
    first = Encoder.load(saved, pooling="mean", precision="fp32", backend="torch")
    for name, vector in zip(tiny.NAMES, both.encode(tiny.NAMES), strict=True):
        own, other = first.encode([name])[0], second_alone.encode([name])[0]
        if not own.any():
            continue
        shared = own[:32] / np.linalg.norm(own[:32]) + other
        expected = np.concatenate([shared, 0.9 * own[32:] / np.linalg.norm(own[32:])])
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_the_size_of_batches_changes_nothing(saved: Path, encoder: Encoder) -> None:
    names = [f"{one} {other}" for one in tiny.NAMES[::2] for other in tiny.NAMES[1::2]]
    for batch_tokens in (1, 30, 10_000):
        other = Encoder.load(saved, precision="fp32", batch_tokens=batch_tokens)
        assert np.allclose(encoder.encode(names), other.encode(names), atol=1e-5)
    with pytest.raises(InputError, match="batch_tokens must be at least 1"):
        Encoder.load(saved, batch_tokens=0)


def test_each_distinct_name_is_encoded_once(encoder: Encoder) -> None:
    network = Stub()
    stubbed = Encoder(network, encoder._tokenizer, encoder.settings)  # type: ignore[arg-type]
    vectors = stubbed.encode(["seizure", "x", "seizure", "x", "x"])
    assert sum(shape[0] for shape in network.shapes) == 2
    assert (vectors[[0, 1, 0, 1, 1]] == vectors).all()


def test_names_of_equal_length_are_encoded_together_within_the_budget(encoder: Encoder) -> None:
    network = Stub()
    names = [f"{'x ' * count}{word}" for count in (0, 1, 2) for word in ("heart", "attack", "seizure", "MI", "x")]
    Encoder(network, encoder._tokenizer, encoder.settings).encode(names)  # type: ignore[arg-type]
    assert all(rows == 1 or rows * width <= Stub.batch_tokens for rows, width in network.shapes)
    assert sum(rows for rows, _ in network.shapes) == len(names)


def test_names_without_tokens_are_like_nothing(encoder: Encoder) -> None:
    vectors = encoder.encode(["", "seizure", " \t", "\u200b\x07"])
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [0, 1, 0, 0]
    assert encoder.encode([]).shape == (0, encoder.width)
    assert encoder.encode([""]).tolist() == [[0.0] * encoder.width]


def test_names_of_which_nothing_is_known_are_like_nothing(encoder: Encoder) -> None:
    names = ["🫀", "รักษา", "ഹൃദയം 心", "seizure 🫀", "seizure"]
    vectors = encoder.encode(names)
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [0, 0, 0, 1, 1]
    assert vectors[3] @ vectors[4] < 0.9999


def test_cut_names_are_counted_in_one_warning(saved: Path) -> None:
    short = Encoder.load(saved, max_length=5, batch_tokens=1)
    with pytest.warns(UserWarning, match=r"20 of 21 names are longer than 5 tokens and were cut") as caught:
        short.encode(["x", *(f"x x x x x {'x ' * count}" for count in range(20))])
    assert len(caught) == 1
    assert caught[0].filename == __file__


class Full(Stub):
    """A network of a device that holds so many tokens at once."""

    def __init__(self, memory: int) -> None:
        super().__init__()
        self.memory = memory

    def vectors(self, ids: Any, mask: Any) -> Any:
        if ids.size > self.memory:
            self.shapes.append((0, 0))
            raise MemoryError
        return super().vectors(ids, mask)


def test_where_memory_does_not_suffice_batches_are_halved(encoder: Encoder) -> None:
    names = [f"{one}{'x' * count}" for one in ("heart ", "attack ", "MI ") for count in range(20)]
    ample, scarce = Stub(), Full(50)
    found = [
        Encoder(each, encoder._tokenizer, encoder.settings, batch_tokens=size).encode(names)  # type: ignore[arg-type]
        for each, size in ((ample, 8), (scarce, 60))
    ]
    assert np.array_equal(*found)
    # What did not fit once is not tried again.
    assert scarce.shapes.count((0, 0)) == 1
    assert max(rows for rows, _ in scarce.shapes) > 1


def test_a_name_that_memory_does_not_suffice_for_is_an_error(encoder: Encoder) -> None:
    with pytest.raises(NymlinkError, match=r"out of memory on cpu: a name of 4 tokens does not fit"):
        Encoder(Full(3), encoder._tokenizer, encoder.settings).encode(["heart attack"])  # type: ignore[arg-type]


def test_vectors_that_are_no_numbers_are_refused(encoder: Encoder) -> None:
    class Broken(Stub):
        def vectors(self, ids: Any, mask: Any) -> Any:
            return np.full((len(ids), 3), np.nan, np.float32)

    with pytest.raises(InputError, match="vectors that are not numbers in fp32"):
        Encoder(Broken(), encoder._tokenizer, encoder.settings).encode(["x"])  # type: ignore[arg-type]


def test_the_fingerprint_is_of_all_that_makes_a_vector(saved: Path, tmp_path: Path) -> None:
    ours = Encoder.load(saved).fingerprint
    assert len(ours) == 64
    assert (
        Encoder.load(saved, precision="fp32").fingerprint
        == Encoder.load(saved, precision="bf16").fingerprint
        == ours
    )
    assert Encoder.load(saved, batch_tokens=3).fingerprint == ours
    others = [
        Encoder.load(saved, pooling="cls"),
        Encoder.load(saved, max_length=9),
        Encoder.load(tiny.folder(tmp_path / "other", seed=1), pooling="mean"),
    ]
    assert len({ours, *(other.fingerprint for other in others)}) == 4


def test_the_fingerprint_is_of_the_configuration_too(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "bert")
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))

    def changed(change: dict[str, Any]) -> Encoder:
        (folder / "config.json").write_text(
            json.dumps(dict(reversed((config | change).items()))), encoding="utf-8"
        )
        return Encoder.load(folder, precision="fp32")

    ours, other = Encoder.load(bert, precision="fp32"), changed({"num_attention_heads": 2})
    assert (ours.encode(tiny.NAMES) * other.encode(tiny.NAMES)).sum(1).min() < 0.999
    assert other.fingerprint != ours.fingerprint
    idle = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
    assert changed(dict.fromkeys(idle, "float16")).fingerprint == ours.fingerprint


def test_the_fingerprint_is_never_that_of_what_took_its_place(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "bert")
    loaded = Encoder.load(folder)
    shutil.rmtree(folder)
    tiny.folder(folder, seed=1)
    with pytest.raises(InputError, match=r"model\.safetensors: has changed since .*: load it again"):
        loaded.encode(["seizure"], cache=EmbeddingCache(tmp_path / "cache"))
    assert Encoder.load(folder).fingerprint != Encoder.load(bert).fingerprint
    gone = Encoder.load(folder)
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="has changed since"):
        _ = gone.fingerprint


def test_an_encoder_knows_where_it_was_loaded_from(
    saved: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(saved.parent)
    loaded = Encoder.load(saved.name)
    assert (loaded.name, loaded.backend) == (str(saved), "torch")
    assert Encoder(Stub(), encoder._tokenizer, encoder.settings).name is None  # type: ignore[arg-type]


def test_unknown_models_back_ends_and_devices(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown encoder back end 'nonsense'; known: onnx, torch"):
        Encoder.load(saved, backend="nonsense")
    with pytest.raises(InputError, match="no device 'tpu': choose from cpu, cuda"):
        Encoder.load(saved, device="tpu")
    with pytest.raises(InputError, match="no such folder"):
        Encoder.load(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="this is a file"):
        Encoder.load(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"config\.json: no such file"):
        Encoder.load(tmp_path / "empty")


def test_no_gpu_is_said(saved: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(InputError, match="there is no GPU that torch can use"):
        Encoder.load(saved, device="cuda")


def test_precisions_that_a_device_has_not_are_refused(saved: Path) -> None:
    with pytest.raises(InputError, match="no precision 'fp16' on cpu: choose from bf16, fp32"):
        Encoder.load(saved, device="cpu", precision="fp16")
    with pytest.raises(InputError, match=r"no precision 'nonsense' on cpu: .*known: fp32"):
        Encoder.load(saved, device="cpu", precision="nonsense")  # type: ignore[arg-type]


def test_bf16_is_close_to_fp32(saved: Path, encoder: Encoder) -> None:
    coarse = Encoder.load(saved, precision="bf16", device="cpu").encode(tiny.NAMES)
    assert (coarse * encoder.encode(tiny.NAMES)).sum(1).min() > 0.99


def test_a_real_model_gives_what_sentence_transformers_gives(minilm: Path) -> None:
    from sentence_transformers import SentenceTransformer

    names = ["heart attack", "Myocardial infarction", "myocardial infarction", "short stature", "β-thalassaemia"]
    theirs = SentenceTransformer(str(minilm), device="cpu").encode(names)
    exact, coarse = (Encoder.load(minilm, precision=each).encode(names) for each in ("fp32", "bf16"))  # type: ignore[arg-type]
    assert (exact * theirs).sum(1).min() > 0.9999
    assert (coarse * theirs).sum(1).min() > 0.999
    assert exact[0] @ exact[1] > exact[0] @ exact[3]
