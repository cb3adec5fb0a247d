"""scikit-learn: cosines of TF-IDF of character 1–2-grams (as BioSyn's sparse part) with all names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.dictionary import Dictionary, Search, largest


def load(dictionary: Dictionary, index: Path) -> Search:
    """Weigh the n-grams of all names."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
    names = vectorizer.fit_transform(dictionary.names).T.tocsc()

    def search(block: Sequence[str]) -> list[list[int]]:
        return list(map(dictionary.distinct, largest((vectorizer.transform(block) @ names).toarray())))

    return search
