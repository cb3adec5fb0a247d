"""What every vocabulary reader must do, whatever its format. A format without a sample here fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nymlink.errors import InputError
from nymlink.formats import find_format
from nymlink.problems import Problems
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables


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
    file: str | None = None
    states_language: bool = False
    beside: dict[str, str] = field(default_factory=dict)

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
        return {"id": f"http://example.org/X_{number}", "lbl": label, "type": "CLASS", "meta": meta}

    alternate = {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:10"}
    replaced = {"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "http://example.org/X_3"}
    nodes = [
        node(
            1, "heart attack", synonyms=[{"pred": "hasExactSynonym", "val": "MI"}], basicPropertyValues=[alternate]
        ),
        node(2, "Sjögren syndrome"),
        node(3, "stroke"),
        node(4, "apoplexy", deprecated=True, basicPropertyValues=[replaced]),
    ]
    return json.dumps({"graphs": [{"id": "x", "nodes": nodes, "edges": []}]}, indent=1, ensure_ascii=False)


def _mrconso(*fields: tuple[str, str, str]) -> str:
    return "".join(
        f"{cui}|ENG|P|L{number}|PF|S{number}|Y|A{number}||M{number}|D{number}|MSH|{tty}|D{number}|{name}|0|N|256|\n"
        for number, (cui, tty, name) in enumerate(fields, start=1)
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


def _icd10cm_line(number: int, code: str, short: str, long: str) -> str:
    return f"{number:05} {code:<7} 1 {short:<60} {long}\n"


_OWL = """\
<?xml version="1.0"?>
<rdf:RDF xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:obo="http://purl.obolibrary.org/obo/"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
<owl:Class rdf:about="http://example.org/X_1">
    <rdfs:label>heart attack</rdfs:label>
    <oboInOwl:hasExactSynonym>MI</oboInOwl:hasExactSynonym>
    <oboInOwl:hasAlternativeId>X:10</oboInOwl:hasAlternativeId>
</owl:Class>
<owl:Class rdf:about="http://example.org/X_2">
    <rdfs:label>Sjögren syndrome</rdfs:label>
</owl:Class>
<owl:Class rdf:about="http://example.org/X_3">
    <rdfs:label>stroke</rdfs:label>
</owl:Class>
<owl:Class rdf:about="http://example.org/X_4">
    <rdfs:label>apoplexy</rdfs:label>
    <owl:deprecated>true</owl:deprecated>
    <obo:IAO_0100001 rdf:resource="http://example.org/X_3"/>
