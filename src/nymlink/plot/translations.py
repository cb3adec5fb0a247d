"""Sample concepts that have names in each of several languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.pairs.names import Rows, distinct_names, lower_case
from nymlink.plot.sample import Labels
from nymlink.vocabulary.languages import matching_languages
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

MOST_LANGUAGES: Final = 12
"""Most languages that are chosen where none are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Translations:
    """N prepared names of concepts that each have names in all of L languages.

    Attributes:
        languages: the L codes.
        texts: the names.
        concepts: int32 (N): the concept row of each.
        codes: int32 (N): the language of each, from 0.
    """

    languages: tuple[str, ...]
    texts: tuple[str, ...]
    concepts: Labels
    codes: Labels


def sample_translations(
    vocabulary: Vocabulary, *, concepts: int, languages: Sequence[str] = (), seed: int = 0
) -> Translations:
    """Draw random concepts among those that have names in each of some languages, with all these names.

    Args:
        vocabulary: vocabulary of the names.
        concepts: number of concepts.
        languages: codes of the languages, each with its regions; if none, those with most names, at most
            :data:`MOST_LANGUAGES`, but none that would leave too few concepts.
        seed: seed of the drawing.

    Raises:
        InputError: there are no two known languages, or too few concepts have names in each.
    """
    named = _asked(vocabulary, languages) if languages else _common(vocabulary, concepts)
    if len(named) < 2:
        raise InputError(f"one language ({', '.join(named)}) cannot search another: two or more are needed")
    shared = _shared(named)
    if len(shared) < concepts:
        raise InputError(
            f"only {len(shared):,} concepts have names in each of {', '.join(named)}, not {concepts:,}: ask for "
            "fewer concepts, or for other languages"
        )
    chosen = np.random.default_rng(seed).permutation(shared)[:concepts]
    drawn = [(names[np.isin(owners, chosen)], owners[np.isin(owners, chosen)]) for names, owners in named.values()]
    rows = pa.array(np.concatenate([names for names, _ in drawn]))
    return Translations(
        languages=tuple(named),
        texts=tuple(lower_case(vocabulary.columns.names["text"].take(rows).combine_chunks()).to_pylist()),
        concepts=np.concatenate([owners for _, owners in drawn]),
        codes=np.repeat(np.arange(len(drawn), dtype=np.int32), [len(names) for names, _ in drawn]),
    )


Named = dict[str, tuple[Rows, Rows]]
"""The names of each language, and their concepts."""


def _asked(vocabulary: Vocabulary, languages: Sequence[str]) -> Named:
    available = vocabulary.counts("lang")
    for code in languages:
        if not matching_languages([code], available):
            raise InputError(f"no name is in the language {code!r}; the vocabulary has: {', '.join(available)}")
    return {code: _names(vocabulary, code) for code in languages}


def _common(vocabulary: Vocabulary, concepts: int) -> Named:
    """Choose the languages with most names, without those whose names leave fewer concepts than wanted."""
    codes = dict.fromkeys(code.partition("-")[0] for code in vocabulary.counts("lang") if code != UNKNOWN_LANGUAGE)
    if not codes:
        raise InputError("the languages of all names are unknown: build the vocabulary with --default-language")
    named: Named = {}
    left_out: Named = {}
    for code in codes:
        own = _names(vocabulary, code)
        chosen = named if len(_shared({**named, code: own})) >= concepts else left_out
        chosen[code] = own
        if len(named) == MOST_LANGUAGES:
            break
    # So few that they are better named in an error than left out.
    return named if len(named) > 1 else dict([*named.items(), *left_out.items()][:2])


def _names(vocabulary: Vocabulary, language: str) -> tuple[Rows, Rows]:
    return distinct_names(vocabulary, languages=[language], kinds=SYNONYM_KINDS)


def _shared(named: Named) -> Rows:
    shared: Rows = reduce(np.intersect1d, (np.unique(owners) for _, owners in named.values()))
    return shared
