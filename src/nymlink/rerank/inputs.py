"""Passages and entities as token ids.

Le & Nguyen (2023), section 3.2.1: ``[CLS] left [START] mention [END] right [SEP]`` and
``[CLS] type [SEP] name 1 [SEP] name 2 … [SEP]``. A joint input is one after the other,
with one ``[CLS]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from nymlink.core.errors import InputError
from nymlink.encode.model.tokens import Tokens
from nymlink.rerank.entities import Entity
from nymlink.rerank.passages import Passage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

START: Final = "[START]"
END: Final = "[END]"
"""Around the mention, where the tokenizer of a mention encoder knows them."""

SHORTEST: Final = 16
"""Tokens below which there is no room for a mention and its context."""

SHORTEST_JOINT: Final = 2 * SHORTEST
"""The same for a mention and a concept together."""

Ids = Sequence[int]
PassageIds = tuple[Ids, Ids, Ids]
"""Of what is before a mention, the mention, and what is after it."""

EntityIds = tuple[Ids, Sequence[Ids]]
"""Of the type of a concept, and of each of its names."""

_SHARE: Final = 8
"""A side of the context, and the type of an entity, is sure of one eighth of the room."""

_AT_ONCE: Final = 1024
"""Passages or entities that are tokenised at a time: uncut, they have many times the tokens that are kept."""

T = TypeVar("T")


class Inputs:
    """Makes inputs of at most so many tokens.

    What looks like a special token in a text ("[END]") is text here.

    Args:
        tokenizer: a mention encoder's for passages, an entity encoder's for entities.
        length: tokens of an input, special ones included.

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
        """Mentions in their contexts, between markers.

        What stands nearest to a mention is always there, and so is the mention: only of one that leaves too little
        room the middle is left out.
        """
        return _tokens(
            self._passage(ids, room=self._length) for few in _in_turn(given) for ids in self.passage_ids(few)
        )

    def entities(self, given: Sequence[Entity]) -> Tokens:
        """Types and names.

        The first name is there as far as there is room for it, each other one as a whole or not at all.
        """
        return _tokens(
            [self._first, *self._entity(ids, room=self._length - 1)]
            for few in _in_turn(given)
            for ids in self.entity_ids(few)
        )

    def joint(self, given: Iterable[tuple[PassageIds, EntityIds]]) -> Tokens:
        """Mentions in their contexts, each with a concept.

        Either is sure of half the room, and has of the other half what the other does not need; what is cut is as
        in an input of its own.

        Args:
            given: what :meth:`passage_ids` and :meth:`entity_ids` gave: a mention's or concept's may come often.
        """
        return _tokens(self._both(passage, entity) for passage, entity in given)

    def passage_ids(self, given: Sequence[Passage]) -> list[PassageIds]:
        """The token ids of passages, nothing cut."""
        parts = (self._ids([getattr(one, part) for one in given]) for part in ("left", "mention", "right"))
        return list(zip(*parts, strict=True))

    def entity_ids(self, given: Sequence[Entity]) -> list[EntityIds]:
        """The token ids of entities, nothing cut."""
        types = self._ids([one.type for one in given])
        names = iter(self._ids([name for one in given for name in one.names]))
        return [(ids, list(islice(names, len(one.names)))) for one, ids in zip(given, types, strict=True)]

    def _both(self, passage: PassageIds, entity: EntityIds) -> list[int]:
        needed = sum(map(len, passage)) + 4
        concept = self._entity(entity, room=self._length - min(needed, self._length // 2))
        return [*self._passage(passage, room=self._length - len(concept)), *concept]

    def _passage(self, ids: PassageIds, *, room: int) -> list[int]:
        """From the first token to a separator."""
        start, end = marker_ids(self._tokenizer)
        left, mention, right = fitted(*ids, room=room - 4)
        return [self._first, *left, start, *mention, end, *right, self._last]

    def _entity(self, ids: EntityIds, *, room: int) -> list[int]:
        """A separator after the type and each name."""
        kind, names = ids
        made = [*kind[: self._length // _SHARE], self._last] if kind else []
        for place, name in enumerate(names):
            free = room - len(made) - 1
            if place == 0:
                name = name[:free]
            if len(name) <= free:
                made += [*name, self._last]
        return made

    def _ids(self, texts: Iterable[str]) -> list[list[int]]:
        # The tokenizers library takes no lone surrogates, which undecodable input leaves.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]


def end_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """The ids of the token before a text and of the one after it, which also separates texts.

    Raises:
        InputError: the tokenizer does not put one token before a text and one after it.
    """
    around = tokenizer.encode("").ids
    if len(around) != 2:
        raise InputError("the tokenizer of a re-ranker must put one token before a text and one after it")
    first, last = around
    return first, last


def marker_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """The ids of the markers before and after a mention.

    Raises:
        ValueError: the tokenizer does not know them.
    """
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    if start is None or end is None:
        raise ValueError("the tokenizer knows no markers of mentions")
    return start, end


def fitted(
    left: Sequence[int], mention: Sequence[int], right: Sequence[int], *, room: int
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """A mention and as much of its context, from the mention outwards, as there is room for.

    Each side of the context is sure of an eighth of the room (if it is so long), the mention of the rest, and what
    the mention leaves is shared: half for each side, and what one does not need for the other. Of a mention that
    is longer, the middle is left out.
    """
    sure = room // _SHARE
    longest = room - min(len(left), sure) - min(len(right), sure)
    if len(mention) > longest:
        head = -(-longest // 2)
        mention = [*mention[:head], *mention[len(mention) - (longest - head) :]]
    free = room - len(mention)
    before = min(len(left), max(free // 2, free - len(right)))
    return left[len(left) - before :], mention, right[: free - before]


def _in_turn(given: Sequence[T]) -> Iterator[Sequence[T]]:
    return (given[start : start + _AT_ONCE] for start in range(0, len(given), _AT_ONCE))


def _tokens(made: Iterable[Sequence[int]]) -> Tokens:
    """Inputs as they come; how many of them were cut is not counted."""
    rows = [np.array(ids, np.int32) for ids in made]
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in rows], dtype=np.int64)])
    return Tokens(np.concatenate([np.zeros(0, np.int32), *rows]), offsets, 0)
