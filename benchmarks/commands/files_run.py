"""Count the source files and functions of nymlink that a warm link runs through.

    python benchmarks/commands/files_run.py [--json FILE]

A verbatim name, another form of one, a misspelt one and a text, each linked once before it is counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import nymlink
from benchmarks.common import report
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.default import default_index
from nymlink.linking.linker import Linker

SOURCE: Final = str(Path(nymlink.__file__).parent)

ASKED: Final[dict[str, str | Document]] = {
    "a verbatim name": "Myocardial infarction",
    "a name in other capitals": "heart attack",
    "another form": "heart attacks",
    "a misspelt name": "short statrue",
    "a name of a document": Document("1", "He has short statures.", (Mention("short statures", 7, 21),)),
}


def run_through(call: Callable[[], object]) -> dict[str, Any]:
    """Count the files and functions of nymlink that a call runs, in this thread."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    files = sorted({str(Path(code.co_filename).relative_to(SOURCE)) for code in codes})
    return {"files": len(files), "functions": len(codes), "names": files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    linker = Linker(default_index())
    counts = {}
    for label, what in ASKED.items():
        linker.link(what)
        counts[label] = run_through(lambda what=what: linker.link(what))  # type: ignore[misc]
        print(f"{label}: {counts[label]['files']} files, {counts[label]['functions']} functions")
    if arguments.json is not None:
        about = report.about(data="the embedded default", split=None, dictionary="HPO, bare", seed=None)
        report.save(arguments.json, {"about": about, "counts": counts})


if __name__ == "__main__":
    main()
