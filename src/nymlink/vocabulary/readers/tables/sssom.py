"""SSSOM mappings as a vocabulary: the concepts of both sides with their labels and cross-references.

For mapping sets that name concepts of an unavailable vocabulary. :mod:`nymlink.vocabulary.mappings` reads the file
here, and also reads mapping sets for merging.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.mappings import is_header, is_json, read_mappings
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    if is_json(head):
        return True
    lines = [line for line in head.splitlines() if line.strip()]
    header = next((line for line in lines if not line.startswith("#")), "")
    if not header:
        # If the metadata is longer than the head, the header is not in it.
        return any(line.lstrip("# ").startswith(("curie_map:", "mapping_set_id:")) for line in lines)
    return is_header(header)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read concepts: their first label is the preferred name, exact mappings and cross-references are xrefs.

    The subject of a literal mapping is a name of its object.
    """
    mapping_set = read_mappings(path, options=options, problems=problems)
    languages = LanguageFilter(options)
    builder = TableBuilder()
    builder.version, builder.licence = mapping_set.version, mapping_set.licence
    builder.prefixes = mapping_set.prefixes
    with_preferred: set[str] = set()
    for mapping in mapping_set.mappings:
        subject, object_ = mapping.subject_id, mapping.object_id
        holds = not mapping.negated and subject != object_
        builder.concept(subject, xrefs=[object_] if holds and (mapping.is_exact or mapping.is_xref) else [])
        builder.concept(object_, xrefs=[subject] if holds and mapping.is_exact else [])
        for concept_id, label in ((subject, mapping.subject_label), (object_, mapping.object_label)):
            if label and languages.wants(languages.default):
                kind = "exact" if concept_id in with_preferred else "preferred"
                builder.name(concept_id, label, lang=languages.default, kind=kind)
                with_preferred.add(concept_id)
    for literal in mapping_set.literals:
        builder.concept(literal.object_id)
        if languages.wants(languages.default) and not literal.negated:
            name, label = literal.subject_label, literal.object_label
            if label and literal.object_id not in with_preferred:
                builder.name(literal.object_id, label, lang=languages.default, kind="preferred")
                with_preferred.add(literal.object_id)
            builder.name(literal.object_id, name, lang=languages.default, kind=literal.kind_of_name)
    return builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="sssom",
    description="SSSOM mappings (TSV, JSON): the concepts of both sides, with their labels",
    recognises=_recognises,
    read=_read,
)
