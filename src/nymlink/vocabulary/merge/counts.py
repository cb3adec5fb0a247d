"""Counts of concepts, names and pairs of a vocabulary, before and after merging."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.vocabulary import Vocabulary

_CAP: Final = 50
_CUI: Final = r"\bC\d{7}$"


@dataclass(frozen=True, slots=True)
class VocabularyCounts:
    """Counts of one vocabulary.

    Attributes:
        concepts: concepts, with obsolete ones.
        names: names; a name that several sources give a concept counts for each.
        several_english: concepts with two or more English names that differ in more than case.
        pairs: pairs of such names of one concept, from which an encoder can learn.
        pairs_capped: the same, with at most 50 pairs per concept.
        cuis: distinct UMLS CUIs among the ids and xrefs of concepts.
        with_cui: concepts with a CUI as their id or an xref.
        names_with_cui: names of these concepts.
        languages: names by language, most frequent first.
    """

    concepts: int
    names: int
    several_english: int
    pairs: int
    pairs_capped: int
    cuis: int
    with_cui: int
    names_with_cui: int
    languages: dict[str, int]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> VocabularyCounts:
        """Count the contents of a vocabulary."""
        english = _english_names(vocabulary)
        pairs = english * (english - 1) // 2
        cuis, with_cui = count_cuis(vocabulary)
        owners = vocabulary.columns.names["concept"].to_numpy()
        return cls(
            concepts=len(vocabulary),
            names=vocabulary.name_count,
            several_english=int(np.count_nonzero(english > 1)),
            pairs=int(pairs.sum()),
            pairs_capped=int(np.minimum(pairs, _CAP).sum()),
            cuis=cuis,
            with_cui=int(np.count_nonzero(with_cui)),
            names_with_cui=int(np.count_nonzero(with_cui[owners])),
            languages=vocabulary.counts("lang"),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def count_cuis(vocabulary: Vocabulary) -> tuple[int, npt.NDArray[np.bool_]]:
    """Count the distinct CUIs among ids and xrefs.

    Returns:
        Their number, and whether each concept has one: bool (C).
    """
    concepts = vocabulary.columns.concepts
    xrefs = concepts["xrefs"].combine_chunks()
    own = pa.table({"row": pa.array(np.arange(len(concepts))), "id": concepts["id"]})
    other = pa.table({"row": pc.list_parent_indices(xrefs), "id": pc.list_flatten(xrefs)}, schema=own.schema)
    ids = pa.concat_tables([own, other])
    ids = ids.filter(pc.match_substring_regex(ids["id"], _CUI))
    with_cui = np.zeros(len(concepts), bool)
    cuis: set[str] = set()
    for row, id_ in zip(*(ids[column].to_pylist() for column in ("row", "id")), strict=True):
        namespace, local = canonical(id_)
        if namespace == "UMLS":
            cuis.add(local)
            with_cui[row] = True
    return len(cuis), with_cui


def _english_names(vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
    """Count the distinct English names of each concept, ignoring case: int64 (C)."""
    names = vocabulary.columns.names
    langs = names["lang"].cast(pa.string())
    names = names.filter(pc.or_(pc.equal(langs, "en"), pc.starts_with(langs, "en-")))
    distinct = pa.table({"concept": names["concept"], "name": pc.utf8_lower(names["text"])})
    owners = distinct.group_by(["concept", "name"]).aggregate([])["concept"].to_numpy()
    return np.bincount(owners, minlength=len(vocabulary)).astype(np.int64)
