"""Learn the detector of the language of a name, and measure it on names left out.

    python -m recipes.languages [--data DATA] [--json FILE]

It learns from names of open tables (CC0, CC BY, WordNet-type and HPO licences). Eight of ten are learned;
one of ten sets the sharpness, and one is measured. Names that several languages have are not measured. Writes
``src/nymlink/text/data/languages.npz``.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np

from benchmarks.common.report import publish, table
from nymlink.text.detection import FILE, NAMES, PLACES, STEP, SURE, Detector, detect_language, runs
from nymlink.text.normalise import normalise
from recipes.xl_mini.data import BIOMEDICAL, GENERAL, SURFACE_FORMS
from recipes.xl_mini.held_out import HPO, rows

TABLES: Final = (
    *HPO,
    "vocabularies/mondo",
    "vocabularies/wikidata_medical",
    "multilingual/hpo_extra",
    SURFACE_FORMS,
    *(f"multilingual/{table}" for table in (*BIOMEDICAL, *GENERAL)),
)

NAMES_EACH: Final = 5000
"""Most names of a language that are learned; those of health come first."""

MEASURED: Final = 300
"""Most names of a language that are measured."""

_UNSEEN: Final = 0.3
"""Added to each count."""


def main() -> None:
    """Learn, write and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    names = read(arguments.data)
    learned = {code: [name for name in own if _part(name) > 1][:NAMES_EACH] for code, own in names.items()}
    detector = Detector(tuple(sorted(learned)), learn(learned), 1.0)
    seen = defaultdict[str, set[str]](set)
    for code, own in names.items():
        for name in own:
            seen[name].add(code)
    parts = [
        {
            code: [name for name in own if _part(name) == part and len(seen[name]) == 1][:MEASURED]
            for code, own in names.items()
        }
        for part in (0, 1)
    ]
    detector = Detector(detector.languages, detector.table, sharpness(detector, parts[0]))
    detector.save(FILE)
    print(f"{len(detector.languages)} languages, sharpness {detector.sharpness:.3f} → {FILE}")
    text = measured(parts[1])
    print(text)
    publish(
        arguments.json,
        text,
        ["detection"],
        data="names of open tables in one language alone",
        split="one in ten, neither learned nor used to choose",
        dictionary=None,
        counting=f"percent of names; a language is named from a probability of {SURE}",
        seed=None,
    )


def read(data: Path) -> dict[str, list[str]]:
    """Read the distinct prepared names of each language."""
    names = defaultdict[str, dict[str, None]](dict)
    for _, language, name in rows(data, TABLES):
        code = language.split("-")[0]
        if code in NAMES and "|" not in name and (form := normalise(name)):
            names[code][form] = None
    return {code: sorted(own, key=_digest) if code == "en" else list(own) for code, own in sorted(names.items())}


def learn(names: dict[str, list[str]]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Count runs of letters, and turn them into log-probabilities in steps: uint8 (places, languages)."""
    columns = []
    for code in sorted(names):
        places = [crc32(run.encode()) % PLACES for name in names[code] for run in runs(name)]
        counts = np.bincount(places, minlength=PLACES) + _UNSEEN
        columns.append(-np.log(counts / counts.sum()))
    return np.clip(np.rint(np.stack(columns, axis=1) / STEP), 0, 255).astype(np.uint8)


def sharpness(detector: Detector, names: dict[str, list[str]]) -> float:
    """Choose the sharpness that gives names their language with the highest probability."""
    sums, right = [], []
    for code, own in names.items():
        for name in own:
            if (found := detector.log_probabilities(name)) is not None:
                sums.append(found)
                right.append(detector.languages.index(code))
    logs, places = np.array(sums), np.arange(len(right))

    def mean(factor: float) -> float:
        scaled = factor * (logs - logs.max(axis=1, keepdims=True))
        return float((scaled[places, right] - np.log(np.exp(scaled).sum(axis=1))).mean())

    return max(np.linspace(0.05, 1, 39).tolist(), key=mean)


def measured(names: dict[str, list[str]]) -> str:
    """Measure the detector: of each language the share named rightly, wrongly, and not at all."""
    body = []
    for code, own in sorted(names.items()):
        if code == "la" or len(own) < 20:
            continue
        found = [detect_language(name) for name in own]
        right, silent = (sum(each == what for each in found) for what in (code, None))
        shares = (100 * count / len(own) for count in (right, len(own) - right - silent, silent))
        body.append([NAMES[code], f"{len(own):,}", *(f"{share:.1f}" for share in shares)])
    return table(["language", "names", "right", "wrong", "unknown"], body)


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _part(name: str) -> int:
    return _digest(name)[0] % 10


if __name__ == "__main__":
    main()
