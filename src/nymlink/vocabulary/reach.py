"""Which concepts, and which old ids, lead to some concepts: over parents, replacements and alternate ids."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from nymlink.core.store.arrays import Array, Bools
from nymlink.vocabulary.columns import Columns
from nymlink.vocabulary.vocabulary import Vocabulary


def below(vocabulary: Vocabulary, tops: Collection[str]) -> Bools:
    """The concepts of some ids, and all below them; a cycle in the parents does no harm.

    Args:
        vocabulary: C concepts.
        tops: ids of concepts, or of parents that the vocabulary names but does not hold.

    Returns:
        Of each concept whether it is among them: bool (C).

    Raises:
        UnknownNameError: an id is neither.
    """
    concepts = vocabulary.columns.concepts
    children, parents = flat(concepts["parents"])
    ids, (above,) = _numbered(concepts["id"].combine_chunks(), parents)
    # Half a character (from a broken argument) is in no id.
    asked = pa.array([top.encode(errors="replace") for top in tops], pa.binary()).cast(pa.string())
    starts = pc.index_in(asked, value_set=ids)
    for top, start in zip(tops, starts.to_pylist(), strict=True):
        if start is None:
            vocabulary.names(top)  # raises, and says what an old id is now
    return _reached(starts.to_numpy(), above, children, count=len(ids))[: len(vocabulary)]


def leading_to(columns: Columns, concepts: Bools) -> tuple[Bools, Bools]:
    """The obsolete concepts and the alternate ids that stand, in one or several steps, for some concepts.

    Args:
        columns: a vocabulary of C concepts and R redirects.
        concepts: bool (C).

    Returns:
        Of each concept whether it is obsolete and leads there: bool (C), and the same of each redirect: bool (R).
    """
    obsolete = columns.concepts["obsolete"].to_numpy()
    rows = np.flatnonzero(obsolete)
    owners, replacing = flat(columns.concepts["replaced_by"].take(pa.array(rows)))
    old, new = (columns.redirects[end].combine_chunks() for end in ("old", "new"))
    ids, (olds, news, now) = _numbered(columns.concepts["id"].combine_chunks(), old, new, replacing)
    tails, heads = np.concatenate([news, now]), np.concatenate([olds, rows[owners]])
    reached = _reached(np.flatnonzero(concepts), tails, heads, count=len(ids))
    return obsolete & reached[: len(concepts)], reached[news]


def flat(column: pa.ChunkedArray) -> tuple[Array, pa.Array]:
    """What the lists of a column hold, one after the other, and before it the row each of it is from."""
    lists = column.combine_chunks()
    return pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)


def _numbered(concepts: pa.Array, *others: pa.Array) -> tuple[pa.Array, list[Array]]:
    """All ids there are, concepts first in the order of their rows, and where those in ``others`` stand there."""
    encoded = pa.concat_arrays([concepts, *others]).dictionary_encode()
    lengths = [len(concepts), *map(len, others)]
    return encoded.dictionary, np.split(encoded.indices.to_numpy(), np.cumsum(lengths)[:-1])[1:]


def _reached(starts: Array, tails: Array, heads: Array, *, count: int) -> Bools:
    """Which of the nodes 0 … count − 1 can be reached from the starts along arrows, the starts included."""
    # One more node, with an arrow to each start, lets one search do for all.
    tails = np.concatenate([np.full(len(starts), count), tails])
    heads = np.concatenate([starts, heads])
    arrows = csr_array((np.ones(len(tails)), (tails, heads)), shape=(count + 1, count + 1))
    reached = np.zeros(count + 1, bool)
    reached[breadth_first_order(arrows, count, return_predecessors=False)] = True
    return reached[:count]
