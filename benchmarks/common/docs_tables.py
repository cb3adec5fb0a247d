"""Write the tables of the documentation from the results of benchmarks.

    python benchmarks/common/docs_tables.py [--check]

A table stands between ``<!-- table: FILE.json#PART -->`` and ``<!-- end -->``; FILE is one of
``benchmarks/results``, and PART is a list of rows in it. A caption below states how it was measured: ``about`` of
the same file and, where parts differ in that, ``about.parts.PART``; what is ``null`` there does not apply.
Tables that follow each other and were measured alike have one caption, below the last. With ``--check`` nothing is
written, and the exit status is 1 where a table is not up to date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.common.report import table

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "benchmarks" / "results"
PAGES: Final = (ROOT / "README.md", ROOT / "docs", ROOT / "models", ROOT / "src" / "nymlink" / "models")
PLACE: Final = re.compile(r"(<!-- table: (\S+)#(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
NAMED: Final = ("data", "split", "dictionary", "counting", "encoder", "seed", "commit", "date", "machine", "note")
"""Fields of ``about`` in a caption, in this order, after the command."""
_SOFTWARE: Final = re.compile(r", VNNI|; C?Python")
"""What follows the processor in ``about.machine``, and is left out of captions."""


def pages() -> list[Path]:
    """List the Markdown files that may have tables."""
    return [path for page in PAGES for path in ([page] if page.is_file() else sorted(page.rglob("*.md")))]


def filled(text: str) -> str:
    """Fill the tables of a page from the results."""
    places = list(PLACE.finditer(text))
    captions = {place.start(): _caption(_result(place[2])["about"], place[3]) for place in places}
    following = {one.start(): captions[other.start()] for one, other in pairwise(places)}

    def written(match: re.Match[str]) -> str:
        rows = _result(match[2])[match[3]]
        header = list(dict.fromkeys(key for row in rows for key in row))
        cells = [[_cell(row.get(key, "")) for key in header] for row in rows]
        caption = captions[match.start()]
        below = "" if caption == following.get(match.start()) else f"{caption}\n\n"
        return f"{match[1]}\n{table(header, cells)}\n\n{below}{match[4]}"

    return PLACE.sub(written, text)


def _result(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return result


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def _caption(about: dict[str, Any], part: str) -> str:
    """Write the caption of a table: how it was measured."""
    own = {**about, **about.get("parts", {}).get(part, {})}
    fields = [f"`{own['command']}`"] if "command" in own else []
    fields += [
        f"{name} {own[name]}" if name in {"seed", "commit"} else _SOFTWARE.split(str(own[name]))[0]
        for name in NAMED
        if own.get(name) is not None
    ]
    fields += ["no seed"] * (own.get("seed") is None)
    return f"<small>{' · '.join(fields)}</small>"


def main() -> None:
    """Write or check all pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a table is not up to date")
    check: bool = parser.parse_args().check
    changed = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            changed.append(page.name)
            if not check:
                page.write_text(filled(text), encoding="utf-8")
    if changed:
        print(("not up to date: " if check else "written: ") + ", ".join(changed))
    sys.exit(1 if check and changed else 0)


if __name__ == "__main__":
    main()
