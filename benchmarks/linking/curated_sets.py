"""What curators decided: mentions with their vocabularies, and questions to learn from and to measure on.

Indexes and questions are kept in a folder: a script goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.common import tasks
from benchmarks.common.inputs import encoder_of, unpack
from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.corpus.read import read_corpus
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.evaluation.calibration_data import draw_absent_names
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.index.plan import Plan
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.retrieval import Question
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

MOST: Final = 2_000
"""Questions of a set."""

_LEARNED: Final = 600
"""Questions of a set from which rankers learn."""

_SEED: Final = 0

TREES: Final = BoostingSettings(trees=120, depth=4, ridge=10.0)
"""Settings of the trees that learn from the sets."""

LEARNED_FROM: Final = "curated mentions of 12 corpora"
"""Description of a ranker that has these trees last, after those of another ranker."""

_EACH: Final = 60
"""Unanswerable questions of each of two kinds from a set."""

_WEIGHT: Final = 0.3
"""Weight of an unanswerable question."""

_SEARCHED: Final = 400
"""Questions from which those with hidden concepts are drawn."""


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


def parser_of(description: str | None, *, encoder: str = MINI) -> argparse.ArgumentParser:
    """Make the parser of a script that measures an encoder on the sets.

    Args:
        description: description of the script.
        encoder: the encoder by default.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder that keeps indexes and questions")
    parser.add_argument("--encoder", default=encoder, help="encoder of the indexes, or letters for none")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    return parser


def folder_of(folder: Path, encoder: str) -> Path:
    """Make the folder of an encoder's indexes and questions."""
    name = encoder_of(encoder)
    own = folder / (encoder if name is None else Encoder.load(name).fingerprint[:12])
    own.mkdir(parents=True, exist_ok=True)
    return own


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


class Distinct(NamedTuple):
    """A question of a set.

    Attributes:
        question: the question.
        other: the question that another index makes of the same mention.
        answer: rows of the right concepts.
        times: occurrences.
        documents: its documents.
    """

    question: Question
    other: Question
    answer: frozenset[int]
    times: int
    documents: frozenset[str]


def distinct_questions(index: Index, chosen: Set, data: Path, other: Index | None = None) -> list[Distinct]:
    """Draw the questions of a set.

    Args:
        index: the index of its vocabulary.
        chosen: the set.
        data: the data folder.
        other: another index of the same concepts; ``None`` for the same index.
    """
    resolver, pipeline = GoldResolver(index.vocabulary), Pipeline(index, composites="gold")
    second = pipeline if other is None else Pipeline(other, composites="gold")
    times: dict[tuple[Question, frozenset[int]], int] = {}
    places: dict[tuple[Question, frozenset[int]], set[str]] = {}
    others: dict[tuple[Question, frozenset[int]], Question] = {}
    for document in chosen.read(data).documents:
        own = pipeline.queries(document)
        again = own if second is pipeline else second.queries(document)
        for mention, parts, other_parts in zip(document.mentions, own, again, strict=True):
            if chosen.types and mention.type not in chosen.types:
                continue
            if answer := resolver.rows(mention.concept_ids):
                for number, part in enumerate(parts):
                    key = (part.question, answer)
                    times[key] = times.get(key, 0) + 1
                    places.setdefault(key, set()).add(document.id)
                    others.setdefault(key, other_parts[min(number, len(other_parts) - 1)].question)
    keys = list(times)
    drawn = sorted(np.random.default_rng(_SEED).permutation(len(keys))[:MOST].tolist())
    return [
        Distinct(key[0], others[key], key[1], times[key], frozenset(places[key]))
        for key in (keys[place] for place in drawn)
    ]


def ask(index: Index, chosen: Set, data: Path) -> Asked:
    """Ask an index for the mentions of a set."""
    drawn = distinct_questions(index, chosen, data)
    labelled = LabelledQuestions.of(index, [each.question for each in drawn], [each.answer for each in drawn])
    return Asked(
        labelled.described,
        labelled.right,
        np.array([each.times for each in drawn]),
        np.array([min(each.answer) for each in drawn]),
        [each.documents for each in drawn],
    )


def opened(name: str, encoder: str, folder: Path, data: Path) -> Index:
    """Open the index of a vocabulary, or build it first; its ranker is that which the encoder has now."""
    directory = folder / name
    if not directory.exists():
        languages = None if name in ("medic", "askapatient", "labs") else ("en",)
        vocabulary = vocabulary_of(name, data)
        Index.build(
            vocabulary, encoder=encoder_of(encoder), languages=languages, directory=directory, progress=True
        )
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


def unanswerable(chosen: Set, encoder: str, folder: Path, data: Path) -> LabelledQuestions:
    """Read questions of a set without a right candidate, or make them first."""
    path = folder / f"{chosen.name.replace(' ', '_')}.unanswerable.npz"
    if not path.exists():
        index = opened(chosen.vocabulary, encoder, folder, data)
        pipeline = Pipeline(index, composites="gold")
        hidden = _answered(chosen, index, pipeline, data)
        questions = [question for question, _ in hidden]
        left_out = LabelledQuestions.of(
            index,
            questions,
            [frozenset()] * len(hidden),
            without=[index.entries_of(answer) for _, answer in hidden],
        )
        absent = pipeline.queries_of([Mention(name) for name in draw_absent_names(index, _EACH)])
        named = [parts[0].question for parts in absent if parts[0].text]
        lacking = LabelledQuestions.of(index, named, [frozenset()] * len(named))
        with atomic_file(path) as partial, partial.open("wb") as file:
            np.savez(file, described=np.concatenate([left_out.described, lacking.described]))
    with np.load(path) as arrays:
        described: Scores = arrays["described"]
    nothing = np.zeros(described.shape[:2], bool)
    return LabelledQuestions(described, nothing, np.full(len(described), _WEIGHT))


def _answered(chosen: Set, index: Index, pipeline: Pipeline, data: Path) -> list[tuple[Question, frozenset[int]]]:
    """Draw distinct questions of a set with their answers."""
    resolver, rng = GoldResolver(index.vocabulary), np.random.default_rng(1)
    found: dict[tuple[Question, frozenset[int]], None] = {}
    documents = chosen.read(data).documents
    for place in rng.permutation(len(documents)).tolist():
        if len(found) >= _SEARCHED:
            break
        document = documents[place]
        for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True):
            if (not chosen.types or mention.type in chosen.types) and (
                answer := resolver.rows(mention.concept_ids)
            ):
                found.update(dict.fromkeys((part.question, answer) for part in parts))
    distinct = list(found)
    return [distinct[place] for place in sorted(rng.permutation(len(distinct))[:_EACH].tolist())]


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
