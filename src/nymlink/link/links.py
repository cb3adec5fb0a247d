"""Links side by side: a list that becomes a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nymlink.core.errors import MissingExtraError
from nymlink.link.model import Link

if TYPE_CHECKING:
    from pandas import DataFrame


class Links(list[Link]):
    """The links of mentions, one for each, in order."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """List the rows of a table: one for each candidate; one for a mention that means none of the concepts.

        Returns:
            Dictionaries with the keys ``mention``, ``rank`` (from 1), ``concept_id``, ``concept_name``,
            ``matched_name``, ``score``, ``confidence`` and ``note``; ``None`` where there is nothing. Of a
            composite mention the rows of each part come one after the other.
        """
        return [row for link in self for part in _written(link) for row in _rows(link, part)]

    def to_frame(self) -> DataFrame:
        """Make a pandas table of :meth:`to_dicts`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingExtraError("frame", purpose="A pandas table") from error
        return DataFrame(self.to_dicts())


def _written(link: Link) -> tuple[Link, ...]:
    return (link,) if link.nil else link.singles


def _rows(link: Link, part: Link) -> list[dict[str, Any]]:
    candidates = () if part.nil else part.candidates
    named = [
        {
            "rank": rank,
            "concept_id": candidate.concept_id,
            "concept_name": candidate.concept_name,
            "matched_name": candidate.matched.text,
            "score": candidate.score,
        }
        for rank, candidate in enumerate(candidates, start=1)
    ]
    none = dict.fromkeys(("rank", "concept_id", "concept_name", "matched_name", "score"))
    said = {"confidence": part.confidence, "note": "; ".join(part.notes) or None}
    return [{"mention": link.mention.text, **row, **said} for row in named or [none]]
