"""Write what peers are asked: dictionaries with mentions to link, one with texts to annotate, growing ones."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

from benchmarks.common.inputs import data_root, ontology, unpack
from benchmarks.peers.dictionary import Dictionary

SETS: Final = ("NCBI", "BC5CDR")
SEED: Final = 0

_GSC: Final = "corpora/hpo_gsc/gscplus_dev_half.tar.gz"
_GROWTH_QUERIES: Final = 256


def dictionaries(*, test: bool) -> dict[str, Any]:
    """Group the tasks by their dictionaries: equal files are one.

    Returns:
        ``groups``: the names of the tasks of each.
    """
    from benchmarks.common.tasks import DEVELOPMENT, TEST

    groups: dict[str, list[str]] = {}
    for task in TEST if test else DEVELOPMENT:
        if task.name.startswith(SETS):
            digest = sha256((data_root() / task.dictionary).read_bytes()).hexdigest()
            groups.setdefault(digest, []).append(task.name)
    return {"groups": list(groups.values())}


def linking(tasks: list[str], folder: str, *, limit: int | None) -> dict[str, Any]:
    """Write the dictionary of some tasks, their mentions, and the distinct queries of all.

    Args:
        tasks: their names; all have the same dictionary.
        folder: folder to write to.
        limit: most mentions of a task.
    """
    from benchmarks.common.tasks import DEVELOPMENT, TEST, first, load
    from nymlink.evaluation.outcomes import GoldResolver
    from nymlink.index.entries.entries import Entries
    from nymlink.linking.queries import queries

    mentions: dict[str, list[dict[str, Any]]] = {}
    for task in (one for one in (*DEVELOPMENT, *TEST) if one.name in tasks):
        vocabulary, [corpus] = load(task, data_root())
        # All linkers are scored by the names of the dictionary, not by the entries of an index.
        entries, resolver = Entries.of(vocabulary), GoldResolver(vocabulary)
        mentions[task.name] = [
            {"parts": [part.text for part in asked], "gold": sorted(resolver.rows(mention.concept_ids))}
            for document in (corpus if limit is None else first(corpus, limit)).documents
            for mention, asked in zip(
                document.mentions,
                queries(document, entries, composites="gold", as_published=True),
                strict=True,
            )
            if mention.concept_ids
        ]
    owners = vocabulary.columns.names["concept"].to_numpy()
    asked = (part for own in mentions.values() for mention in own for part in mention["parts"])
    vocabulary.save(Path(folder) / "vocabulary")
    _write(
        folder,
        names=entries.texts.to_pylist(),
        concepts=[sorted(entries.concepts(row, owners)) for row in range(len(entries))],
        mentions=mentions,
        queries=list(dict.fromkeys(asked)),
    )
    return {"names": len(entries)}


def annotating(folder: str, *, limit: int | None) -> dict[str, Any]:
    """Write the names of HPO, as they are written there, and the texts of the development half of GSC+."""
    from nymlink.vocabulary.read import read_vocabulary

    vocabulary = read_vocabulary(ontology())
    corpus = texts(folder)
    gone = vocabulary.columns.concepts["obsolete"].to_pylist()
    concepts: dict[str, list[int]] = {}
    for name, owner in zip(
        *(vocabulary.columns.names[what].to_pylist() for what in ("text", "concept")), strict=True
    ):
        own = concepts.setdefault(name, [])
        if not gone[owner] and owner not in own:
            own.append(owner)
    kept = {name: own for name, own in concepts.items() if own}
    vocabulary.save(Path(folder) / "vocabulary")
    copyfile(ontology(), Path(folder) / "hp.obo")
    _write(
        folder,
        names=list(kept),
        concepts=list(kept.values()),
        ids=vocabulary.columns.concepts["id"].to_pylist(),
        texts=[document.text for document in corpus.documents][:limit],
    )
    return {"names": len(kept), "texts": len(corpus.documents[:limit])}


def texts(folder: str) -> Any:
    """Read the development half of GSC+, unpacked into a folder."""
    from nymlink.corpus.read import read_corpus

    place = Path(folder) / "GSC+"
    if not place.is_dir():
        unpack(str(data_root() / _GSC), folder, parts=["GSC+"])
    return read_corpus(place, format="gsc")


def growing(folder: str, sizes: list[int], asked: str, read: str) -> dict[str, Any]:
    """Write dictionaries of the first of all English names of the open vocabularies, in a random order.

    Args:
        folder: one folder for each size is made in it.
        sizes: numbers of names.
        asked: folder of the dictionary whose mentions are asked, some of them.
        read: folder of that whose texts are annotated.
    """
    from nymlink.vocabulary.concepts import Source
    from nymlink.vocabulary.tables import TableBuilder
    from nymlink.vocabulary.vocabulary import Vocabulary

    names, concepts = _union(sorted((data_root() / "vocabularies").glob("*.tsv.gz")))
    order = random.Random(SEED).sample(range(len(names)), min(max(sizes), len(names)))
    queries = random.Random(SEED).sample(
        Dictionary(asked).queries, min(_GROWTH_QUERIES, len(Dictionary(asked).queries))
    )
    for size in sizes:
        some = order[:size]
        builder, known = TableBuilder(), set()
        for row in some:
            own = f"N:{concepts[row]}"
            if own not in known:
                builder.concept(own)
                known.add(own)
            builder.name(own, names[row], lang="en", kind="exact")
        vocabulary = Vocabulary.of((Source("Open vocabularies", f"{size} names"), builder.build()))
        place = Path(folder) / str(size)
        vocabulary.save(place / "vocabulary")
        numbers = {id_: row for row, id_ in enumerate(vocabulary.columns.concepts["id"].to_pylist())}
        _write(
            place,
            names=[names[row] for row in some],
            concepts=[[numbers[f"N:{concepts[row]}"]] for row in some],
            ids=list(numbers),
            queries=queries,
            texts=Dictionary(read).texts,
        )
    return {"names": len(names)}


def _union(tables: Iterable[Path]) -> tuple[list[str], list[str]]:
    """Read the distinct English names of tables, in lower case, each with the concept that has it first."""
    found: dict[str, str] = {}
    for table in tables:
        with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                name = " ".join(row["name"].lower().split())
                if row["lang"] == "en" and name:
                    found.setdefault(name, row["concept_id"])
    return list(found), list(found.values())


def _write(folder: str | Path, **values: Any) -> None:
    for what, value in values.items():
        (Path(folder) / f"{what}.json").write_text(json.dumps(value), encoding="utf-8")
