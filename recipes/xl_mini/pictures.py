"""Draw the figures of the recipe: `python -m recipes.xl_mini.pictures xl_mini.json hpo -o hpo.png`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from nymlink.plot.figure import save_figure
from nymlink.plot.languages import draw_languages


def shares(rows: Iterable[Mapping[str, str]]) -> dict[str, dict[str, float]]:
    """Read the rows of :func:`recipes.xl_mini.evaluate.table` back: stage → language → share."""
    return {
        row["stage"]: {language: float(value) / 100 for language, value in row.items() if language != "stage"}
        for row in rows
    }


def main() -> None:
    """Draw a group of bars for each language, a bar for each stage."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("figures", type=Path, help="what --json of the recipe wrote")
    parser.add_argument("benchmark", choices=["hpo", "icd10"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    rows = json.loads(arguments.figures.read_text(encoding="utf-8"))[arguments.benchmark]
    save_figure(draw_languages(shares(rows), measure="Acc@1 of held-out names"), arguments.output)


if __name__ == "__main__":
    main()
