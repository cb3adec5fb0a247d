"""Which column of a mention table means what: common spellings, unless the caller says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "mention": ("mention", "surface", "surface_form", "query", "term", "phrase", "name", "text"),
    "concept_id": ("concept_id", "concept_ids", "gold", "gold_id", "gold_ids"),
    "document": ("document", "document_id", "doc", "doc_id", "docid", "pmid", "pubmed_id"),
    "start": ("start", "start_offset", "begin"),
    "end": ("end", "end_offset", "stop"),
    "type": ("type", "semantic_type", "entity_type", "category"),
    "context": ("context", "sentence", "passage", "text"),
}
"""Our columns, and how files spell them, the surest spelling first; case, blanks and hyphens do not matter."""

_OTHER_IDS: Final = ("id", "ids", "code", "codes", "curie", "curies", "cui", "cuis")
_ID_ENDINGS: Final = ("_id", "_ids", "_code", "_curie", "_cui")


def spelled(header: str) -> str:
    """A header as :data:`SPELLINGS` writes it."""
    return header.strip().casefold().replace(" ", "_").replace("-", "_")


def is_mention(header: str) -> bool:
    """Whether a header is a common spelling of the mention's column."""
    return spelled(header) in SPELLINGS["mention"]


def likely_mention(headers: Sequence[str]) -> str:
    """The header likeliest to be the mention's: a common spelling, or else the first that is not one of ids."""
    known = filter(is_mention, headers)
    others = (header for header in headers if header.strip() and not _may_be_id(header))
    return next(chain(known, others), headers[0])


def find_columns(header: Sequence[str], *, wanted: Mapping[str, str], path: Path, line: int) -> dict[str, str]:
    """Find our columns among a file's headers.

    Args:
        header: the file's headers.
        wanted: our column → the file's header, for columns the caller names; one that is not there is passed over.
        path: for error messages.
        line: for error messages.

    Returns:
        Our column → the file's header, for those that are there.

    Raises:
        InputError: ``wanted`` names a column that is not ours, or several columns could hold the gold ids.
    """
    unknown = [ours for ours in wanted if ours not in SPELLINGS]
    if unknown:
        known = ", ".join(SPELLINGS)
        raise InputError(f"unknown column {unknown[0]!r} in the options: a mention table has {known}", path=path)
    found = {ours: theirs for ours, theirs in wanted.items() if theirs in header}
    for ours, spellings in SPELLINGS.items():
        if ours not in wanted:
            free = [theirs for theirs in header if spelled(theirs) in spellings and theirs not in found.values()]
            if free:
                found[ours] = min(free, key=lambda theirs: spellings.index(spelled(theirs)))
    if "concept_id" not in wanted and "concept_id" not in found:
        candidates = [theirs for theirs in header if _may_be_id(theirs) and theirs not in found.values()]
        if len(candidates) > 1:
            raise InputError(
                f"several columns could hold the gold ids ({', '.join(candidates)}): "
                f"name one of them as 'concept_id' (--column concept_id=…)",
                path=path,
                line=line,
            )
        if candidates:
            found["concept_id"] = candidates[0]
    return found


def _may_be_id(header: str) -> bool:
    name = spelled(header)
    elsewhere = any(name in spellings for spellings in SPELLINGS.values())
    return not elsewhere and (name in _OTHER_IDS or name.endswith(_ID_ENDINGS))
