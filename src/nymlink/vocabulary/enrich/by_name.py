"""Which concepts of two vocabularies are called the same, where names alone are to say so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import pyarrow as pa

from nymlink.vocabulary.alike import exact_names, is_telling, loosened
from nymlink.vocabulary.enrich.sharing import Pair
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.model import UNKNOWN_LANGUAGE
from nymlink.vocabulary.vocabulary import Vocabulary

_ORDERING: Final = frozenset("after by due from to with without".split())
"""Words around which the others say something else the other way round: "liver cancer metastatic to lung"."""

_POSSESSIVE: Final = re.compile(r"['’]s\b", re.IGNORECASE)

_ANY: Final = ""

Filed = defaultdict[tuple[str, str], set[int]]
"""Language, or any, and form → concept rows."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A preferred or exact name.

    Attributes:
        concept: its concept's row.
        kind: ``"preferred"`` or ``"exact"``.
        lang: its language, without region.
        standing: its normal form.
        loose: a form that it has in common with other spellings; ``None`` where that might say something else.
    """

    concept: int
    kind: str
    lang: str
    standing: str
    loose: str | None


def called_alike(
    target: Vocabulary, meta: Vocabulary, allowed: Callable[[Pair], bool]
) -> tuple[set[Pair], set[Pair], set[Pair]]:
    """Find the pairs of live concepts that are called the same, in one language or one that is not said.

    Of a concept without a preferred name the first exact one serves.

    Args:
        target: the vocabulary that is to have more names.
        meta: the metathesaurus.
        allowed: which pairs may be equal at all; others are as if they were not there.

    Returns:
        The surest first: pairs with a preferred name in common; with one in common but for the order of words,
        plurals, accents, spelling and words that say nothing; and, of those concepts of the target that have none
        of either sort, pairs of which the other has the preferred name of the one as an exact name, so compared.
    """
    ours = [name for own in _concepts(target) for name in _preferred(own)]
    wanted = {form for name in ours for form in (name.standing, name.loose)}
    standing, loosely, exact = Filed(set), Filed(set), Filed(set)
    for own in _concepts(meta):
        for name in _preferred(own):
            _file(standing, name, name.standing, wanted)
            _file(loosely, name, name.loose, wanted)
        for name in own:
            _file(exact, name, name.loose, wanted)
    same = _pairs(ours, standing, lambda name: name.standing, allowed)
    alike = _pairs(ours, loosely, lambda name: name.loose, allowed)
    called = {one for one, _ in same | alike}
    others = [name for name in ours if name.concept not in called]
    return same, alike, _pairs(others, exact, lambda name: name.loose, allowed)


def _concepts(vocabulary: Vocabulary) -> Iterator[list[_Name]]:
    """The preferred and exact names of each live concept."""
    live = ~vocabulary.columns.concepts["obsolete"].to_numpy()
    names = exact_names(vocabulary.columns.names)
    names = names.filter(pa.array(live[names["concept"].to_numpy()]))
    columns = [names[field].to_pylist() for field in ("concept", "kind", "lang", "text")]
    rows = zip(*columns, normalise_all(names["text"]).to_pylist(), strict=True)
    for concept, own in groupby(rows, lambda row: row[0]):
        yield [
            _Name(concept, kind, lang.split("-")[0], standing, _loose(text, standing))
            for _, kind, lang, text, standing in own
        ]


def _loose(text: str, standing: str) -> str | None:
    words = standing.split()
    if not _ORDERING.isdisjoint(words):
        return None
    form = loosened(" ".join(sorted(words)))
    if "s" in words and not _POSSESSIVE.search(text):
        # Protein S is another protein.
        form += " s"
    return form if is_telling(form) else None


def _preferred(own: list[_Name]) -> list[_Name]:
    return [name for name in own if name.kind == "preferred"] or own[:1]


def _file(filed: Filed, name: _Name, form: str | None, wanted: set[str | None]) -> None:
    if form is not None and form in wanted:
        for lang in (name.lang, _ANY):
            filed[lang, form].add(name.concept)


def _pairs(
    names: list[_Name], filed: Filed, form: Callable[[_Name], str | None], allowed: Callable[[Pair], bool]
) -> set[Pair]:
    found = set()
    for name in names:
        key = form(name)
        langs = [_ANY] if name.lang == UNKNOWN_LANGUAGE else [name.lang, UNKNOWN_LANGUAGE]
        if key is not None:
            found |= {(name.concept, other) for lang in langs for other in filed.get((lang, key), ())}
    return {pair for pair in found if allowed(pair)}
