"""Lower the confidence of links that contradict their mention, are ambiguous, or link ordinary words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from nymlink.corpus.documents import Mention
from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.index import Index
from nymlink.linking.calibration import is_alike, is_form
from nymlink.linking.link import Candidate
from nymlink.linking.queries import LONGEST_ACRONYM, MentionQuery
from nymlink.text.contradictions import contradiction as find_contradiction
from nymlink.text.languages import recognise_language, rules_of
from nymlink.text.normalise import normalise

GUESSED: Final = 0.5
CONTRADICTED: Final = 0.2
ORDINARY: Final = 0.5
"""Share of its confidence that a link keeps whose query has a guess, whose first candidate contradicts the
mention, or which links an ordinary word to a part of a name. Chosen on development mentions, not fitted: links
like these are too few there."""

SMALL: Final = 0.2
"""Share that is left to an ordinary word in small letters, linked to a symbol in capitals ("damage", DAMAGE), and
to a name that the mention says is that of a gene, linked to something else ("VHL gene", a disease)."""

WRITTEN: Final = 0.5
"""Share that is left to a short symbol that is written otherwise than the mention."""

_SHORT: Final = 4
"""Letters of the longest such symbol: few letters mean many things."""
_SPECIES: Final = frozenset("hmrp")
"""Letters before a symbol for human, mouse, rat and phosphorylated: "hERG"; but "mTORC1"."""

_TYPES: Final = rules_of("en")
"""Semantic types are in English, whatever the language of a mention."""

_FEW: Final = 4
_FEW_BESIDE: Final = 16
"""Concepts that an abbreviation may stand for, besides the first, that halve a confidence: where no name is the
abbreviation, and where one is."""


class Doubts(NamedTuple):
    """Doubts about a link, which lower its confidence.

    Attributes:
        factor: the share of its confidence that is left, above 0, at most 1.
        contradiction: what in the mention contradicts the first candidate, see :func:`contradicts`.
        meanings: how many concepts of the index an abbreviation may stand for; 0 for what is none.
        ordinary: whether an ordinary word was linked to a part of a name, or to an abbreviation that is spelt like
            it.
    """

    factor: float = 1.0
    contradiction: str | None = None
    meanings: int = 0
    ordinary: bool = False


def contradicts(index: Index, query: MentionQuery, candidate: Candidate) -> str | None:
    """Say what in a mention contradicts a candidate, for people to read; ``None`` for nothing."""
    name = normalise(candidate.matched.text)
    if name == query.prepared:
        return None
    # A query of unknown language is taken for that of the name that it matched.
    language = recognise_language(query.prepared, query.language or candidate.matched.lang)
    contradiction = find_contradiction(query.prepared, name, _names(index, candidate), language=language)
    return None if contradiction is None else str(contradiction)


def _names(index: Index, candidate: Candidate) -> Iterator[str]:
    """Yield the normalised names of a concept."""
    yield from (normalise(name.text) for name in index.vocabulary.names(candidate.concept_id))


def doubts_about(index: Index, query: MentionQuery, mention: Mention, first: Candidate) -> Doubts:
    """Find the doubts about linking a mention to its first candidate.

    Args:
        index: that found it.
        query: the query for the mention.
        mention: the mention; of one that is prepared the case is not known.
        first: the first candidate.
    """
    contradiction = contradicts(index, query, first)
    factor = CONTRADICTED if contradiction is not None else 1.0
    exact = first.parts.get(EXACT_MATCH) == 1
    if query.head and not _is_gene(index, first):
        factor *= SMALL
    otherwise = WRITTEN if exact and _is_written_otherwise(index, query, first) else 1.0
    if exact and _is_in_small_letters(index, query, first):
        return Doubts(factor * SMALL, contradiction, ordinary=True)
    known = query.rules.meanings(query.surface or "")
    if (
        exact
        and known
        and len(index.concepts_named(query.text)) == 1
        and not _names_of(known[0]).isdisjoint(_names(index, first))
    ):
        # Clinicians mean the first by it, in most departments.
        return Doubts(factor * _FEW / (_FEW + len(known) - 1), contradiction, len(known) if len(known) > 1 else 0)
    if exact and query.prepared == normalise(first.concept_name):
        # The concept's own name is what it says, be it short and in capitals.
        return Doubts(min(factor, otherwise), contradiction)
    abbreviation = exact and _is_abbreviation(index, first)
    meanings = 0
    if query.acronym or abbreviation:
        meanings = len(_meanings(index, query.text))
        few = _FEW_BESIDE if abbreviation else _FEW
        factor *= few / (few + max(meanings - 1, 0))
    ordinary = query.rules.is_ordinary(query.prepared) or query.rules.is_common(query.prepared)
    if ordinary and abbreviation:
        ordinary = not mention.prepared and not mention.text.isupper()
    elif ordinary and exact:
        ordinary = _is_odd(query, first)
    elif ordinary:
        ordinary = _is_part(query, normalise(first.matched.text))
    return Doubts(min(factor * ORDINARY if ordinary else factor, otherwise), contradiction, meanings, ordinary)


def _names_of(meaning: Iterable[str]) -> set[str]:
    return set(map(normalise, meaning))


def _meanings(index: Index, letters: str) -> set[int]:
    """Find the concepts with this abbreviation or initials."""
    entries = index.entries
    spelt = (concept for row in entries.initials.find(letters).tolist() for concept in index.concepts_of(row))
    return {*index.concepts_named(letters), *spelt}


def _is_gene(index: Index, first: Candidate) -> bool:
    """Whether a concept is a gene or a protein, as far as its semantic types tell."""
    types = index.vocabulary[first.concept_id].semantic_types
    return not types or any(map(_TYPES.is_of_gene, types))


def _is_in_small_letters(index: Index, query: MentionQuery, first: Candidate) -> bool:
    """Whether an ordinary word in small letters was linked to a symbol with capitals ("was", WAS; "met", Met).

    Capitals say nothing where all names of a concept are in capitals; the first alone says it of genes only, for
    other vocabularies write all their names so.
    """
    word, surface, name = query.prepared, query.surface, first.matched.text
    if surface is None or surface.isupper() or surface == name or len(name) > LONGEST_ACRONYM:
        return False
    ordinary = query.rules.is_ordinary(word) or query.rules.is_common(word)
    if not ordinary or query.rules.is_clinical(word):
        return False
    if not name.isupper():
        types = index.vocabulary[first.concept_id].semantic_types
        return name != name.lower() and any(map(_TYPES.is_of_gene, types))
    return not all(other.text.isupper() for other in index.vocabulary.names(first.concept_id))


def _is_written_otherwise(index: Index, query: MentionQuery, first: Candidate) -> bool:
    """Whether a short symbol has other capitals or signs than the mention ("pERK", PERK), or a species' letter."""
    name, surface = first.matched.text, query.surface
    if any(part in _SPECIES for part in query.left_out):
        return True
    letters = "".join(filter(str.isalnum, name))
    if surface is None or len(letters) > _SHORT or not letters.isalpha() or name[1:] == name[1:].lower():
        return False
    if surface in (name, f"{name}s", letters):
        return False
    types = index.vocabulary[first.concept_id].semantic_types
    # Vocabularies of diseases may have all names in capitals.
    return any(map(_TYPES.is_of_gene, types)) or not all(
        other.text.isupper() for other in index.vocabulary.names(first.concept_id)
    )


def _is_abbreviation(index: Index, candidate: Candidate) -> bool:
    """Whether the name that matched is in capitals, or the initials of another of the concept ("cold")."""
    name = candidate.matched.text
    if len(name) > LONGEST_ACRONYM or not name.isalpha():
        return False
    return name.isupper() or normalise(name) in {
        "".join(word[0] for word in other.split(" ") if word) for other in _names(index, candidate)
    }


def _is_odd(query: MentionQuery, first: Candidate) -> bool:
    """Whether a short ordinary word is a name that says nothing of the concept ("car", Carney complex).

    Vocabularies without capitals have their abbreviations so.
    """
    word, rules = query.prepared, query.rules
    words = normalise(first.concept_name).split(" ")
    short = len(word) <= LONGEST_ACRONYM and rules.is_ordinary(word) and not rules.is_clinical(word)
    return short and not any(is_alike(word, other) or word == other for other in words)


def _is_part(query: MentionQuery, name: str) -> bool:
    """Whether a name has more to it than a word that is no clinical term ("moon", Moon facies)."""
    return not query.rules.is_clinical(query.prepared) and not is_form(query.prepared, name)
