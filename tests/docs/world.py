"""A folder with small files under the names that the documentation uses, so that its commands run in seconds."""

from __future__ import annotations

import gzip
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.index_reference import IndexReference
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.contract.vocabulary_samples import SAMPLES
from tests.docs.blocks import ROOT
from tests.encode import tiny
from tests.xlbel import dumps

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
    "de\tMONDO:0005068\trdfs:label\tHerzinfarkt\tOFFICIAL\n"
)

MODELS: Final = (
    "sentence-transformers/all-MiniLM-L6-v2",
    "all-MiniLM-L6-v2",
    "PubMedBERT",
    "base",
    "my-encoder",
    "xlm-roberta-base",
)
"""Encoders that pages take for granted: here, tiny ones with random weights."""

TRAINED: Final = ("encoder", "sapbert", "self-aligned", "trained")
"""Such encoders that some pages train and others take for granted."""

RERANKERS: Final = ("reranker", "triplet", "prototype")
"""Re-rankers that some pages train and others take for granted."""

VOCABULARIES: Final = tuple(
    """
    mondo doid hpo ncit ordo mesh gard nando symp mf chebi go hgnc ncbigene_human uberon cl pr ncbitaxon so pato
    maxo obi eco efo envo ecto foodon oba vt cmo oae vo cvx cido nbo mpath bto clo cellosaurus_human psimod ec
    complexportal famplex hgnc_genegroup hancestro neuronames mouse_zebrafish_anatomy icd10cm icd10pcs
    pubchem_subset wikidata_medical
    """.split()
)
"""Tables of open vocabularies, as benchmarks read them."""

PHENOTYPES: Final = 200
"""Concepts with names in three languages."""

RARE_DISEASES: Final = 180


@dataclass(frozen=True)
class Disease:
    """A concept of ``examples/diseases.obo``."""

    id: str
    names: tuple[str, ...]
    mesh: str


def diseases() -> list[Disease]:
    """Return the concepts of ``examples/diseases.obo``."""
    found = []
    for term in (EXAMPLES / "diseases.obo").read_text(encoding="utf-8").split("[Term]")[1:]:
        names = (*re.findall(r"^name: (.+)", term, re.M), *re.findall(r'^synonym: "([^"]+)"', term, re.M))
        mesh = re.search(r"^xref: MESH:(\w+)", term, re.M)
        found.append(Disease(re.findall(r"^id: (\S+)", term, re.M)[0], names, mesh[1] if mesh else "D004194"))
    return found


def make(folder: Path, lent: Path) -> None:
    """Write the files that pages take for granted.

    Args:
        folder: gets what all pages find.
        lent: gets what pages find that do not make it themselves.
    """
    shutil.copytree(EXAMPLES, folder)
    shutil.copytree(EXAMPLES, folder / "examples")
    _sources(folder)
    _corpora(folder)
    _data(folder)
    _across_languages(folder)
    for model in (*(folder / name for name in MODELS), *(lent / name for name in TRAINED)):
        model.mkdir(parents=True)
        tiny.folder(model, max_position_embeddings=130)
    _built(folder)
    reranker = DualEncoder.from_encoder(lent / "encoder", DualEncoderConfig(max_length=64))
    for name in RERANKERS:
        reranker.save(lent / name)


def _sources(folder: Path) -> None:
    known = diseases()
    obo = (EXAMPLES / "diseases.obo").read_text(encoding="utf-8")

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    write("tokens.txt", "a-token\n")
    write("links.tsv", "mention\tconcept_id\nheart attack\tMONDO:0005068\ngout\tMONDO:0005393\n")
    write("mondo.obo", obo + "".join(_rare_disease(number) for number in range(RARE_DISEASES)))
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
    write("synonyms.csv", "id,synonym\nHP:0001250,fits\n")
    write("terms.csv", "code,title\nT:1,low-set ears\nT:2,big head\n")
    write("titles.txt", "Heart attack ||| Herzinfarkt\nGout ||| Gicht\nDeafness ||| Taubheit\n")
    write("mentions.txt", "heart attack\nheart murmer\nhigh blood pressure\nsiezures\n")
    write("names.txt", "heart attack\nmyocardial infarction\nshort stature\nseizure\n")
    write("table.csv", "patient,diagnosis\n1,heart attack\n2,high blood presure\n")
    write("visits.csv", "patient,finding,lang\n1,Krampfanfälle,de\n2,seizures,en\n")
    write("notes.tsv", "1\t2026-01-05\theart attack\n2\t2026-01-06\tgout\n")
    write("mesh.xml", SAMPLES["mesh"].text)
    write("letter.txt", "No seizures. He has low-set ears; his mother is deaf.\n")
    write(
        "abstracts.jsonl", '{"id": "1", "text": "Seizures and loss of hearing."}\n{"id": "2", "text": "None."}\n'
    )
    _umls(folder / "2026AA" / "META")


def _rare_disease(number: int) -> str:
    """Return a term with four names: trainings, and what they are measured on, need some hundreds of pairs."""
    names = [f"{word} {number}" for word in ("rare disease", "orphan disorder", "syndrome", "RD")]
    synonyms = "".join(f'synonym: "{name}" EXACT []\n' for name in names[1:])
    return f"\n[Term]\nid: MONDO:90{number:05}\nname: {names[0]}\n{synonyms}"


