"""UniProt's flat file and Cellosaurus, on entries in the layout of the releases."""

from __future__ import annotations

from pathlib import Path

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

UNIPROT = """\
ID   A4_HUMAN                Reviewed;         770 AA.
AC   P05067; B2R5V1; B4DII8;
AC   D3DSD1;
DT   13-AUG-1987, integrated into UniProtKB/Swiss-Prot.
DE   RecName: Full=Amyloid-beta precursor protein {ECO:0000312|HGNC:HGNC:620};
DE            Short=APP {ECO:0000303|PubMed:1};
DE            EC=3.4.24.- {ECO:0000269|PubMed:2};
DE   AltName: Full=Alzheimer disease amyloid protein;
DE   AltName: CD_antigen=CD1;
DE   Contains:
DE     RecName: Full=Soluble APP-alpha;
DE              Short=S-APP-alpha;
DE   Flags: Precursor;
GN   Name=APP {ECO:0000312|HGNC:HGNC:620}; Synonyms=A4, AD1;
GN   and
GN   Name=APP2; ORFNames=hCG_1;
OS   Homo sapiens (Human).
OC   Eukaryota; Metazoa.
OX   NCBI_TaxID=9606;
CC   -!- FUNCTION: Functions as a cell surface receptor
CC       on neurons (PubMed:3). {ECO:0000269|PubMed:3}.
CC   -!- SUBUNIT: Binds others.
CC   ---------------------------------------------------------------------------
CC   Copyrighted by the UniProt Consortium, see https://www.uniprot.org/terms
CC   ---------------------------------------------------------------------------
DR   HGNC; HGNC:620; APP.
DR   GeneID; 351; -.
DR   GO; GO:0005737; C:cytoplasm; IDA:UniProtKB.
SQ   SEQUENCE   770 AA;  86943 MW;  A12EE761403740F5 CRC64;
     MLPGLALLLL AAWTARALEV PTDGNAGLLA EPQIAMFCGR LNMHMNVQNG KWDSDPSGTK
//
"""
CELLOSAURUS = """\
----------------------------------------------------------------------------
        CALIPHO group at the SIB - Swiss Institute of Bioinformatics
----------------------------------------------------------------------------

 Description: Cellosaurus: a knowledge resource on cell lines
 Name:        cellosaurus.txt

____________________________________________________________________________
ID   HeLa
AC   CVCL_0030
AS   CVCL_U363
SY   HELA; He-La; Henrietta Lacks cells
DR   BTO; BTO_0000567
DR   CLO; CLO_0003684
DR   ATCC; CCL-2
DR   Wikidata; Q847482
CC   Group: Vaccine production cell line.
DI   NCIt; C27677; Human papillomavirus-related endocervical adenocarcinoma
OX   NCBI_TaxID=9606; ! Homo sapiens (Human)
SX   Female
CA   Cancer cell line
//
ID   HeLa S3
AC   CVCL_0058
HI   CVCL_0030 ! HeLa
CA   Cancer cell line
//
"""


def read(folder: Path, text: str, name: str) -> Tables:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    problems = Problems()
    tables = reader.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    return tables


def test_uniprot(tmp_path: Path) -> None:
    tables = read(tmp_path, UNIPROT, "uniprot-dat")
    [protein] = tables.concepts.to_pylist()
    assert protein["id"] == "UniProtKB:P05067"
    assert protein["definition"] == "Functions as a cell surface receptor on neurons (PubMed:3)."
    assert protein["semantic_types"] == ["Homo sapiens (Human)", "NCBITaxon:9606"]
    assert protein["xrefs"] == ["EC:3.4.24.-", "HGNC:620", "NCBIGene:351"]
    assert tables.redirects["old"].to_pylist() == [
        f"UniProtKB:{old}" for old in ("A4_HUMAN", "B2R5V1", "B4DII8", "D3DSD1")
    ]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("Amyloid-beta precursor protein", "preferred"),
        ("APP", "abbreviation"),
        ("Alzheimer disease amyloid protein", "exact"),
        ("CD1", "exact"),
        ("Soluble APP-alpha", "narrow"),
        ("S-APP-alpha", "narrow"),
        ("A4", "related"),
        ("AD1", "related"),
        ("APP2", "related"),
        ("hCG_1", "related"),
    ]


def test_cellosaurus(tmp_path: Path) -> None:
    tables = read(tmp_path, CELLOSAURUS, "cellosaurus")
    hela, clone = tables.concepts.to_pylist()
    assert hela["semantic_types"] == ["Cancer cell line", "Homo sapiens (Human)", "NCBITaxon:9606"]
    assert hela["xrefs"] == ["BTO:0000567", "CLO:0003684", "ATCC:CCL-2", "Wikidata:Q847482"]
    assert clone["parents"] == ["Cellosaurus:CVCL_0030"] == [hela["id"]]
    assert tables.redirects.to_pylist() == [{"old": "Cellosaurus:CVCL_U363", "new": "Cellosaurus:CVCL_0030"}]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("HeLa", "preferred"),
        ("HELA", "exact"),
        ("He-La", "exact"),
        ("Henrietta Lacks cells", "exact"),
        ("HeLa S3", "preferred"),
    ]
