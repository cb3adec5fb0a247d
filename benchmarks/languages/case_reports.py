"""Link Spanish findings of case reports to ICD-10-CM, whose names are English.

    python -m benchmarks.languages.case_reports FOLDER [--encoder NAME ...] [--part dev] [--json FILE]

The mentions are CodiEsp's evidence (train: for choices; dev: for reports). TF-IDF is character TF-IDF of
scikit-learn over the same names. FOLDER keeps the indexes and vectors.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.inputs import LETTERS, encoder_of
from benchmarks.common.report import publish, table
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.folder import MINI, XL_MINI
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary

TFIDF: Final = "scikit-learn, TF-IDF"
VOCABULARY: Final = "icd10cm"
DEPTH: Final = 5


def main() -> None:
    """Measure and print, and write where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes and vectors")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data")
    parser.add_argument("--encoder", nargs="+", default=[LETTERS, MINI, XL_MINI], help="encoders to measure")
    parser.add_argument("--part", choices=["train", "dev"], default="train", help="part of CodiEsp")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    mentions = read(arguments.data / "curated" / "terms" / f"codiesp_{arguments.part}.tsv")
    vocabulary = arguments.data / "vocabularies" / f"{VOCABULARY}.tsv.gz"
    body = []
    for encoder in [TFIDF, *arguments.encoder]:
        if encoder == TFIDF:
            found = nearest(vocabulary, [mention for mention, _ in mentions])
        else:
            linker = Linker(_index(arguments.folder, vocabulary, encoder), language="es", top_k=DEPTH)
            links = linker.link([mention for mention, _ in mentions])
            found = [[candidate.concept_id for candidate in link.candidates] for link in links]
        shares = [
            100 * np.mean([gold in ids[:k] for ids, (_, gold) in zip(found, mentions, strict=True)])
            for k in (1, DEPTH)
        ]
        body.append([Path(encoder).name, *(f"{share:.1f}" for share in shares)])
        print(" ".join(body[-1]), flush=True)
    text = table(["search", "Acc@1", "Acc@5"], body)
    publish(
        arguments.json,
        text,
        ["case_reports"],
        data=f"CodiEsp, {len(mentions):,} distinct pairs of mention and code",
        split=arguments.part,
        dictionary="ICD-10-CM, English names",
        counting="by concept, each pair once",
        encoder=", ".join(Path(encoder).name for encoder in arguments.encoder),
        seed=None,
    )


def read(path: Path) -> list[tuple[str, str]]:
    """Read distinct mentions with their codes."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return list(dict.fromkeys((line["mention"], line["concept_id"]) for line in lines))


def nearest(vocabulary: Path, mentions: Sequence[str]) -> list[list[str]]:
    """List the concepts of the nearest names of each mention by character TF-IDF."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    columns = read_vocabulary(vocabulary).columns
    concepts = np.array(columns.concepts["id"].to_pylist(), object)
    owners = np.repeat(concepts, np.diff(columns.name_offsets))
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
    names = vectorizer.fit_transform(map(normalise, columns.names["text"].to_pylist())).T.tocsr()
    found = []
    for mention in mentions:
        scores = (vectorizer.transform([normalise(mention)]) @ names).toarray()[0]
        best = np.argsort(-scores, kind="stable")[: 10 * DEPTH]
        found.append(list(dict.fromkeys(owners[best].tolist()))[:DEPTH])
    return found


def _index(folder: Path, vocabulary: Path, encoder: str) -> Index:
    directory = folder / f"index-{Path(encoder).name}-{VOCABULARY}"
    if not directory.exists():
        Index.build(
            read_vocabulary(vocabulary),
            encoder=encoder_of(encoder),
            cache=EmbeddingCache(folder / "vectors"),
            directory=directory,
            progress=True,
        )
    return Index.load(directory)


if __name__ == "__main__":
    main()
