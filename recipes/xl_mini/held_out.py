"""The concepts that are held out of training, and their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow.compute as pc
import pyarrow.csv as pv

from nymlink.text.normalise import normalise

HPO: Final = ("vocabularies/hpo",)
"""The table of the Human Phenotype Ontology: every second concept is held out."""

ICD10: Final = tuple(
    f"multilingual/icd10_{edition}" for edition in ("fi_thl", "ru_nsi", "nb", "pt_datasus", "de_gm", "ja_titles")
)
"""The editions of ICD-10: every tenth code is held out, also of those that nothing is learned from."""

Names = frozenset[tuple[str, str]]
"""Language and normal form of names."""


def rows(data: Path, tables: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield concept id, language and name of each row of those tables that there are, in the shared shape."""
    options = pv.ParseOptions(delimiter="\t", quote_char=False)
    for table in tables:
        path = data / f"{table}.tsv.gz"
        if path.exists():
            columns = pv.read_csv(path, parse_options=options).select(["concept_id", "lang", "name"])
            columns = columns.filter(pc.is_valid(columns["name"]))
            yield from zip(*(column.to_pylist() for column in columns.columns), strict=True)


def held_out_concepts(data: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Choose the held-out concepts of HPO and the held-out codes of ICD-10, in the order of their ids."""
    phenotypes = sorted({concept for concept, *_ in rows(data, HPO)})
    codes = sorted({concept for concept, *_ in rows(data, ICD10)})
    return frozenset(phenotypes[1::2]), frozenset(codes[9::10])


def held_out_names(data: Path, concepts: Collection[str]) -> Names:
    """Collect the names of held-out concepts in languages other than English.

    No such name is learned, of whatever concept and from whatever table.
    """
    return frozenset(
        (language, normalise(name))
        for concept, language, name in rows(data, (*HPO, *ICD10))
        if language != "en" and concept in concepts
    )
