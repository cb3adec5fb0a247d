"""Terminologies in tables with known columns, on rows in the layout of the real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.known_columns import protein_names
from nymlink.vocabulary.tables import Tables


def read(folder: Path, text: str, name: str) -> Tables:
    path = folder / "file.data"
    path.write_text(text, encoding="utf-8")
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    problems = Problems()
    tables = reader.read(path, options=ReadOptions(), problems=problems)
    assert problems.to_dict()["first"] == []
    return tables


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


def names(tables: Tables, concept_id: str) -> list[tuple[str, str]]:
    return [(row["text"], row["kind"]) for row in tables.names.to_pylist() if row["concept_id"] == concept_id]


def redirects(tables: Tables) -> dict[str, str]:
    return {row["old"]: row["new"] for row in tables.redirects.to_pylist()}


def rows(*lines: str) -> str:
    """Rows whose cells are parted by ``~`` here."""
    return "".join(line.replace("~", "\t") + "\n" for line in lines)


def test_a_custom_download_of_hgnc(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        rows(
            "HGNC ID~Approved symbol~Approved name~Status~Locus type~Previous symbols~Alias symbols~Chromosome"
            "~NCBI Gene ID~Ensembl gene ID~Alias names~Previous name~OMIM ID(supplied by OMIM)"
            "~UniProt ID(supplied by UniProt)",
            "HGNC:37133~A1BG-AS1~A1BG antisense RNA 1~Approved~RNA, long non-coding~NCRNA00181, A1BGAS~FLJ23569"
            '~19q13.43~503538~ENSG00000268895~~"non-protein coding RNA 181", "A1BG antisense, non-coding"~~',
            "HGNC:5~A1BG~alpha-1-B glycoprotein~Approved~gene with protein product~~~19q13~1~"
            '~"one, two"~~138670~P04217',
        )
        + "HGNC:3\tA12M1~withdrawn\tsymbol withdrawn, see [HGNC:146](/data/gene-symbol-report/#!/hgnc_id/HGNC:146)"
        "\tSymbol Withdrawn\t\t\t\t\t\t\t\t\t\t\n",
        "hgnc",
    )
    found = concepts(tables)
    assert names(tables, "HGNC:37133") == [
        ("A1BG-AS1", "preferred"),
        ("A1BG antisense RNA 1", "exact"),
        ("NCRNA00181", "exact"),
        ("A1BGAS", "exact"),
        ("FLJ23569", "exact"),
        ("non-protein coding RNA 181", "exact"),
        ("A1BG antisense, non-coding", "exact"),
    ]
    assert ("one, two", "exact") in names(tables, "HGNC:5")
    assert found["HGNC:37133"]["xrefs"] == ["NCBIGene:503538", "ENSEMBL:ENSG00000268895"]
    assert found["HGNC:5"]["xrefs"] == ["NCBIGene:1", "OMIM:138670", "UniProtKB:P04217"]
    assert names(tables, "HGNC:3") == [("A12M1", "preferred")]
    assert (found["HGNC:3"]["obsolete"], found["HGNC:3"]["replaced_by"]) == (True, ["HGNC:146"])


def test_withdrawn_symbols_of_hgnc(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        rows(
            "HGNC_ID~STATUS~WITHDRAWN_SYMBOL~MERGED_INTO_REPORT(S) (i.e HGNC_ID|SYMBOL|STATUS)",
            "HGNC:1~Entry Withdrawn~A12M1~",
            "HGNC:3~Merged/Split~A12M3~HGNC:146|ADA1|Approved, HGNC:147|ADA2|Approved",
        ),
        "hgnc",
    )
    assert names(tables, "HGNC:3") == [("A12M3", "preferred")]
    assert concepts(tables)["HGNC:3"]["replaced_by"] == ["HGNC:146", "HGNC:147"]
    assert all(row["obsolete"] for row in concepts(tables).values())


GENE_INFO = (
    "#tax_id~GeneID~Symbol~LocusTag~Synonyms~dbXrefs~chromosome~map_location~description~type_of_gene"
    "~Symbol_from_nomenclature_authority~Full_name_from_nomenclature_authority~Nomenclature_status"
    "~Other_designations~Modification_date~Feature_type"
)


def test_gene_info(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        rows(
            GENE_INFO,
            "9606~1~A1BG~-~A1B|ABG|GAB~MIM:138670|HGNC:HGNC:5|Ensembl:ENSG00000121410|AllianceGenome:HGNC:5~19"
            "~19q13.43~alpha-1-B glycoprotein~protein-coding~A1BG~alpha-1-B glycoprotein~O"
            "~alpha-1B-glycoprotein|HEL-S-163pA~20240407~-",
            "7227~99~NEWENTRY~-~-~-~-~-~Record to support submission of GeneRIFs for a gene.~other~-~-~-~-"
            "~20240101~-",
        ),
        "ncbi-gene",
    )
    gene = concepts(tables)["NCBIGene:1"]
    assert gene["semantic_types"] == ["NCBITaxon:9606", "protein-coding"]
    assert gene["xrefs"] == ["OMIM:138670", "HGNC:5", "ENSEMBL:ENSG00000121410", "AllianceGenome:HGNC:5"]
    assert names(tables, "NCBIGene:1") == [
        ("A1BG", "preferred"),
        ("A1B", "exact"),
        ("ABG", "exact"),
        ("GAB", "exact"),
        ("alpha-1-B glycoprotein", "exact"),
        ("alpha-1B-glycoprotein", "related"),
        ("HEL-S-163pA", "related"),
    ]
    assert names(tables, "NCBIGene:99") == []


def test_a_table_of_uniprot(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        rows(
            "Entry~Reviewed~Entry Name~Protein names~Gene Names~Organism~Length~Organism (ID)~Function [CC]"
            "~GeneID",
            "P05067~reviewed~A4_HUMAN~Amyloid-beta precursor protein (APP) (ABPP) (Protease nexin-II) (PN-II)"
            " [Cleaved into: Soluble APP-alpha (S-APP-alpha); Amyloid-beta protein 42 (Abeta42)]~APP A4 AD1"
            "~Homo sapiens (Human)~770~9606~FUNCTION: Functions as a cell surface receptor.~351;",
        ),
        "uniprot-tsv",
    )
    protein = concepts(tables)["UniProtKB:P05067"]
    assert protein["semantic_types"] == ["Homo sapiens (Human)", "NCBITaxon:9606"]
    assert protein["definition"] == "Functions as a cell surface receptor."
    assert protein["xrefs"] == ["NCBIGene:351"]
    assert redirects(tables) == {"UniProtKB:A4_HUMAN": "UniProtKB:P05067"}
    assert names(tables, "UniProtKB:P05067") == [
        ("Amyloid-beta precursor protein", "preferred"),
        ("APP", "exact"),
        ("ABPP", "exact"),
        ("Protease nexin-II", "exact"),
        ("PN-II", "exact"),
        ("Soluble APP-alpha", "narrow"),
        ("S-APP-alpha", "narrow"),
        ("Amyloid-beta protein 42", "narrow"),
        ("Abeta42", "narrow"),
        ("A4", "related"),
        ("AD1", "related"),
    ]


@pytest.mark.parametrize(
    ("cell", "facts"),
    [
        ("NAD(+) kinase", [("preferred", "NAD(+) kinase")]),
        ("Kinase (EC 2.7.1.1) (Kinase (NAD(+)))", [
            ("preferred", "Kinase"), ("xref", "EC:2.7.1.1"), ("exact", "Kinase (NAD(+))"),
        ]),
        ("Histone H3 (Fragments)", [("preferred", "Histone H3")]),
        ("(2E)-synthase", [("preferred", "(2E)-synthase")]),
        ("[Pyruvate dehydrogenase] kinase (PDK) [Includes: One (EC 1.1.1.1)]", [
            ("preferred", "[Pyruvate dehydrogenase] kinase"), ("exact", "PDK"), ("narrow", "One"),
        ]),
    ],
)  # fmt: skip
def test_names_of_proteins(cell: str, facts: list[tuple[str, str]]) -> None:
    assert list(protein_names(cell)) == facts


@given(st.text("ab ()[];", max_size=30))
def test_any_cell_of_proteins_gives_parts_of_it(cell: str) -> None:
    assert all(value.removeprefix("EC:") in cell for _, value in protein_names(cell))


def test_titles_of_omim(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        "# Copyright (c) 1966-2024 Johns Hopkins University. Use of this file adheres to the terms.\n"
        "# Generated: 2024-04-08\n# See end of file for additional documentation on specific fields\n"
        + rows(
            "# Prefix~MIM Number~Preferred Title; symbol~Alternative Title(s); symbol(s)"
            "~Included Title(s); symbols",
            "Percent~100070~AORTIC ANEURYSM, FAMILIAL ABDOMINAL, 1; AAA1~ANEURYSM, ABDOMINAL AORTIC; AAA;;"
            " ABDOMINAL AORTIC ANEURYSM~DISSECTION, INCLUDED; DI, INCLUDED",
            "Asterisk~100640~ALDEHYDE DEHYDROGENASE 1, MEMBER A1; ALDH1A1~ALDH1;; ACETALDEHYDE DEHYDROGENASE 1~",
            "Caret~100500~MOVED TO 200150 AND 200160~~",
            "Caret~102680~REMOVED FROM DATABASE",
        )
        + "#\n# Prefix descriptions:\n#\n# Asterisk (*)  Gene\n",
        "omim",
    )
    found = concepts(tables)
    assert names(tables, "OMIM:100070") == [
        ("AORTIC ANEURYSM, FAMILIAL ABDOMINAL, 1", "preferred"),
        ("AAA1", "abbreviation"),
        ("ANEURYSM, ABDOMINAL AORTIC", "exact"),
        ("AAA", "abbreviation"),
        ("ABDOMINAL AORTIC ANEURYSM", "exact"),
        ("DISSECTION", "related"),
        ("DI", "related"),
    ]
    assert found["OMIM:100640"]["semantic_types"] == ["gene"]
    assert found["OMIM:100500"]["replaced_by"] == ["OMIM:200150", "OMIM:200160"]
    assert [id_ for id_, row in found.items() if row["obsolete"]] == ["OMIM:100500", "OMIM:102680"]
    assert len(found) == 4


def test_drugbank_and_atc(tmp_path: Path) -> None:
    drugs = read(
        tmp_path,
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        'DB00945,APRD00264 | EXPT00475,Acetylsalicylic acid,50-78-2,R16CO5Y76E,"2-Acetoxybenzoic acid | Aspirin",'
        "BSYNRYMUTXBXSQ-UHFFFAOYSA-N\n",
        "drugbank",
    )
    [drug] = concepts(drugs).values()
    assert drug["xrefs"] == ["CAS:50-78-2", "UNII:R16CO5Y76E", "INCHIKEY:BSYNRYMUTXBXSQ-UHFFFAOYSA-N"]
    assert names(drugs, "DRUGBANK:DB00945")[1:] == [("2-Acetoxybenzoic acid", "exact"), ("Aspirin", "exact")]
    assert list(redirects(drugs)) == ["DRUGBANK:APRD00264", "DRUGBANK:EXPT00475"]

    codes = read(
        tmp_path,
        "atc_code,atc_name,ddd,uom,adm_r,note\nA,ALIMENTARY TRACT AND METABOLISM,NA,NA,NA,NA\n"
        "A10,DRUGS USED IN DIABETES,NA,NA,NA,NA\nA10B,LOWERING DRUGS,NA,NA,NA,NA\nA10BA,Biguanides,NA,NA,NA,NA\n"
        "A10BA02,metformin,2,g,O,NA\nA10BA02,metformin,1,g,P,NA\n",
        "atc",
    )
    assert [row["parents"] for row in concepts(codes).values()] == [
        [],
        ["ATC:A"],
        ["ATC:A10"],
        ["ATC:A10B"],
        ["ATC:A10BA"],
    ]
    assert concepts(codes)["ATC:A10BA02"]["semantic_types"] == ["chemical substance"]
    assert names(codes, "ATC:A10BA02") == [("metformin", "preferred")]
