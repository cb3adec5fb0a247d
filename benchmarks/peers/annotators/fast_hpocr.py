"""FastHPOCR: its index of the same release of HPO, and its annotator."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.dictionary import Annotate, Dictionary, Found


def build(dictionary: Dictionary, index: Path) -> None:
    """Write its index of the ontology: many minutes, on one core."""
    from FastHPOCR.IndexHPO import IndexHPO

    with contextlib.redirect_stdout(sys.stderr):
        IndexHPO(str(dictionary.folder / "hp.obo"), str(index)).index()


def load(dictionary: Dictionary, index: Path) -> Annotate:
    """Load the index."""
    from FastHPOCR.HPOAnnotator import HPOAnnotator

    annotator = HPOAnnotator(str(index / "hp.index"))
    numbers = {id_: number for number, id_ in enumerate(dictionary.ids)}

    def annotate(texts: Sequence[str]) -> list[list[Found]]:
        return [
            [
                (one.getStartOffset(), one.getEndOffset(), [numbers[one.getHPOUri()]])
                for one in annotator.annotate(text)
            ]
            for text in texts
        ]

    return annotate
