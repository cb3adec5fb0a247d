"""Build wheels and sdists, look into them, list what they bring, and install them.

    python .ci/distributions.py [--python PYTHON ...] [--extras] [--lowest] [--json FILE]

Writes to dist/ the distributions of nymlink and nymlink-xl-mini, and bills of materials (CycloneDX) of what was
installed. Each installation is a virtual environment of its own, made from the wheels alone. It passes with
`pip check`, an import under `-W error`, `nymlink --help` and a use of what its extra brings. With --lowest, each
package that pyproject.toml names has the lowest version that it allows. The exit status is 1 where something is
wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from benchmarks.common import report

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
XL: Final = ROOT / "models" / "nymlink-xl-mini"
TORCH: Final = "torch==2.13.0"
"""Installed first: a range takes a build with gigabytes of CUDA."""

_LINK: Final = "nymlink link 'heart attacks' --index index"
_FRAME: Final = (
    'python -c "import {0}, nymlink; '
    "nymlink.Linker.load('index').link({0}.DataFrame({{'m': ['gout']}}), column='m')\""
)
_BUILD: Final = "nymlink index build diseases.obo -o other {0} && nymlink link infarction --index other"
USES: Final = {
    "": _LINK,
    "hpo": "nymlink link deafness",
    "strict": "nymlink vocab build diseases.obo -o strict --strict",
    "languages": "nymlink link infartos --index index --language es",
    "faiss": _BUILD.format("--dense hnsw"),
    "postgres": 'python -c "import nymlink.index.stores.postgres"',
    "milvus": _BUILD.format("--store vectors.db"),
    "frame": _FRAME.format("pandas"),
    "polars": _FRAME.format("polars"),
    "xlsx": f"{_LINK} --format xlsx -o links.xlsx && nymlink link links.xlsx --column mention --index index",
    "ray": "nymlink bulk link names.csv --column name --index index -o job --address local",
    "spacy": "python -c \"import spacy; spacy.blank('en').add_pipe('nymlink', config={'index': 'index'})\"",
    "plot": "nymlink vocab build diseases.obo -o vocab && "
    "nymlink plot space vocab --encoder nymlink-mini --concepts 3 -o names.png",
    "xl": _BUILD.format("--encoder nymlink-xl-mini"),
    "serve": 'python -c "import nymlink.serve.app" && nymlink serve --help',
    "train": 'python -c "import nymlink; nymlink.train_sap" && nymlink train sap --help',
}
"""What is done with each extra, in a folder with the example vocabulary and its index."""


class Install(NamedTuple):
    """An installation that was tried.

    Attributes:
        python: version of Python.
        extra: name of the extra; empty for none.
        packages: how many packages were installed.
        megabytes: size of the environment.
        seconds: time of the installation.
        failed: what failed; empty where all passed.
    """

    python: str
    extra: str
    packages: int
    megabytes: int
    seconds: float
    failed: str


def main() -> None:
    """Build, look, install."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="a Python to install with; without it this one")
    parser.add_argument("--extras", action="store_true", help="install each extra, too")
    parser.add_argument("--lowest", action="store_true", help="install the lowest versions")
    parser.add_argument("--json", type=Path, help="file to write")
    options = parser.parse_args()
    wrong = build()
    # The core is in nymlink[xl], too: its lowest versions need no environment of their own.
    extras = list(USES) if options.extras else ["xl"] if options.lowest else ["", "xl"]
    tries = [(python, extra) for python in options.python or [sys.executable] for extra in extras]
    with ThreadPoolExecutor(2) as pool:
        installs = list(pool.map(lambda one: install(*one, lowest=options.lowest), tries))
    rows = [[one.python, one.extra or "–", *map(str, one[2:5]), one.failed or "passes"] for one in installs]
    print(report.table(["Python", "extra", "packages", "MB", "seconds", "result"], rows))
    if options.json is not None:
        report.save(options.json, {**_result(installs), "installs": [one._asdict() for one in installs]})
    wrong += [f"Python {one.python}, extra {one.extra or 'none'}: {one.failed}" for one in installs if one.failed]
    sys.exit("\n".join(wrong) or None)


def _result(installs: list[Install]) -> dict[str, object]:
    """Put the installations of each extra in a row, with a column for each Python."""
    rows: dict[str, dict[str, str]] = {}
    for one in installs:
        row = rows.setdefault(one.extra, {"extra": one.extra or "none"})
        row[one.python] = one.failed or "passes"
        # The last Python's: they differ little.
        row |= {"packages": f"{one.packages}", "MB": f"{one.megabytes:,}"}
    ordered = [{name: row[name] for name in sorted(row, key=_last_figures)} for row in rows.values()]
    about = report.about(data="wheels of nymlink and nymlink-xl-mini", split=None, dictionary=None, seed=None)
    return {"about": about, "extras": ordered}


def _last_figures(name: str) -> tuple[bool, str]:
    return (name in ("packages", "MB"), "" if name == "extra" else name)


