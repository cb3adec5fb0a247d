"""A folder with small files under the names that the documentation uses, so that its commands run in seconds."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from tests.contract.vocabulary_samples import SAMPLES
from tests.docs.blocks import ROOT
from tests.encode import tiny

EXAMPLES: Final = ROOT / "examples"

HPO: Final = """\
format-version: 1.2
ontology: hp

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0000118
name: Phenotypic abnormality
is_a: HP:0000001

[Term]
id: HP:0001250
name: Seizure
synonym: "Seizures" EXACT []
synonym: "Epileptic seizure" EXACT []
is_a: HP:0000118

[Term]
id: HP:0000369
name: Low-set ears
synonym: "Low set ears" EXACT []
synonym: "Melotia" EXACT []
is_a: HP:0000118

[Term]
id: HP:0000365
name: Hearing impairment
synonym: "Deafness" EXACT []
synonym: "Hearing loss" EXACT []
is_a: HP:0000118
"""

TRANSLATIONS: Final = (
    "translation_language\tsubject_id\tpredicate_id\ttranslation_value\ttranslation_status\n"
    "de\tHP:0001250\trdfs:label\tKrampfanfall\tOFFICIAL\n"
)

MODELS: Final = (
    "sentence-transformers/all-MiniLM-L6-v2",
    "all-MiniLM-L6-v2",
    "PubMedBERT",
    "base",
    "encoder",
    "mondo-encoder",
    "my-encoder",
    "sapbert",
    "trained",
    "xlm-roberta-base",
)
"""Encoders that pages name: here, tiny ones with random weights."""


@dataclass(frozen=True)
class Disease:
    """A concept of ``examples/diseases.obo``."""

    id: str
    names: tuple[str, ...]
    mesh: str


def diseases() -> list[Disease]:
    found = []
    for term in (EXAMPLES / "diseases.obo").read_text().split("[Term]")[1:]:
        names = (*re.findall(r"^name: (.+)", term, re.M), *re.findall(r'^synonym: "([^"]+)"', term, re.M))
        mesh = re.search(r"^xref: MESH:(\w+)", term, re.M)
        found.append(Disease(re.findall(r"^id: (\S+)", term, re.M)[0], names, mesh[1] if mesh else "D004194"))
    return found


def make(folder: Path) -> None:
    """Write all files of the world into a folder."""
    for source in EXAMPLES.iterdir():
        shutil.copy(source, folder / source.name)
    shutil.copytree(EXAMPLES, folder / "examples")
    _sources(folder)
    _corpora(folder)
    for model in MODELS:
        (folder / model).mkdir(parents=True)
        tiny.folder(folder / model, max_position_embeddings=130)
    _built(folder)


def _sources(folder: Path) -> None:
    known = diseases()
    obo = (EXAMPLES / "diseases.obo").read_text()

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    write("mondo.obo", obo)
    write("hp.obo", HPO)
    doid = (
        f"\n[Term]\nid: DOID:{number}\nname: {one.names[0]}\nxref: {one.id}\n"
        for number, one in enumerate(known, 1)
    )
    write("doid.obo", "format-version: 1.2\n" + "".join(doid))
    mapped = [f"{one.id}\tskos:exactMatch\tDOID:{number}" for number, one in enumerate(known, 1)]
    write("mondo.sssom.tsv", "subject_id\tpredicate_id\tobject_id\n" + "\n".join(mapped) + "\n")
    dictionary = "".join(f"{one.mesh}||{name}\n" for one in known for name in one.names)
    for name in ("train_dictionary.txt", "dev_dictionary.txt", "dictionary.txt", "medic.txt"):
        write(name, dictionary)
    header = "# Fields:\n# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\t"
    rows = [f"{one.names[0]}\tMESH:{one.mesh}\t\t\t\t\t\t{'|'.join(one.names[1:])}\t\n" for one in known]
    write("CTD_diseases.tsv", header + "ParentTreeNumbers\tSynonyms\tSlimMappings\n#\n" + "".join(rows))
    write("our_drugs.csv", "id,name\n1,heart attack\n2,gout\n")
    write("terms.csv", "code,title\nT:1,low-set ears\nT:2,big head\n")
    write("titles.txt", "Heart attack ||| Herzinfarkt\nGout ||| Gicht\nDeafness ||| Taubheit\n")
    write("mentions.txt", "heart attack\nheart murmer\nhigh blood pressure\nsiezures\n")
    write("names.txt", "heart attack\nmyocardial infarction\nshort stature\nseizure\n")
    write("table.csv", "patient,diagnosis\n1,heart attack\n2,high blood presure\n")
    write("notes.tsv", "1\t2026-01-05\theart attack\n2\t2026-01-06\tgout\n")
    write("mesh.xml", SAMPLES["mesh"].text)
    SAMPLES["rrf"].write(folder / "umls" / "META", SAMPLES["rrf"].text.replace("|MSH|", "|SNOMEDCT_US|").encode())


def _corpora(folder: Path) -> None:
    """Write the example corpora under other names, those of MeSH with its ids, and some as prepared queries."""
    mesh_of = {one.id: one.mesh for one in diseases()}
    for name, source in (("Training", "train"), ("Development", "dev"), ("Test", "dev")):
        text = (EXAMPLES / f"{source}.PubTator.txt").read_text(encoding="utf-8")
        text_of_mesh = re.sub(r"MONDO:\d+", lambda match: mesh_of[match[0]], text)
        (folder / f"CDR_{name}Set.PubTator.txt").write_text(text_of_mesh, encoding="utf-8")
        queries = folder / f"processed_{'test' if name == 'Test' else source}"
        queries.mkdir()
        for part in text_of_mesh.strip().split("\n\n"):
            annotations = [line.split("\t") for line in part.split("\n")[2:]]
            lines = [
                f"{number}||{start}|{end}||{kind}||{said.lower()}||{concept}\n"
                for number, start, end, said, kind, concept in annotations
            ]
            (queries / f"{annotations[0][0]}.concept").write_text("".join(lines), encoding="utf-8")
    for name in ("corpus", "notes"):
        shutil.copy(EXAMPLES / "dev.PubTator.txt", folder / f"{name}.PubTator.txt")


def _built(folder: Path) -> None:
    """Build the vocabularies and indexes that pages take for granted."""
    vocabulary = read_vocabulary(folder / "mondo.obo")
    medic = read_vocabulary(folder / "medic.txt", options=ReadOptions())
    doid = read_vocabulary(folder / "doid.obo")
    for name in ("mondo", "diseases"):
        vocabulary.save(folder / name)
    for name in ("doid", "ncit", "ordo"):
        doid.save(folder / name)
    read_vocabulary(folder / "hp.obo").save(folder / "hpo")
    for name in ("medic", "mesh", "meta"):
        (medic if name != "meta" else vocabulary).save(folder / name)
    encoder = Encoder.load("nymlink-mini")
    Index.build(vocabulary, encoder=encoder).save(folder / "mondo-index")
    for name in ("medic-index", "mesh-index"):
        Index.build(medic, encoder=encoder).save(folder / name)
