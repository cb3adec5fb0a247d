"""Features of candidates: search scores, words shared with the question, comparison with other candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools
from nymlink.index.entries.entries import Entries
from nymlink.index.entries.words import NumberedWords
from nymlink.index.fusion import DENSE, EXACT_MATCH
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.rank.retrieval import OVERLAP, ConceptTable, Retrieved, word_overlap
from nymlink.text.writing import writing_likeness

VERSION: Final = 1
"""Version of the features. A ranker that learned from another version is refused."""


class Feature(NamedTuple):
    """A feature of a candidate.

    Attributes:
        name: the name of the feature in a ranker and in ``parts``.
        meaning: what the feature means, for people.
        range: the possible values of the feature.
    """

    name: str
    meaning: str
    range: str


_SHARE: Final = "0 to 1"
_COUNT: Final = "0, 1, 2 …"
_LOG: Final = "0 to 10"
_BEHIND: Final = "-1 to 0"
_WEIGHT: Final = "0 to 16"
_YES: Final = "0 or 1"

FEATURES: Final = (
    Feature("score", "score of the index: the weighted mean of its searches", _SHARE),
    Feature("exact", "whether the name that matched equals the question", _YES),
    Feature("sparse", "likeness in spelling of the name that matched", _SHARE),
    Feature("dense", "likeness in meaning of the name that matched", "-1 to 1"),
    Feature("place", "place in the order of the index: how many candidates it has before", "0 to 19"),
    Feature("behind_score", "score less the best of all candidates", _BEHIND),
    Feature("behind_sparse", "likeness in spelling less the best of all candidates", _BEHIND),
    Feature("behind_dense", "likeness in meaning less the best of all candidates", "-2 to 0"),
    Feature("best_dense", "likeness in meaning of its nearest name", "-1 to 1"),
    Feature("second_dense", "that of its second nearest name: one name may be near by chance", "-1 to 1"),
    Feature("third_dense", "that of its third nearest name", "-1 to 1"),
    Feature("mean_dense", "the mean of its names that were found", "-1 to 1"),
    Feature("preferred_dense", "that of its most reliable name, found or not", "-1 to 1"),
    Feature("best_sparse", "likeness in spelling of its nearest name", _SHARE),
    Feature("second_sparse", "that of its second nearest name", _SHARE),
    Feature("mean_sparse", "the mean of its names that were found", _SHARE),
    Feature("behind_best_dense", "best_dense less the best of all candidates", "-2 to 0"),
    Feature("behind_second_dense", "second_dense less the best of all candidates", "-2 to 0"),
    Feature("behind_mean_dense", "mean_dense less the best of all candidates", "-2 to 0"),
    Feature("behind_preferred_dense", "preferred_dense less the best of all candidates", "-2 to 0"),
    Feature("behind_best_sparse", "best_sparse less the best of all candidates", _BEHIND),
    Feature("covered", "weight of the question's words that the name that matched has", _SHARE),
    Feature("covering", "weight of that name's words that the question has", _SHARE),
    Feature("agreement", "harmonic mean of the two", _SHARE),
    Feature("missing", "words of the question that the name lacks", _COUNT),
    Feature("extra", "words of the name that the question lacks", _COUNT),
    Feature("rarest_missing", "weight of the rarest of the words that the name lacks", _WEIGHT),
    Feature("rarest_extra", "weight of the rarest of the words that the question lacks", _WEIGHT),
    Feature("numerals_missing", "numerals and single letters of the question that the name lacks", _COUNT),
    Feature("numerals_extra", "numerals and single letters of the name that the question lacks", _COUNT),
    Feature("same_end", "similarity of the last words, the heads in English", _SHARE),
    Feature("same_start", "likeness of the first words", _SHARE),
    Feature("best_covered", "the largest covered of its names that were found", _SHARE),
    Feature("best_covering", "the largest covering of its names that were found", _SHARE),
    Feature("best_agreement", "the largest agreement of its names that were found", _SHARE),
    Feature("fewest_missing", "the smallest missing of its names that were found", _COUNT),
    Feature("fewest_extra", "the smallest extra of its names that were found", _COUNT),
    Feature("behind_agreement", "agreement less the best of all candidates", _BEHIND),
    Feature("behind_best_agreement", "best_agreement less the best of all candidates", _BEHIND),
    Feature("preferred_covered", "covered of its most reliable name", _SHARE),
    Feature("preferred_covering", "covering of its most reliable name", _SHARE),
    Feature("preferred_end", "similarity of the last words of question and most reliable name", _SHARE),
    Feature("writing", "how alike the mention and a name that equals it are written", _SHARE),
    Feature("kind", "place of the kind of the name that matched, the most reliable first", "0 to 6"),
    Feature("preferred", "whether its most reliable name matched", _YES),
    Feature("sharing", "names of the vocabulary that are written as the name that matched", "1 to 50"),
    Feature("names_found", "how many of its names were found", _COUNT),
    Feature("share_found", "share of its names that were found", _SHARE),
    Feature("names", "logarithm of the number of its names: a usual concept has many", _LOG),
    Feature("references", "logarithm of the number of its references to other vocabularies", _LOG),
    Feature("equal", "whether the question equals a name of any candidate", _YES),
    Feature("best_score", "the best score of all candidates", _SHARE),
    Feature("second_behind", "how far the second score is behind the first", _BEHIND),
    Feature("words", "words of the question", "1 to 12"),
    Feature("letters", "letters of the question", "1 and more"),
    Feature("known", "share of the question's words that names have", _SHARE),
    Feature("rewritten", "whether the question is another form or paraphrase of the mention", _YES),
    Feature("guessed", "whether misspelt words of it were guessed", _YES),
    Feature("acronym", "whether the mention is an acronym without a definition", _YES),
)

NAMES: Final = tuple(feature.name for feature in FEATURES)

_BEHIND_OF: Final = {
    "behind_score": "score",
    "behind_sparse": "sparse",
    "behind_dense": "dense",
    "behind_best_dense": "best_dense",
    "behind_second_dense": "second_dense",
    "behind_mean_dense": "mean_dense",
    "behind_preferred_dense": "preferred_dense",
    "behind_best_sparse": "best_sparse",
    "behind_agreement": "agreement",
    "behind_best_agreement": "best_agreement",
}

_COLUMN: Final = {name: place for place, name in enumerate(NAMES)}
_COMPARING: Final = [_COLUMN[name] for name in _BEHIND_OF]
_COMPARED: Final = [_COLUMN[name] for name in _BEHIND_OF.values()]
"""Columns of the features that compare candidates, and of those that they compare."""

_OVERLAP: Final = {name: place for place, name in enumerate(OVERLAP)}

_MOST_SHARING: Final = 50


def features_of(retrieved: Retrieved, index: Index, table: ConceptTable) -> Scores:
    """Compute the features of the candidates of a block of questions.

    A feature is missing if the index does not have its search, or if it is about names and none was found.

    Args:
        retrieved: the candidates of Q questions, K each.
        index: the searched index.
        table: the table of the concepts of the index.

    Returns:
        float32 (Q, K, F): the :data:`FEATURES` of each candidate; NaN for missing features, and at places without
        a candidate.
    """
    matches, valid = retrieved.matches, retrieved.valid
    asked = index.entries.word_numbers.of_texts([question.text for question in retrieved.questions])
    values = {
        "score": matches.scores,
        "exact": matches.parts[EXACT_MATCH],
        "place": np.arange(valid.shape[1], dtype=np.float32),
        "writing": _writing(retrieved, index),
        **_of_scores(retrieved),
        **_of_words(retrieved, asked, index, table),
        **_of_names(retrieved, index.entries, table),
        **{name: own[:, None] for name, own in _of_questions(retrieved, asked).items()},
    }
    described = np.full((*valid.shape, len(NAMES)), np.nan, np.float32)
    for name, own in values.items():
        described[:, :, _COLUMN[name]] = own
    described[:, :, _COMPARING] = behind_best(described[:, :, _COMPARED], valid[:, :, None])
    described[~valid] = np.nan
    return described


def _of_scores(retrieved: Retrieved) -> dict[str, Scores]:
    """Collect the search scores of the name that matched, and of all names of a candidate that were found."""
    parts, hit_parts = retrieved.matches.parts, retrieved.hits.parts
    sparse = [name for name in parts if name not in (EXACT_MATCH, DENSE)]
    values: dict[str, Scores] = {}
    if sparse:
        # Several sparse searches count as one search, with their mean score.
        values["sparse"] = _mean([parts[name] for name in sparse])
        found = retrieved.of_hits(_mean([hit_parts[name] for name in sparse]))
        values["best_sparse"], values["second_sparse"] = _largest(retrieved, found, 2)
        values["mean_sparse"] = _mean_of_pairs(retrieved, found)
    if DENSE in parts:
        found = retrieved.of_hits(hit_parts[DENSE])
        values["dense"] = parts[DENSE]
        values["best_dense"], values["second_dense"], values["third_dense"] = _largest(retrieved, found, 3)
        values["mean_dense"] = _mean_of_pairs(retrieved, found)
    return values


def _of_words(retrieved: Retrieved, asked: NumberedWords, index: Index, table: ConceptTable) -> dict[str, Scores]:
    """Compare the words of questions with the words of found names and of the candidates' most reliable names."""
    shape, hits = retrieved.valid.shape, len(retrieved.entry_of_hit)
    entries = _preferred_entries(retrieved, table)
    queries, places = np.nonzero(entries != NONE)
    rows = np.concatenate([retrieved.entry_of_hit, entries[queries, places]])
    overlap = word_overlap(
        asked, index.entries.word_numbers.of_entries(rows), np.concatenate([retrieved.query_of_hit, queries])
    )
    # The best hit of a candidate is the name that matched.
    there = np.flatnonzero(retrieved.names_found)
    pairs, starts = overlap[retrieved.hit_of_pair], retrieved.first_pairs[there]
    found = np.full((3, retrieved.valid.size, len(OVERLAP)), np.nan, np.float32)
    if len(there):
        found[0, there] = pairs[starts]
        found[1, there] = np.maximum.reduceat(pairs, starts, axis=0)
        found[2, there] = np.minimum.reduceat(pairs, starts, axis=0)
    matched, most, fewest = found.reshape(3, *shape, len(OVERLAP))
    preferred = np.full((*shape, len(OVERLAP)), np.nan, np.float32)
    preferred[queries, places] = overlap[hits:]
    values = {name: matched[:, :, place] for name, place in _OVERLAP.items()}
    values |= {f"best_{name}": most[:, :, _OVERLAP[name]] for name in ("covered", "covering", "agreement")}
    values |= {f"fewest_{name}": fewest[:, :, _OVERLAP[name]] for name in ("missing", "extra")}
    for name, own in (("covered", "covered"), ("covering", "covering"), ("end", "same_end")):
        values[f"preferred_{name}"] = preferred[:, :, _OVERLAP[own]]
    if DENSE in retrieved.matches.parts:
        texts = [question.text for question in retrieved.questions]
        cosines = index.search.parts[DENSE].score(texts, entries)
        values["preferred_dense"] = np.where(entries == NONE, np.float32(np.nan), cosines)
    return values