def build() -> list[str]:
    """Build all distributions; say what is in them that should not be, or is missing."""
    shutil.rmtree(DIST, ignore_errors=True)
    wrong = []
    for folder in (ROOT, XL):
        subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, folder], check=True, stdout=sys.stderr)
        name = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
        [wheel] = DIST.glob(f"{name.replace('-', '_')}-[0-9]*.whl")
        [source] = DIST.glob(f"{name.replace('-', '_')}-[0-9]*.tar.gz")
        wrong += [f"{wheel.name}: {said}" for said in strays(_of_wheel(wheel), _tracked(folder / "src"))]
        wrong += [
            f"{source.name}: {said}" for said in strays(_of_sdist(source), _tracked(folder), all_there=False)
        ]
    return wrong


def strays(members: set[str], tracked: set[str], *, all_there: bool = True) -> list[str]:
    """Compare the files of a distribution with those that git tracks."""
    missing = sorted(tracked - members) if all_there else []
    return [
        *(f"{name} is not in the repository" for name in sorted(members - tracked)),
        *(f"{name} is missing" for name in missing),
    ]


def _tracked(folder: Path) -> set[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=folder, check=True, capture_output=True, text=True)
    return set(filter(None, listed.stdout.split("\0")))


def _of_wheel(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as wheel:
        return {name for name in wheel.namelist() if ".dist-info/" not in name}


def _of_sdist(path: Path) -> set[str]:
    with tarfile.open(path) as source:
        names = {member.name.partition("/")[2] for member in source if member.isfile()}
    return names - {"PKG-INFO", ".gitignore"}


def lowest_versions(project: dict[str, Any], extra: str = "") -> dict[str, str]:
    """Return the lowest version of each package that the core and an extra name: package → version."""
    wanted = map(Requirement, [*project["dependencies"], *project["optional-dependencies"].get(extra, ())])
    bounds = {
        canonicalize_name(each.name): [part.version for part in each.specifier if part.operator == ">="]
        for each in wanted
    }
    return {name: max(found, key=Version) for name, found in bounds.items() if found}


def install(python: str, extra: str, *, lowest: bool) -> Install:
    """Install the wheels with an extra into an environment of its own, and use them."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([python, "-m", "venv", place / "venv"], check=True)
        binaries = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {**os.environ, "NYMLINK_CACHE": str(place / "cache"), "VIRTUAL_ENV": str(place / "venv")}
        environment |= {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
        [wheel] = DIST.glob("nymlink-[0-9]*.whl")
        wanted = [f"{wheel}[{extra}]" if extra else str(wheel)]
        if extra == "xl":
            wanted += map(str, DIST.glob("nymlink_xl_mini-*.whl"))
        pip = [str(binaries / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]

        def failure(command: str | list[str]) -> str:
            done = subprocess.run(
                command, shell=isinstance(command, str), cwd=place, env=environment, capture_output=True, text=True
            )
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            shown = command if isinstance(command, str) else " ".join(command[3:])
            return f"{shown}: {said[-1]}" if done.returncode else ""

        if lowest:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            lines = "".join(f"{name}=={version}\n" for name, version in lowest_versions(project, extra).items())
            (place / "lowest.txt").write_text(lines, encoding="utf-8")
            wanted += ["--constraint", str(place / "lowest.txt")]
        started = time.monotonic()
        failed = (failure([*pip, "install", TORCH]) if extra == "train" else "") or failure(
            [*pip, "install", "--no-compile", *wanted]
        )
        seconds = round(time.monotonic() - started, 1)
        shutil.copy(ROOT / "examples" / "diseases.obo", place)
        (place / "names.csv").write_text("name\ngout\ninfarction\n", encoding="utf-8")
        for command in (
            [*pip, "check"],
            [str(binaries / "python"), "-W", "error", "-c", "import nymlink"],
            "nymlink --help",
            "nymlink index build diseases.obo -o index",
            USES[extra],
        ):
            failed = failed or failure(command)
        asked = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
        listed = subprocess.run(
            [*pip[:3], "list", "--format=freeze"], env=environment, capture_output=True, text=True
        )
        size = sum(path.stat().st_size for path in (place / "venv").rglob("*") if path.is_file())
        _bill(binaries / "python", extra)
    packages = [line for line in listed.stdout.splitlines() if not line.startswith(("pip==", "setuptools=="))]
    version = asked.stdout.split()[1]
    return Install(version, extra, len(packages), size // 10**6, seconds, re.sub(r"/tmp/\S+/", "", failed))


def _bill(python: Path, extra: str) -> None:
    """Write the bill of materials of an environment."""
    path = DIST / f"nymlink{f'-{extra}' if extra else ''}.cdx.json"
    command = ["-m", "cyclonedx_py", "environment", "--output-reproducible", "--output-file", path, python]
    subprocess.run([sys.executable, *command], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
