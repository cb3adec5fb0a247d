"""The names that pairs are made of: lower-cased, and distinct within each concept."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.vocabulary import Vocabulary

Rows = npt.NDArray[np.int32]
"""Rows of names, or of concepts, of a vocabulary."""

_BATCH: Final = 1 << 20


def lower_case(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Apply ``str.lower`` to each text, without Python objects for ASCII texts.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    others = pc.invert(pc.string_is_ascii(texts))
    lowered = [text.lower() for text in texts.filter(others).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(texts), others, pa.array(lowered, pa.large_string()))


def distinct_names(
    vocabulary: Vocabulary, *, languages: Collection[str] | None, kinds: Collection[str]
) -> tuple[Rows, Rows]:
    """Collect the names of live concepts, without names that repeat one of their concept when lower-cased.

    Args:
        vocabulary: the vocabulary.
        languages: languages to which names are restricted.
        kinds: kinds to which names are restricted.

    Returns:
        Name rows (int32, ascending), and the concept row of each (int32).
    """
    rows, owners = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    batches = vocabulary.name_batches(languages=languages, kinds=kinds, batch_size=_BATCH)
    for batch in _whole_concepts(batches):
        owner = batch["concept"].to_numpy()
        encoded = lower_case(batch["text"].combine_chunks()).dictionary_encode()
        key = (owner - owner[0]).astype(np.int64) * len(encoded.dictionary) + encoded.indices.to_numpy()
        first = np.sort(np.unique(key, return_index=True)[1])
        rows.append(batch["row"].to_numpy()[first].astype(np.int32))
        owners.append(owner[first])
    return np.concatenate(rows), np.concatenate(owners)


def _whole_concepts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Regroup batches into tables of whole concepts."""
    pending: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if pending is not None:
            table = pa.concat_tables([pending, table]).unify_dictionaries()
        owners = table["concept"].to_numpy()
        # The last concept may continue in the next batch.
        cut = int(np.searchsorted(owners, owners[-1]))
        if cut:
            yield table.slice(0, cut)
        pending = table.slice(cut)
    if pending is not None:
        yield pending
