"""Flip bits in the files of a vocabulary, an index, a re-ranker and a cache, and count what becomes of them.

    python benchmarks/damage.py --json benchmarks/results/damage.json

Each trial flips a bit of a copy, runs the commands that read it as a user would, each in a process of its own, and
puts the bit back. Files are drawn with equal probability, so that small ones are hit too. A trial counts as

- crash: a command was ended by a signal;
- traceback: it ended with an error that is not nymlink's own;
- silent: it succeeded with another output than that of the undamaged files;
- noticed: it was refused, or succeeded with a warning and the right output;
- harmless: it succeeded with the right output and no message (blanks of a manifest, bytes that are not read).

    python benchmarks/damage.py --start INDEX

measures the cost of the checks instead: fresh processes link a mention, with and without checks in turns.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import report
from inputs import data_root
from nymlink.cli import main as command_line
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.embedded import MINI
from nymlink.encode.model.installed import installed
from nymlink.index.index import Index
from nymlink.vocabulary.read import open_vocabulary

SHARES: Final = {"vocabulary": 350, "index": 350, "reranker": 150, "cache": 150}
"""Number of the 1,000 flips for each part."""

_LINKING: Final = ("nymlink.cli.link.link", "nymlink.encode.backends.onnx", "onnxruntime", "scipy.sparse")
_NEEDED: Final = {
    "vocabulary": ("nymlink.cli.pairs", "nymlink.cli.vocab.subset", "nymlink.cli.vocab.search"),
    "index": _LINKING,
    "reranker": (
        *_LINKING,
        "torch",
        "transformers",
        "nymlink.rerank.cross.cross_encoder",
        "nymlink.rerank.dual.dual_encoder",
    ),
    "cache": ("nymlink.cli.encoder", *_LINKING),
}

OUTCOMES: Final = ("crash", "traceback", "silent", "noticed", "harmless")
SHOWN: Final = {"silent": "another output, nothing said", "harmless": "no difference"}
"""Names of some outcomes in tables."""

_STARTS: Final = 15
"""Processes started with files checked, and as many without."""

_TABLE: Final = "vocabularies/symp.tsv.gz"
_NAMES: Final = 60
"""Names that are linked, encoded and re-ranked in each trial."""


@dataclass(frozen=True)
class Result:
    """Result of a command: its exit status (negative for a signal), and digests of its output and messages."""

    status: int
    written: str
    said: str


def commands(part: str, folder: Path, out: Path) -> list[list[str]]:
    """List the commands that read a part."""
    names, damaged = str(folder / "names.txt"), str(folder / part)
    if part == "vocabulary":
        return [
            ["pairs", damaged, "-o", "-"],
            ["vocab", "subset", damaged, "-o", str(out / "subset"), "--kind", "preferred", "--kind", "exact"],
            ["vocab", "search", damaged, "fever"],
        ]
    if part == "index":
        return [["link", "--index", damaged, "--file", names, "--top-k", "5", "--format", "jsonl"]]
    if part == "reranker":
        corpus = str(folder / "corpus.PubTator.txt")
        index = str(folder / "index")
        return [["link", "--index", index, "--rerank", damaged, "--corpus", corpus, "--format", "jsonl"]]
    vectors = str(out / "vectors.npy")
    return [["encoder", "encode", MINI, "--file", names, "-o", vectors, "--cache", damaged]]


def make(folder: Path, data: Path) -> None:
    """Make the parts, as small as possible with every kind of file."""
    vocabulary = open_vocabulary(data / _TABLE)
    vocabulary.save(folder / "vocabulary")
    names = [
        vocabulary.preferred_name(row) for row in range(0, len(vocabulary), max(len(vocabulary) // _NAMES, 1))
    ]
    # Names as written, truncated names, and some that need the vectors.
    asked = [
        name if at % 2 else " ".join(reversed(name.split()))[: max(len(name) - 2, 3)]
        for at, name in enumerate(names)
    ]
    (folder / "names.txt").write_text("\n".join(asked) + "\n", encoding="utf-8")
    encoder = Encoder.load(MINI)
    encoder.encode(asked, cache=EmbeddingCache(folder / "cache"))
    Index.build(vocabulary, directory=folder / "index", encoder=MINI)
    _make_reranker(folder / "reranker", folder / "base")
    lines = []
    for number, name in enumerate(names[:10]):
        title = f"A patient with {name} was seen."
        start = title.index(name)
        lines += [
            f"{number}|t|{title}",
            f"{number}|a|",
            f"{number}\t{start}\t{start + len(name)}\t{name}\tDisease\tX:1",
            "",
        ]
    (folder / "corpus.PubTator.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _make_reranker(folder: Path, base: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    from nymlink.rerank.cross.cross_encoder import CrossEncoder, CrossEncoderConfig

    torch.manual_seed(0)
    shape = BertConfig(
        vocab_size=30522, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    BertModel(shape).save_pretrained(base)
    shipped = installed(MINI)
    assert shipped is not None
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(shipped / name, base)
    CrossEncoder.from_encoder(base, CrossEncoderConfig()).save(folder)


def run(arguments: list[str], out: Path) -> Result:
    """Run a command in a child of this process."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    streams = [out.with_suffix(".stdout"), out.with_suffix(".stderr")]
    child = os.fork()
    if child == 0:
        for stream, path in enumerate(streams, 1):
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(at, "wb", closefd=False)) for at in (1, 2))
        sys.argv = ["nymlink", *arguments]
        status = 70
        try:
            command_line()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(status)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    written = hashlib.sha256(streams[0].read_bytes())
    for file in sorted(out.rglob("*")):
        # A manifest repeats what it was made of, word for word; what that changes in a table is in the table.
        if file.is_file() and file.name != "manifest.json":
            written.update(file.name.encode() + file.read_bytes())
    return Result(ended, written.hexdigest(), streams[1].read_text(encoding="utf-8", errors="replace"))