def _umls(folder: Path) -> None:
    """Write a release of UMLS: the names of the contract tests' sample for each of some hundred concepts."""
    sample = SAMPLES["rrf"].text.replace("|MSH|", "|SNOMEDCT_US|")
    text = "".join(sample.replace("C000", f"C{number:03}") for number in range(100))
    SAMPLES["rrf"].write(folder, text.encode())
    (folder / "MRSTY.RRF").write_text(
        "C0000001|T047|B2.2.1.2.1|Disease or Syndrome|AT1|256|\n"
        "C0000002|T191|B2.2.1.2.1.2|Neoplastic Process|AT2|256|\n",
        encoding="utf-8",
    )


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
    for part, text in (("corpus", "Seizures and deafness."), ("ann", "[0::8]\tHP_0001250 | Seizures\n")):
        (folder / "GSC" / part).mkdir(parents=True)
        (folder / "GSC" / part / "1").write_text(text, encoding="utf-8")
    for name in ("corpus", "notes"):
        shutil.copy(EXAMPLES / "dev.PubTator.txt", folder / f"{name}.PubTator.txt")


def _data(folder: Path) -> None:
    """Write open vocabularies and corpora as they lie in the folder that benchmarks read."""
    ncbi = folder / "corpora" / "ncbi_disease" / "biosyn_form"
    for path in (folder / "native", folder / "vocabularies", ncbi):
        path.mkdir(parents=True)
    coded = "label,mondo_id\nheart attack,MONDO:0005068\n"
    (folder / "coded.csv").write_text(coded, encoding="utf-8")
    mappings = (folder / "mondo.sssom.tsv").read_bytes()
    (folder / "native" / "mondo.sssom.tsv.gz").write_bytes(gzip.compress(mappings))
    for name in VOCABULARIES:
        attack, gout = "MESH:D009203" if name == "mesh" else f"{name.upper()}:1", f"{name.upper()}:2"
        table = (
            "concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"
            f"{attack}\theart attack\ten\tpreferred\tdisease\tMONDO:0005068\n"
            f"{gout}\tgout\ten\tpreferred\tdisease\t\n"
            f"{gout}\tgouty\ten\texact\tdisease\t\n"
        )
        (folder / "vocabularies" / f"{name}.tsv.gz").write_bytes(gzip.compress(table.encode()))
    dictionary = gzip.compress((folder / "dictionary.txt").read_bytes())
    for path in (ncbi, folder):
        (path / "ncbi-disease_train_dictionary.txt.gz").write_bytes(dictionary)
    for name in ("processed_train", "processed_dev"):
        shutil.copytree(folder / name, folder / "ncbi-disease" / name)


def _across_languages(folder: Path) -> None:
    """Write queries in Spanish and German, and a Finnish Wikipedia with a table of its pages."""
    benchmark = folder / "xlbel_v1.0"
    benchmark.mkdir()
    for language, mention in (("es", "infarto"), ("de", "Herzinfarkt")):
        queries = f"MONDO:0005068|D009203||{mention}||<tgt>{mention}</tgt>\n"
        for place in (folder, benchmark):
            (place / f"{language}_test.txt").write_text(queries, encoding="utf-8")
    (folder / "pages.tsv").write_text("Sydäninfarkti\tMONDO:0005068\n", encoding="utf-8")
    pages = [
        dumps.page("Aspiriini", "Se auttaa [[sydäninfarkti|sydänkohtaukseen]] ja [[Astma|hengenahdistukseen]].")
    ]
    dumps.write(folder / "fiwiki-pages-articles-multistream.xml.bz2", pages, language="fi")


def _multilingual() -> Vocabulary:
    """Return phenotypes with names in English, German and Chinese."""
    builder = TableBuilder()
    for number in range(PHENOTYPES):
        concept = f"HP:{1250 + number:07}"
        builder.concept(concept)
        for language, name in (("en", "seizure"), ("en", "fit"), ("de", "Krampfanfall"), ("zh", "癫痫发作")):
            builder.name(concept, f"{name} {number}", lang=language)
    return Vocabulary.of((Source(name="hpo", format="table"), builder.build()))


def _built(folder: Path) -> None:
    """Build the vocabularies and indexes that pages take for granted."""
    mondo = read_vocabulary(folder / "mondo.obo")
    doid = read_vocabulary(folder / "doid.obo")
    medic = read_vocabulary(folder / "medic.txt")
    opened = [read_vocabulary(folder / "vocabularies" / f"{name}.tsv.gz") for name in VOCABULARIES[1:]]
    vocabularies = {
        "mondo": mondo,
        "diseases": read_vocabulary(folder / "diseases.obo"),
        "doid": doid,
        "ncit": read_vocabulary(folder / "vocabularies" / "ncit.tsv.gz"),
        "hpo": read_vocabulary(folder / "hp.obo"),
        "hpo-multilingual": _multilingual(),
        "umls": read_vocabulary(folder / "2026AA" / "META"),
        "medic": medic,
        "mesh": medic,
        "meta": merge([mondo, *opened]).vocabulary,
    }
    for name, vocabulary in vocabularies.items():
        vocabulary.save(folder / name)
    encoder = Encoder.load("nymlink-mini")
    for name in ("mondo", "medic", "mesh", "hpo"):
        Index.build(vocabularies[name], encoder=encoder).save(folder / f"{name}-index")
    shutil.copytree(folder / "mondo-index", folder / "mondo-2024-index")
    reference = IndexReference.of("mondo", Index.load(folder / "mondo-index"))
    for name in ("review", "last-year"):
        with Project.create(folder / f"{name}.nymlink", index=reference) as project:
            add_table(project, (folder / "visits.csv").read_bytes(), "visits.csv")
            decide(project, reviewer="Ann", term=1, verdict="concept", targets=[Target(mondo.concept_id(0))])
    shutil.copytree(folder / "mondo-index", folder / ".cache" / "nymlink" / "mondo-index")
