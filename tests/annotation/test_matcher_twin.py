"""The matcher of all names at once is the one of a naive loop over the names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nymlink.annotation.name_table import Level, build_lexicon, build_table, core_digest, says_something
from nymlink.annotation.name_words import NameWords
from nymlink.annotation.tokens import AND, LONGEST, MASK, Word, tokens_of_name, words_of_name
from nymlink.annotation.word_classes import Exchange, find_exchanges
from nymlink.annotation.word_rules import rules_for_words
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

WORDS = (
    *("kidney", "renal", "cysts", "cyst", "tumour", "the", "of", "and", "severe", "childhood", "onset"),
    *("disease", "is", "A", "I", "type", "cell", "pre", "auricular", "preauricular", "é", "x", "2", "TP53"),
    *("aortic", "aorta", "O", "R", "or", "auri", "cular", "Nieren", "und", "riñón", "y", "le"),
)
SIGNS = (" ", " ", " ", "-", ", ", "/", "'s ", " (", "")

NAMES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), min_size=1, max_size=13).map(
    lambda parts: "".join(word + sign for word, sign in parts).strip()
)


@example([["cyst onset"], ["aorta"], *[["cyst onset"]] * 22], "en")  # a word of too many concepts
@example([["liver O-R cell", "pre-auri-cular", "preauri"]], "en")
@example([["k b c d e f g h x pre-auricular", "preauricular"]], "en")  # ten words, if two are one
@given(
    st.lists(st.lists(NAMES, min_size=1, max_size=4, unique=True), min_size=1, max_size=12),
    st.sampled_from(["en", "de", "es", "fr", "zh", None]),
)
def test_the_table_is_that_of_a_loop(concepts: list[list[str]], language: str | None) -> None:
    vocabulary = _vocabulary(concepts, language or "en")
    rules = rules_for_words(language)
    names = NameWords.of(vocabulary, language, rules)
    lexicon = build_lexicon(names, rules)
    table = build_table(names, lexicon, vocabulary)

    def words(text: str) -> list[Word]:
        return words_of_name(tokens_of_name(text, lexicon.find, conjunction=lexicon.conjunction))

    spread: defaultdict[int, set[str]] = defaultdict(set)
    expected: Counter[tuple[int, int, int]] = Counter()
    cores: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in range(vocabulary.name_count):
        name = vocabulary.name(row)
        for word in words(name.text):
            spread[word.form].add(name.concept_id)
        for level, digest in _digests(words(name.text)):
            if level == Level.CORE:
                cores[digest].append((name.concept_id, row))
            else:
                expected[digest, level, row] += 1
    for digest, found in cores.items():
        owners = {concept for concept, _ in found}
        root = next(
            (one for one in sorted(owners) if all(_is_above(vocabulary, one, other) for other in owners)), ""
        )
        if digest not in {core_digest(form) for form, known in spread.items() if len(known) > 20}:
            expected.update((digest, Level.CORE, row) for concept, row in found if concept == root)
    found_in_table = zip(table.digests.tolist(), table.levels.tolist(), table.rows.tolist(), strict=True)
    assert Counter(found_in_table) == expected
    assert np.all(table.digests[1:] >= table.digests[:-1])


def _digests(words: Sequence[Word]) -> list[tuple[Level, int]]:
    if not words or len(words) > LONGEST:
        return []
    digests = [
        (Level.EXACT, sum(word.exact for word in words) & MASK),
        (Level.FORM, sum(word.form for word in words) & MASK),
    ]
    if len(words) > 1:
        digests.append((Level.SENSE, sum(word.sense for word in words) & MASK))
    core = [word for word in words if not word.empty]
    if core and len(core) < len(words) and says_something(core):
        digests.append((Level.CORE, core_digest(sum(word.form for word in core))))
    return digests


def _is_above(vocabulary: Vocabulary, concept: str, other: str) -> bool:
    return concept == other or concept in vocabulary.ancestors(other)


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 6), max_size=12)), max_size=12))
def test_exchanges_are_those_of_a_loop(names: list[tuple[int, list[int]]]) -> None:
    texts = [AND, "b", "c", "d", "a", "f", "g"]
    found = find_exchanges(
        np.array([concept for concept, _ in names], np.int32),
        np.cumsum([0, *(len(words) for _, words in names)]),
        np.array([word for _, words in names for word in words], np.int32),
        texts,
    )
    pairs: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    by_concept: defaultdict[int, set[frozenset[str]]] = defaultdict(set)
    for concept, words in names:
        if len(words) <= LONGEST:
            by_concept[concept].add(frozenset(texts[word] for word in words))
    for synonyms in by_concept.values():
        exchanged: defaultdict[frozenset[str], set[str]] = defaultdict(set)
        for own in synonyms:
            total.update(own)
            for word in own if 1 < len(own) <= 8 else ():
                exchanged[own - {word}].add(word)
        pairs.update(
            {pair for one in exchanged.values() if len(one) <= 8 for pair in combinations(sorted(one), 2)}
        )
    expected = {
        Exchange(pair, count, count / sqrt(total[pair[0]] * total[pair[1]]))
        for pair, count in pairs.items()
        if AND not in pair
    }
    assert set(found) == expected
    assert len(found) == len(expected)


def _vocabulary(concepts: Sequence[Sequence[str]], language: str) -> Vocabulary:
    """Make a vocabulary whose concepts from the third on are children of the first."""
    builder = TableBuilder()
    for number, names in enumerate(concepts):
        builder.concept(f"T:{number}", parents=("T:0",) if number > 1 else ())
        for place, name in enumerate(names):
            builder.name(f"T:{number}", name, lang=language, kind="exact" if place else "preferred")
    return Vocabulary.of((Source("toy", "test"), builder.build()))
