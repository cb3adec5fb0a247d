"""Measure confidences on opposites, guesses, and mentions without an answer.

    python benchmarks/confidence/trust.py [--part opposites] [--indexes FOLDER]
        [--output benchmarks/results/trust.json]

``opposites``: names turned into their opposites ("decreased …" for "increased …", "type 2" for "type 1") that the
vocabulary lacks; a link to the concept whose name was turned counts. ``guesses``: names of drugs, chemicals and
genes that the vocabulary lacks, in which a word is guessed; cross-references decide whether a link is right. Also
the validation mentions of AskAPatient that a guess corrects. ``answers``: corpora, with and without mentions that
have no answer, and small vocabularies; ``across.py`` measures corpora that confidences were not fitted to. No test
set is read. Indexes are built once, into FOLDER.
"""

from __future__ import annotations

import argparse
import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import MEDIC, Task, askapatient, bc5cdr, gsc, label_ontology, load, mondo, ncbi
from benchmarks.confidence.trust_sets import JUNK, names_of, turned_names
from nymlink.corpus.documents import Corpus
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.folder import MINI
from nymlink.evaluation.calibration_data import (
    LabelledMentions,
    draw_absent_names,
    label_absent_names,
    label_left_out,
    label_mentions,
)
from nymlink.evaluation.fit_calibration import ABSENT, LEFT_OUT, reliability_of
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.index.plan import Plan
from nymlink.linking.calibration import Calibration
from nymlink.linking.linker import Linker
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

TURNED: Final = ("hpo", "mondo", "mesh", "chebi", "cmo")
PRODUCTS: Final = ("drugcentral", "chebi", "pubchem_subset", "hgnc")
ABSENT_TABLES: Final = ("drugcentral", "pharmgkb_drug", "cl", "bto", "so", "obi")
ABSENT_MESH: Final = ("so", "obi", "eco", "psimod")
"""Tables of which no vocabulary of diseases has the concepts, and of which MeSH, which has drugs and cells, has
few. No name of them is fitted to."""
EACH: Final = 400
SIZES: Final = (5, 50)

_MESH: Final = "vocabularies/mesh.tsv.gz"
_CDR: Final = "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz"


class Indexes:
    """Indexes with default settings, built once.

    Args:
        data: the data folder.
        folder: folder of the indexes.
    """

    def __init__(self, data: Path, folder: Path) -> None:
        self.data = data
        self._folder = folder

    def table(self, name: str) -> Path:
        return self.data / "vocabularies" / f"{name}.tsv.gz"

    def of(self, name: str) -> Index:
        """Get the index of the English names of a shared table."""
        return self.made(name, lambda: read_vocabulary(self.table(name)), languages=["en"])

    def made(self, name: str, read: Callable[[], Vocabulary], *, languages: Sequence[str] | None = None) -> Index:
        if not (self._folder / name).exists():
            Index.build(
                read(),
                directory=self._folder / name,
                encoder=MINI,
                languages=languages,
                cache=EmbeddingCache.of_user(),
            )
        index = Index.load(self._folder / name)
        # The current calibration, if it changed since the index was built.
        return index.with_calibration(index_calibration(index))


def index_calibration(index: Index) -> dict[str, Any]:
    """Get the calibration that comes with the encoder."""
    found = Plan.from_dict(index.settings).calibration
    assert found is not None
    return dict(found)


def opposites(indexes: Indexes) -> list[dict[str, Any]]:
    """Count links of turned names to the concepts whose names they were."""
    rows = []
    for name in TURNED:
        index = indexes.of(name)
        turned = turned_names(read_vocabulary(indexes.table(name)), index)
        links = Linker(index, top_k=1).link([one.text for one in turned])
        sure = [
            link.confidence or 0.0
            for one, link in zip(turned, links, strict=True)
            if link.best is not None and link.best.concept_id == one.concept_id
        ]
        rows.append(
            {
                "vocabulary": name,
                "turned": len(turned),
                "linked to what was turned": len(sure),
                "above 0.8": percent(sum(one > 0.8 for one in sure), len(turned)),
                "above 0.5": percent(sum(one > 0.5 for one in sure), len(turned)),
            }
        )
    return rows


