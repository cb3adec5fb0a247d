"""Measure linkers of nymlink on every data set and dictionary, with TF-IDF and an untrained encoder to compare.

    python benchmarks/linking/bars.py FOLDER [--encoder MODEL ...] [--enriched VOCAB] [--meta VOCAB]
        [--fusion METHOD] [--weight SEARCH=WEIGHT ...] [--only TEXT ...] [--limit N] [--test] [--json FILE]

Rows: NCBI disease and BC5CDR disease with the bare dictionary (MEDIC), with training names (augmented) and with
borrowed names (enriched: ``nymlink vocab enrich`` wrote it); AskAPatient, ten folds, with its own labels as
dictionary, bare, enriched by what refers to its SNOMED CT ids in a merged vocabulary
(``nymlink vocab merge`` wrote it), and by what is called the same there, too; MedMentions, the mentions whose CUI
the merged vocabulary reaches; MedMentions mapped to MONDO; GSC+ to HPO. Encoders with one name are seeds of one
recipe: mean and standard deviation are over them and over folds.

An encoder that comes with a ranker is measured with it and without. All-MiniLM-L6-v2 as it is, in int8 like
nymlink-mini, is always among them, and has no ranker; ``across.py --encoder`` measures it with one.

Development splits by default, and no file of a test split is opened; ``--test`` shows the test splits instead, for
a last run. Everything is kept in FOLDER, vectors too: the same command goes on where it was interrupted. Reads
$NYMLINK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import bars, first, load
from benchmarks.ranking.ranked_encoders import UNTRAINED, untrained
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.ownership import MANIFEST
from nymlink.corpus.documents import Corpus
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, installed_ranker
from nymlink.evaluation.breakdown import UNSEEN
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.outcomes import DEPTH, GoldResolver, accuracy, as_array, outcomes
from nymlink.index.fusion import DENSE, EXACT_MATCH, METHODS, WEIGHTED, Fusion
from nymlink.index.index import Index
from nymlink.index.sparse.features import DEFAULT_PRESET, preset
from nymlink.linking.pipeline import Pipeline

Figures = Mapping[str, Any]
"""An evaluation as JSON values."""

_HYBRID: Final = "hybrid"
_UNRANKED: Final = "hybrid, no ranker"


def measure(
    folder: str,
    task: str,
    encoder: str | None,
    *,
    fusion: str,
    weights: Mapping[str, float],
    limit: int | None,
    **which: Any,
) -> dict[str, Any]:
    """Get the figures of one encoder on one task, from FOLDER if it has them.

    Args:
        folder: folder of results and vectors.
        task: its name.
        encoder: a folder or name; ``None`` for sparse search alone.
        fusion: how the searches are joined.
        weights: their weights; none for the default.
        limit: score only so many mentions of each corpus.
        which: selection of tasks, see :func:`tasks.bars`.
    """
    chosen = bars(**which)[task]
    loaded = None if encoder is None else Encoder.load(encoder)
    joined = Fusion.of((EXACT_MATCH, *preset(DEFAULT_PRESET), DENSE), fusion, weights or None)
    made_of = {
        "task": task,
        "dictionary": _stamp(data_root() / chosen.dictionary),
        "metathesaurus": which["metathesaurus"] and _stamp(Path(which["metathesaurus"])),
        "encoder": None if loaded is None else [loaded.fingerprint, joined.to_dict()],
        "ranker": None if loaded is None else installed_ranker(loaded.name, loaded.fingerprint),
        "limit": limit,
    }
    key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
    file = Path(folder) / "results" / f"{key}.json"
    if not file.exists():
        vocabulary, corpora = load(chosen, data_root())
        if limit is not None:
            corpora = [first(corpus, limit) for corpus in corpora]
        cache = EmbeddingCache(Path(folder) / "vectors")
        index = Index.build(vocabulary, encoder=loaded, languages=chosen.languages, cache=cache, progress=True)
        lines = {
            label: [readings(one, corpus) for corpus in corpora] for label, one in _lines(index, joined).items()
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as partial:
            report.save(partial, {**made_of, "lines": lines})
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _lines(index: Index, joined: Fusion) -> dict[str, Index]:
    """List the ways in which an index is measured. TF-IDF is sparse search without a ranker."""
    if DENSE not in index.search.parts:
        return {"": index.with_ranker(None)}
    hybrid = index.with_fusion(joined)
    return {_HYBRID: hybrid} | ({} if hybrid.ranker is None else {_UNRANKED: hybrid.with_ranker(None)})


def readings(index: Index, corpus: Corpus) -> dict[str, Any]:
    """Evaluate an index on a corpus, and count its names in the published ways, too.

    Returns:
        All figures of the evaluation except the ranks of the mentions; ``apart``, accuracies by name of the same
        queries with a place for each order of the words of a name; and ``published``, accuracies by name of the
        published queries, counted so.
    """
    default = evaluate(index, corpus)
    queries = [outcome.query for outcome in default.outcomes]
    found = Pipeline(index, composites="gold").search(corpus.documents, DEPTH)
    counted_apart = outcomes(found, queries, GoldResolver(index.vocabulary), as_published=True)
    ranks = as_array([outcome.name_rank for outcome in counted_apart])
    published = evaluate(index, corpus, as_published=True).figures
    return {
        **{name: value for name, value in default.to_dict().items() if name != "mentions"},
        "apart": {f"acc@{k}": accuracy(ranks, k) for k in (1, 5)},
        "published": {f"acc@{k}": published[f"acc@{k}"] for k in (1, 5)},
    }


def _stamp(path: Path) -> list[Any]:
    """Identify the contents of a dictionary, which may be replaced by another at the same path."""
    file = path / MANIFEST if path.is_dir() else path
    return [str(path), file.stat().st_size, file.stat().st_mtime_ns]


def rows(task: str, bar: Sequence[float] | None, contenders: Mapping[str, Sequence[Figures]]) -> list[list[str]]:
    """Format the lines of a task.

    Args:
        task: its name.
        bar: the figures to be reached.
        contenders: label → result of :func:`measure` for each of its encoders.
    """
    found = []
    for label, ones in contenders.items():
        for line in ones[0]["lines"]:
            folds = [fold for one in ones for fold in one["lines"][line]]
            unseen = [row for fold in folds for row in fold["breakdown"] if row["label"] == UNSEEN]
            found.append(
                [
                    task,
                    "" if bar is None else "/".join(f"{value:.1f}" for value in bar),
                    ", ".join(filter(None, (label, line))),
                    f"{sum(fold['n'] for fold in folds) // len(ones):,}",
                    _cell(folds, "acc"),
                    _cell(folds, "concept_acc"),
                    f"{sum(row['n'] for row in unseen) // len(ones):,}",
                    _cell(unseen, "acc"),
                ]
            )
    return found


def tables(result: Mapping[str, Mapping[str, Sequence[Figures]]]) -> dict[str, list[dict[str, Any]]]:
    """Make the tables of the documentation: a row for each task, columns for the linkers.

    Args:
        result: task → label → result of :func:`measure` for each of its encoders.

    Returns:
        ``by_concept``; ``by_name``, in three ways of counting; ``unseen``, of names that no dictionary has, by
        name. Linkers with an encoder are in the hybrid.
    """
    found: dict[str, list[dict[str, Any]]] = {"by_concept": [], "by_name": [], "unseen": []}
    for task, contenders in result.items():
        folds = {
            label: [fold for one in ones for fold in one["lines"][_HYBRID if _HYBRID in one["lines"] else ""]]
            for label, ones in contenders.items()
        }
        unseen = {
            label: [row for fold in of for row in fold["breakdown"] if row["label"] == UNSEEN]
            for label, of in folds.items()
        }
        first_of = next(iter(contenders))
        seeds = len(contenders[first_of])
        mentions = {"data, dictionary": task, "n": sum(fold["n"] for fold in folds[first_of]) // seeds}
        unseen_mentions = mentions | {"n": sum(row["n"] for row in unseen[first_of]) // seeds}
        counted = {
            f"{label}, {way}": _cell([fold[key] for fold in of] if key else of, "acc")
            for label, of in folds.items()
            for way, key in (("once", ""), ("apart", "apart"), ("as published", "published"))
        }
        unranked = {
            f"{label}, no ranker": _cell([fold for one in ones for fold in one["lines"][_UNRANKED]], "concept_acc")
            for label, ones in contenders.items()
            if _UNRANKED in ones[0]["lines"]
        }
        found["by_concept"].append(
            mentions | {label: _cell(of, "concept_acc") for label, of in folds.items()} | unranked
        )
        found["by_name"].append(mentions | counted)
        found["unseen"].append(unseen_mentions | {label: _cell(of, "acc") for label, of in unseen.items()})
    return found


def _cell(ones: Sequence[Figures], figure: str) -> str:
    """Format a figure at 1 and 5: mean and standard deviation in percent."""
    values = [[100 * one[f"{figure}@{k}"] for one in ones] for k in (1, 5)]
    return "/".join(
        f"{statistics.mean(of):.1f} ± {statistics.stdev(of):.1f}" if len(of) > 1 else f"{of[0]:.1f}"
        for of in values
        if of
    )


def text(lines: Sequence[Sequence[str]]) -> str:
    """Format the lines of all tasks as a table."""
    header = ("data, dictionary", "bar", "linker", "n", "by name @1/@5", "by concept", "unseen n", "unseen @1/@5")
    return report.table(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of results and vectors")
    parser.add_argument("--encoder", nargs="*", default=[MINI], help="the encoders beside TF-IDF and the base")
    parser.add_argument("--enriched", help="MEDIC with borrowed names: a vocabulary")
    parser.add_argument("--meta", help="the merged vocabulary")
    parser.add_argument("--fusion", choices=list(METHODS), default=WEIGHTED, help="how searches are joined")
    parser.add_argument("--weight", nargs="*", default=[], metavar="SEARCH=WEIGHT", help="of a search")
    parser.add_argument(
        "--only", nargs="*", default=[""], metavar="TEXT", help="tasks whose name has one of these"
    )
    parser.add_argument("--limit", type=int, help="only so many mentions of each corpus, to try it")
    parser.add_argument("--test", action="store_true", help="the test splits, for a last run")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    paths = {"enriched": arguments.enriched, "metathesaurus": arguments.meta}
    which = {"test": arguments.test} | {
        name: None if path is None else str(Path(path).resolve()) for name, path in paths.items()
    }
    weights = {name: float(weight) for name, weight in (one.split("=") for one in arguments.weight)}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    contenders: dict[str, Sequence[str | None]] = {"TF-IDF": [None], UNTRAINED: [untrained(arguments.folder)]}
    for encoder in arguments.encoder:
        contenders[Path(encoder).name] = [*contenders.get(Path(encoder).name, ()), encoder]
    lines, result = [], {}
    for name, task in bars(**which).items():
        if not any(part in name for part in arguments.only):
            continue
        print(name, file=sys.stderr)
        common = {"task": name, "folder": str(arguments.folder), "limit": arguments.limit, **which}
        joined = {"fusion": arguments.fusion, "weights": weights}
        # Each in a process of its own, so that the memory of a large vocabulary is released.
        result[name] = {
            label: [apart.run("linking.bars:measure", encoder=encoder, **common, **joined) for encoder in tried]
            for label, tried in contenders.items()
        }
        lines += rows(name, task.bar, result[name])
    print(text(lines))
    about = report.about(
        data="as the row says; rankers learned from mentions of NCBI disease, AskAPatient and MedMentions",
        split="test" if arguments.test else "dev (AskAPatient: validation)",
        dictionary="as the row says",
        counting="Acc@1/@5 by concept; by name where the section says so",
        seed=0,
    )
    report.save(arguments.json, {"about": about, **tables(result)})


if __name__ == "__main__":
    main()
