"""Context of a mention: negated, uncertain, of the past, of somebody else.

They are in ``data/context_rules.tsv``: what they say (``negated``, ``family``, ``hypothetical``, ``historical``),
where the mentions stand of which they say it (``after`` the phrase, ``before`` it), the phrases, and why they are
there. Those of ``ending`` end what was said; those of ``nothing`` say nothing, though they hold a phrase that
does. After Harkema et al., "ConText: an algorithm for determining negation, experiencer, and temporal status from
clinical reports", Journal of Biomedical Informatics 42 (2009).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from nymlink.corpus.documents import Mention
from nymlink.linking.link import FLAGS, Context
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


_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[;:)]")
_SENTENCE_END: Final = re.compile(
    r"(?<=[^A-Z\s][.!?])[\"'”’)\]]*\s+(?=[(\[\"'“‘]?[A-Z0-9])|\n\s*\n|\n(?=\s*[-*•\d])"
)

_REACH: Final = 12
"""Words that a phrase reaches at most."""

ENDING: Final = "ending"
NOTHING: Final = "nothing"


class _Found(NamedTuple):
    """A phrase of a rule in a sentence: its first word and one past its last, and what it says."""

    first: int
    last: int
    rule: Rule


def contexts_of(text: str, mentions: Sequence[Mention], flags: Collection[str] = FLAGS) -> list[Context]:
    """Tell what the sentences of mentions say of them.

    A phrase ("no", "mother", "if") says something of the mentions on its side in its sentence, up to a word that
    ends it ("but"), or twelve words away. Of phrases that hold each other the longest counts.

    Args:
        text: of a document.
        mentions: with offsets, in their order; of one without any nothing is told.
        flags: what is told, of :data:`~nymlink.linking.link.FLAGS`.
    """
    contexts = [Context()] * len(mentions)
    located = [
        (mention.start, mention.end, place)
        for place, mention in enumerate(mentions)
        if mention.start is not None and mention.end is not None
    ]
    located.sort()
    begins = [first for first, _, _ in located]
    for start, end in _sentences(text, begins):
        inside = located[bisect_left(begins, start) : bisect_left(begins, end)]
        words = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text, start, end)]
        found = _phrases([word for _, _, word in words])
        if not found:
            continue
        firsts = [phrase.first for phrase in found]
        longest = max(phrase.last - phrase.first for phrase in found)
        endings = [phrase.first for phrase in found if phrase.rule.flag == ENDING]
        begins_of_words = [begin for begin, _, _ in words]
        for begin, stop, place in inside:
            first, last = bisect_left(begins_of_words, begin), bisect_left(begins_of_words, stop)
            said: dict[str, str] = {}
            near = slice(bisect_left(firsts, first - _REACH - longest), bisect_right(firsts, last + _REACH))
            for phrase in found[near]:
                flag = phrase.rule.flag
                if flag in flags and flag not in said and _reaches(phrase, endings, first, last):
                    said[flag] = text[words[phrase.first][0] : words[phrase.last - 1][1]]
            if said:
                contexts[place] = Context(**said)
    return contexts


def _sentences(text: str, begins: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the sentences in which mentions begin, at these offsets in order."""
    if not begins:
        return
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        place = bisect_left(begins, start)
        if place < len(begins) and begins[place] < end:
            yield start, end


def _phrases(words: Sequence[str]) -> list[_Found]:
    """List the phrases of rules among words, by their first, but for those that a longer one holds."""
    rules = rules_by_first_word()
    found = [
        _Found(place, place + len(rule.words), rule)
        for place, word in enumerate(words)
        for rule in rules.get(word, ())
        if tuple(words[place : place + len(rule.words)]) == rule.words
    ]
    kept: list[_Found] = []
    reached = 0
    for _, group in groupby(found, key=lambda phrase: phrase.first):
        together = list(group)
        last = max(phrase.last for phrase in together)
        if last > reached:
            kept += (phrase for phrase in together if phrase.last == last)
            reached = last
    return kept


def _reaches(phrase: _Found, endings: Sequence[int], first: int, last: int) -> bool:
    """Whether a phrase says what it says of a mention.

    Args:
        phrase: the phrase.
        endings: the first words of those that end others, in order.
        first: the first word of the mention.
        last: one past its last.
    """
    if phrase.rule.direction == "after":
        between = range(phrase.last, first)
        reaches = phrase.last <= first
    else:
        between = range(last, phrase.first)
        reaches = last <= phrase.first
    if not reaches or len(between) > _REACH:
        return False
    return bisect_left(endings, between.start) == bisect_left(endings, between.stop)
