"""Train the vectors of pieces of the student of E5, with frozen layers.

The states of the layers are computed once for each text, and kept, so that a step needs no pass through them. The
texts and the loss are those of the distillation (see :mod:`recipes.xl_mini.distil`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.optim import AdamW

from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from recipes.xl_mini.distil import DistilSettings, Lessons, losses
from recipes.xl_mini.student import with_pieces
from recipes.xl_mini.teachers import Matrix, read_words

STEPS: Final = 1_000
"""Steps of the training."""

SETTINGS: Final = {
    "warm_up": 0.05,
    "learning_rate": 1e-3,
    "layers_learning_rate": 2e-4,
    **{"biomedical": 1_000, "general": 280, "english": 480, "words": 240},
}
"""Settings of the steps."""

RIDGE: Final = 10.0
"""Weight of the squared length of the maps in their fit."""

FITTED: Final = 60_000
"""Texts that the maps are fitted to."""

_BLOCK: Final = 20_000
_BATCH: Final = 128
_REPORTED: Final = 100
_AVERAGED: Final = 20_000


def states(model: TorchModel, texts: Sequence[str], folder: Path) -> npt.NDArray[np.float16]:
    """Compute the mean state of the last layer for each text, in blocks that are kept: float16 (N, D)."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for start in track(range(0, len(texts), _BLOCK), "computing the states of the layers"):
        paths.append(folder / f"{start}.npy")
        if not paths[-1].exists():
            found = mean_states(model, texts[start : start + _BLOCK]).astype(np.float16)
            with atomic_file(paths[-1]) as partial, partial.open("wb") as file:
                np.save(file, found)
    return np.concatenate([np.load(path) for path in paths])


def mean_states(model: TorchModel, texts: Sequence[str]) -> Matrix:
    """Compute the mean state of the last layer for each text: float32 (N, D)."""
    tokens = tokenise(model.tokenizer, texts)
    order = np.argsort(tokens.lengths)
    found = np.empty((len(texts), model.width), np.float32)
    for at in range(0, len(order), _BATCH):
        rows = order[at : at + _BATCH]
        ids, mask = map(torch.from_numpy, tokens.padded(rows, pad_id=model.pad_id))
        with torch.inference_mode():
            found[rows] = model(ids, mask).numpy()
    return found


class Pieces(nn.Module):
    """The part that learns: a map of the states, and the mean of the vectors of a text's pieces.

    Args:
        pieces: (P, D): first vectors of the pieces.
    """

    def __init__(self, pieces: Matrix) -> None:
        super().__init__()
        self.mapped = nn.Linear(pieces.shape[1], pieces.shape[1])
        self.pieces = nn.EmbeddingBag.from_pretrained(torch.tensor(pieces), freeze=False, mode="mean")

    def forward(self, states: torch.Tensor, ids: Sequence[Sequence[int]]) -> torch.Tensor:
        """Compute the vectors of texts from their states (B, D) and pieces: (B, D)."""
        starts = np.cumsum([0, *map(len, ids[:-1])])
        flat = torch.from_numpy(np.concatenate([np.asarray(own, np.int64) for own in ids]))
        vectors: torch.Tensor = self.mapped(states) + self.pieces(flat, torch.from_numpy(starts))
        return vectors

    def fit(self, states: Matrix, ids: Sequence[Sequence[int]], targets: Matrix) -> None:
        """Fit the map of the states, and one of all pieces, to targets (N, D) by least squares with a ridge."""
        with torch.inference_mode():
            self.mapped.weight.zero_()
            self.mapped.bias.zero_()
            bags = self(torch.zeros(len(ids), states.shape[1]), ids).numpy()
        scales = [np.sqrt((part**2).mean()) for part in (states - states.mean(0), bags)]
        made = np.hstack([states / scales[0], bags / scales[1], np.ones((len(states), 1), np.float32)])
        weights = np.linalg.solve(made.T @ made + RIDGE * np.eye(made.shape[1]), made.T @ targets)
        width = states.shape[1]
        with torch.no_grad():
            self.mapped.weight.copy_(torch.from_numpy(weights[:width].T / scales[0]))
            self.mapped.bias.copy_(torch.from_numpy(weights[-1]))
            self.pieces.weight.copy_(self.pieces.weight @ torch.from_numpy(weights[width:-1] / scales[1]).float())


def train(layers: TorchModel, first: Matrix, settings: DistilSettings, *, steps: int) -> TorchModel:
    """Train the vectors of pieces and the map of the states, and make the student of them.

    Args:
        layers: the frozen layers; their tokenizer has P pieces.
        first: (P, D): vectors of the pieces by the teachers of languages.
        settings: texts of a step, learning rates, seed and weight of the contrast. Their folder
            has the texts and their targets, and keeps the states.
        steps: number of steps; 0 for the maps that are fitted alone.
    """
    folder = Path(settings.folder)
    lessons = Lessons(folder, read_words(folder), settings)
    targets = np.load(folder / "targets.npy", mmap_mode="r")
    texts = lessons.texts()
    known = states(layers, texts, folder / "states")
    # States lie close to a common mean: without it the map learns faster.
    mean = known[:: max(1, len(known) // _AVERAGED)].mean(0, dtype=np.float32)
    row_of = {text: row for row, text in enumerate(texts)}
    pieces = Pieces(first)

    def drawn(number: int) -> tuple[npt.NDArray[np.float32], list[list[int]], npt.NDArray[np.int64]]:
        names, rows = lessons.batch(number, 0)
        ids = [encoding.ids for encoding in layers.tokenizer.encode_batch_fast(names)]
        return known[[row_of[text] for text in names]] - mean, ids, rows

    size = len(drawn(0)[1])
    sample = [drawn(steps + number) for number in range(max(1, FITTED // size))]
    rows = np.concatenate([rows for *_, rows in sample])
    pieces.fit(
        np.concatenate([given for given, *_ in sample]),
        [own for _, ids, _ in sample for own in ids],
        targets[rows].astype(np.float32),
    )
    groups = [
        {"params": pieces.pieces.parameters(), "lr": settings.learning_rate},
        {"params": pieces.mapped.parameters(), "lr": settings.layers_learning_rate},
    ]
    optimiser = AdamW(groups, weight_decay=0.0, fused=True)
    warm_up = settings.warm_up * steps
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / max(1, warm_up)) * (1 - step / max(1, steps))
    )
    for number in track(range(steps), "training the vectors of pieces"):
        given, ids, rows = drawn(number)
        wanted = torch.from_numpy(targets[rows].astype(np.float32))
        near, apart = losses(pieces(torch.from_numpy(given), ids), wanted, torch.from_numpy(rows))
        optimiser.zero_grad()
        (near + settings.contrast * apart).backward()
        optimiser.step()
        schedule.step()
        if number % _REPORTED == 0:
            print(f"step {number:,}: distance {near.item():.4f}, contrast {apart.item():.4f}", flush=True)
    return with_pieces(layers, pieces.mapped, pieces.pieces.weight.detach(), mean)
