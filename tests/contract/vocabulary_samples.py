"""A small vocabulary in every format, for tests of what all readers must do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from nymlink.vocabulary.readers import VOCABULARY_FORMATS


@dataclass(frozen=True)
class Sample:
    """The same small vocabulary in one format.

    Every sample names X:1 "heart attack" (also "MI"), X:2 "Sjögren syndrome" and X:3 "stroke", by ``ids``.

    Attributes:
        text: the source; each of its names stands on a line of its own.
        ids: what the format calls X:1, X:2 and X:3.
        broken: a line (or, where lines mean nothing, something else) that cannot be used.
        before: the text before which ``broken`` is put.
        has_lines: whether a problem has a line number.
        redirects: alternate ids in ``text``.
        obsolete: obsolete concept in ``text`` and what replaces it.
        names_obsolete: whether the format names obsolete concepts.
        inherits: whether what replaces an obsolete concept gets its names.
        file: name of the file in a folder, where the source is a folder.
        states_language: whether names say which language they are in.
        beside: other files of the folder, by their names.
    """

    text: str
    broken: str
    before: str
    ids: tuple[str, str, str] = ("X:1", "X:2", "X:3")
    has_lines: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    obsolete: tuple[str, str] | None = None
    names_obsolete: bool = True
    inherits: bool = False
    file: str | None = None
    states_language: bool = False
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def is_xml(self) -> bool:
        return self.text.startswith("<") and not self.text.startswith("<http:")

    @property
    def is_json(self) -> bool:
        return self.text.startswith("{")

    def with_broken_line(self) -> tuple[str, int]:
        """The text with the broken line in it, and that line's number."""
        place = self.text.index(self.before)
        return self.text[:place] + self.broken + self.text[place:], self.text.count("\n", 0, place) + 1

    def write(self, folder: Path, data: bytes, ending: str = "") -> Path:
        """Write content as a source of this format, under a name that tells nothing."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ((self.file or "source.dat") + ending)
        path.write_bytes(data)
        for name, text in self.beside.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return path if self.file is None else folder


_OBO = """\
format-version: 1.4
data-version: 2024-01-01

[Term]
id: X:1
name: heart attack
alt_id: X:10
synonym: "MI" EXACT []

[Term]
id: X:2
name: Sjögren syndrome
property_value: skos:exactMatch "MESH:D012859" xsd:string

[Term]
id: X:3
name: stroke

