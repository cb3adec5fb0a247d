"""Run campaigns: damage of every kind, done many times at random, and what became of it.

    python benchmarks/campaigns/run.py [--only CAMPAIGN] [--long] [--json FILE]
    python benchmarks/campaigns/run.py --only mutated --long --state FILE --minutes 15
    python benchmarks/campaigns/run.py --make "corpus xlsx" 145 FOLDER

The campaigns are ``mutated`` inputs, ``killed`` commands, ``flipped`` bits, a ``full_disk``, commands ``at_once``,
a training in two network ``namespaces``, and what checks on loading cost (``load_cost``). They take half an hour,
with ``--long`` hours; ``--state`` lets a run of mutated inputs end, and the next go on.
The exit status is 1 where something failed; what did is in FILE.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report

COUNTS: Final = {
    "mutated": (300, 100_000),
    "killed": (10, 50),
    "flipped": (200, 1000),
    "full_disk": (5, 20),
    "at_once": (4, 20),
    "namespaces": (1, 3),
    "load_cost": (7, 25),
}
"""Trials of each campaign, of every reader or command; the second with ``--long``."""
DATA: Final = {
    "mutated": "small files in every format, and beginnings of real ones, changed at random",
    "killed": "commands that write, killed with all their processes at random moments (SIGKILL) and run again",
    "flipped": "files of what nymlink writes, one flipped bit a run",
    "full_disk": "commands that write, with room for a share of what they write",
    "at_once": "commands that write, started twice with one output; two servers on one folder of projects",
    "namespaces": "a training in two network namespaces",
    "load_cost": "an index of MONDO with vectors, files in the page cache; runs with and without checks in turns",
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=COUNTS, help="one campaign")
    parser.add_argument("--of", default="", help="of it what begins so: a reader, a command, a part")
    parser.add_argument("--count", type=int, help="trials, instead of the usual number")
    parser.add_argument("--long", action="store_true", help="as many as in the documentation; hours")
    parser.add_argument(
        "--json", type=Path, help="file to write; what is in it of other campaigns, readers and commands is kept"
    )
    parser.add_argument("--state", type=Path, help="file in which mutated inputs remember what is done")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which no more mutated inputs are begun")
    parser.add_argument("--make", nargs=3, metavar=("READER", "N", "FOLDER"), help="write a mutated input again")
    return parser.parse_args()


def main() -> None:
    options = _arguments()
    if options.make:
        reader, number, folder = options.make
        print(import_module("benchmarks.campaigns.mutated").make(reader, int(number), Path(folder)))
        return
    failed = 0
    for name in [options.only] if options.only else COUNTS:
        count = options.count or COUNTS[name][options.long]
        measure: Callable[..., dict[str, Any]] = import_module(f"benchmarks.campaigns.{name}").measure
        if name == "mutated":
            measure = partial(measure, state=options.state, minutes=options.minutes)
        found = measure(count, only=options.of)
        if "skipped" in found:
            print(f"{name}: skipped: {found['skipped']}")
            continue
        print(
            report.table(list(found["rows"][0]), [[str(cell) for cell in row.values()] for row in found["rows"]])
        )
        for failure in found["failures"]:
            print(failure, file=sys.stderr)
        failed += len(found["failures"])
        _save(options.json, name, found)
    sys.exit(1 if failed else 0)


def _save(path: Path | None, name: str, found: dict[str, Any]) -> None:
    """Add the result of a campaign to a file."""
    if path is None:
        return
    result = report.load(path)
    about = report.about(data=DATA[name], split=None, dictionary=None, seed=0)
    result.setdefault("about", {"parts": {}})["parts"][name] = about
    rows = {next(iter(row.values())): row for row in (*result.get(name, ()), *found["rows"])}
    result[name] = list(rows.values())
    said = {kind: found[kind] for kind in ("failures", "messages") if kind in found}
    result.setdefault("figures", {})[name] = said
    report.save(path, result)


if __name__ == "__main__":
    main()
