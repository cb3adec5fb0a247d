from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from nymlink.core.errors import InputError, OutputError, StoreError
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.encoder_settings import EncoderSettings, Pooling
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import BertPieces, BertPiecesConfig, TorchModel
from nymlink.encode.onnx_export import export
from tests.encode import tiny
from tests.index.small import many_names, vocabulary


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((one * other).sum(1) / lengths)


def one_by_one(folder: Path, pooling: Pooling) -> np.ndarray:
    """What transformers makes of each name by itself, pooled in a loop."""
    from transformers import AutoModel

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), tiny.tokenizer()
    tokenizer.enable_truncation(25)
    found = []
    for name in tiny.NAMES:
        with torch.no_grad():
            states = model(input_ids=torch.tensor([tokenizer.encode(name).ids])).last_hidden_state[0]
        found.append((states[0] if pooling == "cls" else sum(states) / len(states)).numpy())
    return np.array(found)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_every_family_gives_what_transformers_gives(bare: Path, pooling: Pooling, attention: str) -> None:
    model = TorchModel.load(bare, pooling=pooling, attention=attention)  # type: ignore[arg-type]
    tokens = tokenise(model.tokenizer, tiny.NAMES)
    ids, mask = map(torch.from_numpy, tokens.padded(np.arange(len(tokens)), pad_id=model.pad_id))
    with torch.no_grad():
        vectors = model(ids, mask)
    assert vectors.shape == (len(tiny.NAMES), model.width)
    assert vectors.dtype == torch.float32
    assert np.allclose(vectors.numpy(), one_by_one(bare, pooling), atol=1e-4)


def with_pieces(folder: Path, **others: int) -> TorchModel:
    """Random layers with a second vector for each piece."""
    sizes = {"vocab_size": 4_200, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, **others}
    torch.manual_seed(0)
    network = BertPieces(BertPiecesConfig(**sizes, intermediate_size=96, pad_token_id=0)).eval()
    with torch.no_grad():
        # A graph keeps equal weights once: these differ.
        for value in network.parameters():
            value += torch.randn_like(value) / 10
    settings = EncoderSettings(pooling="mean", max_length=25)
    model = TorchModel(network, tiny.tokenizer(), settings, special={"pad_token": "[PAD]", "unk_token": "[UNK]"})
    model.save(folder / "model")
    return model


