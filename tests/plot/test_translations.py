from __future__ import annotations

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.plot.retrieval import sample_translations
from tests.index.small import vocabulary
from tests.plot.multilingual import multilingual

VOCABULARY = multilingual()


def test_concepts_have_names_in_all_languages() -> None:
    sample = sample_translations(VOCABULARY, concepts=8)
    assert sample.languages == ("en", "de", "zh")
    assert len(sample.texts) == 8 * 4
    for code, count in enumerate((2, 1, 1)):
        own = sample.concepts[sample.codes == code]
        assert sorted(np.unique(own, return_counts=True)[1]) == [count] * 8
        assert set(own) == set(sample.concepts)
    for text, concept, code in zip(sample.texts, sample.concepts, sample.codes, strict=True):
        names = {name.text.lower() for name in VOCABULARY.names(f"T:{concept}", lang=("en", "de-AT", "zh")[code])}
        assert text in names


def test_a_language_that_leaves_too_few_concepts_is_left_out() -> None:
    assert sample_translations(VOCABULARY, concepts=20).languages == ("en", "de")
    assert sample_translations(VOCABULARY, concepts=2, languages=["nl", "en"]).languages == ("nl", "en")
    # A name counts in each language that has it.
    assert sample_translations(VOCABULARY, concepts=2, languages=["nl", "en"]).texts.count("a attack") == 2


def test_the_seed_decides() -> None:
    first, again, other = (sample_translations(VOCABULARY, concepts=8, seed=seed) for seed in (1, 1, 2))
    assert first.texts == again.texts != other.texts


def test_what_cannot_be_sampled_is_said() -> None:
    with pytest.raises(InputError, match=r"only 2 concepts have names in each of en, nl, not 8: ask for fewer"):
        sample_translations(VOCABULARY, concepts=8, languages=["en", "nl"])
    with pytest.raises(InputError, match=r"only 24 concepts have names in each of en, de, not 99: ask for fewer"):
        sample_translations(VOCABULARY, concepts=99)
    with pytest.raises(InputError, match="no name is in the language 'xx'; the vocabulary has: en, de-AT"):
        sample_translations(VOCABULARY, concepts=8, languages=["en", "xx"])
    with pytest.raises(InputError, match=r"one language \(de\) cannot search another"):
        sample_translations(VOCABULARY, concepts=8, languages=["de"])
    with pytest.raises(InputError, match="the languages of all names are unknown"):
        sample_translations(vocabulary({"T:1": ["gout"], "T:2": ["pain"]}), concepts=2)