def outcome(found: Result, sound: Result) -> str:
    """Classify a result as one of :data:`OUTCOMES`."""
    if found.status < 0:
        return "crash"
    if "Traceback" in found.said or found.status not in (0, 1, 2):
        return "traceback"
    if found.status == 0 and found.written != sound.written:
        return "silent"
    return "noticed" if found.status or found.said != sound.said else "harmless"


@contextmanager
def flipped(file: Path, bit: int) -> Iterator[None]:
    """Flip a bit of a file until the block ends."""
    at = bit // 8
    with open(file, "r+b") as stream:
        stream.seek(at)
        before = stream.read(1)
        stream.seek(at)
        stream.write(bytes([before[0] ^ (1 << bit % 8)]))
    try:
        yield
    finally:
        with open(file, "r+b") as stream:
            stream.seek(at)
            stream.write(before)


def trials(part: str, made: str, seed: int, count: int) -> list[dict[str, str | int]]:
    """Flip bits of a copy of a part, in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        for module in _NEEDED[part]:
            # Before the children, each of which would need a second for it.
            import_module(module)
        folder = Path(place) / "copy"
        shutil.copytree(made, folder)
        out = Path(place) / "out"
        sound = [run(command, out) for command in commands(part, folder, out)]
        again = [run(command, out) for command in commands(part, folder, out)]
        if any(result.status for result in sound) or sound != again:
            raise ValueError(f"{part}: the undamaged one fails, or says another thing each time: {sound} {again}")
        files = sorted(file for file in (folder / part).rglob("*") if file.is_file())
        whole = {file: file.read_bytes() for file in files}
        drawn = random.Random(f"{part} {seed}")
        found = []
        for _ in range(count):
            file = drawn.choice(files)
            bit = drawn.randrange(8 * file.stat().st_size)
            with flipped(file, bit):
                results = [run(command, out) for command in commands(part, folder, out)]
            # Entries that a run adds to a cache are removed before the next.
            for other in (folder / part).rglob("*"):
                if other.is_file() and other not in whole:
                    other.unlink()
            if not file.exists():
                file.write_bytes(whole[file])
            each = [outcome(*pair) for pair in zip(results, sound, strict=True)]
            # Of several commands the worst outcome counts, since some do not read the flipped byte.
            worst = min(each, key=OUTCOMES.index)
            said = next((result.said for result, one in zip(results, each, strict=True) if one == worst), "")
            name = file.relative_to(folder / part).as_posix()
            found.append({"file": name, "bit": bit, "outcome": worst, "said": said.strip()[-300:]})
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--start", type=Path, metavar="INDEX")
    options = parser.parse_args()
    if options.start is not None:
        print(json.dumps(starts(options.start), indent=1))
        return
    with tempfile.TemporaryDirectory() as place:
        os.environ["NYMLINK_CACHE"] = str(Path(place) / "own-cache")
        make_apart(Path(place) / "made", data_root())
        measured = measure(Path(place) / "made", options)
    rows = [
        {"read": part, "flips": sum(counts.values())}
        | {SHOWN.get(outcome, outcome): counts[outcome] for outcome in OUTCOMES}
        for part, counts in measured["outcomes"].items()
    ]
    about = report.about(
        data="files of a vocabulary, an index, a re-ranker and a cache of vectors, one flipped bit a run",
        split=None,
        dictionary=None,
        seed=options.seed,
    )
    report.save(options.json, {"about": about, "rows": rows, "bad": measured["bad"]})
    print(f"{'':12}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES))
    for part, counts in measured["outcomes"].items():
        print(f"{part:12}" + "".join(f"{counts[outcome]:11,}" for outcome in OUTCOMES))


def starts(index: Path) -> dict[str, float]:
    """Measure the milliseconds of ``nymlink link``, with and without checks of the files."""
    link = f"sys.argv = ['nymlink', 'link', '--index', {str(index)!r}, 'a short foot']; nymlink.cli.main()"
    unchecked = "manifest.check_files = verification.check_files = lambda *_: None; "
    found: dict[str, list[tuple[float, float]]] = {"checked": [], "unchecked": []}
    for _ in range(_STARTS):
        for way, before in (("checked", ""), ("unchecked", unchecked)):
            code = f"import sys, nymlink.cli; from nymlink import manifest, verification; {before}{link}"
            used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            took, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            found[way].append((took, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime))
    return {
        f"{way} {what}": round(1000 * value, 1)
        for way, each in found.items()
        for what, value in (
            ("median", statistics.median(took for took, _ in each)),
            ("least", min(took for took, _ in each)),
            ("processor", min(busy for _, busy in each)),
        )
    }


def make_apart(folder: Path, data: Path) -> None:
    """Run :func:`make` in a process of its own, since processes with threads must not be forked."""
    folder.mkdir()
    _apart(make, folder, data)


def _apart(work: Callable[..., None], *given: Path) -> None:
    process = get_context("spawn").Process(target=work, args=given)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the parts could not be made")


def measure(made: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Flip the bits and count the outcomes."""
    parts = {part: round(options.flips * share / sum(SHARES.values())) for part, share in SHARES.items()}
    pieces = [(part, piece) for part, piece in product(parts, range(options.workers))]
    counts = [parts[part] // options.workers + (piece < parts[part] % options.workers) for part, piece in pieces]
    seeds = [options.seed * options.workers + piece for _, piece in pieces]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(trials, [part for part, _ in pieces], [str(made)] * len(pieces), seeds, counts))
    outcomes = {part: Counter(dict.fromkeys(OUTCOMES, 0)) for part in (*parts, "all")}
    bad = []
    for (part, _), each in zip(pieces, found, strict=True):
        for one in each:
            for row in (part, "all"):
                outcomes[row][str(one["outcome"])] += 1
            if one["outcome"] in ("crash", "traceback", "silent"):
                bad.append({"part": part, **one})
    return {
        "outcomes": {part: dict(found) for part, found in outcomes.items()},
        "bad": bad,
    }


if __name__ == "__main__":
    main()
