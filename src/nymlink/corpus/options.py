"""What a caller may ask of a corpus reader. Each reader heeds what its format has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """Hints for reading a corpus.

    Attributes:
        columns: mention tables: our column name → the file's header (or 1-based number, as a string, where the
            file has none), for example ``{"mention": "term", "concept_id": "mondo_id"}``.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
