"""Match the concepts of two vocabularies by name alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import pyarrow as pa

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.vocabulary.enrich.mutual_names import CrossPair
from nymlink.vocabulary.keys import normalise_all_with_signs
from nymlink.vocabulary.name_matching import exact_names, is_specific, loose_form
from nymlink.vocabulary.vocabulary import Vocabulary

_ORDERING: Final = frozenset("after by due from to with without".split())
"""Words that make the order of the others matter: "liver cancer metastatic to lung"."""

_POSSESSIVE: Final = re.compile(r"['’]s\b", re.IGNORECASE)

_ANY: Final = ""

NameIndex = defaultdict[tuple[str, str], set[int]]
"""(language or :data:`_ANY`, form of a name) → concept rows."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A preferred or exact name.

    Attributes:
        concept: the row of its concept.
        kind: ``"preferred"`` or ``"exact"``.
        lang: its language, without region.
        normal: its normal form, with its signs.
        loose: the form it shares with its variants; ``None`` where that could change the meaning.
    """

    concept: int
    kind: str
    lang: str
    normal: str
    loose: str | None


def match_by_name(
    target: Vocabulary, meta: Vocabulary, allowed: Callable[[CrossPair], bool]
) -> tuple[set[CrossPair], set[CrossPair], set[CrossPair]]:
    """Find the pairs of live concepts with a name in common, in the same or an unknown language.

    For a concept without a preferred name its first exact name is used.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus.
        allowed: whether a pair may be equivalent at all; other pairs are ignored.

    Returns:
        Three sets of pairs, the surest first: with the same preferred name; with preferred names that differ in
        order of words, plurals, accents, spelling and stop words only; and, for concepts of the target in neither
        set, pairs whose second concept has such a variant of the first one's preferred name as an exact name.
    """
    target_names = [name for own in _names_by_concept(target) for name in _preferred(own)]
    wanted = {form for name in target_names for form in (name.normal, name.loose)}
    by_normal, by_loose, by_exact = NameIndex(set), NameIndex(set), NameIndex(set)
    for own in _names_by_concept(meta):
        for name in _preferred(own):
            _add(by_normal, name, name.normal, wanted)
            _add(by_loose, name, name.loose, wanted)
        for name in own:
            _add(by_exact, name, name.loose, wanted)
    same = _pairs(target_names, by_normal, lambda name: name.normal, allowed)
    variants = _pairs(target_names, by_loose, lambda name: name.loose, allowed)
    matched = {concept for concept, _ in same | variants}
    unmatched = [name for name in target_names if name.concept not in matched]
    return same, variants, _pairs(unmatched, by_exact, lambda name: name.loose, allowed)


def _names_by_concept(vocabulary: Vocabulary) -> Iterator[list[_Name]]:
    """Yield the preferred and exact names of each live concept."""
    live = ~vocabulary.columns.concepts["obsolete"].to_numpy()
    names = exact_names(vocabulary.columns.names)
    names = names.filter(pa.array(live[names["concept"].to_numpy()]))
    columns = [names[field].to_pylist() for field in ("concept", "kind", "lang", "text")]
    rows = zip(*columns, normalise_all_with_signs(names["text"]).to_pylist(), strict=True)
    for concept, own in groupby(rows, lambda row: row[0]):
        yield [
            _Name(concept, kind, lang.split("-")[0], normal, _loose(text, normal))
            for _, kind, lang, text, normal in own
        ]


def _loose(text: str, normal: str) -> str | None:
    words = normal.split()
    if not _ORDERING.isdisjoint(words):
        return None
    form = loose_form(" ".join(sorted(words)))
    if "s" in words and not _POSSESSIVE.search(text):
        # Keep a letter S that is no possessive: "protein S".
        form += " s"
    return form if is_specific(form) else None


def _preferred(own: list[_Name]) -> list[_Name]:
    return [name for name in own if name.kind == "preferred"] or own[:1]


def _add(index: NameIndex, name: _Name, form: str | None, wanted: set[str | None]) -> None:
    if form is not None and form in wanted:
        for lang in (name.lang, _ANY):
            index[lang, form].add(name.concept)


def _pairs(
    names: list[_Name],
    index: NameIndex,
    form: Callable[[_Name], str | None],
    allowed: Callable[[CrossPair], bool],
) -> set[CrossPair]:
    pairs = set()
    for name in names:
        key = form(name)
        langs = [_ANY] if name.lang == UNKNOWN_LANGUAGE else [name.lang, UNKNOWN_LANGUAGE]
        if key is not None:
            pairs |= {(name.concept, other) for lang in langs for other in index.get((lang, key), ())}
    return {pair for pair in pairs if allowed(pair)}
