"""Flip bits in files that nymlink wrote, run commands that read these files, and count the outcomes.

Each trial flips a bit of a copy, runs the commands that read it as a user would, each in a process of its own, and
puts the bit back. Files are drawn with equal probability, so that small ones are hit too. A trial counts as

- crash: a command was ended by a signal;
- traceback: it ended with an error that is not nymlink's own;
- silent: it succeeded with another output than that of the undamaged files;
- noticed: it was refused, or succeeded with a warning and the right output;
- harmless: it succeeded with the right output and no message (blanks of a manifest, bytes that are not read).
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.campaigns.commands import Result, prepare, run
from benchmarks.campaigns.small_project import make_project
from benchmarks.common.inputs import data_root
from nymlink.bulk.job import run_job
from nymlink.bulk.tasks import LinkTask
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, installed
from nymlink.index.index import Index
from nymlink.vocabulary.read import open_vocabulary

SHARES: Final = {
    "vocabulary": 20,
    "index": 25,
    "encoder": 10,
    "reranker": 10,
    "cache": 10,
    "project": 15,
    "training": 5,
    "bulk job": 5,
}
"""Of 100 flips, how many for each part."""
OUTCOMES: Final = ("crash", "traceback", "silent", "noticed", "harmless")
SHOWN: Final = {"silent": "another output, nothing said", "harmless": "no difference"}
"""Names of some outcomes in tables."""

_TABLE: Final = "vocabularies/symp.tsv.gz"
_NAMES: Final = 60
"""Names that are linked, encoded and re-ranked in each trial."""


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
        return [
            ["link", "--index", index, "--settings", f"rerank={damaged}", "--corpus", corpus, "--format", "jsonl"]
        ]
    if part == "project":
        project = str(folder / part / "visits.nymlink")
        return [["project", "export", project, "-o", str(out / "x.jsonl")], ["verify", damaged]]
    if part in ("bulk job", "training"):
        return [["verify", damaged]]
    vectors = str(out / "vectors.npy")
    if part == "encoder":
        return [["encoder", "encode", damaged, "--file", names, "-o", vectors]]
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
    (folder / "names.csv").write_text("mention\n" + "\n".join(f'"{one}"' for one in asked), encoding="utf-8")
    encoder = Encoder.load(MINI)
    encoder.encode(asked, cache=EmbeddingCache(folder / "cache"))
    Index.build(vocabulary, directory=folder / "index", encoder=MINI)
    shutil.copytree(str(installed(MINI)), folder / "encoder")
    _make_reranker(folder / "reranker", folder / "base")
    (folder / "project").mkdir()
    make_project(folder / "project" / "visits.nymlink", directory=folder / "small-index")
    task = LinkTask(index=str(folder / "index"))
    run_job([folder / "names.csv"], folder / "bulk job", task, workers=0, shard_rows=20)
    _train(folder)
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


def _train(folder: Path) -> None:
    """Make a training, with its checkpoints."""
    from tests.train.runs import sap_settings, workplace

    from nymlink.train.names.pair_trainings import train_sap

    (folder / "workplace").mkdir()
    train_sap(sap_settings(workplace(folder / "workplace"), folder / "training", checkpoint_minutes=0))


def _make_reranker(folder: Path, base: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig

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


def outcome(found: Result, sound: Result) -> str:
    """Classify a result as one of :data:`OUTCOMES`."""
    if found.status < 0:
        return "crash"
    if found.is_traceback:
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
        prepare(torch=part == "reranker")
        folder = Path(place) / "copy"
        shutil.copytree(made, folder)
        out = Path(place) / "out"
        sound = [run(command, out) for command in commands(part, folder, out)]
        again = [run(command, out) for command in commands(part, folder, out)]
        if any(result.status for result in sound) or sound != again:
            raise ValueError(f"{part}: the undamaged one fails, or says another thing each time: {sound} {again}")
        files = sorted(file for file in (folder / part).rglob("*") if file.is_file() and file.stat().st_size)
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


def _make_apart(folder: Path) -> None:
    """Run :func:`make` in a process of its own, since processes with threads must not be forked."""
    folder.mkdir()
    process = get_context("spawn").Process(target=make, args=(folder, data_root()))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the parts could not be made")


def measure(count: int, *, only: str = "", seed: int = 0, workers: int = 2) -> dict[str, Any]:
    """Flip bits and count the outcomes.

    Args:
        count: flips.
        only: of parts whose name begins so.
        seed: of what is flipped.
        workers: processes that flip.
    """
    shares = {part: share for part, share in SHARES.items() if part.startswith(only)}
    parts = {part: round(count * share / sum(shares.values())) for part, share in shares.items()}
    pieces = list(product(parts, range(workers)))
    counts = [parts[part] // workers + (piece < parts[part] % workers) for part, piece in pieces]
    seeds = [seed * workers + piece for _, piece in pieces]
    with tempfile.TemporaryDirectory() as place:
        os.environ["NYMLINK_CACHE"] = str(Path(place) / "own-cache")
        made = Path(place) / "made"
        _make_apart(made)
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(trials, [part for part, _ in pieces], [str(made)] * len(pieces), seeds, counts))
    outcomes = {part: Counter(dict.fromkeys(OUTCOMES, 0)) for part in (*parts, "all")}
    failures = []
    for (part, _), each in zip(pieces, found, strict=True):
        for one in each:
            for row in (part, "all"):
                outcomes[row][str(one["outcome"])] += 1
            if one["outcome"] in ("crash", "traceback", "silent"):
                failures.append({"part": part, **one})
    rows = [
        {"read": part, "flips": sum(counts.values())}
        | {SHOWN.get(outcome, outcome): counts[outcome] for outcome in OUTCOMES}
        for part, counts in outcomes.items()
    ]
    return {"rows": rows, "failures": failures}
