"""A cross-encoder that reads a mention and the names of a candidate: training, and reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.ranking.name_pairs import Pair
from nymlink.core.computing.onnx_session import open_session
from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.terminal.progress import track
from nymlink.encode.export.graph import OPSET, quiet_exporters, write_proto
from nymlink.encode.export.quantise import quantise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.fusion.hits import Scores

LONGEST: Final = 32
"""Tokens of a pair."""

_BATCH: Final = 32
"""Questions of a step."""

_READ: Final = 64
"""Pairs that are read together."""

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")

_POOL: Final = 16
"""Batches whose questions are sorted by length together, so that those of a batch are about as long."""

_RATE: Final = 1e-4
_RISING: Final = 0.1
_DECAY: Final = 0.01


class NameReader(nn.Module):
    """Scores pairs, larger is better; that none of a mention's candidates is right has the score 0.

    The score is a linear function of the mean of the last layer's vectors. Word embeddings are not trained.

    Args:
        base: an encoder.
        layers: how many of its first layers are kept.
    """

    def __init__(self, base: str, layers: int) -> None:
        super().__init__()
        model = TorchModel.load(base, attention="sdpa")
        self.transformer = model.transformer
        self.transformer.encoder.layer = self.transformer.encoder.layer[:layers]
        self.transformer.config.num_hidden_layers = layers
        self.transformer.get_input_embeddings().weight.requires_grad_(False)
        self.tokenizer = type(model.tokenizer).from_str(model.tokenizer.to_str())
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()
        self.head = nn.Linear(self.transformer.config.hidden_size, 1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Score B pairs of T tokens: int64 (B, T) each → float32 (B)."""
        states = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state.float()
        real = attention_mask.unsqueeze(-1).float()
        scores: Tensor = ((states * real).sum(1) / real.sum(1) * self.head.weight).sum(1) + self.head.bias
        return scores

    def inputs(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        """Tokenise pairs: ids, mask and types, int64 (B, T) each."""
        encodings = self.tokenizer.encode_batch(list(pairs))
        ids, mask, types = (
            torch.tensor([getattr(encoding, part) for encoding in encodings])
            for part in ("ids", "attention_mask", "type_ids")
        )
        return ids, mask, types

    def read(self, pairs: Sequence[Pair]) -> Scores:
        """Score pairs: float32 (N)."""
        self.eval()
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            return _read(pairs, lambda own: self(*self.inputs(own)).numpy())


class Int8Reader:
    """A reader in int8, with ONNX Runtime.

    Args:
        reader: what is quantised.
        path: the file to write.
    """

    def __init__(self, reader: NameReader, path: Path) -> None:
        self._inputs = reader.inputs
        _write_int8(reader, path)
        self._session = open_session(path)

    def read(self, pairs: Sequence[Pair]) -> Scores:
        """Score pairs: float32 (N)."""
        return _read(pairs, self._score)

    def _score(self, pairs: Sequence[Pair]) -> Scores:
        inputs = (each.numpy() for each in self._inputs(pairs))
        scores: Scores = self._session.run(None, dict(zip(_INPUTS, inputs, strict=True)))[0]
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """N questions to learn from.

    Attributes:
        pairs: of each question, a pair for each candidate.
        right: which of them are right.
        weights: float64 (N): how much each counts.
    """

    pairs: Sequence[Sequence[Pair]]
    right: Sequence[Bools]
    weights: Scores

    def chosen(self, rows: Ints) -> Examples:
        """Select questions."""
        return Examples([self.pairs[row] for row in rows], [self.right[row] for row in rows], self.weights[rows])


def train(reader: NameReader, examples: Examples, *, epochs: int, seed: int) -> None:
    """Learn with the loss of the trees: minus the logarithm of the probability of what is right, or of none."""
    rng = np.random.default_rng(seed)
    batches = [batch for _ in range(epochs) for batch in _batches(examples, rng)]
    groups: list[dict[str, Any]] = [
        {"params": [each for each in reader.transformer.parameters() if each.requires_grad], "lr": _RATE},
        {"params": list(reader.head.parameters()), "lr": 10 * _RATE},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=_DECAY, fused=True)
    rising = max(1, round(_RISING * len(batches)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min((step + 1) / rising, (len(batches) - step) / max(1, len(batches) - rising)),
    )
    reader.train()
    for rows in track(batches, "training"):
        batch = examples.chosen(rows)
        with torch.autocast("cpu", torch.bfloat16):
            scores = reader(*reader.inputs([pair for pairs in batch.pairs for pair in pairs]))
        loss = _loss(scores, batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        schedule.step()


def _loss(scores: Tensor, batch: Examples) -> Tensor:
    total = torch.zeros(())
    for own, right, weight in zip(
        torch.split(scores, [len(pairs) for pairs in batch.pairs]), batch.right, batch.weights, strict=True
    ):
        every = torch.cat([own, torch.zeros(1)])
        good = own[torch.from_numpy(right)] if right.any() else every[-1:]
        total = total + weight * (every.logsumexp(0) - good.logsumexp(0))
    mean: Tensor = total / float(batch.weights.sum())
    return mean


def _batches(examples: Examples, rng: np.random.Generator) -> Iterator[Ints]:
    """Draw batches of questions of like length, each question once."""
    lengths = np.array([max(len(text) + len(names) for text, names in pairs) for pairs in examples.pairs])
    drawn = rng.permutation(len(lengths))
    pools = [drawn[start : start + _BATCH * _POOL] for start in range(0, len(drawn), _BATCH * _POOL)]
    batches = [
        rows
        for pool in pools
        for sorted_rows in [pool[np.argsort(lengths[pool], kind="stable")]]
        for rows in np.split(sorted_rows, range(_BATCH, len(sorted_rows), _BATCH))
    ]
    return (batches[at] for at in rng.permutation(len(batches)))


def _read(pairs: Sequence[Pair], score: Callable[[Sequence[Pair]], Scores]) -> Scores:
    """Score pairs in batches of like length."""
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0]) + len(pairs[at][1]))
    scores = np.zeros(len(pairs), np.float32)
    for start in range(0, len(order), _READ):
        rows = order[start : start + _READ]
        scores[rows] = score([pairs[at] for at in rows])
    return scores


def _write_int8(reader: NameReader, path: Path) -> None:
    """Write a reader as a graph in int8: ids, mask and types, int64 (B, T) each → float32 (B)."""
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    inputs = reader.eval().inputs([("fever", "fever; pyrexia"), ("heart attack", "myocardial infarction")])
    with quiet_exporters():
        program = torch.onnx.export(
            reader,
            inputs,
            input_names=_INPUTS,
            output_names=["scores"],
            dynamic_shapes=dict.fromkeys(_INPUTS, sizes),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None  # it is where dynamo is on
    graph = program.model_proto
    quantise(graph)
    write_proto(graph, path)