[Term]
id: X:4
name: apoplexy
is_obsolete: true
replaced_by: X:3
"""


def _obographs() -> str:
    def node(number: int, label: str, **meta: object) -> dict[str, object]:
        return {"id": f"http://purl.obolibrary.org/obo/X_{number}", "lbl": label, "type": "CLASS", "meta": meta}

    alternate = {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:10"}
    replaced = {"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "http://purl.obolibrary.org/obo/X_3"}
    nodes = [
        node(
            1, "heart attack", synonyms=[{"pred": "hasExactSynonym", "val": "MI"}], basicPropertyValues=[alternate]
        ),
        node(2, "Sjögren syndrome"),
        node(3, "stroke"),
        node(4, "apoplexy", deprecated=True, basicPropertyValues=[replaced]),
        {"id": "http://purl.obolibrary.org/obo/note", "lbl": "no concept, for nothing says so"},
    ]
    return json.dumps({"graphs": [{"id": "x", "nodes": nodes, "edges": []}]}, indent=1, ensure_ascii=False)


def _fhir() -> str:
    def concept(number: int, display: str, **more: object) -> dict[str, object]:
        return {"code": f"X:{number}", "display": display, **more}

    retired = [{"code": "status", "valueCode": "retired"}, {"code": "replacedBy", "valueCode": "X:3"}]
    concepts = [
        concept(1, "heart attack", designation=[{"value": "MI"}]),
        concept(2, "Sjögren syndrome"),
        concept(3, "stroke"),
        concept(4, "apoplexy", property=retired),
    ]
    system = {"resourceType": "CodeSystem", "url": "http://example.org/X", "concept": concepts}
    return json.dumps(system, indent=1, ensure_ascii=False)


def _mrconso(*fields: tuple[str, str, str]) -> str:
    return "".join(
        f"{cui}|ENG|P|L{number}|PF|S{number}|Y|A{number}||M{number}|D{number}|MSH|{tty}|D{number}|{name}|0|N|256|\n"
        for number, (cui, tty, name) in enumerate(fields, start=1)
    )


def _rxnconso(*fields: tuple[str, str, str]) -> str:
    return "".join(
        f"{rxcui}|ENG||||||{number}|{number}|{rxcui}||RXNORM|{tty}|{rxcui}|{name}||N|4096|\n"
        for number, (rxcui, tty, name) in enumerate(fields, start=1)
    )


def _tsv(*rows: str) -> str:
    """Rows whose fields are parted by single bars here, for tabs are not seen."""
    return "".join(row.replace("|", "\t") + "\n" for row in rows)


def _rf2_description(number: int, concept: int, term: str) -> str:
    type_ = "900000000000003001" if term.endswith(")") else "900000000000013009"
    return f"{number}|20240101|1|900000000000207008|{concept}|en|{type_}|{term}|900000000000448009"


def _mesh_record(number: int, *names: str) -> str:
    terms = "".join(
        f'<Term RecordPreferredTermYN="{"N" if place else "Y"}" LexicalTag="{"ABB" if place else "NON"}">\n'
        f"<String>{name}</String></Term>\n"
        for place, name in enumerate(names)
    )
    return (
        f"<DescriptorRecord>\n<DescriptorUI>D{number}</DescriptorUI>\n<ConceptList>\n"
        f'<Concept PreferredConceptYN="Y">\n<ConceptUI>M{number}</ConceptUI>\n'
        f"<TermList>\n{terms}</TermList></Concept>\n"
        "</ConceptList>\n</DescriptorRecord>\n"
    )


def _mesh_ascii_record(number: int, *names: str) -> str:
    entries = "".join(f"ENTRY = {name}|T047|ABB|EQV|NLM (1999)|990101|abcdef\n" for name in names[1:])
    return f"*NEWRECORD\nRECTYPE = D\nMH = {names[0]}\n{entries}UI = D{number}\n\n"


def _mesh_triples(number: int, *names: str) -> str:
    mesh, vocabulary = "http://id.nlm.nih.gov/mesh/", "http://id.nlm.nih.gov/mesh/vocab#"
    triples = [
        f"<{mesh}D{number}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{vocabulary}TopicalDescriptor> .",
        f'<{mesh}D{number}> <http://www.w3.org/2000/01/rdf-schema#label> "{names[0]}"@en .',
        f"<{mesh}D{number}> <{vocabulary}preferredConcept> <{mesh}M{number}> .",
        f"<{mesh}M{number}> <{vocabulary}term> <{mesh}T{number}> .",
        *(f'<{mesh}T{number}> <{vocabulary}altLabel> "{name}"@en .' for name in names[1:]),
    ]
    return "".join(f"{triple}\n" for triple in triples)


def _icd10cm_line(number: int, code: str, short: str, long: str) -> str:
    return f"{number:05} {code:<7} 1 {short:<60} {long}\n"


_OWL = """\
<?xml version="1.0"?>
<rdf:RDF xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:obo="http://purl.obolibrary.org/obo/"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
<owl:Class rdf:about="http://purl.obolibrary.org/obo/X_1">
    <rdfs:label>heart attack</rdfs:label>
    <oboInOwl:hasExactSynonym>MI</oboInOwl:hasExactSynonym>
    <oboInOwl:hasAlternativeId>X:10</oboInOwl:hasAlternativeId>
</owl:Class>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/X_2">
    <rdfs:label>Sjögren syndrome</rdfs:label>
</owl:Class>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/X_3">
    <rdfs:label>stroke</rdfs:label>
</owl:Class>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/X_4">
    <rdfs:label>apoplexy</rdfs:label>
    <owl:deprecated>true</owl:deprecated>
    <obo:IAO_0100001 rdf:resource="http://purl.obolibrary.org/obo/X_3"/>
