from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers.models import WordLevel
from tokenizers.normalizers import Sequence
from tokenizers.pre_tokenizers import WhitespaceSplit

from nymlink.core.errors import InputError, NymlinkError
from nymlink.encode import onnx_export as exporting
from nymlink.encode import quantise as quantising
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel
from nymlink.encode.onnx_export import Int8Quality, SynonymSample, export
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny
from tests.index.small import many_names, vocabulary

pytestmark = [pytest.mark.large, pytest.mark.usefixtures("export_once")]


@pytest.fixture(scope="module")
def synonyms() -> Vocabulary:
    """Concepts of two names that share all words but one."""
    names = many_names(300)
    return vocabulary({f"T:{number}": [f"{name} seizure", name] for number, name in enumerate(names)})


@pytest.fixture(scope="module")
def coarse(
    saved: Path, synonyms: Vocabulary, export_once: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("int8") / "bert"
    quality = export_once(saved, folder, precision="int8", vocabulary=synonyms)
    assert quality is not None
    assert quality.queries == 600
    assert 0 < quality.recall_fp32 <= 1
    return folder


# The code of RoBERTa is that of XLM-RoBERTa; other tests export BERT.
@pytest.mark.parametrize(
    "bare", [family for family in tiny.FAMILIES if family not in ("roberta", "bert")], indirect=True
)
def test_every_family_can_be_exported(bare: Path, tmp_path: Path) -> None:
    export(bare, tmp_path / "onnx", pooling="mean")
    exact = Encoder.load(bare, pooling="mean", precision="fp32")
    exported = Encoder.load(tmp_path / "onnx")
    assert exported.settings == exact.settings
    assert (exact.encode(tiny.NAMES) * exported.encode(tiny.NAMES)).sum(1).min() > 0.9999


def test_an_export_is_complete_and_tells_no_paths(exported: Path, saved: Path) -> None:
    assert not list(exported.glob("*.safetensors"))
    manifest = json.loads((exported / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["kind"] == "encoder"
    assert manifest["export"].keys() == {"precision", "opset", "weights"}
    graph = (exported / "onnx" / "model.onnx").read_bytes()
    assert b"site-packages" not in graph
    assert str(saved).encode() not in graph


def test_int8_is_small_and_close(coarse: Path, exported: Path) -> None:
    rough, exact = Encoder.load(coarse), Encoder.load(exported)
    assert rough.network.precision == "int8"
    assert rough.fingerprint != exact.fingerprint
    assert (rough.encode(tiny.NAMES) * exact.encode(tiny.NAMES)).sum(1).min() > 0.98
    manifest = json.loads((coarse / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["export"]["quality"]["queries"] == 600
    assert not (coarse / "onnx" / "model.onnx").exists()


def test_an_int8_encoder_can_be_trained_further(saved: Path, synonyms: Vocabulary, tmp_path: Path) -> None:
    trained = TorchModel.load(saved)
    torch.manual_seed(0)
    with torch.no_grad():
        # A graph keeps weights that are equal once: those of a model that was trained are not.
        for value in trained.transformer.parameters():
            value += torch.randn_like(value) / 100
    trained.save(tmp_path / "trained")
    coarse = tmp_path / "coarse"
    export(tmp_path / "trained", coarse, precision="int8", vocabulary=synonyms)
    learner, exact = TorchModel.load(coarse), trained.transformer.state_dict()
    found = learner.transformer.state_dict()
    assert found.keys() == exact.keys()
    for name, value in exact.items():
        # A linear layer keeps its outputs in rows, an embedding what is looked up: each has its own step. Two
        # neighbours of a linear layer share the steps.
        step = value.abs().amax(-1, keepdim=True) * (1 if "embeddings" in name else 2) / 125
        assert ((found[name] - value).abs() <= step * 0.51).all(), name
    learner.save(tmp_path / "float")
    rough = Encoder.load(coarse).encode(tiny.NAMES)
    assert (Encoder.load(tmp_path / "float", precision="fp32").encode(tiny.NAMES) * rough).sum(1).min() > 0.98


def test_a_configuration_of_another_shape_is_said(coarse: Path, tmp_path: Path) -> None:
    # As from elsewhere: of what nymlink wrote, a file that was changed is refused as such.
    shutil.copytree(coarse, tmp_path / "other", ignore=shutil.ignore_patterns("manifest.json"))
    config = json.loads((tmp_path / "other" / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "other" / "config.json").write_text(
        json.dumps(config | {"num_attention_heads": 7}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="multiple of the number of attention heads"):
        TorchModel.load(tmp_path / "other")


def test_weights_that_cannot_be_told_apart_are_not_guessed(coarse: Path) -> None:
    # All biases of a model that was never trained are zero, and its graph has one for all.
    with pytest.raises(InputError, match="start from the float weights that it was made from"):
        TorchModel.load(coarse)


def test_graphs_that_hold_no_weights_of_ours_are_refused(coarse: Path, exported: Path, tmp_path: Path) -> None:
    shutil.copytree(coarse, tmp_path / "other", ignore=shutil.ignore_patterns("manifest.json"))
    graph = tmp_path / "other" / "onnx" / "model_int8.onnx"
    for content in (graph.read_bytes()[:-1000], b"", (exported / "onnx" / "model.onnx").read_bytes()):
        graph.write_bytes(content)
        with pytest.raises(InputError, match=r"int8 graph that nymlink exported|tensors are missing"):
            TorchModel.load(tmp_path / "other")


def test_int8_vectors_do_not_depend_on_the_other_names(coarse: Path) -> None:
    encoder = Encoder.load(coarse)
    together = encoder.encode(tiny.NAMES)
    for row, name in enumerate(tiny.NAMES):
        assert np.allclose(encoder.encode([name])[0], together[row], atol=1e-5)


def test_int8_that_spoils_the_model_is_refused(
    saved: Path, synonyms: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A grid of one step to either side: hardly a name is where it was.
    monkeypatch.setattr(quantising, "_STEPS", 1)
    with pytest.raises(
        NymlinkError, match=r"recall@1 of 600 names falls from \d+\.\d\d to \d+\.\d\d, .* choose fp32"
    ):
        export(saved, tmp_path / "spoilt", precision="int8", vocabulary=synonyms)
    assert not list(tmp_path.iterdir())


def test_int8_may_cost_half_a_point(
    saved: Path, synonyms: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recalls = iter([0.800, 0.796, 0.800, 0.794])
    monkeypatch.setattr(SynonymSample, "recall", lambda *_: next(recalls))
    assert export(saved, tmp_path / "good", precision="int8", vocabulary=synonyms) == Int8Quality(
        600, 0.800, 0.796
    )
    with pytest.raises(NymlinkError, match=r"falls from 80\.00 to 79\.40, more than 0\.5 points"):
        export(saved, tmp_path / "bad", precision="int8", vocabulary=synonyms)


def test_a_graph_that_differs_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_LEAST_COSINE", 1.1)
    with pytest.raises(NymlinkError, match=r"the vectors of its graph differ \(cosine 1\.0000\)"):
        export(saved, tmp_path / "different")
    assert not list(tmp_path.iterdir())


def test_a_model_that_knows_none_of_our_words_is_compared_all_the_same(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "thai")
    tokenizer = tiny.tokenizer()
    tokenizer.model = WordLevel({"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "ไข้": 4}, unk_token="[UNK]")
    tokenizer.normalizer = Sequence([])
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    export(folder, tmp_path / "onnx", pooling="mean")
    assert Encoder.load(tmp_path / "onnx").encode(["ไข้", "fever"]).any(1).tolist() == [True, False]


def test_int8_needs_a_vocabulary_that_says_something(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="int8 must be checked with a vocabulary"):
        export(saved, tmp_path / "out", precision="int8")
    with pytest.raises(InputError, match="has 2 names with a synonym"):
        export(saved, tmp_path / "out", precision="int8", vocabulary=vocabulary({"T:1": ["a", "b"], "T:2": ["c"]}))


def test_a_model_is_not_exported_over_itself(saved: Path) -> None:
    with pytest.raises(InputError, match="this is the model itself"):
        export(saved, saved)
    assert (saved / "model.safetensors").is_file()
