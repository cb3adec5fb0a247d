"""Dictionaries that have names in the language of the mentions for some concepts only."""

from __future__ import annotations

import numpy as np
import pytest

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import EXACT_MATCH, ExactSearch, HybridSearch
from nymlink.index.index import Index
from nymlink.index.languages import LanguageSearch, deductions_of, deductions_of_entries, is_near
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.fixed import FixedSearch


def _vocabulary(*concepts: tuple[str, dict[str, str]]) -> Vocabulary:
    builder = TableBuilder()
    for concept, names in concepts:
        builder.concept(concept)
        for language, text in names.items():
            builder.name(concept, text, lang=language)
    return Vocabulary.of((Source("small", "test"), builder.build()))


NAMES = (
    ("X:1", {"en": "seizure"}),
    ("X:2", {"en": "fever", "es": "fiebre alta"}),
    ("X:3", {"en": "cough", "es": "tos"}),
    ("X:4", {"en": "headache"}),
)


def test_the_language_with_most_names_loses_nothing_and_rarer_ones_lose_more():
    deducted = deductions_of({"en": 1.0, "es": 0.95, "ja": 0.5, "it": 0.1, UNKNOWN_LANGUAGE: 0.02, "xx": 0.0})
    assert deducted["en"] == deducted[UNKNOWN_LANGUAGE] == deducted["xx"] == 0
    assert 0 < deducted["es"] < deducted["ja"] == pytest.approx(deducted["it"])
    assert deducted["ja"] == pytest.approx(0.2)
    assert deductions_of({"en": 1.0, "it": 0.1}, 0.4)["it"] == pytest.approx(0.4)


def test_languages_with_equally_many_names_lose_nothing():
    assert set(deductions_of({"en": 0.6, "fr": 0.6}).values()) == {0.0}


def test_a_vocabulary_in_one_language_is_searched_as_before():
    index = Index.build(_vocabulary(*((c, {"en": own["en"]}) for c, own in NAMES)), encoder=None)
    assert not index.once(deductions_of_entries).any()
    assert index.match(["fever"], 1).scores[0, 0] == 1


@pytest.mark.parametrize(
    ("query", "name", "near"),
    [
        ("convulsiones febriles", "convulsión febril", True),
        ("convulsoines febriles", "convulsiones febriles", True),
        ("febriles convulsiones", "convulsiones febriles", True),
        ("tronco arterioso tipo iii", "tronco arterioso tipo ii", False),
        ("deficiencia de vitamina b3", "deficiencia de vitamina b12", False),
        ("hipoplasia del pulgar", "hiperplasia del pulgar", False),
        ("腎臓の異常", "腎臓異常", True),
        ("腎周囲膿瘍", "歯周囲膿瘍", False),
        ("ビタミンe欠乏症", "ビタミンd欠乏症", False),
        ("fiebre", "fiebre alta", False),
    ],
)
def test_slips_and_endings_are_near_but_numerals_and_opposites_are_not(query, name, near):
    assert is_near(query, name) is near
    assert is_near(name, query) is near


def test_names_in_the_language_of_the_mention_do_not_hide_other_concepts():
    vocabulary = _vocabulary(*NAMES)
    entries = Entries.of(vocabulary)
    index = Index.build(vocabulary, encoder=None)
    deductions = index.once(deductions_of_entries)
    assert [entries.text(row) for row in np.flatnonzero(deductions).tolist()] == ["fiebre alta", "tos"]
    row = {entries.text(row): row for row in range(len(entries))}
    near = {row["fiebre alta"]: 0.8, row["tos"]: 0.75, row["seizure"]: 0.7, row["cough"]: 0.3}
    scores = dict.fromkeys(("convulsión", "tos", "fiebre altas"), near)
    free = {query: {row["seizure"]: 0.7, row["cough"]: 0.3} for query in scores}

    def joined(given: dict[str, dict[int, float]]) -> HybridSearch:
        parts = {EXACT_MATCH: ExactSearch(entries), "fixed": FixedSearch(given)}
        return HybridSearch(parts, {EXACT_MATCH: 0.1, "fixed": 0.9})

    # One place is left for each search: the name of the right concept would not be found among all names.
    found = LanguageSearch(joined(scores), joined(free), entries, deductions).search(list(scores), 1)
    names = [entries.text(best) for best in found.hits.rows[:, 0].tolist()]
    assert names == ["seizure", "tos", "seizure"]
    deep = LanguageSearch(joined(scores), joined(free), entries, deductions).search(list(scores), 4)
    assert len(set(deep.hits.rows[0].tolist())) == 4
    assert deep.hits.scores[0, 0] == pytest.approx(0.9 * 0.7)
    assert deep.parts["fixed"][0].max() == pytest.approx(0.8)


def test_a_part_of_an_index_lowers_scores_as_the_whole_does():
    index = Index.build(_vocabulary(*NAMES), encoder=None)
    part = index.restricted(Restriction.of(ids=["X:2", "X:3"]))
    assert np.array_equal(part.once(deductions_of_entries), index.once(deductions_of_entries))
    assert part.match(["tos"], 1).scores[0, 0] == 1
