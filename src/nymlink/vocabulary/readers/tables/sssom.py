"""SSSOM mapping tables as a vocabulary: the concepts of both sides with their labels, and what refers to what.

Of use where a mapping set names concepts of a vocabulary that cannot be had. To merge vocabularies along a mapping
set, it is read by :mod:`nymlink.vocabulary.mappings`, as it is here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.mappings import REQUIRED, parse_header, read_mappings
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers._languages import Languages
from nymlink.vocabulary.tables import TableBuilder, Tables


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line for line in head.splitlines() if line.strip()]
    header = next((line for line in lines if not line.startswith("#")), "")
    if not header:
        # A long block of metadata: the header comes after what is looked at.
        return any(line.lstrip("# ").startswith(("curie_map:", "mapping_set_id:")) for line in lines)
    return set(parse_header(header)) >= set(REQUIRED)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read concepts: the first label of one is its preferred name; what it is mapped to exactly is an xref."""
    mapping_set = read_mappings(path, problems=problems)
    languages = Languages(options)
    builder = TableBuilder()
    builder.version, builder.licence = mapping_set.version, mapping_set.licence
    named: set[str] = set()
    for mapping in mapping_set.mappings:
        one, other = mapping.subject_id, mapping.object_id
        holds = not mapping.negated and one != other
        builder.concept(one, xrefs=[other] if holds and (mapping.is_exact or mapping.is_xref) else [])
        builder.concept(other, xrefs=[one] if holds and mapping.is_exact else [])
        for concept_id, label in ((one, mapping.subject_label), (other, mapping.object_label)):
            if label and languages.wants(languages.default):
                kind = "exact" if concept_id in named else "preferred"
                builder.name(concept_id, label, lang=languages.default, kind=kind)
                named.add(concept_id)
    return builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="sssom",
    description="SSSOM mappings (TSV): the concepts of both sides, with their labels",
    recognises=_recognises,
    read=_read,
)
