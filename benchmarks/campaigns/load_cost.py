"""Measure what the checks of digests cost: whole commands in fresh processes, with and without them in turns."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.common.inputs import data_root

_SOURCE: Final = "vocabularies/mondo.tsv.gz"
_MANY: Final = 1000
_UNCHECKED: Final = "import nymlink.core.store.manifest as m; m.check_files = lambda *_: None; "


def _make(folder: Path) -> None:
    from nymlink.encode.model.folder import MINI
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import open_vocabulary

    vocabulary = open_vocabulary(data_root() / _SOURCE)
    index = Index.build(vocabulary, directory=folder / "index", encoder=MINI)
    del index
    step = max(len(vocabulary) // _MANY, 1)
    names = [vocabulary.preferred_name(row) for row in range(0, len(vocabulary), step)][:_MANY]
    asked = [name if at % 2 else " ".join(reversed(name.split())) for at, name in enumerate(names)]
    (folder / "mentions.txt").write_text("\n".join(asked) + "\n", encoding="utf-8")


def _time(arguments: list[str], before: str) -> tuple[float, float]:
    """Run a command in a fresh process; return its seconds, and those of processors."""
    code = f"import sys, nymlink.cli; {before}sys.argv = {['nymlink', *arguments]!r}; nymlink.cli.main()"
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    took, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def measure(count: int, *, only: str = "") -> dict[str, Any]:
    """Run each command so many times with checks, and as often without.

    Args:
        count: runs of each.
        only: of commands whose name begins so.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = get_context("spawn").Process(target=_make, args=(folder,))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit("the index could not be made")
        size = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
        index, rows = str(folder / "index"), []
        commands = {
            "one mention": ["link", "--index", index, "a short foot"],
            f"a file of {_MANY:,} mentions": [
                *("link", "--index", index, "--file", str(folder / "mentions.txt")),
                *("-o", str(folder / "links.tsv")),
            ],
        }
        for what, arguments in commands.items():
            if not what.startswith(only):
                continue
            found: dict[str, list[tuple[float, float]]] = {"": [], _UNCHECKED: []}
            for _ in range(count):
                for before, each in found.items():
                    each.append(_time(arguments, before))
            checked, unchecked = (
                [statistics.median(one[at] for one in found[before]) for at in (0, 1)] for before in found
            )
            rows.append(
                {
                    "nymlink link": what,
                    "index MB": round(size / 1e6),
                    "runs": count,
                    "checked, ms": round(1000 * checked[0]),
                    "unchecked, ms": round(1000 * unchecked[0]),
                    "slower, %": round(100 * (checked[0] / unchecked[0] - 1), 1),
                    "processor, %": round(100 * (checked[1] / unchecked[1] - 1), 1),
                }
            )
    return {"rows": rows, "failures": []}
