"""Write the links of a real corpus in every format, read them back, and have readers of others check the files.

    python benchmarks/formats/round_trips.py [--sssom PATH] [--json FILE]

The mentions of the development part of NCBI disease (from $NYMLINK_DATA or ../shared/data) are linked to MEDIC by
names alone, with one candidate; others are found in its texts as `nymlink annotate` does. ``--sssom`` names the
program of sssom-py, which has a hundred dependencies and is no part of ``nymlink[dev]``. No vocabulary of OMOP is
at hand: for its formats the digits of MeSH and OMIM ids stand for concepts.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.common import inputs, report
from nymlink.annotation.annotator import Annotator
from nymlink.corpus import Document, read_corpus
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.links import Links
from nymlink.linking.writers import LINK_FORMATS
from nymlink.vocabulary.read import read_vocabulary

CORPUS: Final = "corpora/ncbi_disease/original-data/NCBIdevelopset_corpus.txt.gz"
OMOP: Final = ("usagi", "source-to-concept-map")


def concept_ids(link: Link) -> tuple[str, ...]:
    return () if link.nil else tuple(part.candidates[0].concept_id for part in link.singles if part.candidates)


def stood_in(link: Link) -> Link:
    """Give concepts numbers that could be those of OMOP."""
    found = tuple(replace(each, concept_id=re.sub(r"\D", "", each.concept_id)) for each in link.candidates)
    return replace(link, candidates=found, parts=tuple(map(stood_in, link.parts)))


def with_bioc(module: str, path: Path) -> str:
    import bioc

    with open(path, encoding="utf-8") as file:
        collection = import_module(f"bioc.{module}").load(file)
    bioc.validate(collection)
    passages = (passage for document in collection.documents for passage in document.passages)
    annotations = sum(len(passage.annotations) for passage in passages)
    return f"valid: {annotations} annotations, each the text at its place"


def bioc_pubtator(path: Path) -> str:
    import bioc.pubtator

    with open(path, encoding="utf-8") as file:
        documents = bioc.pubtator.load(file)
    found = [(document.text, each) for document in documents for each in document.annotations]
    right = sum(text[each.start : each.end] == each.text and each.id != "" for text, each in found)
    return f"read: {right} of {len(found)} annotations are the text at their place and have an id"


def bioc_brat(path: Path) -> str:
    import bioc.brat

    entities = concepts = 0
    for ann in sorted(path.glob("*.ann")):
        lines = ann.read_text(encoding="utf-8")
        with open(ann.with_suffix(".txt"), encoding="utf-8") as text:
            document = bioc.brat.load(text, io.StringIO(lines))
        entities += len(document.entities)
        concepts += sum(line.startswith("N") for line in lines.splitlines())
    return f"read: {entities} entities (it drops the {concepts} N lines)"


def bio_tags(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    wrong = sum(row[3].startswith("I-") and before[3][2:] != row[3][2:] for before, row in pairwise(rows))
    begun = sum(row[3].startswith("B-") for row in rows)
    return f"{len(rows)} tokens, {begun} mentions, {wrong} tags that follow no B"


def sssom(program: str | None, path: Path) -> str:
    if program is None:
        return "not run"
    done = subprocess.run([program, "validate", str(path)], capture_output=True, text=True, check=False)
    read = subprocess.run([program, "parse", str(path)], capture_output=True, text=True, check=False)
    rows = sum(not line.startswith("#") for line in read.stdout.splitlines()) - 1
    return f"{'valid' if done.returncode == 0 else 'not valid'}: {rows} mappings"


def fhir(module: str, path: Path) -> str:
    model = import_module(f"fhir.resources.{module}").ConceptMap
    value = model.model_validate_json(path.read_text(encoding="utf-8"))
    return f"valid: {sum(len(group.element) for group in value.group)} elements"


def frames(path: Path) -> str:
    import pandas
    import polars

    return f"{len(pandas.read_parquet(path))} rows and {len(polars.read_parquet(path))} rows, typed"


def workbook(path: Path) -> str:
    import openpyxl

    rows = list(openpyxl.load_workbook(path).active.iter_rows())
    formulas = sum(cell.data_type == "f" for row in rows for cell in row)
    return f"{len(rows) - 1} rows, {formulas} formulas"


def delimited(path: Path) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if path.name == "tsv" else ","))
    widths = {len(row) for row in rows}
    return f"{len(rows) - 1} rows of {'/'.join(map(str, sorted(widths)))} fields"


def json_lines(path: Path) -> str:
    return f"{len([json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()])} objects"


Check = tuple[str, Callable[[Path], str]]
"""Who checks a file, and how."""


def checks(program: str | None) -> dict[str, Check]:
    """For each format, who checks it, and how."""
    by_bioc, by_fhir = f"bioc {version('bioc')}", f"fhir.resources {version('fhir.resources')}"
    return {
        "pubtator": (by_bioc, bioc_pubtator),
        "bioc-xml": (by_bioc, lambda path: with_bioc("biocxml", path)),
        "bioc-json": (by_bioc, lambda path: with_bioc("biocjson", path)),
        "brat": (by_bioc, bioc_brat),
        "conll": ("rules of BIO", bio_tags),
        "jsonl": ("json", json_lines),
        "tsv": ("csv", delimited),
        "parquet": (f"pandas {version('pandas')}, polars {version('polars')}", frames),
        "xlsx": (f"openpyxl {version('openpyxl')}", workbook),
        "sssom": ("sssom-py", lambda path: sssom(program, path)),
        "usagi": ("csv", delimited),
        "source-to-concept-map": ("csv", delimited),
        "fhir-r5": (by_fhir, lambda path: fhir("conceptmap", path)),
        "fhir-r4b": (by_fhir, lambda path: fhir("R4B.conceptmap", path)),
    }


def read_back(path: Path, links: Links, name: str) -> str:
    """Say how many mentions come back with their place and concepts; nothing of a format that is not read."""
    needs_documents = "documents" in LINK_FORMATS.get(name).needs
    if name in ("source-to-concept-map", "fhir-r5", "fhir-r4b", "sssom"):
        return "–"
    if name == "usagi":
        return f"{len(read_corpus(path))} of {len({link.mention.text for link in links})} terms"
    found = {
        (document.id, mention.start, mention.end, mention.concept_ids)
        for document in read_corpus(path).documents
        for mention in document.mentions
    }
    if needs_documents:
        wanted = [(link.document_id, link.mention.start, link.mention.end, concept_ids(link)) for link in links]
        right = sum(each in found for each in wanted)
    else:
        wanted = [(link.document_id, link.mention.start, link.mention.end) for link in links]
        right = sum(each in {place[:3] for place in found} for each in wanted)
    return f"{right} of {len(wanted)}"


def measure(program: str | None) -> dict[str, list[dict[str, Any]]]:
    """Measure the formats of links of given mentions, and of mentions that are found in the same texts."""
    root = inputs.data_root()
    documents = list(read_corpus(root / CORPUS).documents)
    index = Index.build(read_vocabulary(root / inputs.MEDIC), encoder=None)
    given = Links(link for each in Linker(index).link_documents(documents) for link in each)
    bare = [Document(document.id, document.text) for document in documents]
    found = Links(link for _, each in Annotator(index).annotate_documents(bare) for link in each)
    return {
        "formats": written(given, documents, index, checks(program)),
        "annotated": written(found, bare, index, checks(program)),
    }


def written(
    links: Links, documents: Sequence[Document], index: Index, checkers: Mapping[str, Check]
) -> list[dict[str, Any]]:
    """Write links in each format, read them back, and have them checked."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        for name, (checker, check) in checkers.items():
            path = Path(folder) / ("links.xlsx" if name == "xlsx" else name)
            chosen = Links(map(stood_in, links)) if name in OMOP else links
            vocabulary = None if name in OMOP else index.vocabulary
            chosen.write(path, format=name, documents=documents, vocabulary=vocabulary)
            rows.append(
                {
                    "format": f"`{name}`",
                    "mentions read back": read_back(path, links, name),
                    "checked by": checker,
                    "verdict": check(path),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sssom", help="the program of sssom-py")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    tables = measure(arguments.sssom)
    for rows in tables.values():
        header = list(rows[0])
        print(report.table(header, [[row[key] for key in header] for row in rows]), "\n")
    counts = [rows[0]["mentions read back"].partition(" of ")[2] for rows in tables.values()]
    measured = report.about(
        data=f"100 documents of NCBI disease: {counts[0]} given mentions, {counts[1]} found",
        split="dev",
        dictionary="MEDIC, bare",
        seed=None,
        note="mentions read back with their place and, of documents, with their concepts",
    )
    measured["command"] = "python benchmarks/formats/round_trips.py --sssom sssom"
    report.save(arguments.json, {"about": measured, **tables})


if __name__ == "__main__":
    main()
