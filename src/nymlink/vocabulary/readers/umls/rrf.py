"""UMLS Metathesaurus, Rich Release Format: a folder of ``MR*.RRF`` files.

Read column by column with Arrow, not row by row in Python: MRCONSO has some 15 million rows. File layout: UMLS
Reference Manual, chapter 3 (https://www.ncbi.nlm.nih.gov/books/NBK9685/). Only MRCONSO is required; MRSTY, MRDEF,
MRREL, MRCUI, MRSAB and MRFILES are read where they are present.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pyarrow as pa

from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.umls.atoms import read_atoms
from nymlink.vocabulary.readers.umls.concept_attributes import ConceptAttributes
from nymlink.vocabulary.readers.umls.names import names, xrefs
from nymlink.vocabulary.readers.umls.release import has_release, open_release
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, Tables

_LICENCE: Final = "UMLS Metathesaurus License"
_ROW: Final = re.compile(r"C\d{7}\|[A-Z]{3}\|([^|\n]*\|){16}\r?(\n|$)")


def recognises(path: Path, head: str) -> bool:
    """Recognise a folder with MRCONSO in it or in ``META``, such a file, or one that begins with a row of it."""
    if path.is_dir():
        return has_release(path)
    return path.name.startswith("MRCONSO.RRF") or _ROW.match(head) is not None


def read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a release.

    Concepts are those with at least one name selected, in the order of MRCONSO. Rows marked obsolete or
    suppressible (SUPPRESS O, E, Y) are left out unless asked for. The name of a concept in a language is the row
    with TS=P, STT=PF, ISPREF=Y; where the selection leaves that out, the next best. References come from SAB and
    CODE; parents, references and names of concepts not selected are left out.

    Args:
        path: see :func:`nymlink.vocabulary.readers.umls.release.open_release`.
        options: ``languages``, ``sources``, ``term_types`` and ``suppressed`` select; ``lang`` stands for an
            empty LAT.
        problems: receives broken rows.

    Raises:
        InputError: there is no MRCONSO or nothing usable in it, a compressed file is damaged, or the options name
            a language, source or term type that occurs nowhere.
    """
    release = open_release(path, problems)
    atoms = read_atoms(release, options, problems)
    attributes = ConceptAttributes(release, atoms.ids, options, problems)
    parents, inherited = attributes.relations()
    count = len(atoms.ids)
    concepts = pa.table(
        {
            "id": atoms.ids,
            "definition": attributes.definitions(),
            "semantic_types": attributes.semantic_types(),
            "xrefs": xrefs(atoms),
            "parents": parents,
            "obsolete": pa.repeat(False, count),
            "replaced_by": pa.repeat(pa.scalar([], pa.list_(pa.string())), count),
        },
        schema=CONCEPT_SCHEMA,
    )
    return Tables(
        concepts=concepts,
        names=names(atoms, inherited),
        redirects=attributes.redirects(),
        version=attributes.version(),
        licence=_LICENCE,
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="rrf",
    description="UMLS Metathesaurus, Rich Release Format (a folder with MRCONSO.RRF)",
    recognises=recognises,
    read=read,
    options=frozenset({"sources", "term_types", "suppressed"}),
)
