"""MeSH XML, on small files written by the published data elements."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.mesh import MESH
from nymlink.vocabulary.tables import Tables

DESCRIPTORS = """\
<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20240101.dtd">
<DescriptorRecordSet LanguageCode = "eng">
<DescriptorRecord DescriptorClass = "1">
 <DescriptorUI>D003643</DescriptorUI>
 <DescriptorName><String>Acquired Immunodeficiency Syndrome</String></DescriptorName>
 <PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo><DescriptorUI>D000890</DescriptorUI>
 </DescriptorReferredTo></PharmacologicalAction></PharmacologicalActionList>
 <TreeNumberList><TreeNumber>C01.925.040</TreeNumber><TreeNumber>C20.673.480.050</TreeNumber></TreeNumberList>
 <ConceptList>
  <Concept PreferredConceptYN="Y">
   <ConceptUI>M1</ConceptUI>
   <ScopeNote>A defect of the immune
      system.</ScopeNote>
   <ConceptRelationList>
    <ConceptRelation RelationName="NRW"><Concept1UI>M1</Concept1UI><Concept2UI>M2</Concept2UI></ConceptRelation>
    <ConceptRelation RelationName="BRD"><Concept1UI>M1</Concept1UI><Concept2UI>M3</Concept2UI></ConceptRelation>
   </ConceptRelationList>
   <TermList>
    <Term LexicalTag="NON" RecordPreferredTermYN="Y"><String>Acquired Immunodeficiency Syndrome</String></Term>
    <Term LexicalTag="ACR" RecordPreferredTermYN="N"><String>AIDS</String></Term>
    <Term LexicalTag="TRD" RecordPreferredTermYN="N"><String>Aidsol</String></Term>
    <Term LexicalTag="NON" RecordPreferredTermYN="N"><String>Immunodeficiency Syndrome, Acquired</String></Term>
   </TermList>
  </Concept>
  <Concept PreferredConceptYN="N">
   <ConceptUI>M2</ConceptUI>
   <TermList><Term LexicalTag="ABB"><String>AIDS, juvenile &amp; late</String></Term></TermList>
  </Concept>
  <Concept PreferredConceptYN="N"><ConceptUI>M3</ConceptUI>
   <TermList><Term><String>Immune defects</String></Term></TermList>
  </Concept>
  <Concept PreferredConceptYN="N"><ConceptUI>M4</ConceptUI>
   <ConceptRelationList>
    <ConceptRelation RelationName="NRW"><Concept1UI>M4</Concept1UI><Concept2UI>M1</Concept2UI></ConceptRelation>
   </ConceptRelationList>
   <TermList><Term><String>Deficiency</String></Term></TermList>
  </Concept>
  <Concept PreferredConceptYN="N"><ConceptUI>M5</ConceptUI>
   <TermList><Term><String>Slim disease</String></Term></TermList>
  </Concept>
 </ConceptList>
</DescriptorRecord>
<DescriptorRecord>
 <DescriptorUI>D014777</DescriptorUI>
 <DescriptorName><String>Virus Diseases</String></DescriptorName>
 <TreeNumberList><TreeNumber>C01.925</TreeNumber></TreeNumberList>
</DescriptorRecord>
</DescriptorRecordSet>
"""

SUPPLEMENTARY = """\
<SupplementalRecordSet LanguageCode="eng">
<SupplementalRecord SCRClass="3">
 <SupplementalRecordUI>C538288</SupplementalRecordUI>
 <SupplementalRecordName><String>10p Deletion Syndrome</String></SupplementalRecordName>
 <Note>A deletion.</Note>
 <HeadingMappedToList>
  <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D002872</DescriptorUI></DescriptorReferredTo></HeadingMappedTo>
  <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>D025063</DescriptorUI></DescriptorReferredTo></HeadingMappedTo>
 </HeadingMappedToList>
 <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M6</ConceptUI><TermList>
  <Term RecordPreferredTermYN="Y"><String>10p Deletion Syndrome</String></Term>
  <Term RecordPreferredTermYN="N"><String>Monosomy 10p</String></Term>
 </TermList></Concept></ConceptList>
</SupplementalRecord>
</SupplementalRecordSet>
"""


def read(folder: Path, text: str, problems: Problems | None = None) -> Tables:
    path = folder / "mesh.xml"
    path.write_text(text, encoding="utf-8")
    return MESH.read(path, options=ReadOptions(), problems=problems or Problems())


def kinds(tables: Tables, id_: str) -> dict[str, str]:
    return {row["text"]: row["kind"] for row in tables.names.to_pylist() if row["concept_id"] == id_}


def test_reads_descriptors(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, DESCRIPTORS, problems)
    assert problems.count == 0
    aids, viruses = tables.concepts.to_pylist()
    assert aids["id"] == "MESH:D003643"
    assert aids["definition"] == "A defect of the immune system."
    assert aids["semantic_types"] == ["C"]
    assert aids["parents"] == ["MESH:D014777"]
    assert viruses["parents"] == []
    assert kinds(tables, "MESH:D003643") == {
        "Acquired Immunodeficiency Syndrome": "preferred",
        "AIDS": "abbreviation",
        "Aidsol": "tradename",
        "Immunodeficiency Syndrome, Acquired": "exact",
        "AIDS, juvenile & late": "narrow",
        "Immune defects": "broad",
        "Deficiency": "broad",
        "Slim disease": "related",
    }
    assert kinds(tables, "MESH:D014777") == {"Virus Diseases": "preferred"}
    assert set(tables.names["lang"].to_pylist()) == {"en"}


def test_reads_supplementary_records(tmp_path: Path) -> None:
    tables = read(tmp_path, SUPPLEMENTARY)
    [concept] = tables.concepts.to_pylist()
    assert concept["id"] == "MESH:C538288"
    assert concept["definition"] == "A deletion."
    assert concept["semantic_types"] == ["disease"]
    assert concept["parents"] == ["MESH:D002872", "MESH:D025063"]
    assert kinds(tables, "MESH:C538288") == {"10p Deletion Syndrome": "preferred", "Monosomy 10p": "exact"}


def test_a_translation_says_its_language(tmp_path: Path) -> None:
    tables = read(tmp_path, DESCRIPTORS.replace('"eng"', '"fre"'))
    assert set(tables.names["lang"].to_pylist()) == {"fr"}


def test_a_truncated_file_keeps_its_whole_records(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, DESCRIPTORS[: DESCRIPTORS.index("Virus Diseases")], problems)
    assert tables.concepts["id"].to_pylist() == ["MESH:D003643"]
    assert problems.rejected == 1
    assert "truncated" in problems.first[0].message


def test_a_file_without_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no record"):
        read(tmp_path, "<DescriptorRecordSet/>")
