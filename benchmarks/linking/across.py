"""Measure what rankers learn, each time on a corpus that they did not learn from.

    python benchmarks/linking/across.py FOLDER [--encoder MODEL] [--only TEXT ...] [--json FILE]

Each set has mentions that people linked, and the vocabulary that they are linked to. Mentions with the same text
and answer are one question; at most 2,000 questions of a set are drawn. For each corpus, rankers learn from at
most 600 questions of each set of the other corpora, but not from documents that are in the corpus, too. Each set
counts as much in learning as the square root of its questions. The ranker that ships with the encoder is beside
them; it learned from two of the corpora. Accuracies are of distinct mentions, and of all occurrences. The standard
error of a gain comes from a bootstrap over concepts. Reads training and development parts from $NYMLINK_DATA or
../shared/data, and no test part. Indexes and questions are kept in FOLDER: the same command goes on where it was
interrupted.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.common import report, tasks
from benchmarks.common.inputs import data_root, unpack
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.corpus.read import read_corpus
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.index.plan import Plan
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker, order_of
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

MOST: Final = 2_000
"""Questions of a set."""

_LEARNED: Final = 600
"""Questions of a set from which rankers learn."""

_SEED: Final = 0
_RESAMPLED: Final = 1_000


@dataclass(frozen=True)
class Set:
    """A corpus with its vocabulary.

    Attributes:
        corpus: name of the corpus; sets of one corpus are left out together.
        vocabulary: name of the vocabulary.
        read: reader of the documents.
        types: types of the mentions; all if empty.
    """

    corpus: str
    vocabulary: str
    read: Callable[[Path], Corpus]
    types: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Corpus and vocabulary."""
        return f"{self.corpus} → {self.vocabulary}"


def pubtator(name: str, data: Path) -> Corpus:
    """Read a file of annotated abstracts."""
    return read_corpus(data / name)


