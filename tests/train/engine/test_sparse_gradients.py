"""Sparse gradients of word embeddings move the weights as dense ones do."""

from __future__ import annotations

import copy

import torch

from nymlink.train.engine.optimiser import adamw, densify_gradients, use_sparse_embedding_gradients
from tests.encode import tiny


def test_sparse_gradients_move_the_weights_as_dense_ones_do() -> None:
    # In double precision: rounding moves a bias whose gradient is zero, on each processor otherwise.
    plain = tiny.transformer("bert").eval().double()
    quick = copy.deepcopy(plain)
    use_sparse_embedding_gradients(quick)
    ids = torch.tensor([[2, 7, 9, 3], [2, 7, 7, 3]])
    for model in (plain, quick):
        optimiser = adamw(model.parameters(), learning_rate=0.01, weight_decay=0.01)
        for _ in range(3):
            optimiser.zero_grad()
            for piece in ids[:, None]:
                states = model(input_ids=piece).last_hidden_state
                (states * torch.linspace(-1, 2, 32, dtype=torch.float64)).sum().backward()
            densify_gradients(model.parameters())
            optimiser.step()
    for (name, one), other in zip(plain.named_parameters(), quick.parameters(), strict=True):
        torch.testing.assert_close(one, other, msg=name)