def _of_names(retrieved: Retrieved, entries: Entries, table: ConceptTable) -> dict[str, Scores]:
    """Compute features of the names that matched, and count the names and references of candidates."""
    valid = retrieved.valid
    names = np.where(valid, retrieved.matches.names, 0)
    concepts = np.where(valid, retrieved.matches.concepts, 0)
    entry = table.entry_of_name[names]
    sharing = entries.offsets[entry + 1] - entries.offsets[entry]
    count = retrieved.names_found.reshape(valid.shape)
    return {
        "kind": table.kind_of_name[names].astype(np.float32),
        "preferred": (table.preferred_entry[concepts] == entry).astype(np.float32),
        "sharing": np.minimum(sharing, _MOST_SHARING).astype(np.float32),
        "names_found": count.astype(np.float32),
        "share_found": (count / np.maximum(table.entry_counts[concepts], 1)).astype(np.float32),
        "names": np.log1p(table.entry_counts[concepts]).astype(np.float32),
        "references": np.log1p(table.references[concepts]).astype(np.float32),
    }


def _of_questions(retrieved: Retrieved, asked: NumberedWords) -> Mapping[str, Scores]:
    """Compute features of the questions: float32 (Q) each. All candidates of a question have the same values."""
    questions, scores = retrieved.questions, retrieved.matches.scores
    stated = [(len(each.text), each.rewritten, each.guessed, each.acronym) for each in questions]
    letters, rewritten, guessed, acronym = np.array(stated, np.float32).reshape(-1, 4).T
    behind = scores[:, 1] - scores[:, 0] if scores.shape[1] > 1 else -scores[:, 0]
    return {
        "equal": (retrieved.matches.parts[EXACT_MATCH] == 1).any(axis=1).astype(np.float32),
        "best_score": scores.max(axis=1),
        "second_behind": behind,
        "words": asked.counts.astype(np.float32),
        "letters": letters,
        "known": _mean_of_texts(asked.words >= 0, asked),
        "rewritten": rewritten,
        "guessed": guessed,
        "acronym": acronym,
    }


