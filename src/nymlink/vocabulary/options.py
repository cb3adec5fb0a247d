"""Options for reading a vocabulary; each reader uses those that apply to its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FLAGS: Final[Mapping[str, str]] = {
    "sources": "--sab",
    "term_types": "--tty",
    "suppressed": "--suppressed",
    "columns": "--map-column",
    "strict": "--strict",
}
"""The options that only some formats use, and their names on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options for reading a vocabulary; ``None`` or empty means "all" or "as the source says".

    Attributes:
        lang: language of names for which the source states none.
        languages: languages of names to keep (BCP 47, for example ``en``).
        sources: for UMLS and OMOP: source vocabularies to keep (``SAB``, ``vocabulary_id``).
        term_types: for UMLS: term types (``TTY``) to keep.
        suppressed: for UMLS: whether to keep suppressible rows.
        columns: for delimited tables: nymlink's column → the header in the file, for example
            ``{"name": "label"}``.
        strict: for OBO: whether to refuse a file that violates the format.
    """

    lang: str = "en"
    languages: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    term_types: frozenset[str] | None = None
    suppressed: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False

    def format_specific(self) -> list[str]:
        """Return the options of :data:`FLAGS` that differ from their defaults."""
        defaults = ReadOptions()
        return [name for name in FLAGS if getattr(self, name) != getattr(defaults, name)]

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON values, without selections that select all, and without ``strict``."""
        selections = {name: getattr(self, name) for name in ("languages", "sources", "term_types")}
        lists = {name: sorted(values) for name, values in selections.items() if values is not None}
        return {"lang": self.lang, "suppressed": self.suppressed, "columns": dict(self.columns), **lists}
