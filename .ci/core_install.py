"""Write what an installation without extras brings into the table of docs/howto/installing.md.

    python .ci/core_install.py

Installs nymlink and what it needs into a virtual environment that is thrown away: a minute or two.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "nymlink"
PAGE: Final = ROOT / "docs" / "howto" / "installing.md"
PURPOSES: Final = {
    "nymlink": "itself; 24 MB are nymlink-mini, the encoder",
    "pyarrow": "columns of vocabularies, indexes and tables, mapped into memory; Parquet",
    "onnxruntime": "runs encoders",
    "numpy": "sparse and dense search, rankers, confidences",
    "tokenizers": "tokens of encoders",
    "huggingface-hub": "fetches models by name, where one is asked for; tokenizers requires it",
    "requests": "fetches published sources",
    "urllib3": "errors of connections; requests needs it anyway",
    "wcwidth": "widths of Chinese, Japanese and combining characters in tables on a terminal",
    "anyascii": "Latin letters for names in other scripts",
    "xxhash": "digests of files and names",
    "click": "the command line",
    "tqdm": "progress",
    "filelock": "one writer at a time",
    "psutil": "cores and processes, on every system alike",
    "platformdirs": "where caches are",
}
"""What each package that nymlink asks for does."""

_BEGIN: Final = "<!-- core: python .ci/core_install.py -->"
_END: Final = "<!-- end -->"

_FEW: Final = 8
"""Most rooms that are named."""


def main() -> None:
    """Install, measure and write."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(ROOT)], check=True, stdout=sys.stderr)
        asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        site = subprocess.run(asked, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
        installed = {_normal(one.name): one for one in distributions(path=[site])}
        for tool in ("pip", "setuptools"):
            installed.pop(tool, None)
        sizes = {name: _size(one) for name, one in installed.items()}
        needed = _needed_by(installed)
    rooms = _rooms()
    lines = ["| package | MB | what for | imported by |", "|---|---:|---|---|"]
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        purpose = PURPOSES.get(name) or f"needed by {', '.join(sorted(needed[name]))}"
        users = "most rooms" if len(rooms[name]) > _FEW else ", ".join(f"`{room}/`" for room in rooms[name])
        if name == "nymlink":
            users = ""
        lines.append(f"| {name} | {size / 1e6:.1f} | {purpose} | {users} |")
    lines.append(f"| **all** | **{sum(sizes.values()) / 1e6:.0f}** | | |")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    PAGE.write_text("\n".join([before + _BEGIN, "", *lines, "", _END + rest.partition(_END)[2]]), encoding="utf-8")
    print(lines[-1])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _size(one: Distribution) -> int:
    """Sum the bytes of the files of a distribution, compiled modules included."""
    paths = (Path(one.locate_file(file)) for file in one.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def _needed_by(installed: dict[str, Distribution]) -> defaultdict[str, set[str]]:
    """Find which distributions require each one, extras left out."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, one in installed.items():
        for wanted in one.requires or ():
            if "extra ==" not in wanted:
                found[_normal(re.split(r"[^\w.-]", wanted)[0])].add(name)
    return found


def _rooms() -> defaultdict[str, list[str]]:
    """Find the rooms of the package that import each module."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in {_normal(module.partition(".")[0]) for module in modules}:
                if inside[0] not in found[name]:
                    found[name].append(inside[0])
    return found


if __name__ == "__main__":
    main()
