"""Read published mapping sets into projects, write them again, and compare them line by line.

    python benchmarks/mapping_round_trips.py [--json FILE]

The sets of SSSOM below native/ in $NYMLINK_DATA or ../shared/data. Then 100 terms of each, drawn at random, are
decided anew, and all other lines compared.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
import tempfile
from pathlib import Path
from typing import Any, Final

import inputs
import report
from nymlink.project.add_file import add_table
from nymlink.project.export.export import export_project
from nymlink.project.index_reference import IndexReference
from nymlink.project.model import Target
from nymlink.project.project import Project
from nymlink.project.review.decisions import decide
from nymlink.project.review.terms import TermFilter, list_terms

SEED: Final = 0
ANEW: Final = 100
MOST: Final = 1_000_000


def lines_of(project: Project) -> list[str]:
    out = io.StringIO(newline="")
    export_project(project, out, format="sssom")
    return out.getvalue().splitlines()


def label(line: str, place: int) -> str:
    return " ".join(line.split("\t")[place].split())


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
        after = set(lines_of(project))
        header = next(line for line in lines if not line.startswith("#")).split("\t")
        place = header.index("subject_label" if "subject_label" in header else "subject_id")
        anew = {term["text"] for term in chosen}
        others = [line for line in lines if not line.startswith("#") and label(line, place) not in anew]
    return {
        "mapping set": f"`{name}`",
        "mappings": added["rows"],
        "terms": added["terms"],
        "decisions of persons": added["decisions"]["new"],
        "lines that come back": f"{sum(a == b for a, b in zip(lines, written, strict=False)):,} of {len(lines):,}",
        f"other lines, {ANEW} terms decided anew": f"{sum(line in after for line in others):,} of {len(others):,}",
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
    about["command"] = "python benchmarks/mapping_round_trips.py"
    report.save(arguments.json, {"about": about, "sets": rows})


if __name__ == "__main__":
    main()
