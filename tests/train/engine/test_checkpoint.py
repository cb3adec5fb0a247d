"""Checkpoints: all is there again, damage is found, the disk may be full."""

from __future__ import annotations

import json
import math
import resource
import signal
from pathlib import Path

import pytest
import torch
from torch import nn

from nymlink.core.errors import OutputError, StoreError
from nymlink.train.engine import checkpoint
from nymlink.train.engine.optimiser import adamw
from nymlink.train.engine.reporting import MetricsLog


def trainable_parameters(width: int = 4, *, steps: int = 3) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, width), nn.Linear(width, 2))
    model[0].bias.requires_grad_(False)
    optimiser = adamw(
        [value for value in model.parameters() if value.requires_grad], learning_rate=0.1, weight_decay=0.01
    )
    for step in range(steps):
        optimiser.zero_grad()
        model(torch.full((1, 3), float(step + 1))).square().sum().backward()
        optimiser.step()
    return model, optimiser


def go_on(model: nn.Module, optimiser: torch.optim.Optimizer) -> list[float]:
    optimiser.zero_grad()
    model(torch.ones(1, 3)).square().sum().backward()
    optimiser.step()
    return [value for parameter in model.parameters() for value in parameter.flatten().tolist()]


def test_training_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    model, optimiser = trainable_parameters()
    path = checkpoint.save(tmp_path, 3, model, optimiser, {"best": [1, None]})
    fresh, untouched = trainable_parameters(steps=0)
    assert checkpoint.restore(path, fresh, untouched) == {"best": [1, None]}
    assert go_on(fresh, untouched) == go_on(model, optimiser)


def test_plain_optimisers_come_back_too(tmp_path: Path) -> None:
    model, _ = trainable_parameters()
    optimiser = torch.optim.Adam(model[1].parameters(), lr=0.1)
    go_on(model, optimiser)
    path = checkpoint.save(tmp_path, 1, model, optimiser, {})
    fresh, _ = trainable_parameters(steps=0)
    untouched = torch.optim.Adam(fresh[1].parameters(), lr=0.1)
    checkpoint.restore(path, fresh, untouched)
    assert go_on(fresh, untouched) == go_on(model, optimiser)


def test_what_is_frozen_is_not_written(tmp_path: Path) -> None:
    path = checkpoint.save(tmp_path, 1, *trainable_parameters(), {})
    assert "0.bias" not in (path / "weights.safetensors").read_bytes()[:400].decode(errors="replace")


@pytest.mark.parametrize("name", ["weights.safetensors", "optimiser.safetensors"])
@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing"])
def test_damage_is_found(tmp_path: Path, name: str, damage: str) -> None:
    model, optimiser = trainable_parameters()
    path = checkpoint.save(tmp_path, 1, model, optimiser, {})
    data = bytearray((path / name).read_bytes())
    (path / name).unlink()
    if damage == "flipped":
        data[-3] ^= 1
    if damage != "missing":
        (path / name).write_bytes(data[:-5] if damage == "truncated" else data)
    with pytest.raises(StoreError, match=name) as caught:
        checkpoint.restore(path, model, optimiser)
    assert str(path) in str(caught.value)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    path = checkpoint.save(tmp_path, 1, *trainable_parameters(), {})
    with pytest.raises(StoreError, match="of another model"):
        checkpoint.restore(path, *trainable_parameters(5))


def test_the_last_and_chosen_ones_are_kept(tmp_path: Path) -> None:
    for step in (2, 9, 10, 100):
        checkpoint.save(tmp_path, step, *trainable_parameters(), {})
    (tmp_path / ".step-000000011.partial").mkdir()
    assert list(checkpoint.checkpoints(tmp_path)) == [2, 9, 10, 100]
    checkpoint.prune(tmp_path, keep=[100, 9])
    assert list(checkpoint.checkpoints(tmp_path)) == [9, 100]


def test_a_full_disk_leaves_earlier_checkpoints_as_they_were(tmp_path: Path) -> None:
    model, optimiser = trainable_parameters(2000)
    checkpoint.save(tmp_path, 1, model, optimiser, {})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OutputError, match="cannot write"):
            checkpoint.save(tmp_path, 2, model, optimiser, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000001"]
    checkpoint.restore(tmp_path / "step-000000001", model, optimiser)


def test_numbers_that_json_does_not_have_are_null(tmp_path: Path) -> None:
    MetricsLog(tmp_path / "metrics.jsonl").write(step=1, loss=math.nan, norm=math.inf, corpus="NaN")
    assert (tmp_path / "metrics.jsonl").read_text(
        encoding="utf-8"
    ) == '{"step": 1, "loss": null, "norm": null, "corpus": "NaN"}\n'


def test_metrics_behind_the_checkpoint_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path)
    for step in (1, 2, 3):
        log.write(step=step, loss=step / 2)
    with path.open("a") as file:
        file.write('{"step": 4, "lo')
    MetricsLog(path, step=2).write(step=3, loss=9)
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 1.0},
        {"step": 3, "loss": 9},
    ]
