"""Inputs of re-rankers: passages (mentions in context), and entities (the type and names of a concept).

As in Le & Nguyen (2023), section 3.2.1, a passage is ``[CLS] left [START] mention [END] right [SEP]`` and an
entity is ``[CLS] type [SEP] name 1 [SEP] name 2 … [SEP]``. A joint input is a passage followed by an entity, with
one ``[CLS]``.
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
        names: its distinct names, lower-cased, the preferred name first. Narrow and broad names are used only if
            the concept has no other names. Without any name, the id is used.
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
"""The markers before and after a mention. They are special tokens of a mention encoder's tokenizer."""

SHORTEST: Final = 16
"""Smallest allowed length of an input in tokens. A shorter input has no room for a mention and its context."""

SHORTEST_JOINT: Final = 2 * SHORTEST
"""Smallest allowed length of a joint input in tokens."""

Ids = Sequence[int]
PassageIds = tuple[Ids, Ids, Ids]
"""Token ids of the left context, the mention, and the right context."""

EntityIds = tuple[Ids, Sequence[Ids]]
"""Token ids of the type of a concept, and of each of its names."""

_SHARE: Final = 8
"""One eighth of the room is reserved for each side of the context, and for the type of an entity."""

_AT_ONCE: Final = 1024
"""Number of passages or entities tokenised at a time. It bounds the memory of their tokens before truncation."""

T = TypeVar("T")


class Inputs:
    """Makes inputs that have at most a given number of tokens.

    If a text contains the name of a special token ("[END]"), the name is tokenised as text.

    Args:
        tokenizer: for passages, the tokenizer of the mention encoder; for entities, that of the entity encoder.
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
        """Make inputs of passages, with the mention between markers.

        Truncation keeps the context nearest to the mention. If the mention leaves too little room for context, the
        middle of the mention is cut out.
        """
        return _tokens(
            self._passage(ids, room=self._length) for part in _parts(given) for ids in self.passage_ids(part)
        )

    def entities(self, given: Sequence[Entity]) -> Tokens:
        """Make inputs of entities, from their types and names.

        The first name is truncated to the room; further names that do not fit are left out.
        """
        return _tokens(
            [self._first, *self._entity(ids, room=self._length - 1)]
            for part in _parts(given)
            for ids in self.entity_ids(part)
        )

    def joint(self, given: Iterable[tuple[PassageIds, EntityIds]]) -> Tokens:
        """Make joint inputs of a passage and an entity.

        Each of the two may take half the room, and what the other leaves of its half. Each is truncated as in an
        input of its own.

        Args:
            given: pairs of a result of :meth:`passage_ids` and a result of :meth:`entity_ids`. A result may be in
                several pairs.
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
        """Make the input of an entity without the first token. A separator follows the type and each name."""
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
        # The tokenizers library rejects lone surrogates, which come from input that is not valid UTF-8.
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(valid, add_special_tokens=False)]


def end_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """Find the ids of the tokens before and after a text. The token after a text is also the separator.

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
        ValueError: the tokenizer does not have the markers.
    """
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    if start is None or end is None:
        raise ValueError(f"the tokenizer does not have the markers of mentions {START} and {END}")
    return start, end


def fit_context(
    left: Sequence[int], mention: Sequence[int], right: Sequence[int], *, room: int
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Truncate a mention with its context to ``room`` tokens. The tokens nearest to the mention are kept.

    An eighth of the room is reserved for each side of the context, as far as the side needs it. The mention may
    take the rest; the middle of a longer mention is cut out. The sides share the room that the mention leaves.
    Each side gets half of it, and what the other side leaves of its half.

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
    """Collect inputs. Truncated inputs are not counted."""
    rows = [np.array(ids, np.int32) for ids in inputs]
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in rows], dtype=np.int64)])
    return Tokens(np.concatenate([np.zeros(0, np.int32), *rows]), offsets, 0)