def guesses(indexes: Indexes) -> list[dict[str, Any]]:
    """Evaluate guesses in names that a vocabulary lacks, and in mentions of AskAPatient."""
    rows = []
    for name in ("hpo", "mondo", "mesh"):
        index = indexes.of(name)
        resolver = GoldResolver(index.vocabulary)
        counts: Counter[str] = Counter()
        for product in PRODUCTS:
            names = [
                (text, xrefs)
                for text, xrefs in names_of(indexes.table(product), 8000)
                if len(text) < 100 and index.entries.find(normalise(text)) is None
            ]
            links = Linker(index, top_k=1).link([text for text, _ in names])
            for (_, xrefs), link in zip(names, links, strict=True):
                if link.guessed and link.best is not None:
                    right = index.vocabulary.row(link.best.concept_id) in resolver.rows(xrefs)
                    counts["guesses"] += 1
                    counts["above 0.5"] += (link.confidence or 0) > 0.5
                    counts["above 0.5 and wrong"] += (link.confidence or 0) > 0.5 and not right
            counts["names"] += len(names)
        rows.append({"vocabulary": name, **counts})
    index, corpora = patients(indexes)
    mentions = list({mention.text: mention for corpus in corpora for _, mention in corpus.mentions()}.values())
    resolver = GoldResolver(index.vocabulary)
    found = {}
    for label, linker in (("with", Linker(index, top_k=1)), ("without", Linker(index, top_k=1, guesses=False))):
        found[label] = [
            link.best is not None and index.vocabulary.row(link.best.concept_id) in resolver.rows(m.concept_ids)
            for m, link in zip(mentions, linker.link(mentions), strict=True)
        ]
    guessed = [link.guessed for link in Linker(index, top_k=1).link(mentions)]
    rows.append(
        {
            "vocabulary": "AskAPatient validation folds, distinct mentions",
            "names": len(mentions),
            "guesses": sum(guessed),
            "right with": sum(a for a, g in zip(found["with"], guessed, strict=True) if g),
            "right without": sum(a for a, g in zip(found["without"], guessed, strict=True) if g),
        }
    )
    return rows


def patients(indexes: Indexes) -> tuple[Index, list[Corpus]]:
    """Read AskAPatient's labels and its validation folds."""
    task = askapatient("validation")
    _, corpora = load(task, indexes.data)
    return indexes.made("askapatient", lambda: label_ontology(indexes.data / task.dictionary)), corpora


def answers(indexes: Indexes) -> list[dict[str, Any]]:
    """Measure calibration error with and without mentions that have no answer."""
    rows = []
    chemicals = Task("BC5CDR chemicals dev, MeSH", _MESH, _CDR)
    for name, task, types in (
        ("mondo", mondo("dev"), None),
        (
            "mondo",
            replace(
                mondo("dev"), name="MedMentions→MONDO train", corpus="corpora/medmentions_mondo/mondo_train.csv"
            ),
            None,
        ),
        ("hpo", gsc(), None),
        ("mesh", chemicals, {"Chemical"}),
        ("mesh", replace(chemicals, name="BC5CDR diseases dev, MeSH"), {"Disease"}),
    ):
        _, [corpus] = load(task, indexes.data)
        rows.append({"corpus": task.name, **measured(indexes.of(name), corpus, indexes, types=types)})
    index, corpora = patients(indexes)
    rows.append({"corpus": "AskAPatient validation, fold 0", **measured(index, corpora[0], indexes)})
    for task in (ncbi("dev", "bare", MEDIC), bc5cdr("bare", MEDIC)):
        vocabulary, [corpus] = load(task, indexes.data)
        index = indexes.made("medic", lambda read=vocabulary: read)
        rows.append({"corpus": task.name, **measured(index, corpus, indexes)})
    for size in SIZES:
        rows += [small(indexes, size, seed) for seed in range(2)]
    return rows


def measured(index: Index, corpus: Corpus, indexes: Indexes, *, types: set[str] | None = None) -> dict[str, Any]:
    """Measure the calibration of an index on a corpus, and on mentions without an answer."""
    calibration = Calibration.of(index)
    labelled = label_mentions(index, corpus, types=types)
    left_out = label_left_out(index, labelled, len(labelled.starts))
    lacking = lacking_of(index, indexes)
    annotated = reliability_of(calibration, labelled)

    def mixed(share: float) -> LabelledMentions:
        """Mix in mentions without an answer up to a share of all; a quarter of them left out, as in fitting."""
        count = round(share / (1 - share) * len(labelled.starts))
        left = label_left_out(index, labelled, round(count * LEFT_OUT / (LEFT_OUT + ABSENT)))
        other = random.Random(0).sample(lacking, min(count - len(left.right), len(lacking)))
        return LabelledMentions.joined([labelled, left, label_absent_names(index, other)])

    third, half = (reliability_of(calibration, mixed(share)) for share in (LEFT_OUT + ABSENT, 0.5))
    return {
        "mentions": len(labelled.starts),
        "right": percent(annotated.right.sum(), len(annotated.right)),
        "error": round(annotated.expected_error, 3),
        "error, 30 % without an answer": round(third.expected_error, 3),
        "error, 50 %": round(half.expected_error, 3),
        "AUROC of an answer": round(half.answerable_auroc, 3),
        "lacking above 0.5": above(calibration, label_absent_names(index, lacking)),
        "left out above 0.5": above(calibration, left_out),
    }


