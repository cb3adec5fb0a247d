"""Measure time and memory of synonym pairs, and of parts, of a vocabulary of the size of UMLS.

    python benchmarks/training/pairs.py [--concepts 4000000 --english 10000000 --other 5000000] [--json FILE]

The names are invented (``umls_shaped.py``). Writes some 6 GB into a temporary folder ($TMPDIR).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report

BARS: Final = {"seconds": 180, "peak_mb": 6000}
"""Limits of time and memory for the pairs of ten million English names."""

_BATCH: Final = 256
_BATCHES: Final = 2000


def build(release: str, vocabulary: str) -> dict[str, Any]:
    """Read the release as ``nymlink vocab build`` does."""
    from nymlink.vocabulary.read import read_vocabulary

    built = read_vocabulary(release)
    built.save(vocabulary)
    return {"concepts": len(built), "names": built.name_count}


def write(vocabulary: str, output: str) -> dict[str, Any]:
    """Write the pairs of English names as ``nymlink pairs --language en`` does."""
    from nymlink.pairs.pair_files import write_pairs
    from nymlink.pairs.pairs import Pairs
    from nymlink.vocabulary.vocabulary import Vocabulary

    pairs = Pairs.of(Vocabulary.load(vocabulary), languages=["en"])
    write_pairs(pairs, Path(output))
    return {"concepts": len(pairs.concepts), "names": len(pairs.names), "pairs": len(pairs)}


def read(path: str) -> dict[str, Any]:
    """Read a file of pairs as a training does."""
    from nymlink.pairs.pair_files import read_pairs

    return {"pairs": sum(len(batch) for batch in read_pairs(path))}


def draw(vocabulary: str) -> dict[str, Any]:
    """Draw mini-batches from the vocabulary without a file, as a training does."""
    from nymlink.pairs.pairs import Pairs
    from nymlink.vocabulary.vocabulary import Vocabulary

    start = time.perf_counter()
    pairs = Pairs.of(Vocabulary.load(vocabulary), languages=["en"])
    opened = time.perf_counter()
    size = min(_BATCH, len(pairs))
    batches = min(_BATCHES, len(pairs) // size)
    for at in range(batches):
        _, left, right = pairs.rows(at * size, (at + 1) * size)
        pairs.texts(left), pairs.texts(right)
    drawn = time.perf_counter() - opened
    return {"pairs": batches * size, "open_seconds": opened - start, "batch_ms": 1000 * drawn / batches}


def part(vocabulary: str, output: str, conditions: dict[str, Any]) -> dict[str, Any]:
    """Make a part as ``nymlink vocab subset`` does."""
    from nymlink.vocabulary.subset import subset
    from nymlink.vocabulary.vocabulary import Vocabulary

    made = subset(Vocabulary.load(vocabulary), **conditions)
    made.save(output)
    return {"concepts": len(made), "names": made.name_count}


def measure(folder: Path, *, concepts: int, english: int, other: int) -> dict[str, Any]:
    """Generate, import, and measure each step in a process of its own, from its start to its end."""
    release, vocabulary = str(folder / "release"), str(folder / "vocabulary")
    sizes = {"concepts": concepts, "english": english, "other": other}
    options = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    script = str(Path(__file__).parents[1] / "vocabularies" / "umls_shaped.py")
    subprocess.run([sys.executable, script, release, *options, "--seed", "1"], check=True)
    steps: dict[str, tuple[str, dict[str, Any]]] = {
        "`nymlink vocab build`": ("build", {"release": release, "vocabulary": vocabulary}),
        "`nymlink pairs`, Parquet": ("write", {"vocabulary": vocabulary, "output": str(folder / "pairs.parquet")}),
        "`nymlink pairs`, text": ("write", {"vocabulary": vocabulary, "output": str(folder / "pairs.txt")}),
        "reading the Parquet file": ("read", {"path": str(folder / "pairs.parquet")}),
        "reading the text": ("read", {"path": str(folder / "pairs.txt")}),
        f"{_BATCHES:,} mini-batches without a file": ("draw", {"vocabulary": vocabulary}),
    }
    for label, conditions in (
        ("English", {"languages": ["en"]}),
        ("one semantic type, English", {"semantic_types": ["disease or syndrome"], "languages": ["en"]}),
    ):
        arguments = {"vocabulary": vocabulary, "output": str(folder / "part"), "conditions": conditions}
        steps[f"`nymlink vocab subset`, {label}"] = ("part", arguments)
    result = {}
    for label, (function, arguments) in steps.items():
        start = time.perf_counter()
        made = apart.run(f"training.pairs:{function}", **arguments)
        result[label] = {**made, "seconds": time.perf_counter() - start}
    return result


def text(result: dict[str, Any]) -> str:
    """Format the result as a table, with the limits of writing."""
    rows = [
        [
            label,
            *(f"{one[count]:,}" if count in one else "" for count in ("concepts", "names", "pairs")),
            f"{one['seconds']:.1f}",
            f"{one['peak_mb']:,.0f}",
        ]
        for label, one in result.items()
    ]
    written = [one for label, one in result.items() if label.startswith("`nymlink pairs`")]
    bars = ", ".join(
        f"{quantity} at most {max(one[quantity] for one in written):,.0f} of {bar:,}"
        for quantity, bar in BARS.items()
    )
    drawn = next(one for one in result.values() if "batch_ms" in one)
    return "\n".join(
        [
            report.table(("", "concepts", "names", "pairs", "seconds", "peak MB"), rows),
            "",
            f"writing: {bars}",
            f"without a file: {drawn['open_seconds']:.1f} s until the first mini-batch, then "
            f"{drawn['batch_ms']:.2f} ms for each of {_BATCH} pairs, names included",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concepts", type=int, default=4_000_000)
    parser.add_argument("--english", type=int, default=10_000_000, help="English rows, at least one a concept")
    parser.add_argument("--other", type=int, default=5_000_000, help="rows in other languages")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(
            Path(folder), concepts=arguments.concepts, english=arguments.english, other=arguments.other
        )
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["steps"],
        data="invented name rows in the shape of UMLS",
        split=None,
        dictionary=None,
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