@pytest.mark.parametrize(
    "sizes", [{}, {"vector_size": 96, "piece_size": 32}, {"vector_size": 32, "piece_size": 0}], ids=str
)
def test_vectors_of_pieces_are_added_to_the_mapped_states(tmp_path: Path, sizes: dict[str, int]) -> None:
    made = with_pieces(tmp_path, **sizes).transformer
    weights = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    loaded = TorchModel.load(tmp_path / "model")
    plain = BertModel(BertConfig(**made.config.to_dict()), add_pooling_layer=False).eval()
    plain.load_state_dict(made.state_dict(), strict=False)
    for name in tiny.NAMES:
        ids = tiny.tokenizer().encode(name).ids
        with torch.no_grad():
            states = plain(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
            found = loaded(torch.tensor([ids]))[0].numpy()
        expected = np.zeros(loaded.width)
        for piece, state in zip(ids, states, strict=True):
            expected += weights["mapped.weight"] @ state + weights["mapped.bias"]
            if "pieces.weight" in weights:
                own = weights["pieces.weight"][piece]
                expected[: len(own)] += own
        assert loaded.width == sizes.get("vector_size", 64)
        np.testing.assert_allclose(found, expected / len(ids), atol=1e-4)


@pytest.mark.large
def test_tables_of_4_bits_can_be_trained_further(tmp_path: Path) -> None:
    model = with_pieces(tmp_path)
    model.transformer.config.table_bits = 4
    model.save(tmp_path / "model")
    made = model.transformer.state_dict()
    names = many_names(300)
    synonyms = vocabulary({f"T:{number}": [f"{name} seizure", name] for number, name in enumerate(names)})
    export(tmp_path / "model", tmp_path / "int8", precision="int8", vocabulary=synonyms)
    learner = TorchModel.load(tmp_path / "int8")
    found = learner.transformer.state_dict()
    assert found.keys() == made.keys()
    for table in ("embeddings.word_embeddings.weight", "pieces.weight"):
        step = made[table].abs().reshape(len(made[table]), -1, 32).amax(-1).repeat_interleave(32, 1) / 8
        # The largest number has no step for the same number of the other sign.
        assert ((found[table] - made[table]).abs() <= step * 1.01).all()
        assert ((found[table] - made[table]).abs() <= step * 0.51).float().mean() > 0.99
    learner.save(tmp_path / "float")
    rough = Encoder.load(tmp_path / "int8").encode(tiny.NAMES)
    assert (Encoder.load(tmp_path / "float", precision="fp32").encode(tiny.NAMES) * rough).sum(1).min() > 0.98


def test_without_filling_no_mask_is_needed(bert: Path) -> None:
    model = TorchModel.load(bert, pooling="mean")
    ids = torch.tensor([[2, 9, 8, 3], [2, 7, 7, 3]])
    with torch.no_grad():
        assert torch.allclose(model(ids), model(ids, torch.ones_like(ids)), atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_what_is_saved_gives_the_same_vectors_elsewhere(bare: Path, tmp_path: Path, pooling: Pooling) -> None:
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel, AutoTokenizer

    TorchModel.load(bare, pooling=pooling, max_length=8).save(tmp_path / "saved")
    ours = Encoder.load(tmp_path / "saved", precision="fp32")
    assert ours.settings == EncoderSettings(pooling=pooling, max_length=8)
    names = [*tiny.NAMES[:-2], "x x x x x x x x x x"]
    with pytest.warns(UserWarning, match="1 of 7 names are longer than 8 tokens"):
        vectors = ours.encode(names)
    theirs = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert cosines(vectors, theirs.encode(names)).min() > 0.9999
    assert np.allclose(np.linalg.norm(theirs.encode(names), axis=1), 1, atol=1e-5)

    given = AutoTokenizer.from_pretrained(tmp_path / "saved")(
        names, padding=True, truncation=True, return_tensors="pt"
    )
    with torch.no_grad():
        states = AutoModel.from_pretrained(tmp_path / "saved").eval()(**given).last_hidden_state
    real = given["attention_mask"].unsqueeze(-1)
    pooled = states[:, 0] if pooling == "cls" else (states * real).sum(1) / real.sum(1)
    assert cosines(vectors, pooled.numpy()).min() > 0.9999


def test_what_is_saved_is_loaded_again(bert: Path, tmp_path: Path) -> None:
    model = TorchModel.load(bert, max_length=9)
    model.save(tmp_path / "saved")
    again = TorchModel.load(tmp_path / "saved")
    assert again.settings == model.settings
    for one, other in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        assert one[0] == other[0]
        assert torch.equal(one[1], other[1])
    model.save(tmp_path / "saved")


def test_nothing_else_is_overwritten(bert: Path, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "other")
    with pytest.raises(OutputError, match="not a directory that nymlink made"):
        TorchModel.load(bert).save(tmp_path / "other")


def test_no_pooler_is_needed_and_none_is_kept(bert: Path) -> None:
    assert TorchModel.load(bert).transformer.pooler is None


def test_damaged_or_mismatched_weights_are_refused(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    shutil.copytree(bert, folder)
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    for broken in (whole[:-100], whole[:50], b"", b"\0" * 500):
        weights.write_bytes(broken)
        with pytest.raises(InputError, match=r"the model cannot be loaded .*: fetch it again"):
            TorchModel.load(folder)
    weights.unlink()
    with pytest.raises(InputError, match="has no weights"):
        TorchModel.load(folder)


def test_weights_of_another_configuration_are_refused(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    shutil.copytree(bert, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for change, message in (
        ({"num_hidden_layers": 3}, "16 tensors are missing, for example encoder.layer.2"),
        ({"hidden_size": 64}, "cannot be loaded"),
        ({"model_type": "nonsense"}, "cannot be loaded"),
    ):
        (folder / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            TorchModel.load(folder)


@pytest.mark.parametrize(
    "change",
    [{"model_type": "t5", "is_encoder_decoder": True}, {"model_type": "gpt2"}, {"is_decoder": True}],
    ids=["t5", "gpt2", "bert"],
)
def test_what_makes_texts_is_no_encoder(bert: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    folder = shutil.copytree(bert, tmp_path / "other")
    said = json.loads((folder / "config.json").read_text(encoding="utf-8")) | change
    (folder / "config.json").write_text(
        json.dumps({key: value for key, value in said.items() if value is not None}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="not an encoder"):
        TorchModel.load(folder)


def test_a_saved_file_that_was_cut_off_is_found_before_it_is_read(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(saved, folder)
    (folder / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(StoreError, match=r"model\.safetensors has 7 bytes instead of"):
        Encoder.load(folder)


def test_loading_says_nothing(bert: Path, capfd: pytest.CaptureFixture[str]) -> None:
    TorchModel.load(bert)
    assert capfd.readouterr() == ("", "")
