"""Make the small world of the campaigns, and name the commands that write: each with what it reads and writes."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from benchmarks.common.inputs import data_root

_TABLE: Final = "vocabularies/symp.tsv.gz"
_OTHER: Final = "vocabularies/doid.tsv.gz"
_TERMS: Final = 400


@dataclass(frozen=True)
class Writer:
    """A command that writes.

    Attributes:
        name: in tables.
        arguments: of the command, with ``{in}`` for the folder of the world and ``{out}`` for the output.
        output: the file or folder that it writes, within ``{out}``.
        beside: another one, which must be as it is without damage in the end.
        goes_on: whether a run that ended leaves what the next goes on from, and not nothing.
        before: the commands that make what it changes.
        is_slow: whether it takes long to start, so that it is only killed.
        processes: how many train together, of a training.
    """

    name: str
    arguments: str
    output: str
    beside: str | None = None
    goes_on: bool = False
    before: tuple[str, ...] = ()
    is_slow: bool = False
    processes: int = 1

    def command(self, place: Path, out: Path) -> list[str]:
        """Return the arguments of the command."""
        return _filled(self.arguments, place, out)

    def preparation(self, place: Path, out: Path) -> list[list[str]]:
        """Return the arguments of the commands before it."""
        return [_filled(each, place, out) for each in self.before]


def _filled(arguments: str, place: Path, out: Path) -> list[str]:
    return [each.replace("{in}", str(place)).replace("{out}", str(out)) for each in arguments.split()]


_NEW: Final = ("project new {out}/p.nymlink --index {in}/index",)
_TRAIN: Final = (
    "--recipe {in}/train/often.toml --vocab {in}/train/vocab --base {in}/train/base --batch-pairs 16 --epochs 2 "
    "--device cpu"
)

WRITERS: Final = (
    Writer("vocab build", "vocab build {in}/symp.tsv -o {out}/vocab", "vocab"),
    Writer(
        "vocab merge",
        "vocab merge {in}/vocab {in}/other -o {out}/merged --report {out}/report",
        "merged",
        "report",
    ),
    Writer("index build", "index build {in}/vocab -o {out}/index --encoder none", "index"),
    Writer(
        "index build with vectors",
        "index build {in}/few -o {out}/index --encoder nymlink-mini --cache {out}/cache",
        "index",
    ),
    Writer("pairs", "pairs {in}/vocab -o {out}/pairs.txt", "pairs.txt"),
    Writer("train sap", f"train sap {_TRAIN} -o {{out}}/run", "run", goes_on=True),
    Writer(
        "train sap in two processes",
        f"train sap {_TRAIN} -o {{out}}/run",
        "run",
        goes_on=True,
        is_slow=True,
        processes=2,
    ),
    Writer("link -o", "link --index {in}/index --file {in}/mentions.txt -o {out}/links.tsv", "links.tsv"),
    Writer(
        "annotate -o",
        "annotate {in}/letter.txt --index {in}/index --format jsonl -o {out}/found.jsonl",
        "found.jsonl",
        goes_on=True,
    ),
    Writer(
        "bulk link",
        "bulk link {in}/mentions.csv --index {in}/index -o {out}/job --workers 0 --shard-rows 40",
        "job",
        goes_on=True,
    ),
    Writer(
        "bulk link on Ray",
        "bulk link {in}/mentions.csv --index {in}/index -o {out}/job --workers 1 --shard-rows 40",
        "job",
        goes_on=True,
        is_slow=True,
    ),
    Writer("project add", "project add {out}/p.nymlink {in}/mentions.csv", "p.nymlink", goes_on=True, before=_NEW),
    Writer(
        "project export",
        "project export {out}/p.nymlink -o {out}/x.tsv --format tsv",
        "x.tsv",
        before=(*_NEW, "project add {out}/p.nymlink {in}/mentions.csv"),
    ),
)


def make_world(folder: Path) -> None:
    """Make the world in a process of its own, since processes with threads must not be forked."""
    folder.mkdir(parents=True, exist_ok=True)
    process = get_context("spawn").Process(target=_make, args=(folder, data_root()))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the world of the campaigns could not be made")


def _make(folder: Path, data: Path) -> None:
    import gzip

    from tests.train.runs import workplace

    from nymlink.index.index import Index
    from nymlink.vocabulary.read import open_vocabulary

    os.environ["NYMLINK_CACHE"] = str(folder / "own-cache")
    (folder / "symp.tsv").write_bytes(gzip.decompress((data / _TABLE).read_bytes()))
    vocabulary = open_vocabulary(data / _TABLE)
    vocabulary.save(folder / "vocab")
    lines = gzip.decompress((data / _OTHER).read_bytes()).decode().splitlines(keepends=True)
    (folder / "doid.tsv").write_text("".join(lines[:3000]), encoding="utf-8")
    open_vocabulary(folder / "doid.tsv").save(folder / "other")
    (folder / "few.tsv").write_text("".join(lines[:150]), encoding="utf-8")
    open_vocabulary(folder / "few.tsv").save(folder / "few")
    Index.build(vocabulary, directory=folder / "index", encoder=None)
    names = [vocabulary.preferred_name(row) for row in range(min(len(vocabulary), _TERMS))]
    asked = [name if at % 2 else " ".join(reversed(name.split())) for at, name in enumerate(names)]
    (folder / "mentions.txt").write_text("\n".join(asked) + "\n", encoding="utf-8")
    (folder / "mentions.csv").write_text("mention\n" + "\n".join(f'"{one}"' for one in asked), encoding="utf-8")
    (folder / "letter.txt").write_text(
        "".join(f"The patient had {name} for a week.\n\n" for name in names), encoding="utf-8"
    )
    (folder / "train").mkdir()
    workplace(folder / "train")
    (folder / "train" / "often.toml").write_text("checkpoint_minutes = 0\n", encoding="utf-8")


def emptied(folder: Path) -> Path:
    """Make a folder empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
