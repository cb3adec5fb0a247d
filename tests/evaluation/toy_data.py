"""A folder of data such as the benchmarks read, on toy size."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

_DICTIONARY = (
    "D1||heart attack\nD1||attack heart\nD2||seizure\nD2||epileptic seizure\nD3||short stature\nD4||flu\nD5||flu\n"
)
_CONCEPTS = "1||0|1||Disease||heart attack||D1\n1||2|3||Disease||some seizure||D2\n1||4|5||Disease||flu||D5\n"
_TEST = "1||0|1||Disease||short stature||D3\n"
_FOLD = "100001\tHeart attack\theart gave up\n100002\tSeizure\tseizure\n"


def write(root: Path) -> Path:
    """Write corpora and dictionaries below a folder; what only the test splits need is not among them."""
    ncbi, bc5cdr = (root / "corpora" / name for name in ("ncbi_disease/biosyn_form", "bc5cdr"))
    for folder, name, splits in (
        (ncbi, "ncbi-disease", ("dev", "test")),
        (bc5cdr, "bc5cdr-disease", ("train", "dev")),
    ):
        folder.mkdir(parents=True)
        for split in ("train", "dev"):
            (folder / f"{name}_{split}_dictionary.txt.gz").write_bytes(gzip.compress(_DICTIONARY.encode()))
        files = {
            f"{name}/processed_{split}/1.concept": _TEST if split == "test" else _CONCEPTS for split in splits
        }
        concepts = "processed_concepts" if name == "ncbi-disease" else "processed_train_dev"
        _archive(folder / f"{name}_{concepts}.tar.gz", "gz", files)
    own = root / "corpora" / "askapatient"
    own.mkdir()
    labels = {"100001": [["primary", "Heart attack"]], "100002": [["primary", "Seizure"]]}
    (own / "askapatient_label_ontology.json.gz").write_bytes(gzip.compress(json.dumps(labels).encode()))
    _archive(
        own / "askapatient_10folds.tar.xz",
        "xz",
        {
            f"askapatient/AskAPatient.fold-{fold}.{split}.txt": _FOLD
            for fold in range(10)
            for split in ("train", "validation", "test")
        },
    )
    medmentions = root / "corpora" / "medmentions"
    medmentions.mkdir()
    rows = "11\theart attacks\tC0000001\n11\tstature\tC0000003\n12\tunreachable\tC0000009\n"
    (medmentions / "medmentions_full_dev.mention_cui.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    (root / "corpora" / "medmentions_mondo").mkdir()
    (root / "corpora" / "medmentions_mondo" / "mondo_dev.csv").write_text(
        "pmid,mention,cui,mondo_id\n1,heart attacks,C0000001,MONDO:0000001\n", encoding="utf-8"
    )
    (root / "corpora" / "hpo_gsc").mkdir()
    _archive(
        root / "corpora" / "hpo_gsc" / "gscplus_dev_half.tar.gz",
        "gz",
        {
            "GSC+/corpus/11": "A seizure with fever.",
            "GSC+/ann/11": "[2::9]\tHP_0000001 | seizure\n[15::20]\tHP_0000009 | fever\n",
        },
    )
    (root / "vocabularies").mkdir()
    header = "concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"
    lines = ("MONDO:0000001\theart attack\ten\tpreferred\t\t", "MONDO:0000002\tseizure\ten\tpreferred\t\t")
    table = header + "\n".join(lines) + "\n"
    (root / "vocabularies" / "mondo.tsv.gz").write_bytes(gzip.compress(table.encode()))
    phenotypes = f"{header}HP:0000001\tseizure\ten\tpreferred\t\t\nHP:0000001\tconvulsión\tes\texact\t\t\n"
    (root / "vocabularies" / "hpo.tsv.gz").write_bytes(gzip.compress(phenotypes.encode()))
    return root


def write_metathesaurus(path: Path, *, also: str = "heart attack") -> str:
    """Write a vocabulary whose concepts refer to CUIs; the first has a second name, if another is given."""
    builder = TableBuilder()
    for concept_id, name, xrefs in (
        ("M:1", "heart attack", ["UMLS:C0000001", "SNOMEDCT_US:100001"]),
        ("M:2", "attack of the heart", ["UMLS:C0000001", "MESH:C0000003"]),
        ("M:3", "short stature", ["UMLS:C0000003"]),
        ("M:4", "flu", []),
    ):
        builder.concept(concept_id, xrefs=xrefs)
        builder.name(concept_id, name, lang="en")
    builder.name("M:1", also, lang="en")
    builder.redirect("OLD:4", "M:4")
    Vocabulary.of((Source("merged", "test"), builder.build())).save(path)
    return str(path)


def _archive(path: Path, compression: Literal["gz", "xz"], files: Mapping[str, str]) -> None:
    with tarfile.open(path, "w:gz" if compression == "gz" else "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