</owl:Class>
</rdf:RDF>
"""

_OWL_FUNCTIONAL = """\
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix(oboInOwl:=<http://www.geneontology.org/formats/oboInOwl#>)
Prefix(ex:=<http://example.org/>)

Ontology(<http://example.org/x.owl>
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
@prefix ex: <http://example.org/> .

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

SAMPLES = {
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
        before='{\n     "id": "http://example.org/X_2"',
        has_lines=False,
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
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
        before='<owl:Class rdf:about="http://example.org/X_2"',
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
}


@pytest.fixture(params=VOCABULARY_FORMATS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sample(name: str) -> Sample:
    assert name in SAMPLES, f"give the format {name!r} a sample in {Path(__file__).name}"
    return SAMPLES[name]


def _read(
    name: str, path: Path, *, problems: Problems | None = None, options: ReadOptions | None = None
) -> Tables:
    return VOCABULARY_FORMATS.get(name).read(
        path, options=options or ReadOptions(), problems=problems if problems is not None else Problems()
    )


def _names(tables: Tables) -> list[tuple[str, str]]:
    return sorted(zip(tables.names["concept_id"].to_pylist(), tables.names["text"].to_pylist(), strict=True))


def _expected(sample: Sample) -> list[tuple[str, str]]:
    one, two, three = sample.ids
    names = [(one, "heart attack"), (one, "MI"), (two, "Sjögren syndrome"), (three, "stroke")]
    return sorted([*names, *([(sample.obsolete[0], "apoplexy")] if sample.obsolete else [])])


def _same(one: Tables, other: Tables) -> bool:
    return one.concepts == other.concepts and one.names == other.names and one.redirects == other.redirects


def test_reads_its_sample_without_a_problem(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    tables = _read(name, sample.write(tmp_path, sample.text.encode()), problems=problems)
    assert problems.to_dict()["first"] == []
    assert _names(tables) == _expected(sample)
    assert set(tables.names["kind"].to_pylist()) <= set(KINDS)
    preferred = dict(zip(tables.names["text"].to_pylist(), tables.names["kind"].to_pylist(), strict=True))
    assert preferred["heart attack"] == "preferred"
    assert preferred["MI"] != "preferred"


def test_is_recognised_by_content(name: str, sample: Sample, tmp_path: Path) -> None:
    plain = sample.write(tmp_path / "plain", sample.text.encode())
    packed = sample.write(tmp_path / "packed", gzip.compress(sample.text.encode()), ".gz")
    marked = sample.write(tmp_path / "marked", b"\xef\xbb\xbf" + sample.text.replace("\n", "\r\n").encode())
    for path in (plain, packed, marked):
        assert find_format(VOCABULARY_FORMATS, path).name == name


@pytest.mark.parametrize("broken_head", [True, False])
def test_is_recognised_with_a_broken_line(name: str, sample: Sample, tmp_path: Path, *, broken_head: bool) -> None:
    text = sample.with_broken_line()[0] if broken_head else sample.text.rstrip("\n")
    assert find_format(VOCABULARY_FORMATS, sample.write(tmp_path, text.encode())).name == name


def _variants(text: str) -> Iterator[tuple[str, bytes, str]]:
    data = text.encode()
    yield "gzip", gzip.compress(data), ".gz"
    yield "byte order mark", b"\xef\xbb\xbf" + data, ""
    yield "carriage returns", text.replace("\n", "\r\n").encode(), ""
    yield "no end of the last line", text.rstrip("\n").encode(), ""
    yield "blank lines at the end", data + b"\n\n", ""


def test_packing_and_line_ends_make_no_difference(name: str, sample: Sample, tmp_path: Path) -> None:
    plain = _read(name, sample.write(tmp_path / "plain", sample.text.encode()))
    for what, data, ending in _variants(sample.text):
        problems = Problems()
        tables = _read(name, sample.write(tmp_path / what, data, ending), problems=problems)
        assert _same(tables, plain), what
        assert problems.count == 0, what


def test_bytes_that_are_not_utf8_are_mended_and_reported(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    tables = _read(name, sample.write(tmp_path, sample.text.encode("cp1252")), problems=problems)
    assert _names(tables) == _expected(sample)
    assert problems.rejected == 0
    [problem] = problems.first
    assert problem.line == sample.text.count("\n", 0, sample.text.index("Sjögren")) + 1


def test_a_broken_line_is_left_out_and_the_rest_is_read(name: str, sample: Sample, tmp_path: Path) -> None:
    text, line = sample.with_broken_line()
    problems = Problems()
    path = sample.write(tmp_path, text.encode())
    tables = _read(name, path, problems=problems)
    assert _names(tables) == _expected(sample)
    assert (problems.rejected, problems.repaired) == (1, 0)
    [problem] = problems.first
    assert problem.line == (line if sample.has_lines else None)
    assert Path(problem.path) == (path if sample.file is None else path / sample.file)


@pytest.mark.parametrize("content", [b"", b"\n \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(name: str, sample: Sample, tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError):
        _read(name, sample.write(tmp_path, content))


def test_a_truncated_gzip_file_is_an_error(name: str, sample: Sample, tmp_path: Path) -> None:
    data = gzip.compress(sample.text.encode())
    for length in (len(data) - 4, len(data) // 2, 12):
        with pytest.raises(InputError, match=r"truncated|damaged"):
            _read(name, sample.write(tmp_path, data[:length], ".gz"))


def test_a_missing_file_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _read(name, tmp_path / "nowhere")


def test_another_kind_of_file_is_an_error(name: str, sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _read(name, sample.write(tmp_path, b"This is a letter.\nIt holds no concept.\n"))


def test_alternate_and_obsolete_ids_are_kept(name: str, sample: Sample, tmp_path: Path) -> None:
    tables = _read(name, sample.write(tmp_path, sample.text.encode()))
    assert {row["old"]: row["new"] for row in tables.redirects.to_pylist()} == sample.redirects
    obsolete = [row for row in tables.concepts.to_pylist() if row["obsolete"]]
    expected = [] if sample.obsolete is None else [(sample.obsolete[0], [sample.obsolete[1]])]
    assert [(row["id"], row["replaced_by"]) for row in obsolete] == expected


def test_names_without_a_language_take_the_one_given(name: str, sample: Sample, tmp_path: Path) -> None:
    tables = _read(name, sample.write(tmp_path, sample.text.encode()), options=ReadOptions(lang="PT_br"))
    assert set(tables.names["lang"].to_pylist()) == ({"en"} if sample.states_language else {"pt-BR"})


def test_only_names_in_the_languages_asked_for_are_kept(name: str, sample: Sample, tmp_path: Path) -> None:
    path = sample.write(tmp_path, sample.text.encode())
    everything = _read(name, path)
    assert _same(_read(name, path, options=ReadOptions(languages=frozenset({"en"}))), everything)
    regional = ReadOptions(lang="en-GB", languages=frozenset({"en"}))
    assert _names(_read(name, path, options=regional)) == _names(everything)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_makes_it_fall_over(
    name: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = sample.text.encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    patch = data.draw(
        st.binary(max_size=12) | st.sampled_from([b'"', b"\t", b"|", b"||", b"\r", b"\0", b"{", b"[]"])
    )
    path = sample.write(tmp_path_factory.mktemp("damaged"), whole[:start] + patch + whole[end:])
    problems = Problems()
    try:
        tables = _read(name, path, problems=problems)
    except InputError:
        return
    known = set(tables.concepts["id"].to_pylist())
    assert set(tables.names["concept_id"].to_pylist()) <= known
    assert all(problem.line is None or problem.line > 0 for problem in problems.first)
