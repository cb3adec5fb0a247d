"""Lists of links, which can be written as a table or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from nymlink.core.errors import MissingExtraError
from nymlink.linking.link_rows import PLACE, is_located, rows
from nymlink.linking.model import Link
from nymlink.linking.writers.files import format_of, open_file, open_writer
from nymlink.linking.writers.writer import LinksInfo

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN: Final = 20
"""Links that are printed of a longer list."""


class Links(list[Link]):
    """The links of mentions, in their order."""

    def __str__(self) -> str:
        """Write a line for each link; of a long list, for the first ones, and how many more there are."""
        lines = [str(link) for link in self[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"… and {len(self) - _SHOWN} more")
        return "\n".join(lines)

    def to_dicts(self) -> list[dict[str, Any]]:
        """List the rows of a table: one for each candidate, and one for a NIL link.

        Returns:
            Dictionaries with the keys ``mention``, ``rank`` (from 1), ``concept_id``, ``concept_name``,
            ``matched_name``, ``matched_language``, ``score``, ``confidence`` and ``note``, after ``document_id``,
            ``start`` and ``end`` where mentions have such; ``None`` where there is nothing. Confidence and note
            belong to the first candidate and stand in its row only. Of a composite mention the rows of each part
            come one after the other.
        """
        left_out = () if is_located(self) else PLACE
        return [
            {name: value for name, value in row.items() if name not in left_out}
            for link in self
            for row in rows(link)
        ]

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

    def write(self, target: str | Path | TextIO, *, format: str | None = None) -> None:
        """Write the links as `nymlink link` does.

        Args:
            target: a file, which is replaced in one step, or a text stream, which stays open.
            format: name of a format (``"jsonl"``, ``"tsv"``, ``"table"``, or one that a package adds); without it
                the format is told by the ending of the file, and is TSV for a stream.

        Raises:
            InputError: no format has this ending, or the format needs input that these links do not have.
            OutputError: the file cannot be written.
            UnknownNameError: there is no format of this name.
        """
        if not isinstance(target, str | Path):
            self._write(target, format or "tsv")
            return
        name = format or format_of(Path(target))
        with open_file(Path(target)) as file:
            self._write(file, name)

    def _write(self, out: TextIO, format: str) -> None:
        calibrated = any(link.confidence is not None for link in self)
        candidates = (candidate for link in self for part in link.singles for candidate in part.candidates)
        languages = {candidate.matched.lang for candidate in candidates}
        info = LinksInfo(calibrated=calibrated, multilingual=len(languages) > 1, located=is_located(self))
        writer = open_writer(format, out, info)
        for link in self:
            writer.write(link)
        writer.close()
