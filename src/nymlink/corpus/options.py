"""Options for reading a corpus; each reader uses those that apply to its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nymlink.corpus.offset_units import OffsetUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """Options for reading a corpus.

    Attributes:
        columns: for mention tables: nymlink's column name → the header in the file (or its 1-based number, as a
            string, where the file has no headers), for example ``{"mention": "term", "concept_id": "mondo_id"}``.
        offsets: what the offsets of mentions count.
        keep_repeated: whether a document with the id of an earlier one is kept, under another id; else it is left
            out, so that nothing is counted twice. Either is reported.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    offsets: OffsetUnit = "characters"
    keep_repeated: bool = False
