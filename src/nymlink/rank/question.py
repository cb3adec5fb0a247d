"""What a ranker is asked: a query, and how it was made of its mention."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A query for a name.

    Attributes:
        text: the prepared text that is searched for.
        surface: the mention as it was written; ``None`` where that is not known.
        rewritten: whether the text is another form or paraphrase of the mention.
        guessed: whether misspelt words of it were guessed.
        acronym: whether the mention is in capitals that no definition wrote out.
    """

    text: str
    surface: str | None = None
    rewritten: bool = False
    guessed: bool = False
    acronym: bool = False
