"""Entities: a concept as a re-ranker reads it, its type and names (Le & Nguyen 2023, section 3.2.1).

Le & Nguyen (2023), section 3.2.1: ``[CLS] left [START] mention [END] right [SEP]`` and
``[CLS] type [SEP] name 1 [SEP] name 2 … [SEP]``. A joint input is a passage followed by an entity, with one
``[CLS]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from nymlink.core.errors import InputError
from nymlink.encode.model.token_batches import Tokens
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.concepts import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class Entity:
    """The text of a concept.

    Attributes:
        type: its semantic types, lower-cased; empty if the vocabulary has none.
        names: its distinct names, lower-cased, the preferred one first; narrow and broad ones only if it has no
            others, its id if it has no name.
    """

    type: str
    names: tuple[str, ...]


def entities(vocabulary: Vocabulary, rows: Iterable[int]) -> Iterator[Entity]:
    """Make the entities of some concept rows, in their order."""
    columns = vocabulary.columns
    types = columns.concepts["semantic_types"]
    for row in rows:
        start, end = columns.name_offsets[row : row + 2].tolist()
        texts, kinds = (columns.names[name].slice(start, end - start).to_pylist() for name in ("text", "kind"))
        synonyms = [text for text, kind in zip(texts, kinds, strict=True) if kind in SYNONYM_KINDS]
        names = synonyms or texts or [vocabulary.concept_id(row)]
        yield Entity(", ".join(types[row].as_py()).lower(), tuple(dict.fromkeys(name.lower() for name in names)))


START: Final = "[START]"
END: Final = "[END]"
"""The markers before and after a mention, special tokens of a mention encoder's tokenizer."""

SHORTEST: Final = 16
"""The least tokens of an input: fewer leave no room for a mention and its context."""

SHORTEST_JOINT: Final = 2 * SHORTEST
"""The least tokens of a joint input."""

Ids = Sequence[int]
PassageIds = tuple[Ids, Ids, Ids]
"""Token ids of the left context, the mention, and the right context."""

EntityIds = tuple[Ids, Sequence[Ids]]
"""Token ids of the type of a concept, and of each of its names."""

_SHARE: Final = 8
"""Each side of the context, and the type of an entity, may always take one eighth of the room."""

_AT_ONCE: Final = 1024
"""Passages or entities tokenised at a time; bounds the memory of their tokens before truncation."""

T = TypeVar("T")


