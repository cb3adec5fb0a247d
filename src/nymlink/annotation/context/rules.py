"""Read the rules of contexts: phrases that say something of the mentions in their sentence.

They are in ``data/context_rules.tsv``: what they say (``negated``, ``family``, ``hypothetical``, ``historical``),
where the mentions stand of which they say it (``after`` the phrase, ``before`` it), the phrases, and why they are
there. Those of ``ending`` end what was said; those of ``nothing`` say nothing, though they hold a phrase that
does. After Harkema et al., "ConText: an algorithm for determining negation, experiencer, and temporal status from
clinical reports", Journal of Biomedical Informatics 42 (2009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "context_rules.tsv"

Direction = Literal["after", "before", ""]


class Rule(NamedTuple):
    """A phrase that says something of mentions.

    Attributes:
        words: of the phrase, in lower case.
        flag: what it says; ``ending`` and ``nothing`` for phrases that say nothing.
        direction: on which side of it the mentions stand.
    """

    words: tuple[str, ...]
    flag: str
    direction: Direction


@cache
def rules_by_first_word() -> Mapping[str, tuple[Rule, ...]]:
    """List the rules by the first word of their phrases, the longest first."""
    rules: defaultdict[str, list[Rule]] = defaultdict(list)
    for row in read_rows(_TABLE):
        for phrase in split_cell(row["words"]):
            words = tuple(phrase.split(" "))
            rules[words[0]].append(Rule(words, row["flag"], cast(Direction, row["direction"])))
    return {first: tuple(sorted(own, key=lambda rule: -len(rule.words))) for first, own in rules.items()}
