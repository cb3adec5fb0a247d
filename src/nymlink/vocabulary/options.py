"""What a caller may ask of a vocabulary reader. Each reader heeds what its format has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FLAGS: Final[Mapping[str, str]] = {
    "sources": "--sab",
    "term_types": "--tty",
    "suppressed": "--suppressed",
    "columns": "--column",
    "strict": "--strict",
}
"""The options that only some formats heed, and what the command line calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Selections and hints for reading a vocabulary; ``None`` or empty means "all" or "as the source says".

    Attributes:
        lang: language of names that the source gives none for.
        languages: keep names in these languages only (BCP 47, for example ``en``).
        sources: UMLS, OMOP: keep these source vocabularies (``SAB``, ``vocabulary_id``) only.
        term_types: UMLS: keep these term types (``TTY``) only.
        suppressed: UMLS: keep suppressible rows too.
        columns: delimited tables: our column name → the file's, for example ``{"name": "label"}``.
        strict: OBO: refuse a file that does not keep to the letter of the format.
    """

    lang: str = "en"
    languages: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    term_types: frozenset[str] | None = None
    suppressed: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False

    def special(self) -> list[str]:
        """Which of :data:`FLAGS` were asked for."""
        usual = ReadOptions()
        return [name for name in FLAGS if getattr(self, name) != getattr(usual, name)]

    def to_dict(self) -> dict[str, Any]:
        """What was asked for, as JSON values; what was left at "all", or selects nothing, is left out."""
        chosen = {name: getattr(self, name) for name in ("languages", "sources", "term_types")}
        listed = {name: sorted(values) for name, values in chosen.items() if values is not None}
        return {"lang": self.lang, "suppressed": self.suppressed, "columns": dict(self.columns), **listed}
