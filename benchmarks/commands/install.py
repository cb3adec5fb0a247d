"""Measure the time from nothing to the first link.

    python benchmarks/commands/install.py FOLDER [--json FILE]

``pip install`` of this repository with the extra ``hpo`` into a new virtual environment in FOLDER, with the files
that pip keeps; after it the first and the second link to the embedded default, whose index the first one builds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.common import report

ROOT: Final = Path(__file__).parents[2]


def install(folder: Path) -> float:
    """Install into a new environment; return the seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, f"{ROOT}[hpo]"], check=True)
    return time.perf_counter() - start


def links(folder: Path) -> list[float]:
    """Return the seconds of the first and the second link, with an empty cache."""
    cache = folder / "cache"
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        subprocess.run(
            [folder / "bin" / "nymlink", "link", "heart murmer"],
            check=True,
            capture_output=True,
            env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        )
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the environment is made")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve() / "environment"
    seconds = install(folder)
    first, second = links(folder)
    rows = [
        {"": "install", "seconds": round(seconds, 1)},
        {"": "first link, which builds the index", "seconds": round(first, 1)},
        {"": "second link", "seconds": round(second, 1)},
    ]
    print(report.table(list(rows[0]), [list(map(str, one.values())) for one in rows]))
    about = report.about(data="one mention", split=None, dictionary="the embedded default: HPO", seed=None)
    report.save(arguments.json, {"about": about, "seconds": rows})


if __name__ == "__main__":
    main()
