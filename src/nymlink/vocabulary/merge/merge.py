"""Merge vocabularies into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.prefixes import Prefixes
from nymlink.vocabulary.concepts import unused_name
from nymlink.vocabulary.mappings import MappingSet
from nymlink.vocabulary.merge.clustering import Clusters, cluster, rewrite
from nymlink.vocabulary.merge.evidence import ConceptNames, EquivalenceClaims, weigh
from nymlink.vocabulary.merge.identifiers import LiveConcepts, canonical
from nymlink.vocabulary.tables import SourceTables, with_common_prefixes
from nymlink.vocabulary.vocabulary import Vocabulary

_CAP: Final = 50
_CUI: Final = r"\bC\d{7}$"


@dataclass(frozen=True, slots=True)
class VocabularyCounts:
    """Counts of one vocabulary.

    Attributes:
        concepts: concepts, with obsolete ones.
        names: number of names. If several sources give a concept the same name, it counts once for each source.
        several_english: concepts with two or more English names that differ in more than case.
        pairs: pairs of such English names of one concept. An encoder can learn from them.
        pairs_capped: number of these pairs if at most 50 of each concept count.
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


@dataclass(frozen=True)  # no slots: cached properties need a __dict__
class Merged:
    """A merged vocabulary, with the clusters of concepts and their evidence.

    Attributes:
        vocabulary: the result.
        unmerged: a vocabulary of the same sources in which only equal ids are joined. ``clusters`` refers to its
            rows.
        clusters: the merged concepts, and the evidence.
        ids: the id of each merged concept, in the order of ``clusters.members``.
    """

    vocabulary: Vocabulary
    unmerged: Vocabulary
    clusters: Clusters
    ids: tuple[str, ...]

    @cached_property
    def before(self) -> VocabularyCounts:
        """The counts before merging."""
        return VocabularyCounts.of(self.unmerged)

    @cached_property
    def after(self) -> VocabularyCounts:
        """The counts after merging."""
        return VocabularyCounts.of(self.vocabulary)


def merge(
    vocabularies: Sequence[Vocabulary], mapping_sets: Sequence[MappingSet] = (), *, progress: bool = False
) -> Merged:
    """Merge vocabularies: join concepts if mappings, cross-references and names show that they are the same.

    A merged concept has all names and xrefs of its members. Its id is that of the member from the first source. If
    this source has several members, the smallest id is taken. The ids of the other members become redirects to it.
    Equal inputs give equal results. A change in one source affects only concepts that are connected with it.

    Args:
        vocabularies: the vocabularies, in order of precedence.
        mapping_sets: mappings to use beside the vocabularies' own cross-references.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: there is no vocabulary, or two vocabularies hold the same source, or the same id without a
            prefix.

    Example:
        >>> from pathlib import Path
        >>> from nymlink import merge, read_vocabulary
        >>> _ = Path("own.csv").write_text("id,name,xrefs\\nOWN:1,asthma,MONDO:0004979\\n", encoding="utf-8")
        >>> merged = merge([read_vocabulary("diseases.obo"), read_vocabulary("own.csv")])
        >>> merged.vocabulary.resolve("OWN:1")
        ('MONDO:0004979',)
    """
    parts = _parts(vocabularies)
    _check_ids(parts)
    unmerged = Vocabulary.of(*parts, repeats=True)
    concepts = LiveConcepts(unmerged)
    claims = EquivalenceClaims(unmerged, concepts, [_in_terms_of(unmerged, each) for each in mapping_sets])
    rows_in_claims = claims.rows()
    names = ConceptNames(unmerged, concepts, rows_in_claims)
    clusters = cluster(
        weigh(concepts, claims, names, progress=progress),
        keys={row: concepts.keys_of(row) for row in rows_in_claims},
        one_concept=claims.within_one_namespace(),
    )
    precedence = {source.name: place for place, (source, _) in enumerate(parts)}
    ids = concepts.ids
    firsts = [
        min(rows, key=lambda row: (precedence[concepts.sources[row]], ids[row])) for rows in clusters.members
    ]
    merged = {
        ids[row]: ids[first]
        for first, rows in zip(firsts, clusters.members, strict=True)
        for row in rows
        if row != first
    }
    xrefs = {ids[row]: list(targets) for row, targets in claims.unknown.items()}
    return Merged(
        vocabulary=Vocabulary.of(
            *rewrite(parts, merged, xrefs),
            repeats=True,
            settings={"mappings": [mapping_set.to_dict() for mapping_set in mapping_sets]},
        ),
        unmerged=unmerged,
        clusters=clusters,
        ids=tuple(ids[first] for first in firsts),
    )


def _in_terms_of(vocabulary: Vocabulary, mapping_set: MappingSet) -> MappingSet:
    """Write the ids of mappings with the prefixes of a vocabulary."""
    own, known = Prefixes.recorded(mapping_set.prefixes), Prefixes.recorded(vocabulary.prefixes)
    taken = {name.casefold() for name in vocabulary.prefixes}
    if not taken:
        return mapping_set

    def written(concept_id: str) -> str:
        name = concept_id.partition(":")[0]
        iri = own.expand(concept_id) if name in mapping_set.prefixes else None
        curie = known.contract(iri or concept_id)
        return concept_id if curie == iri and name.casefold() not in taken else curie

    rewritten = (
        replace(each, subject_id=written(each.subject_id), object_id=written(each.object_id))
        for each in mapping_set.mappings
    )
    return replace(mapping_set, mappings=tuple(rewritten))


def _parts(vocabularies: Sequence[Vocabulary]) -> list[SourceTables]:
    """Collect the sources of all vocabularies, with distinct names."""
    if not vocabularies:
        raise InputError("no vocabulary to merge: give at least one")
    parts: list[SourceTables] = []
    for vocabulary in vocabularies:
        for source, tables in vocabulary.parts():
            used = {other.name for other, _ in parts}
            if source.sha256 and source.sha256 in {other.sha256 for other, _ in parts}:
                raise InputError(
                    f"the source {source.name} ({source.file}) is in several of the vocabularies: "
                    "give it once, or merge from the sources themselves"
                )
            parts.append((replace(source, name=unused_name(source.name, used)), tables))
    return with_common_prefixes(parts)


def _check_ids(parts: Sequence[SourceTables]) -> None:
    """Check that no id without a prefix is in two sources, because it could mean different things there.

    CUIs of UMLS are allowed.

    Raises:
        InputError: such an id is in two sources.
    """
    owners: dict[str, str] = {}
    for source, tables in parts:
        for id_ in tables.concepts["id"].to_pylist():
            owner = owners.setdefault(id_, source.name)
            if canonical(id_, owner) != canonical(id_, source.name):
                raise InputError(
                    f"both {owner} and {source.name} have a concept {id_[:40]}: ids without a prefix may mean "
                    "different things in two sources, so add a prefix to the ids in each table first, for example "
                    f"{owner}:{id_[:40]}"
                )
