"""Measure what the core install brings: packages, their sizes, and the time that it takes.

    python benchmarks/commands/install.py FOLDER [--json FILE]

``pip install`` of this repository into a new virtual environment in FOLDER, with the files that pip keeps; after
it the first and the second link to the embedded default, whose index the first one builds. Sizes are those of the
files that a package installed, compiled Python not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report

ROOT: Final = Path(__file__).parents[2]

PURPOSES: Final = {
    "anyascii": "Latin letters for other scripts",
    "click": "the command line",
    "filelock": "locks of caches, indexes and projects",
    "huggingface-hub": "models by name; tokenizers needs it anyway",
    "numpy": "all computing",
    "nymlink": "24 MB of it are nymlink-mini",
    "onnxruntime": "encoders, integer products of dense search",
    "platformdirs": "where a user's caches are",
    "psutil": "cores, memory, processes that are alive",
    "pyarrow": "columns of vocabularies, Parquet, CSV",
    "requests": "fetching of sources: proxies, certificates, redirects",
    "tokenizers": "tokens of encoders",
    "tqdm": "progress; huggingface-hub needs it anyway",
    "urllib3": "errors of fetching; requests needs it anyway",
    "wcwidth": "widths of letters in tables on a terminal",
    "xxhash": "digests of files, hashes of words",
}

_LIST: Final = """
import json, re
from importlib.metadata import distributions
found = []
for one in distributions():
    size = sum(file.size or 0 for file in one.files or [] if not str(file).endswith(".pyc"))
    needs = [re.split(r"[^\\w.-]", need)[0] for need in one.requires or [] if "extra ==" not in need]
    name = one.name.lower().replace("_", "-")
    found.append({"name": name, "version": one.version, "size": size, "needs": needs})
print(json.dumps(found))
"""


def install(folder: Path) -> tuple[float, list[dict[str, Any]]]:
    """Install into a new environment; return the seconds, and name, version, size and needs of each package."""
    shutil.rmtree(folder, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, ROOT], check=True)
    seconds = time.perf_counter() - start
    listed = subprocess.run([python, "-c", _LIST], check=True, capture_output=True, encoding="utf-8").stdout
    subprocess.run([*pip, f"{ROOT}[hpo]"], check=True)
    packages = [one for one in json.loads(listed) if one["name"] not in ("pip", "setuptools")]
    return seconds, sorted(packages, key=lambda one: -one["size"])


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
    seconds, packages = install(folder)
    first, second = links(folder)
    needed_by: dict[str, list[str]] = {}
    for one in packages:
        for need in {need.lower().replace("_", "-") for need in one["needs"]}:
            needed_by.setdefault(need, []).append(one["name"])
    rows = [
        {
            "package": one["name"],
            "version": one["version"],
            "MB": f"{one['size'] / 1e6:.1f}",
            "what for": PURPOSES.get(one["name"]) or f"for {', '.join(sorted(needed_by[one['name']]))}",
        }
        for one in packages
    ]
    total = sum(one["size"] for one in packages) / 1e6
    whole = [
        {"": "packages", "measured": len(packages)},
        {"": "MB", "measured": round(total)},
        {"": "seconds to install", "measured": round(seconds, 1)},
        {"": "seconds to the first link", "measured": round(first, 1)},
        {"": "seconds to the second link", "measured": round(second, 1)},
    ]
    for table in (whole, rows):
        print(report.table(list(table[0]), [list(map(str, one.values())) for one in table]), end="\n\n")
    about = report.about(data="the core install", split=None, dictionary="the embedded default: HPO", seed=None)
    report.save(arguments.json, {"about": about, "whole": whole, "packages": rows})


if __name__ == "__main__":
    main()
