"""Run the campaigns of hostile clients, and write what fell.

    python -m benchmarks.campaigns.hostile [--only MODULE] [--long] [--json FILE]

A campaign is a module of this package with a function ``run(folder, long=...)``, which returns a row for each kind
of what it tries; it has an empty folder for itself. All load goes to this machine. The exit status is 1 where
something fell.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Final

from benchmarks.campaigns.hostile import Row
from benchmarks.common import report

CAMPAIGNS: Final = (
    "over_http",
    "load",
    "folders",
    "expressions",
    "lengths",
    "bombs",
    "fetched",
    "decisions",
    "jobs",
    "soak",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CAMPAIGNS, help="one campaign")
    parser.add_argument("--long", action="store_true", help="as long as in the documentation")
    parser.add_argument("--json", type=Path, help="file to write; what is in it of other campaigns is kept")
    options = parser.parse_args()
    rows: list[Row] = []
    for name in [options.only] if options.only else CAMPAIGNS:
        with tempfile.TemporaryDirectory() as folder:
            found: list[Row] = import_module(f"{__package__}.{name}").run(Path(folder), long=options.long)
        print(report.table(list(Row.__annotations__), [[str(cell) for cell in row.values()] for row in found]))
        rows += found
        if options.json is not None:
            _save(options.json, name, found)
    sys.exit(any(row["fell"] for row in rows))


def _save(path: Path, name: str, found: list[Row]) -> None:
    """Put the rows of a campaign in the place of those that a file has of it."""
    result = report.load(path)
    data = "a server on this machine, and files that nobody would write"
    result["about"] = report.about(data=data, split=None, dictionary=None, seed=0)
    result["figures"] = {**result.get("figures", {}), name: found}
    result["attacks"] = [row for each in CAMPAIGNS for row in result["figures"].get(each, ())]
    result["summary"] = [
        {
            "campaign": each,
            "kinds": len(rows),
            "tried": sum(row["tried"] for row in rows),
            "fell": sum(row["fell"] for row in rows),
        }
        for each in CAMPAIGNS
        if (rows := result["figures"].get(each, ()))
    ]
    report.save(path, result)


if __name__ == "__main__":
    main()
