"""Lower the confidence of links that contradict their mention, are ambiguous, or link ordinary words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from nymlink.core.language_codes import AUTOMATIC, UNKNOWN_LANGUAGE, normalise_language
from nymlink.corpus.documents import Mention
from nymlink.encode.model.folder import MINI, NANO
from nymlink.index.fusion import DENSE, EXACT_MATCH
from nymlink.index.index import Index
from nymlink.linking.calibration import is_alike, is_form
from nymlink.linking.link import Candidate
from nymlink.linking.queries import LONGEST_ACRONYM, MentionQuery
from nymlink.text.contradictions import contradiction as find_contradiction
from nymlink.text.detection import detect_language, language_name
from nymlink.text.languages import recognise_language, rules_of
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import matching_languages

GUESSED: Final = 0.5
CONTRADICTED: Final = 0.2
ORDINARY: Final = 0.5
"""Factors that multiply the confidence of a link: if a word of the query is guessed, if the mention contradicts
the first candidate, if an ordinary word is linked to a part of a name. Chosen on development mentions rather than
fitted, because these mentions have too few such links."""

GUESSED_NAME: Final = 0.9
"""Factor if unknown words were replaced and the query is a name then."""

SMALL: Final = 0.2
"""Factor for two cases. An ordinary word in small letters is linked to a symbol in capitals ("damage", DAMAGE). Or
the mention says that it names a gene, and the candidate is something else ("VHL gene", a disease)."""

WRITTEN: Final = 0.5
"""Share that is left to a short symbol that is written otherwise than the mention."""

_SHORT: Final = 4
"""Letters of the longest such symbol: few letters mean many things."""
_SPECIES: Final = frozenset("hmrp")
"""Letters before a symbol for human, mouse, rat and phosphorylated: "hERG"; but "mTORC1"."""

_ENGLISH: Final = rules_of("en")

_FEW: Final = 4
_FEW_BESIDE: Final = 16
"""Number of further concepts that an abbreviation may stand for at which the confidence is halved: if the name
that matched is not itself the abbreviation, and if it is."""


_OF_ENCODERS: Final = {MINI: frozenset({"en"}), NANO: frozenset({"en"}), "": frozenset[str]()}
"""Languages that an encoder knows; "" is an index without one. Other encoders may know any language."""

_FEW_NAMES: Final = 0.1
"""Share of names of unknown language up to which the languages of an index are known."""

_ALIKE: Final = 0.8
"""Likeness in spelling from which a name serves a mention in any language ("Mikrozephalie", Microcephaly)."""


class ForeignLanguages:
    """Finds mentions in languages that neither the names of an index nor its encoder know.

    Args:
        index: the index.
    """

    def __init__(self, index: Index) -> None:
        encoder = index.settings.get("encoder")
        known = _OF_ENCODERS.get("" if encoder is None else PurePath(str(encoder["name"])).name)
        counts = index.vocabulary.counts("lang")
        searched = index.settings.get("languages", [*counts])
        spoken = {code.split("-")[0] for code in matching_languages(searched, counts)}
        # A few names of unknown language may be decisions of people.
        unknown = counts.get(UNKNOWN_LANGUAGE, 0) > _FEW_NAMES * sum(counts.values())
        self._known = None if known is None or unknown else known | spoken

    def language(self, query: MentionQuery, stated: str | None, first: Candidate) -> str | None:
        """Return the language of a mention in words, if it is foreign; else ``None``.

        Args:
            query: the query for the mention.
            stated: code of the language that the caller states; ``None`` to detect it.
            first: the first candidate.
        """
        if self._known is None or max((first.parts.get(EXACT_MATCH, 0.0), *_spelling(first))) >= _ALIKE:
            return None
        if stated in (None, AUTOMATIC, UNKNOWN_LANGUAGE):
            code = _detected(query.prepared)
        else:
            code = normalise_language(stated) or stated
        return None if code is None or code.split("-")[0] in self._known else language_name(code)


def _detected(text: str) -> str | None:
    """Detect the language of a prepared text; ``None`` if it may be English."""
    return None if all(map(_ENGLISH.is_known, text.split(" "))) else detect_language(text)


def _spelling(candidate: Candidate) -> Iterator[float]:
    """Yield the likenesses in spelling of the name that matched."""
    yield from (score for part, score in candidate.parts.items() if part not in (EXACT_MATCH, DENSE, "ranked"))


class Doubts(NamedTuple):
    """Doubts about a link, which lower its confidence.

    Attributes:
        factor: multiplies the confidence; above 0, at most 1.
        contradiction: how the mention contradicts the first candidate, see :func:`contradicts`.
        meanings: number of concepts in the index that an abbreviation may stand for; 0 if the mention is no
            abbreviation.
        ordinary: whether an ordinary word was linked to a part of a name, or to an abbreviation with the same
            spelling.
    """

    factor: float = 1.0
    contradiction: str | None = None
    meanings: int = 0
    ordinary: bool = False


def contradicts(index: Index, query: MentionQuery, candidate: Candidate) -> str | None:
    """Say for people to read how a mention contradicts a candidate; ``None`` if it does not."""
    name = normalise(candidate.matched.text)
    if name == query.prepared or query.concept is not None:
        return None
    # If the language of the query is unknown, it is assumed to be that of the name that matched.
    language = recognise_language(query.prepared, query.language or candidate.matched.lang)
    contradiction = find_contradiction(
        query.prepared,
        name,
        _names(index, candidate),
        language=language,
        name_language=recognise_language(name, candidate.matched.lang),
    )
    if contradiction is not None:
        return str(contradiction)
    words, is_qualifier = name.split(" "), query.rules.is_qualifier
    if not all(map(is_qualifier, words)):
        return None
    # "Severe" does not say what "severe MR" is.
    what = [
        word
        for word in query.prepared.split(" ")
        if not is_qualifier(word) and not any(is_alike(word, other) for other in words)
    ]
    return f"'{' '.join(what)}' is not in the name" if what else None


def _names(index: Index, candidate: Candidate) -> Iterator[str]:
    """Yield the normalised names of a concept."""
    yield from (normalise(name.text) for name in index.vocabulary.names(candidate.concept_id))


def doubts_about(index: Index, query: MentionQuery, mention: Mention, first: Candidate) -> Doubts:
    """Find the doubts about linking a mention to its first candidate.

    Args:
        index: the index that was searched.
        query: the query for the mention.
        mention: the mention. If it is prepared already, its original capitals are unknown.
        first: the first candidate.
    """
    if query.concept is not None:
        # The mention is the id of the concept.
        return Doubts()
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
        # The preferred name of the concept is reliable even if it is short and in capitals.
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
    """Whether a concept is a gene or a protein by its semantic types; true if it has none."""
    # Semantic types are in English, whatever the language of a mention.
    types = index.vocabulary[first.concept_id].semantic_types
    return not types or any(map(_ENGLISH.is_of_gene, types))


def _is_in_small_letters(index: Index, query: MentionQuery, first: Candidate) -> bool:
    """Whether an ordinary word in small letters was linked to a symbol with capitals ("was", WAS; "met", Met).

    Capitals mean nothing if all names of a concept are in capitals. A capital at the beginning alone ("Met")
    counts only for genes, because other vocabularies begin all their names with a capital.
    """
    word, surface, name = query.prepared, query.surface, first.matched.text
    if surface is None or surface.isupper() or surface == name or len(name) > LONGEST_ACRONYM:
        return False
    ordinary = query.rules.is_ordinary(word) or query.rules.is_common(word)
    if not ordinary or query.rules.is_clinical(word):
        return False
    if not name.isupper():
        types = index.vocabulary[first.concept_id].semantic_types
        return name != name.lower() and any(map(_ENGLISH.is_of_gene, types))
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
    return any(map(_ENGLISH.is_of_gene, types)) or not all(
        other.text.isupper() for other in index.vocabulary.names(first.concept_id)
    )


def _is_abbreviation(index: Index, candidate: Candidate) -> bool:
    """Whether the name that matched is in capitals, or consists of the initials of another name ("cold")."""
    name = candidate.matched.text
    if len(name) > LONGEST_ACRONYM or not name.isalpha():
        return False
    return name.isupper() or normalise(name) in {
        "".join(word[0] for word in other.split(" ") if word) for other in _names(index, candidate)
    }


def _is_odd(query: MentionQuery, first: Candidate) -> bool:
    """Whether no word of the preferred name is like the query, a short ordinary word ("car", Carney complex).

    In vocabularies without capitals such names are abbreviations.
    """
    word, rules = query.prepared, query.rules
    words = normalise(first.concept_name).split(" ")
    short = len(word) <= LONGEST_ACRONYM and rules.is_ordinary(word) and not rules.is_clinical(word)
    return short and not any(is_alike(word, other) or word == other for other in words)


def _is_part(query: MentionQuery, name: str) -> bool:
    """Whether the query is no clinical term and the name has further words ("moon", Moon facies)."""
    return not query.rules.is_clinical(query.prepared) and not is_form(query.prepared, name)
