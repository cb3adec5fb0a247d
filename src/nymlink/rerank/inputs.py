"""Passages and entities as token ids.

Le & Nguyen (2023), section 3.2.1: ``[CLS] left [START] mention [END] right [SEP]`` and
``[CLS] type [SEP] name 1 [SEP] name 2 … [SEP]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.encode.tokens import Tokens
from nymlink.errors import InputError
from nymlink.rerank.entities import Entity
from nymlink.rerank.passages import Passage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

START: Final = "[START]"
END: Final = "[END]"
"""Around the mention, where the tokenizer of a mention encoder knows them."""

SHORTEST: Final = 16
"""Tokens below which there is no room for a mention and its context."""

_SHARE: Final = 8
"""A side of the context, and the type of an entity, is sure of one eighth of the room."""


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
        around = own.encode("").ids
        if len(around) != 2:
            raise InputError("the tokenizer of a re-ranker must put one token before a text and one after it")
        self._first, self._last = around
        self._tokenizer = own
        self._length = length

    def passages(self, given: Sequence[Passage]) -> Tokens:
        """Mentions in their contexts, between markers; ``truncated`` counts the mentions that were cut.

        What stands nearest to a mention is always there, and so is the mention: only of one that leaves too little
        room the middle is left out.
        """
        start, end = marker_ids(self._tokenizer)
        lefts, mentions, rights = (
            self._ids([getattr(one, part) for one in given]) for part in ("left", "mention", "right")
        )
        made, cut = [], 0
        for pieces in zip(lefts, mentions, rights, strict=True):
            left, mention, right = fitted(*pieces, room=self._length - 4)
            cut += len(mention) < len(pieces[1])
            made.append([self._first, *left, start, *mention, end, *right, self._last])
        return _tokens(made, cut)

    def entities(self, given: Sequence[Entity]) -> Tokens:
        """Types and names; ``truncated`` counts the entities whose first name was cut.

        The first name is there as far as there is room for it, each other one as a whole or not at all.
        """
        types = self._ids([one.type for one in given])
        names = iter(self._ids([name for one in given for name in one.names]))
        made, cut = [], 0
        for one, type_ids in zip(given, types, strict=True):
            ids = [self._first]
            if type_ids:
                ids += [*type_ids[: self._length // _SHARE], self._last]
            for place, name in enumerate(islice(names, len(one.names))):
                room = self._length - len(ids) - 1
                if place == 0 and len(name) > room:
                    cut += 1
                    name = name[:room]
                if len(name) <= room:
                    ids += [*name, self._last]
            made.append(ids)
        return _tokens(made, cut)

    def _ids(self, texts: Iterable[str]) -> list[list[int]]:
        # The tokenizers library takes no lone surrogates, which undecodable input leaves.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]


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


def _tokens(made: Sequence[Sequence[int]], cut: int) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in made], dtype=np.int64)])
    return Tokens(np.fromiter(chain.from_iterable(made), np.int32, offsets[-1]), offsets, cut)
