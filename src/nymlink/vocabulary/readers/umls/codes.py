"""Map the codes in RRF files: languages, term types, source abbreviations."""

from __future__ import annotations

import re
from typing import Final

from nymlink.core.language_codes import normalise_language

# "Abbreviations Used in Data Elements", TTY. Fully specified drugs (SBD …) are named by their brand.
_ABBREVIATIONS: Final = frozenset({"AA", "AB", "ACR", "MTH_ACR", "OA", "RAB", "VAB"})
_TRADENAMES: Final = frozenset({"BD", "BN", "BPCK", "BR", "FB", "FBD", "SBD", "SBDC", "SBDF", "SBDFP", "SBDG"})

# Prefixes as other vocabularies write them; a translation (MSHSPA) has the codes of its original (MSH).
_PREFIXES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"MSH([A-Z]{3})?"), "MESH"),
    (re.compile(r"MDR([A-Z]{3})?"), "MEDDRA"),
    (re.compile(r"LNC(-[A-Z]{2}-[A-Z]{2})?"), "LOINC"),
    (re.compile(r"NCI"), "NCIT"),
    (re.compile(r"NCBI"), "NCBITaxon"),
    (re.compile(r"HPO"), "HP"),
)


def language(lat: str, *, default: str) -> str:
    """Map a value of LAT to BCP 47: ``default`` where it is empty, lower-cased where it is no language code."""
    return normalise_language(lat) or lat.lower() or default


def kind(tty: str) -> str:
    """Map a term type to a kind of name."""
    if tty in _ABBREVIATIONS:
        return "abbreviation"
    return "tradename" if tty in _TRADENAMES else "exact"


def prefix(sab: str) -> str:
    """Map a source abbreviation to the CURIE prefix of its codes."""
    return next((name for pattern, name in _PREFIXES if pattern.fullmatch(sab)), sab)
