"""Assemble the table of the README from the results of other benchmarks.

    python benchmarks/common/readme_table.py

Reads bars_test.json (``bars.py --test``) and corpora_test.json (``evaluation_table.py --test``) of
``benchmarks/results`` and writes readme.json there. Nothing is measured.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from benchmarks.common.docs_tables import RESULTS
from benchmarks.common.report import save

DICTIONARIES: Final = ("bare", "augmented")
LINKERS: Final = {
    "TF-IDF": "nymlink, no encoder or ranker",
    "all-MiniLM-L6-v2": "nymlink, untrained base (all-MiniLM-L6-v2)",
    "nymlink-nano": "nymlink, small and fast (nymlink-nano)",
    "nymlink-mini": "nymlink (nymlink-mini, the base trained)",
}
SETTINGS: Final = {"`none`": "equal names only", "`biosyn`": "character 1–2-grams, as in BioSyn"}
PUBLISHED: Final = (
    {"linker": "BioSyn (published)", "augmented": "91.1/93.9"},
    {"linker": "SapBERT (published)", "augmented": "92.0/95.6"},
)


def rows(bars: dict[str, Any], settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Make a row for each linker, with its figures on both dictionaries, counted as published ones are."""
    found: list[dict[str, Any]] = [{"linker": label} for label in (*SETTINGS.values(), *LINKERS.values())]
    by_label = {row["linker"]: row for row in found}
    for dictionary in DICTIONARIES:
        for setting, label in SETTINGS.items():
            asked = _of(settings["settings"], dictionary, setting=setting)
            by_label[label][dictionary] = asked["Acc@1/@5 by name"]
        for linker, label in LINKERS.items():
            by_label[label][dictionary] = _of(bars["by_name"], dictionary)[f"{linker}, as published"]
    columns = ["linker", *DICTIONARIES]
    return [{column: row.get(column, "") for column in columns} for row in (*found, *PUBLISHED)]


def _of(table: list[dict[str, Any]], dictionary: str, **also: str) -> dict[str, Any]:
    """Find the row of a dictionary on the NCBI test split."""
    wanted = {"data, dictionary": f"NCBI test, {dictionary}", **also}
    return next(row for row in table if wanted.items() <= row.items())


def main() -> None:
    """Write the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    bars, settings = (
        json.loads((RESULTS / f"{name}_test.json").read_text("utf-8")) for name in ("bars", "corpora")
    )
    about = bars["about"] | {
        "data": "NCBI disease, prepared queries",
        "dictionary": "MEDIC 2012, bare and augmented",
        "counting": "Acc@1/@5, as published",
    }
    save(RESULTS / "readme.json", {"about": about, "ncbi_test": rows(bars, settings)})


if __name__ == "__main__":
    main()