def archive(name: str, parts: Sequence[str], data: Path) -> Corpus:
    """Read parts of an archive as one corpus."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(str(data / name), folder, parts=list(parts))
        corpora = [read_corpus(Path(folder) / part) for part in parts]
    return replace(corpora[0], documents=tuple(each for corpus in corpora for each in corpus.documents))


def craft(type_: str, data: Path) -> Corpus:
    """Read the full texts of CRAFT with the mentions of one ontology."""
    documents = []
    with gzip.open(data / "curated" / "craft" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            mentions = tuple(
                Mention(each["text"], each["start"], each["end"], concept_ids=(each["concept_id"],))
                for each in record["mentions"]
                if each["concept_id"].startswith(f"{type_}:")
            )
            documents.append(Document(str(record["id"]), record["text"], mentions))
    return Corpus("CRAFT", tuple(documents))


def terms(name: str, data: Path) -> Corpus:
    """Read a table of terms with the ids that curators gave them."""
    with open(data / "curated" / "terms" / name, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    mentions = tuple(
        Mention(row["mention"], concept_ids=(row["concept_id"],), language=row.get("language")) for row in rows
    )
    return Corpus(name, (Document(name, "", mentions),))


def _gsc(data: Path) -> Corpus:
    return tasks.load(tasks.gsc(), data)[1][0]


def _mondo(data: Path) -> Corpus:
    return tasks.load(tasks.mondo("dev"), data)[1][0]


_CDR: Final = partial(pubtator, "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz")
_BIORED, _TMVAR, _GNORM, _NLM, _S800, _BIOID = (
    partial(pubtator, f"curated/texts/{name}.PubTator.gz")
    for name in (
        "BioRED_TrainDev",
        "tmVar3_Train",
        "GNormPlus_Train",
        "NLMgene_Train",
        "SPECIES_Train",
        "BioID_Train_revision",
    )
)
_NCBI: Final = partial(
    archive,
    "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    ["ncbi-disease/processed_train", "ncbi-disease/processed_dev"],
)
_ASKED: Final = partial(
    archive, "corpora/askapatient/askapatient_10folds.tar.xz", ["askapatient/AskAPatient.fold-0.train.txt"]
)
_GENES: Final = frozenset({"Gene"})
_DISEASES: Final = frozenset({"Disease"})
_CHEMICALS: Final = frozenset({"Chemical"})

SETS: Final = (
    Set("NCBI disease", "medic", _NCBI),
    Set("BC5CDR", "medic", _CDR, _DISEASES),
    Set("BC5CDR", "mesh", _CDR, _CHEMICALS),
    Set("AskAPatient", "askapatient", _ASKED),
    Set("GSC+", "hpo", _gsc),
    Set("MedMentions", "mondo", _mondo),
    *(
        Set("CRAFT", prefix.lower(), partial(craft, prefix))
        for prefix in ("MONDO", "CL", "UBERON", "CHEBI", "GO", "NCBITaxon", "SO")
    ),
    Set("ClinVar traits", "mondo", partial(terms, "clinvar_traits.tsv")),
    Set("hospital labs", "labs", partial(terms, "hospital_labs_loinc.tsv")),
    Set("BioRED", "medic", _BIORED, _DISEASES),
    Set("BioRED", "mesh", _BIORED, _CHEMICALS),
    Set("BioRED", "ncbigene_human", _BIORED, _GENES),
    Set("tmVar", "medic", _TMVAR, _DISEASES),
    Set("tmVar", "ncbigene_human", _TMVAR, _GENES),
    Set("GNormPlus", "ncbigene_human", _GNORM, _GENES),
    Set("NLM-Gene", "ncbigene_human", _NLM, _GENES),
    Set("S800", "ncbitaxon", _S800),
    Set("BioID", "cellosaurus_human", _BIOID),
)


def vocabulary_of(name: str, data: Path) -> Vocabulary:
    """Read a vocabulary; that of the laboratory is the closed set of its table."""
    if name == "medic":
        return read_vocabulary(data / tasks.MEDIC)
    if name == "askapatient":
        return tasks.label_ontology(data / "corpora" / "askapatient" / "askapatient_label_ontology.json.gz")
    if name != "labs":
        return read_vocabulary(data / "vocabularies" / f"{name}.tsv.gz")
    builder = TableBuilder()
    with open(data / "curated" / "terms" / "hospital_labs_loinc.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            builder.concept(row["concept_id"])
            builder.name(row["concept_id"], row["loinc_name"], lang="en", kind="preferred")
    return Vocabulary.of((Source("LOINC of a laboratory", "table", file="labs"), builder.build()))


@dataclass(frozen=True, eq=False)
class Asked:
    """The questions of a set.

    Attributes:
        described: float32 (Q, K, F): features of the candidates, in the order of the index.
        right: bool (Q, K).
        times: int64 (Q): occurrences.
        concepts: int64 (Q): number of the answer, for the bootstrap.
        documents: the documents of each question.
    """

    described: npt.NDArray[np.float32]
    right: npt.NDArray[np.bool_]
    times: npt.NDArray[np.int64]
    concepts: npt.NDArray[np.int64]
    documents: list[frozenset[str]]


def ask(index: Index, chosen: Set, data: Path) -> Asked:
    """Ask an index for the mentions of a set."""
    resolver, pipeline = GoldResolver(index.vocabulary), Pipeline(index, composites="gold")
    times: dict[Any, int] = {}
    places: dict[Any, set[str]] = {}
    for document in chosen.read(data).documents:
        for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True):
            if chosen.types and mention.type not in chosen.types:
                continue
            if answer := resolver.rows(mention.concept_ids):
                for part in parts:
                    key = (part.question, answer)
                    times[key] = times.get(key, 0) + 1
                    places.setdefault(key, set()).add(document.id)
    keys = list(times)
    drawn = sorted(np.random.default_rng(_SEED).permutation(len(keys))[:MOST].tolist())
    keys = [keys[place] for place in drawn]
    labelled = LabelledQuestions.of(index, [question for question, _ in keys], [answer for _, answer in keys])
    return Asked(
        labelled.described,
        labelled.right,
        np.array([times[key] for key in keys]),
        np.array([min(answer) for _, answer in keys]),
        [frozenset(places[key]) for key in keys],
    )


def opened(name: str, encoder: str, folder: Path, data: Path) -> Index:
    """Open the index of a vocabulary, or build it first; its ranker is that which the encoder has now."""
    directory = folder / name
    if not directory.exists():
        languages = None if name in ("medic", "askapatient", "labs") else ("en",)
        vocabulary = vocabulary_of(name, data)
        Index.build(vocabulary, encoder=encoder, languages=languages, directory=directory, progress=True)
    index = Index.load(directory)
    plan = Plan.from_dict(index.settings)
    index = index.with_ranker(plan.ranker)
    return index if plan.calibration is None else index.with_calibration(plan.calibration)


def asked(chosen: Set, encoder: str, folder: Path, data: Path) -> Asked:
    """Read the questions of a set, or ask for them first."""
    path = folder / f"{chosen.name.replace(' ', '_')}.npz"
    if not path.exists():
        made = ask(opened(chosen.vocabulary, encoder, folder, data), chosen, data)
        with atomic_file(path) as partial_, partial_.open("wb") as file:
            np.savez(
                file,
                described=made.described,
                right=made.right,
                times=made.times,
                concepts=made.concepts,
                documents=np.array(["\t".join(sorted(each)) for each in made.documents]),
            )
    with np.load(path) as arrays:
        return Asked(
            arrays["described"],
            arrays["right"],
            arrays["times"],
            arrays["concepts"],
            [frozenset(each.split("\t")) for each in arrays["documents"].tolist()],
        )


Scorer = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]
"""Function from features (Q, K, F) to scores (Q, K), minus infinity at places without a candidate."""


def index_order(described: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Score candidates by their place in the order of the index."""
    return _at_candidates(described, -described[:, :, NAMES.index("place")])


