"""Tell names of chemicals, drugs and other products, which are found by stricter rules than those of diseases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from nymlink.annotation.words.rules import WordRules, without_accents
from nymlink.vocabulary.vocabulary import Vocabulary

_LETTERS: Final = re.compile(r"[^\W\d_]{3,}")
"""Words that lists have: shorter ones are none."""

_REMEMBERED: Final = 1 << 16

_LOOKED_AT: Final = 2000
"""Concepts by which it is told what types of concepts are products."""

_MOST: Final = 0.5
"""Share of the concepts of a type that are called after products, from which on all of the type are products. Of
the chemicals of MeSH it is 0.9, of the phenotypes of HPO 0.2 ("abnormal circulating creatinine"), of the diseases
of MEDIC 0.1."""


class Products:
    """Knows which concepts of a vocabulary are products.

    Args:
        vocabulary: the vocabulary.
        rules: of the language of its names.

    Attributes:
        is_called_so: whether a concept, by its id, is called after a product.
        has_such_type: whether a concept, by its id, is of a type of products.
    """

    def __init__(self, vocabulary: Vocabulary, rules: WordRules) -> None:
        self._vocabulary = vocabulary
        self._rules = rules
        self._types = self._product_types()
        self.is_called_so: Callable[[str], bool] = lru_cache(_REMEMBERED)(self._is_called_so)
        self.has_such_type: Callable[[str], bool] = lru_cache(_REMEMBERED)(self._has_such_type)

    def _is_called_so(self, concept_id: str) -> bool:
        words = [
            without_accents(match[0].lower()) for match in _LETTERS.finditer(self._vocabulary[concept_id].name)
        ]
        return any(map(self._rules.is_product, words)) and not any(map(self._rules.is_clinical, words))

    def _has_such_type(self, concept_id: str) -> bool:
        return not self._types.isdisjoint(self._types_of(concept_id))

    def _types_of(self, concept_id: str) -> tuple[str, ...]:
        return self._vocabulary[concept_id].semantic_types or ("",)

    def _product_types(self) -> frozenset[str]:
        concepts: Counter[str] = Counter()
        products: Counter[str] = Counter()
        count = len(self._vocabulary)
        for row in range(0, count, max(1, count // _LOOKED_AT)):
            concept_id = self._vocabulary.concept_id(row)
            types = self._types_of(concept_id)
            concepts.update(types)
            products.update(types if self._is_called_so(concept_id) else ())
        return frozenset(each for each, found in products.items() if found > _MOST * concepts[each])