def lacking_of(index: Index, indexes: Indexes) -> list[str]:
    """Draw names of other vocabularies, words and codes that an index lacks and that were not fitted to."""
    tables = ABSENT_MESH if index.vocabulary.row("MESH:D003920") is not None else ABSENT_TABLES
    names = [text for one in tables for text, _ in names_of(indexes.table(one), EACH, seed=1)]
    kept = [name for name in names if index.entries.find(normalise(name)) is None]
    return kept + draw_absent_names(index, len(kept) // 2, seed=1)


def above(calibration: Calibration, labelled: LabelledMentions) -> float:
    confidences = reliability_of(calibration, labelled).confidences
    return percent((confidences > 0.5).sum(), len(confidences))


def small(indexes: Indexes, size: int, seed: int) -> dict[str, Any]:
    """Measure vocabularies of few concepts of HPO on the phenotypes of GSC+, and on names that they lack."""
    vocabulary, [corpus] = load(gsc(), indexes.data)
    resolver = GoldResolver(vocabulary)
    meant = sorted({row for _, mention in corpus.mentions() for row in resolver.rows(mention.concept_ids)})
    drawn = random.Random(seed)
    builder = TableBuilder()
    for row in sorted(drawn.sample(meant, size)):
        concept_id = vocabulary.concept_id(row)
        builder.concept(concept_id)
        for name in vocabulary.names(concept_id):
            if name.lang == "en":
                builder.name(concept_id, name.text, lang="en", kind=name.kind)
    few = Vocabulary.of((Source("few", "made"), builder.build()))
    index = Index.build(few, encoder=MINI, cache=EmbeddingCache.of_user())
    calibration = Calibration.of(index)
    labelled = label_mentions(index, corpus)
    told = reliability_of(calibration, labelled)
    there = told.answerable
    return {
        "corpus": f"{size} concepts of HPO, GSC+ dev (seed {seed})",
        "mentions": len(labelled.starts),
        "right": percent(told.right.sum(), len(told.right)),
        "error": round(told.expected_error, 3),
        "AUROC of an answer": round(told.answerable_auroc, 3),
        "lacking above 0.5": above(calibration, label_absent_names(index, lacking_of(index, indexes))),
        "left out above 0.5": percent((told.confidences[~there] > 0.5).sum(), int((~there).sum())),
        "right above 0.5": percent((told.confidences[told.right] > 0.5).sum(), int(told.right.sum())),
    }


def ordinary(indexes: Indexes) -> list[dict[str, Any]]:
    """Link junk, one by one."""
    rows = []
    for name in ("hpo", "mesh", "mondo"):
        for link in Linker(indexes.of(name), top_k=1).link(JUNK):
            if link.best is not None and (link.confidence or 0) > 0.3:
                found = {"concept": link.best.concept_name, "matched": link.best.matched.text}
                rows += [
                    {"vocabulary": name, "mention": link.mention.text, **found, "confidence": link.confidence}
                ]
    return rows


def percent(count: int | np.integer[Any], whole: int) -> float:
    return round(100 * int(count) / max(whole, 1), 1)


PARTS: Final[dict[str, Callable[[Indexes], list[dict[str, Any]]]]] = {
    "opposites": opposites,
    "guesses": guesses,
    "answers": answers,
    "ordinary": ordinary,
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; repeatable")
    parser.add_argument("--indexes", type=Path, required=True, help="folder of the indexes")
    parser.add_argument("--output", type=Path, help="JSON to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    indexes = Indexes(data_root(), arguments.indexes)
    output: Path | None = arguments.output
    # Parts that were measured before are kept.
    result = json.loads(output.read_text(encoding="utf-8")) if output is not None and output.is_file() else {}
    result["about"] = report.about(
        data="as the row says",
        split="dev (AskAPatient: validation)",
        dictionary="as they are (bare), English names",
        counting="by concept",
        encoder=MINI,
        seed=0,
    )
    for name in arguments.part or PARTS:
        rows = result[name] = PARTS[name](indexes)
        header = list(dict.fromkeys(key for row in rows for key in row))
        print(
            f"\n{name}\n" + report.table(header, [[str(row.get(key, "")) for key in header] for row in rows]),
            flush=True,
        )
    report.save(output, result)


if __name__ == "__main__":
    main()