def _at_candidates(
    described: npt.NDArray[np.float32], scores: npt.NDArray[np.floating]
) -> npt.NDArray[np.float32]:
    there = ~np.isnan(described).all(axis=2)
    return np.where(there, scores, -np.inf).astype(np.float32)


def trees(learned: LabelledQuestions, settings: BoostingSettings) -> Scorer:
    """Learn trees."""
    found = learn_trees(learned, settings)
    return lambda described: _at_candidates(described, _evaluated(found, described))


def _evaluated(found: Trees, described: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return found.evaluate(described.reshape(-1, described.shape[2])).reshape(described.shape[:2])


def linear(learned: LabelledQuestions, ridge: float = 10.0) -> Scorer:
    """Learn a linear score with the loss of the trees: the baseline of rankers."""
    there = ~np.isnan(learned.described).all(axis=2)
    values = learned.described[there].astype(np.float64)
    mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0) + 1e-6
    scaled = np.nan_to_num((learned.described - mean) / spread).clip(-5, 5)
    right, weights = learned.right & there, learned.weights
    answerable = right.any(axis=1)

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = np.where(there, scaled @ flat[:-1] + flat[-1], -np.inf)
        largest = np.maximum(scores.max(axis=1, keepdims=True), 0)
        raised = np.exp(scores - largest)
        nothing = np.exp(-largest[:, 0])
        total = raised.sum(axis=1) + nothing
        wanted = np.where(answerable, (raised * right).sum(axis=1), nothing)
        share = raised / total[:, None]
        target = np.where(right, raised, 0) / np.maximum(wanted, 1e-300)[:, None] * answerable[:, None]
        slope = (share - target) * weights[:, None]
        gradient = np.append(np.einsum("qk,qkf->f", slope, scaled), slope.sum())
        gradient[:-1] += ridge * flat[:-1]
        value = -(weights * np.log(np.maximum(wanted / total, 1e-300))).sum()
        return float(value + ridge / 2 * (flat[:-1] ** 2).sum()), gradient

    found = minimize(loss, np.zeros(len(NAMES) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return lambda described: _at_candidates(
        described, np.nan_to_num((described - mean) / spread).clip(-5, 5) @ found[:-1] + found[-1]
    )


def guided(learned: LabelledQuestions, settings: BoostingSettings) -> Scorer:
    """Learn trees that correct the linear score, and stay near it where they have seen little."""
    base = linear(learned)
    start = np.nan_to_num(base(learned.described), neginf=0)
    found = learn_trees(learned, settings, start=start)
    return lambda described: base(described) + _evaluated(found, described)


RANKERS: Final[Mapping[str, Callable[[LabelledQuestions], Scorer]]] = {
    "trees": partial(trees, settings=BoostingSettings(trees=120, depth=4, ridge=10.0)),
    "linear": linear,
    "linear and trees": partial(guided, settings=BoostingSettings(trees=100, depth=3, ridge=30.0)),
}


def learnable(parts: Iterable[tuple[Asked, frozenset[str]]]) -> LabelledQuestions:
    """Join the questions of sets without those of some documents; each set counts as the root of its questions."""
    joined = []
    for part, hidden in parts:
        kept = np.array([each.isdisjoint(hidden) for each in part.documents])
        kept[np.random.default_rng(_SEED).permutation(len(kept))[_LEARNED:]] = False
        if not kept.any():
            continue
        labelled = LabelledQuestions(part.described[kept], part.right[kept], np.ones(kept.sum()))
        joined.append(labelled.weighted(kept.sum() ** -0.5))
    found = LabelledQuestions.joined(joined)
    return replace(found, weights=found.weights / found.weights.mean())


def accuracies(part: Asked, scores: npt.NDArray[np.float32]) -> dict[int, npt.NDArray[np.bool_]]:
    """Say for each question whether a right candidate is the first, and among the first five."""
    ordered = np.take_along_axis(part.right, order_of(part.described, scores), 1)
    return {k: ordered[:, :k].any(axis=1) for k in (1, 5)}


def gain(part: Asked, after: npt.NDArray[np.bool_], before: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Compare accuracies on distinct mentions: the gain in points, and its standard error over concepts."""
    _, group = np.unique(part.concepts, return_inverse=True)
    differences = np.bincount(group, after.astype(float) - before)
    sizes = np.bincount(group)
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(len(sizes), size=(_RESAMPLED, len(sizes)))
    means = differences[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return 100 * float(after.mean() - before.mean()), 100 * float(means.std())


def compare(
    sets: Mapping[str, Asked], corpus_of: Mapping[str, str], shipped: Scorer | None
) -> list[dict[str, Any]]:
    """Measure every ranker on every corpus, learned from the others.

    Returns:
        A row for each set, and their mean: Acc@1/@5 of distinct mentions, with the gain at the first candidate;
        and Acc@1 of all occurrences.
    """
    given = {} if shipped is None else {"shipped": shipped}
    found: dict[str, dict[str, dict[int, npt.NDArray[np.bool_]]]] = {name: {} for name in sets}
    for corpus in track(dict.fromkeys(corpus_of.values()), "leaving out"):
        own = [name for name in sets if corpus_of[name] == corpus]
        hidden = frozenset[str]().union(*(each for name in own for each in sets[name].documents))
        learned = learnable((sets[name], hidden) for name in sets if name not in own)
        scorers = {"index": index_order, **given} | {label: learn(learned) for label, learn in RANKERS.items()}
        for name in own:
            found[name] = {
                label: accuracies(sets[name], scorer(sets[name].described)) for label, scorer in scorers.items()
            }
    labels = ("index", *given, *RANKERS)
    rows = []
    gains: dict[str, list[tuple[float, float]]] = {label: [] for label in labels}
    for name, part in sets.items():
        row: dict[str, Any] = {"corpus → vocabulary": name, "mentions": len(part.times)}
        for label in labels:
            after = found[name][label]
            row[label] = "/".join(f"{100 * after[k].mean():.1f}" for k in (1, 5))
            if label != "index":
                first, error = gain(part, after[1], found[name]["index"][1])
                row[label] += f", {first:+.1f} ± {error:.1f}"
                gains[label].append((first, error))
        for label in labels:
            every = np.average(found[name][label][1], weights=part.times)
            row[f"{label}, occurrences"] = f"{100 * every:.1f}"
        rows.append(row)
    mean: dict[str, Any] = {"corpus → vocabulary": "mean", "mentions": sum(row["mentions"] for row in rows)}
    for label in labels:
        at = [np.mean([100 * found[name][label][k].mean() for name in sets]) for k in (1, 5)]
        mean[label] = "/".join(f"{each:.2f}" for each in at)
        if gains[label]:
            firsts, errors = map(np.array, zip(*gains[label], strict=True))
            mean[label] += f", {firsts.mean():+.2f} ± {np.sqrt((errors**2).sum()) / len(errors):.2f}"
    for label in labels:
        mean[f"{label}, occurrences"] = f"{np.mean([float(row[f'{label}, occurrences']) for row in rows]):.1f}"
    return [*rows, mean]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes and questions")
    parser.add_argument("--encoder", default=MINI, help="the encoder of the indexes")
    parser.add_argument("--only", nargs="*", default=[""], metavar="TEXT", help="sets whose name has one of these")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    folder = arguments.folder / Encoder.load(arguments.encoder).fingerprint[:12]
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [each for each in SETS if any(text in each.name for text in arguments.only)]
    sets = {each.name: asked(each, arguments.encoder, folder, data_root()) for each in track(chosen, "asking")}
    ranker = Ranker.of(opened(chosen[0].vocabulary, arguments.encoder, folder, data_root()))
    rows = compare(sets, {each.name: each.corpus for each in chosen}, None if ranker is None else ranker.scores)
    header = list(rows[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    about = report.about(
        data="as the row says; rankers learned from the other corpora",
        split="training and development parts",
        dictionary="bare, English names",
        counting="Acc@1/@5 by concept of distinct mentions, and the gain at the first over the order of the index",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    distinct, occurrences = (
        [{key: row[key] for key in row if ("occurrences" in key) == every or key == header[0]} for row in rows]
        for every in (False, True)
    )
    about["parts"] = {"occurrences": {"counting": "Acc@1 by concept of all occurrences"}}
    report.save(arguments.json, {"about": about, "across": distinct, "occurrences": occurrences})


if __name__ == "__main__":
    main()
