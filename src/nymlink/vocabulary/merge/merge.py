"""Merge vocabularies into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nymlink.core.errors import InputError
from nymlink.vocabulary.mappings import MappingSet
from nymlink.vocabulary.merge.claims import EquivalenceClaims
from nymlink.vocabulary.merge.clustering import Clusters, cluster
from nymlink.vocabulary.merge.concepts import LiveConcepts
from nymlink.vocabulary.merge.counts import VocabularyCounts
from nymlink.vocabulary.merge.evidence import weigh
from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.merge.names import ConceptNames
from nymlink.vocabulary.merge.rewrite import rewrite
from nymlink.vocabulary.model import unused_name
from nymlink.vocabulary.tables import SourceTables
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True)  # no slots: cached properties need a __dict__
class Merged:
    """A merged vocabulary, with the clusters of concepts and their evidence.

    Attributes:
        vocabulary: the result.
        unmerged: the same sources with only equal ids joined; ``clusters`` refers to its rows.
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
    """Merge vocabularies: join the concepts that are the same by mappings, cross-references and names.

    A merged concept has the id of its member from the first source (of several there, the smallest id) and all
    names and xrefs of its members, whose ids become redirects to it. The result is deterministic, and a change in
    one source affects only concepts connected with it.

    Args:
        vocabularies: the vocabularies, in order of precedence.
        mapping_sets: mappings to use beside the vocabularies' own cross-references.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: there is no vocabulary, or two vocabularies hold the same source, or the same id without a
            prefix.
    """
    parts = _parts(vocabularies)
    _check_ids(parts)
    unmerged = Vocabulary.of(*parts, repeats=True)
    concepts = LiveConcepts(unmerged)
    claims = EquivalenceClaims(unmerged, concepts, mapping_sets)
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


def _parts(vocabularies: Sequence[Vocabulary]) -> list[SourceTables]:
    """Collect the sources of all vocabularies, with distinct names."""
    if not vocabularies:
        raise InputError("no vocabulary to merge: name at least one")
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
    return parts


def _check_ids(parts: Sequence[SourceTables]) -> None:
    """Check that no id without a prefix (CUIs apart) is in two sources, where it could mean different things.

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
