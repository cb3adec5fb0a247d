"""The mean of encoders."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nymlink.core.errors import InputError
from nymlink.encode.model.adapters import AdapterSettings
from nymlink.encode.model.average import average
from nymlink.encode.model.torch_model import TorchModel
from tests.encode import tiny


@pytest.mark.parametrize(
    ("family", "weights"),
    [
        ("bert", None),
        ("roberta", (1, 1, 1)),
        ("xlm-roberta", (3, 1, 0)),
        ("deberta-v2", (0.2, 0.2, 0.4)),
        ("modernbert", (3, 1, 0)),
    ],
)
def test_each_weight_is_the_mean_of_those_of_the_encoders(
    tmp_path: Path, family: str, weights: tuple[float, ...] | None
) -> None:
    folders = [tiny.folder(tmp_path / str(seed), family, seed=seed) for seed in range(3)]
    models = [TorchModel.load(folder).state_dict() for folder in folders]
    mean = average(folders, weights=weights)
    mean.save(tmp_path / "mean")
    shares = [one / sum(weights or (1, 1, 1)) for one in weights or (1, 1, 1)]
    for name, tensor in TorchModel.load(tmp_path / "mean").state_dict().items():
        expected = sum(share * model[name].double() for share, model in zip(shares, models, strict=True))
        assert torch.allclose(tensor.double(), expected, atol=1e-6), name


def test_pooling_and_length_are_the_firsts(tmp_path: Path) -> None:
    for name, length in (("one", 9), ("other", 12)):
        TorchModel.load(tiny.folder(tmp_path / "base"), pooling="mean", max_length=length).save(tmp_path / name)
    settings = average([tmp_path / "one", tmp_path / "other"]).settings
    assert (settings.pooling, settings.max_length) == ("mean", 9)


def test_adapters_are_averaged_too(tmp_path: Path) -> None:
    base = tiny.folder(tmp_path / "base")
    for seed in range(2):
        torch.manual_seed(seed)
        tuned = TorchModel.load(base)
        tuned.add_adapters(AdapterSettings(reduction=4))
        with torch.no_grad():
            for weight in tuned.parameters():
                if weight.requires_grad:
                    weight.normal_()
        tuned.save(tmp_path / str(seed))
    average([tmp_path / "0", tmp_path / "1"]).save(tmp_path / "mean")
    one, other, mean = (TorchModel.load(tmp_path / name).state_dict() for name in ("0", "1", "mean"))
    for name, tensor in mean.items():
        assert torch.allclose(tensor, (one[name] + other[name]) / 2, atol=1e-6), name
    with pytest.raises(InputError, match="differ in their tensors"):
        average([tmp_path / "0", base])


def test_what_has_no_mean_is_refused(tmp_path: Path) -> None:
    bert = tiny.folder(tmp_path / "bert")
    with pytest.raises(InputError, match="two encoders or more"):
        average([bert])
    with pytest.raises(InputError, match="differ in their tensors"):
        average([bert, tiny.folder(tmp_path / "roberta", "roberta")])
    TorchModel.load(bert, pooling="mean").save(tmp_path / "mean")
    with pytest.raises(InputError, match=r"differ in their pooling \(mean, cls\)"):
        average([bert, tmp_path / "mean"])
    other = tiny.folder(tmp_path / "tokens")
    text = (other / "tokenizer.json").read_text(encoding="utf-8")
    (other / "tokenizer.json").write_text(text.replace('"##q"', '"##ß"'), encoding="utf-8")
    with pytest.raises(InputError, match="differ in their tokens"):
        average([bert, other])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1,), "there are 2 encoders, but 1 weights"),
        ((0, 0), "at least 0 and not all 0"),
        ((2, -1), "at least 0 and not all 0"),
        ((1, float("nan")), "at least 0 and not all 0"),
    ],
)
def test_weights_that_allow_no_mean_are_refused(tmp_path: Path, weights: tuple[float, ...], message: str) -> None:
    bert = tiny.folder(tmp_path / "bert")
    with pytest.raises(InputError, match=message):
        average([bert, bert], weights=weights)