def _writing(retrieved: Retrieved, index: Index) -> Scores:
    """Compare how mentions and equal names are written; NaN for candidates without an equal name."""
    values = np.full(retrieved.matches.concepts.shape, np.nan, np.float32)
    for query, place in np.argwhere((retrieved.matches.parts[EXACT_MATCH] == 1) & retrieved.valid).tolist():
        surface = retrieved.questions[query].surface
        if surface is not None:
            name = index.vocabulary.name(int(retrieved.matches.names[query, place])).text
            values[query, place] = writing_likeness(surface, name)
    return values


def _preferred_entries(retrieved: Retrieved, table: ConceptTable) -> Rows:
    entries: Rows = np.where(
        retrieved.valid,
        table.preferred_entry[np.where(retrieved.valid, retrieved.matches.concepts, 0)],
        np.int32(NONE),
    )
    return entries


def _mean_of_texts(of_words: Bools, words: NumberedWords) -> Scores:
    mean: Scores = (np.add.reduceat(of_words, words.starts, dtype=np.int64) / words.counts).astype(np.float32)
    return mean


def _mean(values: list[Scores]) -> Scores:
    mean: Scores = values[0] if len(values) == 1 else np.mean(values, axis=0, dtype=np.float32)
    return mean


def _largest(retrieved: Retrieved, of_hits: Scores, count: int) -> list[Scores]:
    """Find the largest values of the hits of each candidate.

    Returns:
        A list of ``count`` arrays float32 (Q, K): the largest values, the second largest values, and so on. A
        value is NaN if the candidate has fewer hits.
    """
    values = of_hits[retrieved.hit_of_pair]
    values = values[np.lexsort((-values, retrieved.candidate_of_pair))]
    largest = np.full((count, retrieved.valid.size), np.nan, np.float32)
    for rank, own in enumerate(largest):
        there = np.flatnonzero(retrieved.names_found > rank)
        own[there] = values[retrieved.first_pairs[there] + rank]
    return list(largest.reshape(count, *retrieved.valid.shape))


def _mean_of_pairs(retrieved: Retrieved, of_hits: Scores) -> Scores:
    """Average the values of the hits of each candidate: float32 (Q, K), NaN without hits."""
    counts = retrieved.names_found
    sums = np.bincount(retrieved.candidate_of_pair, of_hits[retrieved.hit_of_pair], minlength=len(counts))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means.astype(np.float32).reshape(retrieved.valid.shape)


def behind_best(values: npt.NDArray[Any], valid: Bools) -> npt.NDArray[Any]:
    """Subtract from each value the largest value of the question's candidates. NaN stays.

    Args:
        values: float (Q, K), or (Q, K, F) for several features.
        valid: bool (Q, K), or (Q, K, 1): whether there is a candidate.
    """
    known = np.where(valid & ~np.isnan(values), values, -np.inf)
    return np.asarray(values - known.max(axis=1, keepdims=True, initial=-np.inf), values.dtype)
