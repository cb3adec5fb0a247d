"""Orphanet's product 1, on a small file of its elements."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.tables.terminologies import ORPHANET
from nymlink.vocabulary.tables import Tables

TEXT = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<JDBOR date="2024-06-25 07:13:39" version="1.3.32" copyright="Orphanet (c) 2024">
<Availability><Licence><FullName lang="en">Creative Commons</FullName><ShortIdentifier>CC-BY-4.0</ShortIdentifier>
</Licence></Availability>
<DisorderList count="3">
 <Disorder id="10">
  <OrphaCode>93</OrphaCode><Name lang="fr">Syndrome de Sjögren</Name>
  <SynonymList count="1"><Synonym lang="fr">Syndrome sec</Synonym></SynonymList>
  <DisorderType id="1"><Name lang="fr">Maladie</Name></DisorderType>
  <ExternalReferenceList count="3">
   <ExternalReference id="1"><Source>MeSH</Source><Reference>D012859</Reference>
    <DisorderMappingRelation id="2"><Name lang="en">E (Exact mapping: equivalent)</Name></DisorderMappingRelation>
   </ExternalReference>
   <ExternalReference id="2"><Source>ICD-10</Source><Reference>M35.0</Reference>
    <DisorderMappingRelation id="3"><Name lang="en">NTBT (narrower term maps to a broader term)</Name>
    </DisorderMappingRelation></ExternalReference>
  </ExternalReferenceList>
  <SummaryInformationList><SummaryInformation><TextSectionList><TextSection>
   <TextSectionType><Name>Definition</Name></TextSectionType><Contents>Dry eyes.</Contents>
  </TextSection></TextSectionList></SummaryInformation></SummaryInformationList>
 </Disorder>
 <Disorder id="11"><OrphaCode>94</OrphaCode><Name lang="fr">OBSOLETE: Vieux mal</Name></Disorder>
 <Disorder id="12"><OrphaNumber>95</OrphaNumber><Name lang="fr">NON RARE IN EUROPE: Rhume</Name></Disorder>
</DisorderList>
</JDBOR>
"""


def read(folder: Path, text: str, languages: set[str] | None = None) -> Tables:
    path = folder / "file.xml"
    path.write_bytes(text.encode("iso-8859-1"))
    problems = Problems()
    options = ReadOptions(languages=None if languages is None else frozenset(languages))
    tables = ORPHANET.read(path, options=options, problems=problems)
    assert problems.count == 0
    return tables


def test_reads_disorders(tmp_path: Path) -> None:
    tables = read(tmp_path, TEXT)
    first, second, third = tables.concepts.to_pylist()
    assert first == {
        "id": "Orphanet:93",
        "definition": "Dry eyes.",
        "semantic_types": ["Maladie"],
        "xrefs": ["MESH:D012859"],
        "parents": [],
        "obsolete": False,
        "replaced_by": [],
    }
    assert [second["obsolete"], third["obsolete"]] == [True, False]
    assert third["id"] == "Orphanet:95"
    assert [(row["text"], row["lang"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("Syndrome de Sjögren", "fr", "preferred"),
        ("Syndrome sec", "fr", "exact"),
        ("Vieux mal", "fr", "preferred"),
        ("Rhume", "fr", "preferred"),
    ]
    assert (tables.version, tables.licence) == ("2024-06-25", "CC-BY-4.0")


def test_languages_select_names(tmp_path: Path) -> None:
    assert len(read(tmp_path, TEXT, {"en"}).names) == 0


def test_another_product_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no disorder"):
        read(tmp_path, "<JDBOR><GeneList/></JDBOR>")
