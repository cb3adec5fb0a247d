"""Compare two releases of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.vocabulary.vocabulary import Vocabulary

CHANGES: Final = ("gone", "merged", "split", "added", "renamed", "moved", "names")
"""The kinds of changes:

- ``gone``: no mention can be linked to the concept any more, and nothing replaces it;
- ``merged``: its id leads to one other concept;
- ``split``: its id leads to several concepts;
- ``added``: the concept is new, or no longer obsolete;
- ``renamed``: its preferred name has changed;
- ``moved``: its parents have changed;
- ``names``: its names have changed.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two releases for one concept.

    Attributes:
        kind: one of :data:`CHANGES`.
        id: id of the concept.
        name: its preferred name, from the older release if this has the concept.
        old: what only the older release has: preferred name, parents or names.
        new: what only the newer release has: ids of the concepts that replace it, preferred name, parents or
            names.
    """

    kind: str
    id: str
    name: str
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare_releases(old: Vocabulary, new: Vocabulary) -> list[Change]:
    """List the changes from one release of a vocabulary to another, by kind, then in the order of the concepts.

    Obsolete concepts count as absent, because nothing is linked to them. A concept may have several changes.

    Args:
        old: the older release.
        new: the newer release.

    Raises:
        InputError: the newer release knows no id of the older one.
    """
    before, after = _live(old), _live(new)
    if before and not any(id_ in after or new.resolve(id_) for id_ in before):
        raise InputError(
            f"these are no releases of one vocabulary: none of the ids of the first ({next(iter(before))}, …) is "
            f"in the second ({next(iter(after), 'no concept')}, …)"
        )
    changes = [change for id_, row in before.items() for change in _changes(old, new, id_, row, after)]
    changes += [Change("added", id_, new.preferred_name(row)) for id_, row in after.items() if id_ not in before]
    return sorted(changes, key=lambda change: CHANGES.index(change.kind))


def _live(vocabulary: Vocabulary) -> dict[str, int]:
    """Map the ids of the concepts that are not obsolete to their rows."""
    concepts = vocabulary.columns.concepts
    ids, obsolete = concepts["id"].to_pylist(), concepts["obsolete"].to_pylist()
    return {id_: row for row, (id_, gone) in enumerate(zip(ids, obsolete, strict=True)) if not gone}


def _changes(old: Vocabulary, new: Vocabulary, id_: str, row: int, after: dict[str, int]) -> Iterator[Change]:
    """Yield the changes of a concept of the older release."""
    name = old.preferred_name(row)
    if id_ not in after:
        replaced_by = tuple(other for other in new.resolve(id_) if other in after)
        yield Change(("gone", "merged", "split")[min(len(replaced_by), 2)], id_, name, new=replaced_by)
        return
    now = after[id_]
    if name != new.preferred_name(now):
        yield Change("renamed", id_, name, (name,), (new.preferred_name(now),))
    for kind, of in (("moved", _parents), ("names", _names)):
        was, is_ = of(old, row), of(new, now)
        lost, gained = (tuple(each) for each in (_without(was, is_), _without(is_, was)))
        if lost or gained:
            yield Change(kind, id_, name, lost, gained)


def _parents(vocabulary: Vocabulary, row: int) -> dict[str, None]:
    return dict.fromkeys(vocabulary.columns.concepts["parents"][row].as_py())


def _names(vocabulary: Vocabulary, row: int) -> dict[str, None]:
    start, end = vocabulary.columns.name_offsets[row : row + 2].tolist()
    return dict.fromkeys(vocabulary.columns.names["text"].slice(start, end - start).to_pylist())


def _without(these: dict[str, None], others: dict[str, None]) -> list[str]:
    return [each for each in these if each not in others]
