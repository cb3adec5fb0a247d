"""Levels at which the words of a phrase are those of a name, the surest first."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """How the words of a phrase and of a name agree, in any order."""

    EXACT = 1
    """The same words: singular or plural, British or American."""
    FORM = 2
    """Words derived from each other: "aorta", "aortic"."""
    SENSE = 3
    """Words that may stand for each other: "renal", "kidney"."""
    CORE = 4
    """The same words without those that add nothing: "childhood", "Childhood onset"."""
