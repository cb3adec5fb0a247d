"""Formats of mappings and of tables, read by what is not ours: fhir.resources, openpyxl, pandas, polars."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import openpyxl
import pandas
import polars
import pyarrow.parquet as pq
import pytest
from fhir.resources.conceptmap import ConceptMap
from fhir.resources.R4B.conceptmap import ConceptMap as ConceptMapR4B
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.gold_links import candidate

from nymlink.core.errors import InputError
from nymlink.corpus import Mention, read_corpus
from nymlink.linking.link import Link
from nymlink.linking.links import Links
from nymlink.linking.writers.link_files import open_writer
from nymlink.linking.writers.writer import LinksInfo, UserTable
from nymlink.tables.delimited import Record, protect_cell, restore_cell
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

EXACT = Link(Mention("gout"), "gout", (candidate("HP:1"), candidate("HP:2", equal=False)), confidence=0.875)
NARROW = Link(Mention("toe gout"), "toe gout", (candidate("HP:1", kind="narrow"),))
BROAD = Link(Mention("arthritis"), "arthritis", (candidate("D003", kind="broad"),))
CLOSE = Link(Mention("gowt"), "gout", (candidate("HP:1", equal=False),), guessed=True)
NIL = Link(Mention("qq\tq"), "qqq", (candidate("HP:1", equal=False),), nil=True, confidence=0.0)
COMPOSITE = Link(Mention("a and b"), "a | b", parts=(replace(EXACT, mention=Mention("a")), BROAD))
LINKS = Links([EXACT, NARROW, BROAD, CLOSE, NIL, COMPOSITE, EXACT])
"""The first comes twice, and is a term once."""


def omop(link: Link) -> Link:
    numbers = {"HP:1": "OMOP:44", "HP:2": "OMOP:45", "D003": "46"}
    found = tuple(replace(each, concept_id=numbers[each.concept_id]) for each in link.candidates)
    return replace(link, candidates=found, parts=tuple(map(omop, link.parts)))


OMOP_LINKS = Links(map(omop, LINKS))


def vocabulary(*ids: str) -> Vocabulary:
    builder = TableBuilder()
    for id_, code in (("OMOP:44", "SNOMEDCT:90560007"), ("HP:1", "")):
        if id_ not in ids:
            continue
        builder.concept(id_, semantic_types=("Condition",), xrefs=(code,) if code else ())
        builder.name(id_, "gout")
    return Vocabulary.of((Source("medic", "obo", version="2026", licence="CC BY 4.0"), builder.build()))


VOCABULARY = vocabulary("OMOP:44", "HP:1")


def text_of(name: str, links: Links) -> str:
    out = io.StringIO(newline="")
    links.write(out, format=name, vocabulary=VOCABULARY)
    return out.getvalue()


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_sssom_has_what_its_schema_requires() -> None:
    text = text_of("sssom", LINKS)
    metadata = [line[1:] for line in text.splitlines() if line.startswith("#")]
    assert metadata[:2] == ['sssom_version: "1.1"', "curie_map:"]
    prefixes = dict(re.findall(r'^  (\w+): "(\S+)"$', "\n".join(metadata), re.M))
    assert prefixes["HP"] == "http://purl.obolibrary.org/obo/HP_"
    # A name, not an address that leads nowhere.
    assert prefixes["medic"] == "urn:x-nymlink:medic:"
    assert "license: https://creativecommons.org/licenses/by/4.0/" in metadata
    assert any(
        re.fullmatch(r"mapping_set_id: https://w3id.org/sssom/mappings/[0-9a-f-]{36}", line) for line in metadata
    )
    body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#"))
    rows = rows_of(body, "\t")
    used = {
        curie.partition(":")[0]
        for row in rows
        for key, curie in row.items()
        if key.endswith(("_id", "justification"))
    }
    assert used <= set(prefixes)
    assert [(row["subject_label"], row["predicate_id"], row["object_id"], row["confidence"]) for row in rows] == [
        ("gout", "skos:exactMatch", "HP:1", "0.8750"),
        ("gout", "skos:closeMatch", "HP:2", ""),
        ("toe gout", "skos:broadMatch", "HP:1", ""),
        ("arthritis", "skos:narrowMatch", "medic:D003", ""),
        ("gowt", "skos:closeMatch", "HP:1", ""),
        ("qq q", "skos:exactMatch", "sssom:NoTermFound", ""),
        ("a and b", "skos:relatedMatch", "HP:1", "0.8750"),
        ("a and b", "skos:relatedMatch", "HP:2", ""),
        ("a and b", "skos:relatedMatch", "medic:D003", ""),
    ]
    assert {row["subject_type"] for row in rows} == {"rdfs literal"}
    assert all(row["mapping_justification"].startswith("semapv:") for row in rows)
    assert [row["similarity_score"] for row in rows[:2]] == ["1.0000", "0.7500"]
    # The same mappings, the same id.
    assert text == text_of("sssom", LINKS)
    uncalibrated = text_of("sssom", Links([NARROW]))
    assert "confidence" not in uncalibrated


def test_quotation_marks_of_sssom_are_those_of_its_standard() -> None:
    terms = ['"flu-like" symptoms', '"half']
    links = Links([replace(NARROW, mention=Mention(term), query=term) for term in terms])
    body = [line for line in text_of("sssom", links).splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(body, delimiter="\t", strict=True))
    assert [row["subject_label"] for row in rows] == terms


HEADER = (
    "sourceCode,sourceName,sourceFrequency,sourceAutoAssignedConceptIds,matchScore,mappingStatus,equivalence,"
    "statusSetBy,statusSetOn,conceptId,conceptName,domainId,mappingType,comment,createdBy,createdOn,assignedReviewer"
)


def test_usagi_has_its_columns_and_adjacent_rows(tmp_path: Path) -> None:
    text = text_of("usagi", OMOP_LINKS)
    assert text.splitlines()[0] == HEADER
    rows = rows_of(text)
    found = [(row["sourceCode"], row["sourceFrequency"], row["conceptId"], row["domainId"]) for row in rows]
    assert found == [
        ("gout", "2", "44", "Condition"),
        ("toe gout", "1", "44", "Condition"),
        ("arthritis", "1", "46", ""),
        ("gowt", "1", "44", "Condition"),
        ("qq q", "1", "0", ""),
        ("a and b", "1", "44", "Condition"),
        ("a and b", "1", "46", ""),
    ]
    assert rows[0]["sourceAutoAssignedConceptIds"] == "44;45"
    assert {(row["mappingStatus"], row["equivalence"], row["mappingType"]) for row in rows} == {
        ("UNCHECKED", "UNREVIEWED", "MAPS_TO")
    }
    assert re.fullmatch(r"1[0-9]{12}", rows[0]["createdOn"])
    assert rows[4]["createdOn"] == "0"
    # Approved there, they are gold here.
    (tmp_path / "review.csv").write_text(text.replace("UNCHECKED", "APPROVED"), encoding="utf-8")
    gold = [mention.concept_ids for _, mention in read_corpus(tmp_path / "review.csv").mentions()]
    assert gold == [("OMOP:44",), ("OMOP:44",), ("OMOP:46",), ("OMOP:44",), (), ("OMOP:44", "OMOP:46")]


def test_a_term_is_mapped_once_in_its_most_frequent_way() -> None:
    other = replace(omop(EXACT), candidates=omop(BROAD).candidates)
    rows = rows_of(text_of("usagi", Links([other, omop(EXACT), omop(EXACT)])))
    assert [(row["sourceFrequency"], row["conceptId"]) for row in rows] == [("3", "44")]


def test_codes_and_frequencies_of_a_table() -> None:
    header = Record(1, ["id", "term", "ward", "n"], "id,term,ward,n")
    table = UserTable(header, ",", code=0, frequency=3)
    out = io.StringIO(newline="")
    writer = open_writer("usagi", out, LinksInfo(table=table, vocabulary=VOCABULARY))
    for fields in (["A", "gout", "x", "5"], ["A", "gout", "y", "2"], ["B", "gout", "'=z", "?"]):
        writer.write(omop(EXACT), Record(2, fields, ""))
    writer.close()
    rows = rows_of(out.getvalue())
    found = [
        (row["sourceCode"], row["sourceFrequency"], row["ADD_INFO:term"], row["ADD_INFO:ward"]) for row in rows
    ]
    assert found == [("A", "7", "gout", "x"), ("B", "0", "gout", "=z")]


@pytest.mark.parametrize("name", ["usagi", "source-to-concept-map"])
def test_what_is_no_concept_of_omop_is_said(name: str) -> None:
    with pytest.raises(InputError, match=r"numbers of OMOP concepts, and the index has 'HP:1'"):
        text_of(name, LINKS)
    with pytest.raises(InputError, match="numbers of OMOP concepts"):
        open_writer(name, io.StringIO(), LinksInfo(vocabulary=vocabulary("HP:1")))


def test_fields_of_a_source_to_concept_map_are_short_enough() -> None:
    long = replace(omop(EXACT), mention=Mention("x" * 300, id="C1"))
    longer = replace(omop(EXACT), mention=Mention("y" * 51))
    with pytest.warns(UserWarning, match="holds at most 50|descriptions were shortened to 255") as said:
        text = text_of("source-to-concept-map", Links([*OMOP_LINKS, long, longer]))
    assert len(said) == 2
    rows = rows_of(text)
    assert list(rows[0].values()) == [
        *("gout", "0", "NYMLINK", "gout", "44", "SNOMED", "1970-01-01", "2099-12-31", "")
    ]
    nothing = next(row for row in rows if row["source_code"] == "qq q")
    assert (nothing["target_concept_id"], nothing["target_vocabulary_id"]) == ("0", "None")
    limits = {
        "source_code": 50,
        "source_vocabulary_id": 20,
        "source_code_description": 255,
        "target_vocabulary_id": 20,
    }
    assert all(len(row[column]) <= limit for row in rows for column, limit in limits.items())
    assert [row["source_code"] for row in rows if row["source_code"].startswith(("C1", "y"))] == ["C1"]


def test_fhir_r5_is_a_concept_map() -> None:
    value = ConceptMap.model_validate_json(text_of("fhir-r5", LINKS))
    relations = {
        (element.code, target.code): target.relationship
        for group in value.group
        for element in group.element
        for target in element.target or []
    }
    assert relations == {
        ("gout", "HP:1"): "equivalent",
        ("gout", "HP:2"): "related-to",
        ("toe gout", "HP:1"): "source-is-narrower-than-target",
        ("arthritis", "D003"): "source-is-broader-than-target",
        ("gowt", "HP:1"): "related-to",
        ("a and b", "HP:1"): "related-to",
        ("a and b", "HP:2"): "related-to",
        ("a and b", "D003"): "related-to",
    }
    assert [group.target for group in value.group] == [*("http://human-phenotype-ontology.org", None)][
        : len(value.group)
    ]
    unmapped = [element.code for group in value.group for element in group.element if element.noMap]
    assert unmapped == ["qq q"]
    assert (value.status, value.url[:9]) == ("draft", "urn:uuid:")


def test_fhir_r4b_is_a_concept_map() -> None:
    value = ConceptMapR4B.model_validate_json(text_of("fhir-r4b", LINKS))
    targets = [target for group in value.group for element in group.element for target in element.target]
    assert [target.equivalence for target in targets if target.code is None] == ["unmatched"]
    found = {target.equivalence for target in targets}
    assert found == {"equivalent", "wider", "narrower", "relatedto", "inexact", "unmatched"}
    # A narrower or an inexact target wants a comment.
    assert all(target.comment for target in targets if target.equivalence in ("narrower", "inexact"))


def test_parquet_has_the_same_types_whatever_is_in_it(tmp_path: Path) -> None:
    LINKS.write(tmp_path / "links.parquet")
    Links().write(tmp_path / "none.parquet")
    expected = Links(LINKS).to_dicts()
    assert pq.read_schema(tmp_path / "links.parquet") == pq.read_schema(tmp_path / "none.parquet")
    frame = polars.read_parquet(tmp_path / "links.parquet")
    assert frame["concept_id"].to_list() == [row["concept_id"] for row in expected]
    assert (frame["score"].dtype, frame["rank"].dtype) == (polars.Float64, polars.Int64)
    table = pandas.read_parquet(tmp_path / "links.parquet")
    assert list(table["mention"]) == [row["mention"] for row in expected]


def test_a_workbook_has_text_and_numbers(tmp_path: Path) -> None:
    formula = replace(EXACT, mention=Mention('=HYPERLINK("x")'))
    Links([formula, replace(NARROW, mention=Mention("a\0b"))]).write(tmp_path / "links.xlsx")
    header, first, second, third = openpyxl.load_workbook(tmp_path / "links.xlsx").active.iter_rows()
    values = dict(zip([cell.value for cell in header], first, strict=True))
    assert (values["mention"].value, values["mention"].data_type) == ('=HYPERLINK("x")', "s")
    assert values["mention"].quotePrefix
    assert (values["rank"].value, values["score"].value, values["confidence"].value) == (1, 1, 0.875)
    assert [row[0].value for row in (second, third)] == ['=HYPERLINK("x")', "a\ufffdb"]
    mentions = [mention.text for _, mention in read_corpus(tmp_path / "links.xlsx").mentions()]
    assert mentions == ['=HYPERLINK("x")', '=HYPERLINK("x")', "a\ufffdb"]


def test_a_cell_that_would_be_run_stays_text_and_is_said(tmp_path: Path) -> None:
    links = Links([replace(EXACT, mention=Mention("=1+1"), candidates=EXACT.candidates[:1])])
    with pytest.warns(UserWarning, match="1 cells that a spreadsheet would run as formulas"):
        links.write(tmp_path / "links.tsv")
    assert "\n'=1+1\t" in (tmp_path / "links.tsv").read_text(encoding="utf-8")
    ((_, mention),) = read_corpus(tmp_path / "links.tsv").mentions()
    assert mention.text == "=1+1"


@given(st.text(st.sampled_from("'=+-@\t\ra1.,e"), max_size=8))
def test_cells_come_back(cell: str) -> None:
    protected = protect_cell(cell)
    assert restore_cell(protected) == cell
    assert protected[:1] not in tuple("=@\t\r")
    assert protected[:1] not in ("+", "-") or re.fullmatch(r"[+-][0-9.,eE+-]*", protected)


def test_data_frames_in_and_out() -> None:
    from nymlink.index.index import Index
    from nymlink.linking.linker import Linker

    linker = Linker(Index.build(vocabulary("HP:1"), encoder=None))
    values = {"term": ["gout", None, "qqqq"], "score": [1, 2, 3]}
    with warnings.catch_warnings(action="ignore"):
        table = linker.link(pandas.DataFrame(values, index=[5, 6, 7]), column="term")
        frame = linker.link(polars.DataFrame(values), column="term")
    assert list(table.index) == [5, 6, 7]
    assert frame["concept_id"].to_list() == ["HP:1", None, None]
    assert list(table["concept_id"].fillna("")) == ["HP:1", "", ""]
    assert frame["score"].to_list() == list(table["score"]) == [1, 2, 3]
    assert frame["nymlink_score"].to_list()[0] == 1
    assert linker.link(["gout"]).to_polars()["concept_id"].to_list() == ["HP:1"]
    with pytest.raises(InputError, match=r"0 columns 'x' \(it has: term, score\)"):
        linker.link(polars.DataFrame(values), column="x")
    with pytest.raises(InputError, match="which column"):
        linker.link(polars.DataFrame(values))
    with pytest.raises(InputError, match="names a column of a table"):
        linker.link(["gout"], column="x")


def test_json_of_fhir_has_no_empty_lists() -> None:
    assert "group" not in json.loads(text_of("fhir-r5", Links()))
    ConceptMap.model_validate_json(text_of("fhir-r5", Links()))