class Inputs:
    """Makes inputs of at most a number of tokens.

    Special tokens in a text ("[END]") are tokenised as text.

    Args:
        tokenizer: the tokenizer of the mention encoder for passages, of the entity encoder for entities.
        length: most tokens of an input, special tokens included.

    Raises:
        InputError: the tokenizer does not put one token before a text and one after it.
    """

    def __init__(self, tokenizer: Tokenizer, *, length: int) -> None:
        own = type(tokenizer).from_str(tokenizer.to_str())
        own.no_truncation()
        own.no_padding()
        own.encode_special_tokens = True
        self._first, self._last = end_ids(own)
        self._tokenizer = own
        self._length = length

    def passages(self, given: Sequence[Passage]) -> Tokens:
        """Make inputs of passages, the mention between markers.

        The context nearest to the mention is kept. A mention that leaves too little room for context loses its
        middle.
        """
        return _tokens(
            self._passage(ids, room=self._length) for part in _parts(given) for ids in self.passage_ids(part)
        )

    def entities(self, given: Sequence[Entity]) -> Tokens:
        """Make inputs of entities: type and names.

        The first name is truncated to the room; further names that do not fit are left out.
        """
        return _tokens(
            [self._first, *self._entity(ids, room=self._length - 1)]
            for part in _parts(given)
            for ids in self.entity_ids(part)
        )

    def joint(self, given: Iterable[tuple[PassageIds, EntityIds]]) -> Tokens:
        """Make joint inputs of a passage and an entity.

        Each may take half the room and the unused rest of the other half, and is truncated as in an input of its
        own.

        Args:
            given: pairs of results of :meth:`passage_ids` and :meth:`entity_ids`; one may be in several pairs.
        """
        return _tokens(self._both(passage, entity) for passage, entity in given)

    def passage_ids(self, given: Sequence[Passage]) -> list[PassageIds]:
        """Tokenise passages without truncation."""
        parts = (self._ids([getattr(passage, part) for passage in given]) for part in ("left", "mention", "right"))
        return list(zip(*parts, strict=True))

    def entity_ids(self, given: Sequence[Entity]) -> list[EntityIds]:
        """Tokenise entities without truncation."""
        types = self._ids([entity.type for entity in given])
        names = iter(self._ids([name for entity in given for name in entity.names]))
        return [(ids, list(islice(names, len(entity.names)))) for entity, ids in zip(given, types, strict=True)]

    def _both(self, passage: PassageIds, entity: EntityIds) -> list[int]:
        needed = sum(map(len, passage)) + 4
        concept = self._entity(entity, room=self._length - min(needed, self._length // 2))
        return [*self._passage(passage, room=self._length - len(concept)), *concept]

    def _passage(self, ids: PassageIds, *, room: int) -> list[int]:
        """Make the input of a passage, from the first token to a separator."""
        start, end = marker_ids(self._tokenizer)
        left, mention, right = fit_context(*ids, room=room - 4)
        return [self._first, *left, start, *mention, end, *right, self._last]

    def _entity(self, ids: EntityIds, *, room: int) -> list[int]:
        """Make the input of an entity without the first token, with a separator after the type and each name."""
        type_ids, names = ids
        tokens = [*type_ids[: self._length // _SHARE], self._last] if type_ids else []
        for place, name in enumerate(names):
            free = room - len(tokens) - 1
            if place == 0:
                name = name[:free]
            if len(name) <= free:
                tokens += [*name, self._last]
        return tokens

    def _ids(self, texts: Iterable[str]) -> list[list[int]]:
        # The tokenizers library rejects lone surrogates, the remains of input outside UTF-8.
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(valid, add_special_tokens=False)]


def end_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """Find the ids of the token before a text and of the one after it, which is also the separator.

    Raises:
        InputError: the tokenizer does not put one token before a text and one after it.
    """
    around = tokenizer.encode("").ids
    if len(around) != 2:
        raise InputError("the tokenizer of a re-ranker must put one token before a text and one after it")
    first, last = around
    return first, last


def marker_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """Find the ids of the markers before and after a mention.

    Raises:
        ValueError: the tokenizer does not have them.
    """
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    if start is None or end is None:
        raise ValueError(f"the tokenizer does not have the markers of mentions {START} and {END}")
    return start, end


def fit_context(
    left: Sequence[int], mention: Sequence[int], right: Sequence[int], *, room: int
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Truncate the context of a mention to ``room`` tokens, keeping those nearest to the mention.

    Each side of the context may always take an eighth of the room, and the mention the rest. A longer mention
    loses its middle. The sides share the room left by the mention: half for each, and the unused part of one half
    for the other.

    Returns:
        Token ids of the left context, the mention, and the right context.
    """
    share = room // _SHARE
    longest = room - min(len(left), share) - min(len(right), share)
    if len(mention) > longest:
        head = -(-longest // 2)
        mention = [*mention[:head], *mention[len(mention) - (longest - head) :]]
    free = room - len(mention)
    before = min(len(left), max(free // 2, free - len(right)))
    return left[len(left) - before :], mention, right[: free - before]


def _parts(given: Sequence[T]) -> Iterator[Sequence[T]]:
    return (given[start : start + _AT_ONCE] for start in range(0, len(given), _AT_ONCE))


def _tokens(inputs: Iterable[Sequence[int]]) -> Tokens:
    """Collect inputs; truncated ones are not counted."""
    rows = [np.array(ids, np.int32) for ids in inputs]
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in rows], dtype=np.int64)])
    return Tokens(np.concatenate([np.zeros(0, np.int32), *rows]), offsets, 0)
