"""What is tuned is written so that it loads as it was in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.names.tuning import add_tuning, write_tuned
from nymlink.train.settings.common import Tuning
from nymlink.train.settings.encoder_trainings import SapSettings
from tests.encode import tiny


@pytest.mark.parametrize("tuning", ["full", "adapters", "lora"])
def test_a_folder_gives_the_vectors_of_the_model_in_memory(tmp_path: Path, tuning: Tuning) -> None:
    base = tiny.folder(tmp_path / "base")
    model = TorchModel.load(base)
    settings = SapSettings(base=str(base), output=str(tmp_path / "tuned"), vocab="unused", tuning=tuning)
    add_tuning(model, settings)
    torch.manual_seed(1)
    with torch.no_grad():
        for value in model.parameters():
            if value.requires_grad:
                value += 0.1 * torch.randn_like(value)
        tokens = tokenise(model.tokenizer, tiny.NAMES)
        ids, mask = map(torch.from_numpy, tokens.padded(np.arange(len(tokens)), pad_id=0))
        expected = torch.nn.functional.normalize(model(ids, mask)).numpy()
    write_tuned(model, settings, tmp_path / "tuned")
    assert np.allclose(Encoder.load(tmp_path / "tuned", precision="fp32").encode(tiny.NAMES), expected, atol=1e-5)
    assert not np.allclose(Encoder.load(base, precision="fp32").encode(tiny.NAMES), expected, atol=0.01)
