"""Vectors of concepts from one process to the next."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from nymlink.core.errors import OutputError
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.torch_model import TorchModel
from nymlink.rerank.dual_encoder import ConceptVectors, DualEncoder, DualEncoderConfig, DualScorer
from nymlink.rerank.inputs import Entity
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny
from tests.train.small import vocabulary

NAMES = ("heart attack", "seizure", "short stature", "fever", "attack")


def made(base: Path, seed: int = 0, *, length: int = 64) -> DualEncoder:
    torch.manual_seed(seed)
    model = DualEncoder.from_encoder(base, DualEncoderConfig(max_length=length))
    with torch.no_grad():
        for weight in model.entity.parameters():
            weight += 0.01 * torch.randn(weight.shape)
    return model


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "base")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first names of the concepts that were encoded, as they are."""
    names: list[str] = []
    original = DualEncoder.encode_entities

    def counted(self: DualEncoder, given: Sequence[Entity]) -> object:
        names.extend(one.names[0] for one in given)
        return original(self, given)

    monkeypatch.setattr(DualEncoder, "encode_entities", counted)
    return names


def of(*names: str) -> Vocabulary:
    return vocabulary(*((f"X:{at}", name, "en", "preferred") for at, name in enumerate(names)))


def learned(
    model: DualEncoder, known: Vocabulary, rows: Sequence[int], cache: EmbeddingCache | None
) -> list[object]:
    """What a process has that encodes these concepts and ends: the last are written as it returns."""
    vectors = ConceptVectors(model, known, cache)
    vectors.add(rows)
    found: list[object] = vectors.get(rows).tolist()
    return found


def test_another_process_finds_just_the_same(base: Path, tmp_path: Path, encoded: list[str]) -> None:
    model, known = made(base), of(*NAMES)
    expected = learned(model, known, [0, 1, 2, 3, 4], None)
    encoded.clear()
    assert np.allclose(learned(model, known, [0, 1], EmbeddingCache(tmp_path)), expected[:2], atol=1e-5)
    first = learned(model, known, [3, 1, 0, 4], EmbeddingCache(tmp_path))
    assert encoded == ["heart attack", "seizure", "fever", "attack"]
    assert learned(made(base), known, [3, 1, 0, 4], EmbeddingCache(tmp_path)) == first
    assert len(encoded) == 4


def test_other_names_models_and_lengths_are_others(base: Path, tmp_path: Path, encoded: list[str]) -> None:
    learned(made(base), of(*NAMES), [0, 1], EmbeddingCache(tmp_path / "cache"))
    encoded.clear()
    # Rows mean nothing from one vocabulary to the other, what a concept is called does.
    learned(made(base), of("seizure", "fits"), [0, 1], EmbeddingCache(tmp_path / "cache"))
    assert encoded == ["fits"]
    fewer_heads = made(base)
    fewer_heads.entity.transformer.config.num_attention_heads = 1
    other_tokens = shutil.copytree(base, tmp_path / "base") / "tokenizer.json"
    other_tokens.write_text(other_tokens.read_text(encoding="utf-8").replace('"##q"', '"##ß"'), encoding="utf-8")
    mean = DualEncoder(
        made(base).mention, TorchModel.load(base, pooling="mean", max_length=64), made(base).settings
    )
    mean.entity.load_state_dict(made(base).entity.state_dict())
    for model in (
        made(base, seed=1),
        made(base, length=32),
        made(base).bfloat16(),
        fewer_heads,
        made(other_tokens.parent),
        mean,
    ):
        encoded.clear()
        learned(model, of(*NAMES), [0, 1], EmbeddingCache(tmp_path / "cache"))
        assert encoded == ["heart attack", "seizure"]


def test_a_concept_of_another_type_is_another(base: Path, tmp_path: Path, encoded: list[str]) -> None:
    for types in ((), ("disease",), ("symptom",), ("disease",)):
        builder = TableBuilder()
        builder.concept("X:1", semantic_types=types)
        builder.name("X:1", "fever", lang="en", kind="preferred")
        source = Source("small", "table", licence="CC0")
        learned(made(base), Vocabulary.of((source, builder.build())), [0], EmbeddingCache(tmp_path))
    assert encoded == ["fever"] * 3


def test_what_is_encoded_is_written_before_the_end(
    base: Path, tmp_path: Path, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nymlink.rerank.dual_encoder._BLOCK", 2)
    model, known = made(base), of(*NAMES)
    running = ConceptVectors(model, known, EmbeddingCache(tmp_path))
    running.add([0])
    running.add([1])
    running.add([2])
    encoded.clear()
    learned(model, known, [0, 1, 2], EmbeddingCache(tmp_path))
    assert encoded == ["short stature"]
    running.add([0, 2])
    assert encoded == ["short stature"]


def test_a_full_disk_does_not_stop_the_scoring(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OutputError("no space left")

    monkeypatch.setattr("nymlink.rerank.dual_encoder._BLOCK", 1)
    monkeypatch.setattr("nymlink.encode.vector_cache.EncoderCache.add", full)
    model, known = made(base), of(*NAMES)
    scorer = DualScorer(model, known, cache=EmbeddingCache(tmp_path))
    passages = [Passage("fever of ", "heart attack", ""), Passage("x ", "seizure", "")]
    with pytest.warns(UserWarning, match="not kept for the next time .no space left"):
        found = scorer.scores(passages, [[0, 3], [1]])
    # Said once.
    found += scorer.scores(passages[:1], [[2, 4]])
    plain = DualScorer(model, known)
    expected = plain.scores(passages, [[0, 3], [1]]) + plain.scores(passages[:1], [[2, 4]])
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


def test_an_emptied_cache_is_noticed(base: Path, tmp_path: Path, encoded: list[str]) -> None:
    model, known = made(base), of(*NAMES)
    first = learned(model, known, [0, 1], EmbeddingCache(tmp_path))
    running = ConceptVectors(model, known, EmbeddingCache(tmp_path))
    shutil.rmtree(next(tmp_path.iterdir()))
    encoded.clear()
    running.add([0, 1])
    assert encoded == ["heart attack", "seizure"]
    assert np.allclose(running.get([0, 1]), first, atol=1e-5)


@pytest.mark.large
def test_what_waits_is_written_when_the_process_ends(base: Path, tmp_path: Path) -> None:
    script = """
import sys, torch
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.torch_model import TorchModel
from nymlink.rerank.dual_encoder import ConceptVectors
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.train.small import vocabulary
torch.manual_seed(0)
vectors = ConceptVectors(
    DualEncoder.from_encoder(sys.argv[1], DualEncoderConfig(max_length=64)),
    vocabulary(("X:0", "seizure", "en", "preferred")),
    EmbeddingCache(sys.argv[2]),
)
vectors.add([0])
"""
    subprocess.run([sys.executable, "-c", script, str(base), str(tmp_path)], check=True)
    assert len(list(tmp_path.rglob("*.npy"))) == 1


def test_a_damaged_block_is_encoded_again(base: Path, tmp_path: Path, encoded: list[str]) -> None:
    model, known = made(base), of(*NAMES)
    first = learned(model, known, [0, 1], EmbeddingCache(tmp_path))
    (block,) = tmp_path.rglob("*.npy")
    block.write_bytes(block.read_bytes()[:-8])
    encoded.clear()
    with pytest.warns(UserWarning, match="damaged"):
        assert np.allclose(learned(model, known, [0, 1], EmbeddingCache(tmp_path)), first, atol=1e-5)
    assert encoded == ["heart attack", "seizure"]
