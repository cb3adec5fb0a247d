"""List the licences of all that nymlink can bring with it, and check that they go with its own.

    python .ci/licences.py [--check]

Reads what is installed, so that an environment with all extras is needed (`make test` makes one), and writes
docs/reference/licences.csv. With --check it writes nothing: the exit status is 1 where the list is out of date.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
LIST: Final = ROOT / "docs" / "reference" / "licences.csv"
NOT_FOR_USERS: Final = {"dev", "docs", "bench"}
"""Extras of those who work on nymlink."""

COMPATIBLE: Final = {
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0"),
    *("CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-CMU", "PSF-2.0", "Zlib"),
    # Changes to their own files are to be published; their use is free.
    *("LGPL-3.0-only", "MPL-2.0"),
}
"""Licences that a program under Apache-2.0 may depend on."""

_OTHER_WORDS: Final = {
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""How distributions call licences without a licence expression."""


def brought(project: dict[str, object]) -> dict[str, set[str]]:
    """Find the installed distributions that nymlink asks for, and theirs: name → the extras that bring it."""
    installed = {canonicalize_name(one.name): one for one in distributions()}
    wanted = {"": project["dependencies"], **dict(project["optional-dependencies"])}  # type: ignore[call-overload]
    found: dict[str, set[str]] = {}
    for extra, requirements in wanted.items():
        waiting = [Requirement(one) for one in requirements if extra not in NOT_FOR_USERS]
        seen: set[str] = set()
        while waiting:
            asked = waiting.pop()
            name = canonicalize_name(asked.name)
            if f"{name}{sorted(asked.extras)}" in seen or name not in installed or name == "nymlink-xl-mini":
                continue
            seen.add(f"{name}{sorted(asked.extras)}")
            found.setdefault(name, set()).add(extra)
            for line in installed[name].requires or ():
                needed = Requirement(line)
                if any(_applies(needed, one) for one in (asked.extras or {""})):
                    waiting.append(needed)
    return found


def _applies(needed: Requirement, extra: str) -> bool:
    return needed.marker is None or needed.marker.evaluate({"extra": extra})


def licence(one: Distribution) -> str:
    """Say the licence of a distribution, as an SPDX expression where it can be told."""
    metadata = one.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classified = [
        _OTHER_WORDS.get(name := line.rpartition(" :: ")[2], name)
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License ::") and line.count("::") > 1
    ]
    said = (metadata.get("License") or "").strip().splitlines()
    stated = _OTHER_WORDS.get(said[0], said[0]) if said else ""
    # A field may hold a name, or the whole text of a licence.
    return stated if _parts(stated) <= COMPATIBLE or not classified else " AND ".join(sorted(set(classified)))


def _parts(expression: str) -> set[str]:
    return set(re.split(r" AND | OR ", re.sub(r"[()]", "", expression)))


def rows() -> list[tuple[str, str, str]]:
    """List what is brought: names, licences, and what asks for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {canonicalize_name(one.name): one for one in distributions()}
    return [
        (name, licence(installed[name]), "core" if "" in extras else " ".join(sorted(extras)))
        for name, extras in sorted(brought(project).items())
    ]


def problems(found: list[tuple[str, str, str]], listed: list[tuple[str, str, str]]) -> list[str]:
    """Say which licences do not go with nymlink's, and what the list lacks."""
    known = {name: said for name, said, _ in listed}
    return [
        *(f"{name} has the licence {said!r}" for name, said, _ in found if not _parts(said) <= COMPATIBLE),
        *(
            f"{name} is not in {LIST.name}, or with another licence"
            for name, said, _ in found
            if known.get(name) != said
        ),
    ]


def main() -> None:
    """Write the list, or check it."""
    found = rows()
    if "--check" not in sys.argv:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([("package", "licence", "brought by"), *found])
        LIST.write_text(text.getvalue(), encoding="utf-8")
    with LIST.open(encoding="utf-8", newline="") as lines:
        listed = [(name, said, extras) for name, said, extras in csv.reader(lines)][1:]
    sys.exit("\n".join(problems(found, listed)) or None)


if __name__ == "__main__":
    main()
