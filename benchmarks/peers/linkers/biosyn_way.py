"""BioSyn's way: inner products of vectors, and those of TF-IDF of character 1–2-grams, added with a weight.

The weight is learned with the encoder; of one that was not trained in this way it is 1 here. The matrix of n-grams
is kept sparse, which BioSyn's own code does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import vectors
from benchmarks.peers.dictionary import Dictionary, Search, largest


def build(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> None:
    """Write the vectors of all names, and the weights of their n-grams."""
    import joblib
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), dtype=np.float32)
    joblib.dump((vectorizer, vectorizer.fit_transform(dictionary.names).T.tocsc()), index / "sparse.joblib")
    vectors.build(dictionary, index, store=store, encoder=encoder, weights=weights)


def load(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> Search:
    """Read both, and load the encoder."""
    import joblib
    import numpy as np

    names = np.load(index / "vectors.npy")
    vectorizer, grams = joblib.load(index / "sparse.joblib")
    encode = vectors.encoder(encoder, weights)

    def search(block: Sequence[str]) -> list[list[int]]:
        scores = np.asarray(encode(block)) @ names.T
        scores += (vectorizer.transform(block) @ grams).toarray()
        return list(map(dictionary.distinct, largest(scores)))

    return search
