"""Read published mapping sets into projects, write them again, and compare them line by line.

    python benchmarks/formats/mapping_round_trips.py [--json FILE]

The sets of SSSOM below native/ in $NYMLINK_DATA or ../shared/data. Then 100 terms of each, drawn at random, are
decided anew, and the mappings of all others compared, cell by cell.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.common import inputs, report
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.export import export_project
from nymlink.project.index_reference import IndexReference
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.project.terms import TermFilter, list_terms

SEED: Final = 0
ANEW: Final = 100
MOST: Final = 1_000_000


def lines_of(project: Project) -> list[str]:
    out = io.StringIO(newline="")
    export_project(project, out, format="sssom")
    return out.getvalue().splitlines()


def cells_of(lines: list[str]) -> list[frozenset[tuple[str, str]]]:
    """The cells of each mapping, by column: new decisions may bring columns."""
    header, *rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [frozenset((name, cell) for name, cell in zip(header, row, strict=True) if cell) for row in rows]


def label(row: frozenset[tuple[str, str]]) -> str:
    cells = dict(row)
    return " ".join((cells.get("subject_label") or cells.get("subject_id", "")).split())


def measure(path: Path, folder: Path) -> dict[str, Any]:
    raw = gzip.decompress(path.read_bytes())
    lines = raw.decode().splitlines()
    name = path.name.removesuffix(".sssom.tsv.gz")
    index = IndexReference(name, "", "", "")
    with Project.create(folder / f"{name}.nymlink", index=index) as project:
        added = add_table(project, raw, path.name.removesuffix(".gz"))
        written = lines_of(project)
        terms = list_terms(project, TermFilter(), limit=MOST)["terms"]
        chosen = random.Random(SEED).sample(terms, ANEW)
        for term in chosen:
            decide(
                project,
                reviewer="a new reviewer",
                term=term["id"],
                verdict="concept",
                targets=[Target("X:1", "x")],
            )
        after = set(cells_of(lines_of(project)))
        anew = {term["text"] for term in chosen}
        others = [row for row in cells_of(lines) if label(row) not in anew]
    kept = sum(row in after for row in others)
    return {
        "mapping set": f"`{path.parent.name}/{name}`",
        "mappings": added["rows"],
        "terms": added["terms"],
        "decisions of persons": added["decisions"]["new"],
        "lines that come back": f"{sum(a == b for a, b in zip(lines, written, strict=False)):,} of {len(lines):,}",
        f"of other terms, when {ANEW} are decided anew": f"{kept:,} of {len(others):,}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted((inputs.data_root() / "native").glob("*/*.sssom.tsv.gz"))
        rows = [measure(path, Path(folder)) for path in paths]
    header = list(rows[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    about = report.about(data="published mapping sets", split=None, dictionary=None, seed=SEED)
    about["command"] = "python benchmarks/formats/mapping_round_trips.py"
    report.save(arguments.json, {"about": about, "sets": rows})


if __name__ == "__main__":
    main()
