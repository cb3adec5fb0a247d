"""How much a vocabulary holds, in the figures by which merging is judged."""

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
class Counts:
    """The figures of one vocabulary.

    Attributes:
        concepts: concepts, obsolete ones among them.
        names: names; a name that several sources give a concept counts for each.
        several_english: concepts with two or more English names, which differ in more than case.
        pairs: pairs of such names of one concept: what an encoder can learn from.
        pairs_capped: the same, at most 50 of a concept.
        cuis: distinct UMLS CUIs that a concept is or refers to.
        with_cui: concepts that are or refer to one.
        names_with_cui: names of such concepts: names from which a CUI can be reached.
        languages: names by language, most first.
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
    def of(cls, vocabulary: Vocabulary) -> Counts:
        """Count."""
        english = _english_names(vocabulary)
        pairs = english * (english - 1) // 2
        cuis, with_cui = cuis_of(vocabulary)
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


def cuis_of(vocabulary: Vocabulary) -> tuple[int, npt.NDArray[np.bool_]]:
    """How many CUIs the concepts are or refer to, and which concepts do (bool, per row)."""
    concepts = vocabulary.columns.concepts
    xrefs = concepts["xrefs"].combine_chunks()
    own = pa.table({"row": pa.array(np.arange(len(concepts))), "id": concepts["id"]})
    other = pa.table({"row": pc.list_parent_indices(xrefs), "id": pc.list_flatten(xrefs)}, schema=own.schema)
    ids = pa.concat_tables([own, other])
    ids = ids.filter(pc.match_substring_regex(ids["id"], _CUI))
    has = np.zeros(len(concepts), bool)
    found: set[str] = set()
    for row, id_ in zip(*(ids[column].to_pylist() for column in ("row", "id")), strict=True):
        namespace, local = canonical(id_)
        if namespace == "UMLS":
            found.add(local)
            has[row] = True
    return len(found), has


def _english_names(vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
    """Distinct English names per concept, case folded."""
    names = vocabulary.columns.names
    langs = names["lang"].cast(pa.string())
    names = names.filter(pc.or_(pc.equal(langs, "en"), pc.starts_with(langs, "en-")))
    distinct = pa.table({"concept": names["concept"], "name": pc.utf8_lower(names["text"])})
    owners = distinct.group_by(["concept", "name"]).aggregate([])["concept"].to_numpy()
    return np.bincount(owners, minlength=len(vocabulary)).astype(np.int64)
