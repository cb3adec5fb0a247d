"""Merging vocabularies into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nymlink.core.errors import InputError
from nymlink.vocabulary.mappings import MappingSet
from nymlink.vocabulary.merge.clustering import Clusters, cluster
from nymlink.vocabulary.merge.concepts import Concepts
from nymlink.vocabulary.merge.counts import Counts
from nymlink.vocabulary.merge.evidence import weigh
from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.merge.links import Links
from nymlink.vocabulary.merge.names import ConceptNames
from nymlink.vocabulary.merge.rewrite import rewrite
from nymlink.vocabulary.model import unused_name
from nymlink.vocabulary.tables import Part
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True)  # no slots: figures are counted when asked for, and once
class Merged:
    """A merged vocabulary, and how it came about.

    Attributes:
        vocabulary: the result.
        unmerged: the same sources with only equal ids joined; its rows are what ``clusters`` speaks of.
        clusters: which concepts became one, and why.
        ids: the id of each merged concept, in the order of ``clusters.members``.
    """

    vocabulary: Vocabulary
    unmerged: Vocabulary
    clusters: Clusters
    ids: tuple[str, ...]

    @cached_property
    def before(self) -> Counts:
        """What the sources hold, unmerged."""
        return Counts.of(self.unmerged)

    @cached_property
    def after(self) -> Counts:
        """What the result holds."""
        return Counts.of(self.vocabulary)


def merge(
    vocabularies: Sequence[Vocabulary], mapping_sets: Sequence[MappingSet] = (), *, progress: bool = False
) -> Merged:
    """Make one concept of those that evidence shows to be the same.

    It has the id of its member from the first source that has one (of several there, the smallest) and keeps all
    ids, names and their sources; the ids of its members are redirects to it. The same input gives the same result,
    and what changes in one source changes only concepts that are linked to it.

    Args:
        vocabularies: what is merged, in order of precedence.
        mapping_sets: what is known beside the vocabularies' own cross-references.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: there is no vocabulary, or two of them hold the same source, or an id that is of its source.
    """
    parts = _parts(vocabularies)
    _check_ids(parts)
    unmerged = Vocabulary.of(*parts, repeats=True)
    concepts = Concepts(unmerged)
    links = Links(unmerged, concepts, mapping_sets)
    linked = links.rows()
    names = ConceptNames(unmerged, concepts, linked)
    clusters = cluster(
        weigh(concepts, links, names, progress=progress),
        keys={row: concepts.keys_of(row) for row in linked},
        one_concept=links.within_one_namespace(),
    )
    places = {source.name: place for place, (source, _) in enumerate(parts)}
    ids = concepts.ids
    firsts = [min(rows, key=lambda row: (places[concepts.sources[row]], ids[row])) for rows in clusters.members]
    merged = {
        ids[row]: ids[first]
        for first, rows in zip(firsts, clusters.members, strict=True)
        for row in rows
        if row != first
    }
    xrefs = {ids[row]: list(found) for row, found in links.unknown.items()}
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


def _parts(vocabularies: Sequence[Vocabulary]) -> list[Part]:
    """All sources, under names of their own."""
    if not vocabularies:
        raise InputError("no vocabulary to merge")
    parts: list[Part] = []
    for vocabulary in vocabularies:
        for source, tables in vocabulary.parts():
            taken = {known.name for known, _ in parts}
            if source.sha256 and source.sha256 in {known.sha256 for known, _ in parts}:
                raise InputError(
                    f"the source {source.name} ({source.file}) is in several of the vocabularies: "
                    "give it once, or merge from the sources themselves"
                )
            parts.append((replace(source, name=unused_name(source.name, taken)), tables))
    return parts


def _check_ids(parts: Sequence[Part]) -> None:
    """See that no two sources have one id that means something else in each.

    Raises:
        InputError: two have; it has no prefix, and is no CUI.
    """
    owners: dict[str, str] = {}
    for source, tables in parts:
        for id_ in tables.concepts["id"].to_pylist():
            owner = owners.setdefault(id_, source.name)
            if canonical(id_, owner) != canonical(id_, source.name):
                raise InputError(
                    f"both {owner} and {source.name} have a concept {id_[:40]}: an id without a prefix is its "
                    f"source's own, so give the ids in each table a prefix first (for example {owner}:{id_[:40]})"
                )
