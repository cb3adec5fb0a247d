"""Print what `make coverage` measured, room by room."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

MEASURED = Path("htmlcov/coverage.json")


def main() -> None:
    """Print the table."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file, measured in json.loads(MEASURED.read_text(encoding="utf-8"))["files"].items():
        inside = Path(file).parts[Path(file).parts.index("nymlink") + 1 :]
        room = f"{inside[0]}/" if len(inside) > 1 else "nymlink"
        for name in (room, "all"):
            rooms[name].update(measured["summary"])
    print(f"{'room':12}{'lines':>8}{'covered':>9}{'branches':>10}{'covered':>9}")
    for name, counts in sorted(rooms.items(), key=lambda row: (row[0] == "all", row[0])):
        lines, branches = counts["num_statements"], counts["num_branches"]
        cells = (_percent(counts["covered_lines"], lines), _percent(counts["covered_branches"], branches))
        print(f"{name:12}{lines:8,}{cells[0]}{branches:10,}{cells[1]}")
    print(f"line by line: {MEASURED.with_name('index.html')}")


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:9.0%}" if whole else f"{'–':>9}"


if __name__ == "__main__":
    main()
