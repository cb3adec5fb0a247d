"""Finding the concepts of gold ids, however corpus and vocabulary write the prefixes of ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.vocabulary.vocabulary import Vocabulary


class GoldResolver:
    """Finds the concept rows of gold ids.

    An id is looked up as it is written (following alternate and obsolete ids); if unknown, without its prefix
    (``OMIM:254200`` → ``254200``, as BioSyn does); if still unknown, under each prefix of the vocabulary's ids,
    alternate ones included (``D009203`` or ``mesh:D009203`` → ``MESH:D009203``), if exactly one prefix knows it.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, frozenset[int]] = {}

    def rows(self, concept_ids: Iterable[str]) -> frozenset[int]:
        """Return the rows of all concepts of the ids."""
        return frozenset().union(*(self._rows(concept_id) for concept_id in concept_ids))

    def require(self, corpus: Corpus, types: Collection[str] | None) -> None:
        """Require that a corpus has something to score.

        Raises:
            InputError: no mention (of these types, if given) has a gold id of the vocabulary.
        """
        if not any(
            self.rows(mention.concept_ids)
            for _, mention in corpus.mentions()
            if types is None or mention.type in types
        ):
            raise InputError("no mention has a gold id that the index has: nothing could be right")

    def _rows(self, concept_id: str) -> frozenset[int]:
        if concept_id not in self._known:
            self._known[concept_id] = self._look_up(concept_id)
        return self._known[concept_id]

    def _look_up(self, concept_id: str) -> frozenset[int]:
        as_written = self._resolve(concept_id)
        if as_written:
            return as_written
        prefix, colon, local = concept_id.partition(":")
        if colon:
            bare = self._resolve(local)
            if bare:
                return bare
        else:
            prefix, local = "", concept_id
        prefixes = [own for own in self._prefixes if not prefix or own.casefold() == prefix.casefold()]
        matches = [rows for rows in (self._resolve(f"{own}:{local}") for own in prefixes) if rows]
        return matches[0] if len(matches) == 1 else frozenset()

    def _resolve(self, concept_id: str) -> frozenset[int]:
        rows = (self._vocabulary.row(now) for now in self._vocabulary.resolve(concept_id))
        return frozenset(row for row in rows if row is not None)

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        columns = self._vocabulary.columns
        ids = pa.concat_arrays([*columns.concepts["id"].chunks, *columns.redirects["old"].chunks])
        prefixes = pc.unique(pc.extract_regex(ids, r"^(?P<prefix>[^:]+):").field("prefix"))
        return tuple(sorted(prefix for prefix in prefixes.to_pylist() if prefix))