</owl:Class>
</rdf:RDF>
"""

_OWL_FUNCTIONAL = """\
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix(oboInOwl:=<http://www.geneontology.org/formats/oboInOwl#>)
Prefix(ex:=<http://purl.obolibrary.org/obo/>)

Ontology(<http://purl.obolibrary.org/obo/x.owl>
Declaration(Class(ex:X_1))
Declaration(Class(ex:X_2))
Declaration(Class(ex:X_3))
Declaration(Class(ex:X_4))
AnnotationAssertion(rdfs:label ex:X_1 "heart attack")
AnnotationAssertion(oboInOwl:hasExactSynonym ex:X_1 "MI")
AnnotationAssertion(oboInOwl:hasAlternativeId ex:X_1 "X:10")
AnnotationAssertion(rdfs:label ex:X_2 "Sjögren syndrome")
AnnotationAssertion(rdfs:label ex:X_3 "stroke")
AnnotationAssertion(rdfs:label ex:X_4 "apoplexy")
AnnotationAssertion(owl:deprecated ex:X_4 "true"^^xsd:boolean)
AnnotationAssertion(obo:IAO_0100001 ex:X_4 ex:X_3)
)
"""

_TURTLE = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oboInOwl: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix ex: <http://purl.obolibrary.org/obo/> .

ex:X_1 a skos:Concept ;
    skos:prefLabel "heart attack" ;
    skos:altLabel "MI" ;
    oboInOwl:hasAlternativeId "X:10" .

ex:X_2 a skos:Concept ;
    skos:prefLabel "Sjögren syndrome" .

ex:X_3 a skos:Concept ;
    skos:prefLabel "stroke" .

ex:X_4 a skos:Concept ;
    skos:prefLabel "apoplexy" ;
    owl:deprecated true ;
    obo:IAO_0100001 ex:X_3 .
"""


def _dmp(*rows: str) -> str:
    """Rows of NCBI's dumps, whose fields are parted by ``~`` here."""
    return "".join(row.replace("~", "\t|\t") + "\t|\n" for row in rows)


_ATC_NAMES = {"C01": "heart attack", "L01": "Sjögren syndrome", "N02": "stroke"}
_GENE_INFO = (
    "#tax_id|GeneID|Symbol|LocusTag|Synonyms|dbXrefs|chromosome|map_location|description|type_of_gene"
    "|Symbol_from_nomenclature_authority|Full_name_from_nomenclature_authority|Nomenclature_status"
    "|Other_designations|Modification_date|Feature_type"
)


def _gene_info_row(number: int, symbol: str, synonyms: str = "-") -> str:
    return f"9606|{number}|{symbol}|-|{synonyms}|-|1|1p1|-|protein-coding|-|-|-|-|20240101|-"


SAMPLES = {
    "atc": Sample(
        text="ATC code,ATC level name,DDD,U,Adm.R,Note\n"
        + "".join(f"{code},{name},,,,\n" for code, name in _ATC_NAMES.items())
        + "C01,MI,1,mg,O,\n",
        broken=",no code,,,,\n",
        before="L01,",
        ids=("ATC:C01", "ATC:L01", "ATC:N02"),
    ),
    "babelon": Sample(
        text=_tsv(
            "translation_language|subject_id|predicate_id|translation_value|translation_status",
            "en|X:1|rdfs:label|heart attack|OFFICIAL",
            "en|X:1|oboInOwl:hasExactSynonym|MI|OFFICIAL",
            "en|X:2|rdfs:label|Sjögren syndrome|CANDIDATE",
            "en|X:3|rdfs:label|stroke|OFFICIAL",
            "en|X:3|rdfs:label|NA|NOT_TRANSLATED",
        ),
        broken="en\tX:5\ttoo short\n",
        before="en\tX:2",
        states_language=True,
    ),
    "biosyn": Sample(
        text="X:1|X:10||heart attack\nX:1|X:10||MI\nX:2||Sjögren syndrome\nX:3||stroke\n",
        broken="X:5 no bars\n",
        before="X:2||",
        redirects={"X:10": "X:1"},
    ),
    "cellosaurus": Sample(
        text="----\n        CALIPHO group at the SIB\n----\n"
        " Description: Cellosaurus: a knowledge resource on cell lines\n\n"
        "ID   heart attack\nAC   CVCL_0001\nAS   CVCL_0010\nSY   MI\nCA   Cancer cell line\n//\n"
        "ID   Sjögren syndrome\nAC   CVCL_0002\n//\n"
        "ID   stroke\nAC   CVCL_0003\n//\n",
        broken="ID   no accession\n//\n",
        before="ID   Sj",
        ids=("Cellosaurus:CVCL_0001", "Cellosaurus:CVCL_0002", "Cellosaurus:CVCL_0003"),
        redirects={"Cellosaurus:CVCL_0010": "Cellosaurus:CVCL_0001"},
    ),
    "claml": Sample(
        text="""\
<?xml version="1.0" encoding="UTF-8"?>
<ClaML version="2.0.0">
<Title name="X" version="2024"/>
<Class code="1" kind="category">
<Rubric kind="preferred"><Label xml:lang="en">heart attack</Label></Rubric>
<Rubric kind="inclusion"><Label xml:lang="en">MI</Label></Rubric>
</Class>
<Class code="2" kind="category">
<Rubric kind="preferred"><Label xml:lang="en">Sjögren syndrome</Label></Rubric>
</Class>
<Class code="3" kind="category">
<Rubric kind="preferred"><Label xml:lang="en">stroke</Label></Rubric>
</Class>
</ClaML>
""",
        broken='<Class kind="category"/>\n',
        before='<Class code="2"',
        states_language=True,
    ),
    "ctd": Sample(
        text="# Report created: today\n#\n# Fields:\n"
        "# DiseaseName,DiseaseID,AltDiseaseIDs,Definition,ParentIDs,TreeNumbers,ParentTreeNumbers,"
        "Synonyms,SlimMappings\n#\n"
        "heart attack,MESH:D1,OMIM:10,,MESH:D4,C14/D1,C14,MI,Cardiovascular disease\n"
        "Sjögren syndrome,MESH:D2,,,,C05,C05,,\n"
        "stroke,MESH:D3,,,,C10,C10,,\n",
        broken="too short,MESH:D5\n",
        before="Sjögren",
        ids=("MESH:D1", "MESH:D2", "MESH:D3"),
        redirects={"OMIM:10": "MESH:D1"},
    ),
    "fhir": Sample(
        text=_fhir(),
        broken='{"display": "a concept without a code"},\n',
        before='{\n   "code": "X:2"',
        has_lines=False,
        obsolete=("X:4", "X:3"),
    ),
    "drugbank": Sample(
        text="DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        "DB00001,BIOD00024 | BTD00024,heart attack,138068-37-8,Y43GF64R34,MI,\n"
        "DB00002,,Sjögren syndrome,,,,\n"
        "DB00003,,stroke,,,,\n",
        broken="DB00005,too short\n",
        before="DB00002",
        ids=("DRUGBANK:DB00001", "DRUGBANK:DB00002", "DRUGBANK:DB00003"),
        redirects={"DRUGBANK:BIOD00024": "DRUGBANK:DB00001", "DRUGBANK:BTD00024": "DRUGBANK:DB00001"},
    ),
    "hgnc": Sample(
        text=_tsv(
            "hgnc_id|symbol|name|locus_type|status|alias_symbol|alias_name|prev_symbol|prev_name",
            "HGNC:1|heart attack||gene|Approved|MI|||",
            "HGNC:2|Sjögren syndrome||gene|Approved||||",
            "HGNC:3|stroke||gene|Approved||||",
        ),
        broken="HGNC:5\ttoo short\n",
        before="HGNC:2",
        ids=("HGNC:1", "HGNC:2", "HGNC:3"),
    ),
    "icd10cm": Sample(
        text=_icd10cm_line(1, "I21", "MI", "heart attack")
        + _icd10cm_line(2, "M350", "Sjögren syndrome", "Sjögren syndrome")
        + _icd10cm_line(3, "I63", "stroke", "stroke"),
        broken="00009 I9 too short\n",
        before="00002",
        ids=("ICD10CM:I21", "ICD10CM:M35.0", "ICD10CM:I63"),
    ),
    "icd10cm-tabular": Sample(
        text="""\
<?xml version="1.0" encoding="UTF-8"?>
<ICD10CM.tabular>
<version>2025</version>
<chapter><name>9</name>
<section id="I20-I25"><desc>(I20-I25)</desc>
<diag><name>I21</name><desc>heart attack</desc>
<inclusionTerm><note>MI</note></inclusionTerm></diag></section>
<section id="M30-M36"><desc>(M30-M36)</desc>
<diag><name>M35</name>
<desc>Sjögren syndrome</desc></diag></section>
<section id="I60-I69"><desc>(I60-I69)</desc>
<diag><name>I63</name>
<desc>stroke</desc></diag></section>
</chapter>
</ICD10CM.tabular>
""",
        broken="<section><desc>no id</desc></section>\n",
        before='<section id="M30',
        ids=("ICD10CM:I21", "ICD10CM:M35", "ICD10CM:I63"),
    ),
    "icd11": Sample(
        text=_tsv(
            "Foundation URI|Linearization URI|Code|BlockId|Title|ClassKind|DepthInKind|ChapterNo|Version:1",
            '|http://x.org/mms/1|BA41||"- heart attack"|category|1|11',
            '|http://x.org/mms/1|BA41||"- MI"|category|1|11',
            '|http://x.org/mms/2|4A43||"- Sjögren syndrome"|category|1|04',
            '|http://x.org/mms/3|8B20||"- stroke"|category|1|08',
        ),
        broken="\ttoo short\n",
        before="\thttp://x.org/mms/2",
        ids=("ICD11:BA41", "ICD11:4A43", "ICD11:8B20"),
    ),
    "loinc": Sample(
        text='"LOINC_NUM","COMPONENT","STATUS","SHORTNAME","LONG_COMMON_NAME"\n'
        '"1-8","","ACTIVE","MI","heart attack"\n'
        '"2-6","","ACTIVE","","Sjögren syndrome"\n'
        '"3-4","","ACTIVE","","stroke"\n'
        '"4-2","","DEPRECATED","","apoplexy"\n',
        broken='"5-9","too short"\n',
        before='"2-6"',
        ids=("LOINC:1-8", "LOINC:2-6", "LOINC:3-4"),
        obsolete=("LOINC:4-2", "LOINC:3-4"),
        file="Loinc.csv",
        beside={"LoincTable/MapTo.csv": "LOINC,MAP_TO,COMMENT\n4-2,3-4,\n"},
    ),
    "meddra": Sample(
        text="1$heart attack$1$$$$$$$Y$$\n1$MI$1$$$$$$$Y$$\n2$Sjögren syndrome$2$$$$$$$Y$$\n"
        "3$stroke$3$$$$$$$Y$$\n4$apoplexy$3$$$$$$$N$$\n",
        broken="5$too short\n",
        before="2$Sj",
        ids=("MEDDRA:1", "MEDDRA:2", "MEDDRA:3"),
        obsolete=("MEDDRA:4", "MEDDRA:3"),
        file="llt.asc",
    ),
    "mesh": Sample(
        text='<?xml version="1.0"?>\n<!DOCTYPE DescriptorRecordSet SYSTEM "nlmdescriptorrecordset.dtd">\n'
        '<DescriptorRecordSet LanguageCode="eng">\n'
        + _mesh_record(1, "heart attack", "MI")
        + _mesh_record(2, "Sjögren syndrome")
        + _mesh_record(3, "stroke")
        + "</DescriptorRecordSet>\n",
        broken="<DescriptorRecord><DateCreated/></DescriptorRecord>\n",
        before="<DescriptorRecord>\n<DescriptorUI>D2",
        ids=("MESH:D1", "MESH:D2", "MESH:D3"),
        states_language=True,
    ),
    "mesh-ascii": Sample(
        text=_mesh_ascii_record(1, "heart attack", "MI")
        + _mesh_ascii_record(2, "Sjögren syndrome")
        + _mesh_ascii_record(3, "stroke"),
        broken="*NEWRECORD\nRECTYPE = D\n",
        before="*NEWRECORD\nRECTYPE = D\nMH = Sj",
        ids=("MESH:D1", "MESH:D2", "MESH:D3"),
    ),
    "mesh-rdf": Sample(
        text=_mesh_triples(1, "heart attack", "MI")
        + _mesh_triples(2, "Sjögren syndrome")
        + _mesh_triples(3, "stroke"),
        broken="<http://id.nlm.nih.gov/mesh/D5> too short\n",
        before="<http://id.nlm.nih.gov/mesh/D2> <http://www.w3.org/2000",
        ids=("MESH:D1", "MESH:D2", "MESH:D3"),
        states_language=True,
    ),
    "ncit": Sample(
        text=_tsv(
            "C1|<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C1>||heart attack#MI||||Disease",
            "C2|<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C2>|C1|Sjögren syndrome||||Disease",
            "C3|<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3>|C1|stroke||||Disease",
        ).replace("#MI", "|MI"),
        broken="C5\ttoo short\n",
        before="C2\t",
        ids=("NCIT:C1", "NCIT:C2", "NCIT:C3"),
    ),
    "ncbi-gene": Sample(
        text=_tsv(
            _GENE_INFO,
            _gene_info_row(1, "heart attack", "MI"),
            _gene_info_row(2, "Sjögren syndrome"),
            _gene_info_row(3, "stroke"),
        ),
        broken="9606\t5\ttoo short\n",
        before="9606\t2",
        ids=("NCBIGene:1", "NCBIGene:2", "NCBIGene:3"),
    ),
    "ncbi-taxonomy": Sample(
        text=_dmp(
            "1~heart attack~~scientific name",
            "1~MI~~acronym",
            "2~Sjögren syndrome~~scientific name",
            "3~stroke~~scientific name",
        ),
        broken="5\t|\ttoo short\t|\n",
        before="2\t|\tSj",
        ids=("NCBITaxon:1", "NCBITaxon:2", "NCBITaxon:3"),
        redirects={"NCBITaxon:10": "NCBITaxon:1"},
        file="names.dmp",
        beside={
            "nodes.dmp": _dmp(*(f"{number}~1~species~~0~1~1~1~0~1~0~0~" for number in (1, 2, 3))),
            "merged.dmp": _dmp("10~1"),
        },
    ),
    "obo": Sample(
        text=_OBO,
        broken='synonym: "never closed EXACT []\n',
        before="\n[Term]\nid: X:3",
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "obographs": Sample(
        text=_obographs(),
        broken='{"lbl": "a node without an id"},\n',
        before='{\n     "id": "http://purl.obolibrary.org/obo/X_2"',
        has_lines=False,
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "omim": Sample(
        text="# Copyright (c) 1966-2024 Johns Hopkins University.\n# Generated: 2024-01-01\n"
        + _tsv(
            "# Prefix|MIM Number|Preferred Title; symbol|Alternative Title(s); symbol(s)"
            "|Included Title(s); symbols",
            "Percent|100001|heart attack; MI||",
            "Number Sign|100002|Sjögren syndrome||",
            "NULL|100003|stroke",
            "Caret|100004|MOVED TO 100003||",
        )
        + "# Caret (^) Entry has been removed from the database or moved to another entry\n",
        broken="Percent\t\tno number\t\t\n",
        before="Number Sign",
        ids=("OMIM:100001", "OMIM:100002", "OMIM:100003"),
        obsolete=("OMIM:100004", "OMIM:100003"),
        names_obsolete=False,
    ),
    "omop": Sample(
        text=_tsv(
            "concept_id|concept_name|domain_id|vocabulary_id|concept_class_id|standard_concept|concept_code"
            "|valid_start_date|valid_end_date|invalid_reason",
            "1|heart attack|Condition|SNOMED|Disorder|S|22298006|19700101|20991231|",
            "2|Sjögren syndrome|Condition|SNOMED|Disorder|S|83901003|19700101|20991231|",
            "3|stroke|Condition|SNOMED|Disorder|S|230690007|19700101|20991231|",
            "4|apoplexy|Condition|SNOMED|Disorder||999|19700101|20200101|U",
        ),
        broken="5\ttoo short\n",
        before="2\tSjögren",
        ids=("OMOP:1", "OMOP:2", "OMOP:3"),
        obsolete=("OMOP:4", "OMOP:3"),
        inherits=True,
        file="CONCEPT.csv",
        states_language=True,
        beside={
            "CONCEPT_SYNONYM.csv": _tsv("concept_id|concept_synonym_name|language_concept_id", "1|MI|4180186"),
            "CONCEPT_RELATIONSHIP.csv": _tsv(
                "concept_id_1|concept_id_2|relationship_id|valid_start_date|valid_end_date|invalid_reason",
                "4|3|Concept replaced by|20200101|20991231|",
            ),
        },
    ),
    "orphanet": Sample(
        text="""\
<?xml version="1.0" encoding="UTF-8"?>
<JDBOR date="2024-06-25 07:00:00" version="1.3">
<DisorderList count="3">
<Disorder id="1"><OrphaCode>1</OrphaCode>
<Name lang="en">heart attack</Name>
<SynonymList count="1"><Synonym lang="en">MI</Synonym></SynonymList>
</Disorder>
<Disorder id="2"><OrphaCode>2</OrphaCode>
<Name lang="en">Sjögren syndrome</Name>
</Disorder>
<Disorder id="3"><OrphaCode>3</OrphaCode>
<Name lang="en">stroke</Name>
</Disorder>
</DisorderList>
</JDBOR>
""",
        broken='<Disorder id="5"><Name lang="en">no code</Name></Disorder>\n',
        before='<Disorder id="2">',
        ids=("Orphanet:1", "Orphanet:2", "Orphanet:3"),
        states_language=True,
    ),
    "owl": Sample(
        text=_OWL,
        broken="<owl:Class><rdfs:label>a class without an id</rdfs:label></owl:Class>\n",
        before='<owl:Class rdf:about="http://purl.obolibrary.org/obo/X_2"',
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "owl-functional": Sample(
        text=_OWL_FUNCTIONAL,
        broken='AnnotationAssertion(rdfs:label ex:X_3 "never closed)\n',
        before='AnnotationAssertion(rdfs:label ex:X_2 "Sj',
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "rrf": Sample(
        text=_mrconso(
            ("C0000001", "MH", "heart attack"),
            ("C0000001", "ET", "MI"),
            ("C0000002", "MH", "Sjögren syndrome"),
            ("C0000003", "MH", "stroke"),
        ),
        broken="C0000005|ENG|too short\n",
        before="C0000002|",
        ids=("C0000001", "C0000002", "C0000003"),
        file="MRCONSO.RRF",
        states_language=True,
    ),
    "rxnorm": Sample(
        text=_rxnconso(
            ("1", "IN", "heart attack"),
            ("1", "SY", "MI"),
            ("2", "IN", "Sjögren syndrome"),
            ("3", "IN", "stroke"),
        ),
        broken="5|ENG|too short\n",
        before="2|ENG",
        ids=("RXNORM:1", "RXNORM:2", "RXNORM:3"),
        redirects={"RXNORM:10": "RXNORM:1"},
        file="RXNCONSO.RRF",
        states_language=True,
        beside={"RXNCUI.RRF": "10|201001|201106|1|1|\n"},
    ),
    "shared-table": Sample(
        text="concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"
        "X:1\theart attack\ten\tpreferred\tdisease\tUMLS:C0027051|MESH:D009203\n"
        "X:1\tMI\ten\tabbreviation\tdisease\t\n"
        "X:2\tSjögren syndrome\ten\tpreferred\tdisease\t\n"
        "X:3\tstroke\ten\tpreferred\tdisease\t\n",
        broken="X:5\ttoo short\n",
        before="X:2\t",
        states_language=True,
    ),
    "snomed": Sample(
        text=_tsv(
            "id|effectiveTime|active|moduleId|conceptId|languageCode|typeId|term|caseSignificanceId",
            _rf2_description(11, 22298006, "heart attack (disorder)"),
            _rf2_description(12, 22298006, "MI"),
            _rf2_description(13, 83901003, "Sjögren syndrome (disorder)"),
            _rf2_description(14, 230690007, "stroke (disorder)"),
            _rf2_description(15, 4, "apoplexy (disorder)"),
        ),
        broken="16\t20240101\ttoo short\n",
        before="13\t",
        ids=("SNOMEDCT:22298006", "SNOMEDCT:83901003", "SNOMEDCT:230690007"),
        obsolete=("SNOMEDCT:4", "SNOMEDCT:230690007"),
        file="sct2_Description_Snapshot-en_INT_20240101.txt",
        states_language=True,
        beside={
            "sct2_Concept_Snapshot_INT_20240101.txt": _tsv(
                "id|effectiveTime|active|moduleId|definitionStatusId", "4|20240101|0|900000000000207008|1"
            ),
            "der2_cRefset_AssociationSnapshot_INT_20240101.txt": _tsv(
                "id|effectiveTime|active|moduleId|refsetId|referencedComponentId|targetComponentId",
                "a|20240101|1|900000000000207008|900000000000526001|4|230690007",
            ),
        },
    ),
    "sparql": Sample(
        text=_tsv(
            "?item|?itemLabel|?itemAltLabel",
            '<http://www.wikidata.org/entity/Q1>|"heart attack"@en|"MI"@en',
            '<http://www.wikidata.org/entity/Q2>|"Sjögren syndrome"@en|',
            '<http://www.wikidata.org/entity/Q3>|"stroke"@en|',
        ),
        broken="<http://www.wikidata.org/entity/Q5>\ttoo short\n",
        before="<http://www.wikidata.org/entity/Q2>",
        ids=("Wikidata:Q1", "Wikidata:Q2", "Wikidata:Q3"),
        states_language=True,
    ),
    "sssom": Sample(
        text="#license: CC0\n"
        + _tsv(
            "subject_id|subject_label|predicate_id|object_id|mapping_justification",
            "X:1|heart attack|skos:exactMatch|X:2|semapv:ManualMappingCuration",
            "X:1|MI|skos:exactMatch|X:3|semapv:ManualMappingCuration",
            "X:2|Sjögren syndrome|skos:exactMatch|X:1|semapv:ManualMappingCuration",
            "X:3|stroke|skos:exactMatch|X:1|semapv:ManualMappingCuration",
        ),
        broken="X:5\ttoo short\n",
        before="X:2\tSj",
    ),
    "table": Sample(
        text="code,label,synonyms,obsolete,replaced_by\n"
        "X:1,heart attack,MI,,\n"
        "X:2,Sjögren syndrome,,,\n"
        "X:3,stroke,,,\n"
        "X:4,apoplexy,,true,X:3\n",
        broken=",a name without an id,,,\n",
        before="X:2,",
        obsolete=("X:4", "X:3"),
    ),
    "turtle": Sample(
        text=_TURTLE,
        broken='ex:X_5 skos:prefLabel "never closed .\n',
        before="ex:X_2 a",
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "uniprot-dat": Sample(
        text="ID   A_HUMAN                 Reviewed;         100 AA.\nAC   P00001; P00010;\n"
        "DE   RecName: Full=heart attack {ECO:0000303};\nDE            Short=MI;\n//\n"
        "ID   B_HUMAN                 Reviewed;         100 AA.\nAC   P00002;\n"
        "DE   RecName: Full=Sjögren syndrome;\n//\n"
        "ID   C_HUMAN                 Reviewed;         100 AA.\nAC   P00003;\nDE   SubName: Full=stroke;\n//\n",
        broken="ID   D_HUMAN                 Reviewed;         100 AA.\n//\n",
        before="ID   B_HUMAN",
        ids=("UniProtKB:P00001", "UniProtKB:P00002", "UniProtKB:P00003"),
        redirects={
            "UniProtKB:A_HUMAN": "UniProtKB:P00001",
            "UniProtKB:P00010": "UniProtKB:P00001",
            "UniProtKB:B_HUMAN": "UniProtKB:P00002",
            "UniProtKB:C_HUMAN": "UniProtKB:P00003",
        },
    ),
    "uniprot-tsv": Sample(
        text=_tsv(
            "Entry|Reviewed|Entry Name|Protein names|Gene Names|Organism|Length",
            "P00001|reviewed|A_HUMAN|heart attack (MI) (EC 1.1.1.1)||Homo sapiens (Human)|100",
            "P00002|reviewed|B_HUMAN|Sjögren syndrome (Fragment)||Homo sapiens (Human)|100",
            "P00003|reviewed|C_HUMAN|stroke||Homo sapiens (Human)|100",
        ),
        broken="P00005\ttoo short\n",
        before="P00002",
        ids=("UniProtKB:P00001", "UniProtKB:P00002", "UniProtKB:P00003"),
        redirects={f"UniProtKB:{name}_HUMAN": f"UniProtKB:P0000{at}" for at, name in enumerate("ABC", start=1)},
    ),
}

TEXT_FORMATS = tuple(name for name in VOCABULARY_FORMATS.names() if name not in ("parquet", "xlsx"))
"""The formats that are text; tests/vocabulary/readers/tables/test_workbooks.py has the others."""


def sample_of(name: str) -> Sample:
    """The sample of a format; every format must have one."""
    assert name in SAMPLES, f"give the format {name!r} a sample in {Path(__file__).name}"
    return SAMPLES[name]
