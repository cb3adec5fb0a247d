"""Measure nymlink-xl-mini on XL-BEL, beside its bases, and the stages of Liu et al. (ACL 2021) with ``--stages``.

    python -m recipes.xl_mini.xlbel FOLDER --e5 MODEL [--stages] [--data DATA] [--json FILE]

The dictionary has the concepts of open tables that UMLS knows. The stages start from multilingual-e5-small:
``en_syn`` and ``all_syn`` learn synonyms, then words and their translations follow (Wiktionary, and MUSE beside
it). Neither may be learned by a model that is shipped: these are experiments. FOLDER is that of the other stages;
in an empty one the tables are merged first. What was measured is kept there, and not measured again.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.common.report import about, save
from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.read import read_corpus
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, XL_MINI
from nymlink.index.index import Index
from nymlink.pairs.pairs import PAIRS
from nymlink.train.names.pair_trainings import train_sap, train_translation
from nymlink.train.settings.encoder_trainings import SapSettings, TranslationSettings
from nymlink.vocabulary.tables import Tables
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.xlbel.evaluate import evaluate_languages, find_queries
from recipes import mixture
from recipes.xl_mini import figures
from recipes.xl_mini.data import make

LANGUAGES: Final = ("en", "es", "de", "fi", "ru", "tr", "ko", "zh", "ja", "th")
"""In the order of the paper."""

STEPS: Final = 300
"""Of each stage; one of 256 pairs."""

SETTINGS: Final = {
    "learning_rate": 1e-4,
    "schedule": "linear",
    "warm_up": 0.05,
    "batch_pairs": 256,
    "max_length": 32,
    "checkpoint_minutes": 3.0,
}

SYNONYMS: Final[Mapping[str, Mapping[str, float]]] = {
    "en_syn": {"english": 1.0},
    "all_syn": {"english": 0.4, "translations": 0.4, "synonyms": 0.2},
}
"""Shares of the pairs of each stage: English synonyms, names with English ones, synonyms in one language."""

TRANSLATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "all_syn, wt": ("en-{}.wiktionary.tsv.gz",),
    "all_syn, wt+muse": ("en-{}.wiktionary.tsv.gz", "en-{}.tsv.gz"),
}
"""Files of the translations of each stage that follows ``all_syn``."""

STAGES: Final = (*SYNONYMS, *TRANSLATIONS)
"""The stages of the paper, in its order."""

Result = dict[str, Any]
"""Figures of a stage in a language, as ``nymlink xlbel evaluate`` writes them."""

_KEPT: Final = frozenset(
    "stage language own_names context n covered gold_concepts covered_concepts "
    "acc@1 acc@5 concept_acc@1 concept_acc@5 covered_figures".split()
)


def train_stages(folder: Path, data: Path, base: str, *, seed: int) -> dict[str, Path]:
    """Train the stages from a base, or go on with them; the folder of each."""
    places = {}
    for stage, shares in SYNONYMS.items():
        pairs, output = folder / f"{stage}.parquet", folder / stage
        if not pairs.exists():
            table = synonym_pairs(folder, shares, seed=seed)
            with atomic_file(pairs) as partial:
                pq.write_table(table, partial)
        train_sap(
            SapSettings(pairs=str(pairs), base=base, output=str(output), seed=seed, max_steps=STEPS, **SETTINGS),
            progress=True,
        )
        places[stage] = output
    for stage, names in TRANSLATIONS.items():
        files = [data / "bitext" / name.format(code) for code in LANGUAGES[1:] for name in names]
        output = folder / stage.replace(", ", "-")
        train_translation(
            TranslationSettings(
                translations=tuple(str(file) for file in files if file.exists()),
                base=str(places["all_syn"]),
                output=str(output),
                seed=seed,
                max_steps=STEPS,
                **SETTINGS,
            ),
            progress=True,
        )
        places[stage] = output
    return places


def synonym_pairs(folder: Path, shares: Mapping[str, float], *, seed: int) -> pa.Table:
    """Draw the pairs of a stage: columns of :data:`PAIRS`."""
    draw = np.random.default_rng(seed)
    translations = pq.read_table(folder / "translations.parquet")
    sources = {
        "english": lambda: mixture.mixture(Vocabulary.load(folder / "merged"), seed=seed),
        "translations": lambda: translations.select(["concept", "english", "name"]).rename_columns(PAIRS.names),
        "synonyms": lambda: pq.read_table(folder / "synonyms.parquet"),
    }
    parts = []
    for name, share in shares.items():
        table = sources[name]()
        wanted = min(len(table), round(share * STEPS * SETTINGS["batch_pairs"]))
        parts.append(table.take(draw.choice(len(table), wanted, replace=False)).cast(PAIRS))
    return pa.concat_tables(parts)


def dictionary(folder: Path) -> Vocabulary:
    """Keep the concepts of the merged vocabulary that UMLS knows."""
    whole = Vocabulary.load(folder / "merged")
    columns = whole.columns.concepts
    known = [
        row
        for row, ids in enumerate(zip(columns["id"].to_pylist(), columns["xrefs"].to_pylist(), strict=True))
        if any(id_.startswith("UMLS:") for id_ in (ids[0], *ids[1]))
    ]
    ids = columns["id"].take(known)
    return Vocabulary.of(*((source, _only(tables, ids)) for source, tables in whole.parts()))


def evaluate(folder: Path, data: Path, stage: str, encoder: str | None, *, sparse: str) -> list[Result]:
    """Ask the queries of XL-BEL of an index.

    Args:
        folder: folder with the merged vocabulary.
        data: folder with the queries.
        stage: name of the index in the results.
        encoder: encoder of the index; ``None`` for none.
        sparse: sparse search of the index.
    """
    files = find_queries([data / "corpora/xlbel/v1.0"], LANGUAGES)
    queries = {code: read_corpus(file) for code, file in files.items()}
    known = None if encoder is None else Encoder.load(encoder)
    cache = EmbeddingCache(folder / "vectors")
    index = Index.build(dictionary(folder), sparse=sparse, encoder=known, cache=cache, progress=True)
    results = evaluate_languages({stage: index.with_ranker(None)}, queries, without_own_names=True, progress=True)
    return [{name: value for name, value in result.to_dict().items() if name in _KEPT} for result in results]


def table(results: Iterable[Result], *, own_names: bool) -> list[dict[str, str]]:
    """Arrange Acc@1 of covered mentions, by concept, as rows: a stage each, in percent by language.

    Args:
        results: those of all stages.
        own_names: whether names in the language of the queries are in the dictionary.
    """
    rows = defaultdict[str, dict[str, float]](dict)
    for result in results:
        if result["own_names"] == own_names:
            rows[result["stage"]][result["language"]] = 100 * result["covered_figures"]["concept_acc@1"]
    return [
        {
            "stage": stage,
            **{code: f"{row[code]:.1f}" for code in LANGUAGES if code in row},
            "mean but en": f"{np.mean([row[code] for code in LANGUAGES[1:] if code in row]):.1f}",
        }
        for stage, row in rows.items()
    ]


def covered(results: Sequence[Result]) -> list[dict[str, str]]:
    """Count the mentions whose concept the dictionary has, with and without names in their own language."""
    stage = results[0]["stage"]
    rows = defaultdict[str, dict[str, str]](dict)
    for result in results:
        if result["stage"] == stage:
            row = rows[result["language"]]
            row["language"], row["mentions"] = result["language"], f"{result['n']:,}"
            row["covered" if result["own_names"] else "covered, own names out"] = f"{result['covered']:,}"
    return list(rows.values())


def measure(folder: Path, data: Path, encoders: Mapping[str, str]) -> list[Result]:
    """Measure search by spelling, each encoder alone, and the last one in the hybrid."""
    [*_, (last, place)] = encoders.items()
    rows = [("character TF-IDF", None, "nymlink"), *((name, each, "none") for name, each in encoders.items())]
    rows.append((f"{last}, hybrid", place, "nymlink"))
    results = []
    for name, each, sparse in rows:
        key = f"XL-BEL by {name}"
        figures.keep(folder, key, partial(evaluate, folder, data, name, each, sparse=sparse))
        results += figures.read(folder)[key]
    return results


def main() -> None:
    """Measure and print; also write the figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the recipe, or an empty one")
    parser.add_argument("--e5", required=True, help="multilingual-e5-small, as nymlink loads it")
    parser.add_argument("--stages", action="store_true", help="also train and measure the stages of the paper")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data")
    parser.add_argument("--json", type=Path, help="file of the figures")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    make(arguments.data, folder, seed=0)
    encoders = {"nymlink-mini": MINI, "multilingual-e5-small": arguments.e5}
    if arguments.stages:
        places = train_stages(folder, arguments.data, arguments.e5, seed=0)
        encoders |= {stage: str(place) for stage, place in places.items()}
    results = measure(folder, arguments.data, {**encoders, "nymlink-xl-mini": XL_MINI})
    found = {
        "xlbel": table(results, own_names=True),
        "xlbel_own_names_out": table(results, own_names=False),
        "xlbel_covered": covered(results),
    }
    for name, rows in found.items():
        print(name, *("  ".join(row.values()) for row in rows), sep="\n")
    known = f"{len(dictionary(folder)):,} concepts with UMLS ids of open tables"
    told = about(
        command=f"python -m recipes.xl_mini.xlbel {' '.join(sys.argv[1:])}",
        data="XL-BEL v1.0, 1,000 mentions a language; mentions whose concept the dictionary has",
        split="test",
        dictionary=f"{known}, names in all their languages",
        counting="Acc@1 by concept, vectors alone where a row does not say hybrid",
        encoder="nymlink-xl-mini",
        seed=0,
    )
    parts = {
        "xlbel_own_names_out": {"dictionary": f"{known}, without names in the language asked"},
        "xlbel_covered": {"counting": "mentions"},
    }
    if arguments.json:
        save(arguments.json, {"about": {**told, "parts": parts}, **found, "results": results})


def _only(tables: Tables, ids: pa.ChunkedArray) -> Tables:
    """Restrict the tables of a source to some concepts."""
    return replace(
        tables,
        concepts=tables.concepts.filter(pc.is_in(tables.concepts["id"], ids)),
        names=tables.names.filter(pc.is_in(tables.names["concept_id"], ids)),
        redirects=tables.redirects.slice(0, 0),
    )


if __name__ == "__main__":
    main()
