"""The names that pairs are made of: lower-cased, each once a concept."""

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

_STRETCH: Final = 1 << 20


def prepare(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """``str.lower`` of each text. ASCII texts, most of them, never become Python objects.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    rest = pc.invert(pc.string_is_ascii(texts))
    lowered = [text.lower() for text in texts.filter(rest).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(texts), rest, pa.array(lowered, pa.large_string()))


def distinct_names(
    vocabulary: Vocabulary, *, languages: Collection[str] | None, kinds: Collection[str]
) -> tuple[Rows, Rows]:
    """The names of live concepts, without those that repeat an earlier one of their concept when prepared.

    Args:
        vocabulary: whose names.
        languages: these languages only.
        kinds: these kinds only.

    Returns:
        Name rows (int32, ascending), and the concept row of each (int32).
    """
    rows, owners = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    batches = vocabulary.name_batches(languages=languages, kinds=kinds, batch_size=_STRETCH)
    for batch in _whole_concepts(batches):
        owner = batch["concept"].to_numpy()
        encoded = prepare(batch["text"].combine_chunks()).dictionary_encode()
        place = (owner - owner[0]).astype(np.int64) * len(encoded.dictionary) + encoded.indices.to_numpy()
        first = np.sort(np.unique(place, return_index=True)[1])
        rows.append(batch["row"].to_numpy()[first].astype(np.int32))
        owners.append(owner[first])
    return np.concatenate(rows), np.concatenate(owners)


def _whole_concepts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The same rows, in tables that are cut between concepts."""
    waiting: pa.Table | None = None
    for batch in batches:
        together = pa.Table.from_batches([batch])
        if waiting is not None:
            together = pa.concat_tables([waiting, together]).unify_dictionaries()
        owners = together["concept"].to_numpy()
        # The last concept may go on in the next batch.
        cut = int(np.searchsorted(owners, owners[-1]))
        if cut:
            yield together.slice(0, cut)
        waiting = together.slice(cut)
    if waiting is not None:
        yield waiting
