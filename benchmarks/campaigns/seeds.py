"""Files that mutations begin with: small ones in every format, and the beginnings of real ones where these are."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from tests.bulk import files as row_files
from tests.contract import test_binary_corpora, test_corpus_readers
from tests.contract.vocabulary_samples import SAMPLES as VOCABULARIES

from benchmarks.campaigns.small_project import make_project
from benchmarks.common.inputs import data_root
from nymlink.pairs.pairs import PAIRS
from nymlink.project.export import export_project
from nymlink.project.project import Project

Files = Mapping[str, bytes]
"""The files of a seed: one, or those of a folder, by their names."""

_ROWS: Final = [(f"n{number}", f'a patient {number} with Ménière\'s disease, "cold" feet') for number in range(8)]


def _lines(count: int, end: str = "") -> Callable[[str], str]:
    return lambda text: "\n".join(text.split("\n")[:count]) + "\n" + end


def _stanzas(text: str) -> str:
    return "\n\n".join(text.split("\n\n")[:7]) + "\n"


def _graph(text: str) -> str:
    whole: dict[str, Any] = json.loads(text)
    for graph in whole["graphs"]:
        graph["nodes"], graph["edges"] = graph["nodes"][:6], graph["edges"][:6]
    return json.dumps(whole, indent=1)


def _rdf_xml(text: str) -> str:
    end = text.rindex("</owl:Class>", 0, 12_000) + len("</owl:Class>")
    return text[:end] + "\n</rdf:RDF>\n"


_NATIVE: Final = {
    "vocabulary obo": ("native/symp/symp.obo.gz", _stanzas),
    "vocabulary obographs": ("native/symp/symp.json.gz", _graph),
    "vocabulary owl": ("native/symp/symp.owl.gz", _rdf_xml),
    "vocabulary owl-functional": ("native/cvx/cvx.ofn", _lines(60, ")\n")),
    "vocabulary turtle": ("native/nando/nando.ttl.gz", _lines(60)),
    "vocabulary sssom": ("native/mondo/mondo_exactmatch_doid.sssom.tsv.gz", _lines(30)),
    "vocabulary babelon": ("native/hpo/hp-es.babelon.tsv.gz", _lines(8)),
    "vocabulary shared-table": ("vocabularies/symp.tsv.gz", _lines(12)),
    "vocabulary biosyn": ("corpora/ncbi_disease/medic_06Jul2012.txt.gz", _lines(20)),
    "mappings": ("native/mondo/mondo_exactmatch_doid.sssom.tsv.gz", _lines(30)),
    "corpus pubtator": ("corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz", _lines(25)),
    "rows pubtator": ("corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz", _lines(25)),
    "project tables": ("corpora/medmentions_mondo/mondo_dev.csv", _lines(12)),
}
"""Real files, and how their beginnings are cut so that they are files of their own."""


def seeds() -> dict[str, list[Files]]:
    """Make the seeds of every reader, by its name."""
    found: dict[str, list[Files]] = {}
    for name, sample in VOCABULARIES.items():
        beside = {other: text.encode() for other, text in sample.beside.items()}
        found[f"vocabulary {name}"] = [{sample.file or "source.dat": sample.text.encode(), **beside}]
    for name, small in test_corpus_readers.SAMPLES.items():
        beside = {} if small.beside is None else {small.beside[0]: small.beside[1].encode()}
        text = test_corpus_readers.make(name)[0].encode()
        found[f"corpus {name}"] = [{small.folder or "source.dat": text, **beside}]
    for name, make in test_binary_corpora.SAMPLES.items():
        found[f"corpus {name}"] = [{"source.dat": make()}]
    found["vocabulary parquet"] = [{"source.dat": row_files.parquet(_ROWS, column="name")}]
    found["vocabulary xlsx"] = [{"source.dat": row_files.workbook(_ROWS, column="name")}]
    tables = [{"source.dat": row_files.delimited(_ROWS, delimiter)} for delimiter in (",", ";", "\t")] + [
        {"source.dat": make()} for make in test_binary_corpora.SAMPLES.values()
    ]
    sssom = {"source.dat": VOCABULARIES["sssom"].text.encode()}
    usagi = {"source.dat": test_corpus_readers.make("usagi")[0].encode()}
    objects = {"source.dat": row_files.jsonl(_ROWS)}
    found["mappings"] = [sssom]
    found["project tables"] = [*tables, objects, sssom, usagi]
    found["project decisions"] = [*_exported(), sssom, usagi]
    found["link tables"] = tables[:3]
    found["link lines"] = [{"source.dat": "cold feet\nMénière's disease\n\nfever\n".encode()}]
    found["pairs"] = [{"source.dat": b"D1||short stature||stature short\nD2||seizure||fit\n" * 3}]
    pairs = pa.table([["D1"] * 4, ["a", "b", "c", "d"], ["e", "f", "g", "h"]], names=PAIRS.names)
    pq.write_table(pairs, written := io.BytesIO())
    found["pairs"].append({"source.dat": written.getvalue()})
    found["rows table"] = tables[:3]
    found["rows jsonl"] = [objects]
    found["rows parquet"] = [{"source.dat": row_files.parquet(_ROWS)}]
    found["rows xlsx"] = [{"source.dat": row_files.workbook(_ROWS)}]
    found["rows pubtator"] = [{"source.dat": row_files.pubtator(_ROWS)}]
    for name, (path, cut) in _NATIVE.items():
        if (native := data_root() / path).is_file():
            found[name].append({next(iter(found[name][0])): cut(_text(native)).encode()})
    return dict(sorted(found.items()))


def _text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()


def _exported() -> list[Files]:
    """Export a small project in each form whose decisions can be read again, and take the project itself."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "review.nymlink"
        make_project(path)
        found = [path.read_bytes()]
        with Project(path) as project:
            for format in ("tsv", "csv", "jsonl", "xlsx", "parquet"):
                export_project(project, path.with_suffix(f".{format}"), format=format)
                found.append(path.with_suffix(f".{format}").read_bytes())
    return [{"source.dat": content} for content in found]
