"""Read abstracts in which people marked abbreviations and their long forms.

Three forms: a table of offsets in corpora of the data folder (``abbreviations.tsv``), the labelled text of
Ab3P (``MED1250_labeled``: id, title, abstract, and a line ``  SHORT|LONG`` a pair), and BioC XML with relations
between annotations in the roles ``ShortForm`` and ``LongForm``.
"""

from __future__ import annotations

import csv
import io
import tarfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.common.inputs import data_root
from nymlink.corpus import read_documents

TABLE: Final = Path(__file__).with_name("abbreviations.tsv")
_CORPORA: Final = (
    "corpora/ncbi_disease/original-data/NCBItrainset_corpus.txt.gz",
    "corpora/ncbi_disease/original-data/NCBIdevelopset_corpus.txt.gz",
    "corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz",
    "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz",
)
_GSC: Final = "corpora/hpo_gsc/gscplus_dev_half.tar.gz"

Pair = tuple[str, str]


@dataclass
class Abstract:
    """A text and its pairs of short and long form.

    Attributes:
        id: of the document.
        text: title and abstract, on a line each.
        gold: the pairs that are to be found.
        other: pairs that are as right as the one of the same short form in ``gold``: with and without "gene".
        doubtful: pairs that count neither way.
    """

    id: str
    text: str
    gold: set[Pair] = field(default_factory=set)
    other: set[Pair] = field(default_factory=set)
    doubtful: set[Pair] = field(default_factory=set)


def plain(text: str) -> str:
    """Make white space single blanks, so that pairs can be compared."""
    return " ".join(text.split())


def read_gold(path: Path, part: str | None = None) -> list[Abstract]:
    """Read marked abstracts, of a table only a part ("development", "held out")."""
    if path.suffix == ".tsv":
        return _read_table(path, part)
    if path.suffix == ".xml":
        return _read_bioc(path)
    return _read_labelled(path)


def _read_table(path: Path, part: str | None) -> list[Abstract]:
    texts = _texts()
    abstracts: dict[str, Abstract] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if part not in (None, row["part"]):
                continue
            abstract = abstracts.setdefault(row["document"], Abstract(row["document"], texts[row["document"]]))
            if row["verdict"] == "none":
                continue
            forms = (row["short"], row["long"])
            for form, name in zip(forms, ("short", "long"), strict=True):
                found = abstract.text[int(row[f"{name}_start"]) : int(row[f"{name}_end"])]
                if plain(found) != form:
                    raise SystemExit(f"{path}: {abstract.id}: {form!r} expected, {found!r} found: another text?")
            getattr(abstract, row["verdict"]).add(forms)
    return list(abstracts.values())


def _texts() -> dict[str, str]:
    """Read the abstracts of the corpora by their id."""
    root = data_root()
    texts = {document.id: document.text for corpus in _CORPORA for document in read_documents(root / corpus)}
    with tarfile.open(root / _GSC) as archive:
        for member in archive:
            if member.isfile() and "/corpus/" in member.name and (file := archive.extractfile(member)):
                with io.TextIOWrapper(file, encoding="utf-8") as lines:
                    texts.setdefault(Path(member.name).name, lines.read())
    return texts


def _read_labelled(path: Path) -> list[Abstract]:
    """Read blocks of lines: id, title, text, pairs; lines that begin with ``//`` are remarks."""
    abstracts = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("//")]
        if not lines:
            continue
        pairs = [line for line in lines if line.startswith("  ") and "|" in line]
        text = [line for line in lines[1:] if line not in pairs]
        gold = {(plain(short), plain(long)) for short, _, long in (line.partition("|") for line in pairs)}
        abstracts.append(Abstract(lines[0].strip(), "\n".join(text), gold))
    return abstracts


def _read_bioc(path: Path) -> list[Abstract]:
    """Read BioC XML; where it has no text, that of the file beside it named ``…corpus.xml`` for ``…gold.xml``."""
    texts = {}
    beside = path.with_name(path.name.replace("gold", "corpus"))
    for document in ET.parse(beside if beside.is_file() else path).iter("document"):
        texts[document.findtext("id", "")] = "\n".join(
            text.text or "" for text in document.iterfind("passage/text")
        )
    abstracts = []
    for document in ET.parse(path).iter("document"):
        forms = {one.get("id", ""): plain(one.findtext("text", "")) for one in document.iter("annotation")}
        gold = set()
        for relation in document.iter("relation"):
            roles: dict[str, list[str]] = defaultdict(list)
            for node in relation.iterfind("node"):
                roles[node.get("role", "")].append(forms.get(node.get("refid", ""), ""))
            if roles["ShortForm"] and roles["LongForm"]:
                gold.add((roles["ShortForm"][0], roles["LongForm"][0]))
        abstracts.append(Abstract(document.findtext("id", ""), texts[document.findtext("id", "")], gold))
    return abstracts
