"""What was decided goes out and comes back; what came from Usagi and SSSOM goes out as it was."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.conceptmap import ConceptMap

from nymlink.core.errors import InputError
from nymlink.corpus import read_corpus
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.acceptance import accept
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.export import export_formats, export_project
from nymlink.project.import_decisions import import_decisions
from nymlink.project.index_reference import IndexReference
from nymlink.project.links import link_waiting
from nymlink.project.project import Project
from nymlink.project.rebase import rebase
from nymlink.project.rows import Target
from nymlink.project.terms import TermFilter, assign, list_terms, term_details
from nymlink.vocabulary.mappings import read_mappings
from tests.project.conftest import NAMES, TABLE, index_of, vocabulary

GOUT, FEVER, SPELT, ELSE = 1, 2, 3, 4

REVIEW = """\
sourceCode,sourceName,sourceFrequency,sourceAutoAssignedConceptIds,ADD_INFO:ward,matchScore,mappingStatus,\
equivalence,statusSetBy,statusSetOn,conceptId,conceptName,domainId,mappingType,comment,createdBy,createdOn,\
assignedReviewer
A,gout,12,44;45,x,0.91,APPROVED,EQUAL,Jo,1600000000123,44,Gout,Condition,MAPS_TO,"sure, yes",auto,1500000000000,Jo
B,fever and gout,7,44,y,0.50,APPROVED,WIDER,Jo,1600000000456,44,Gout,Condition,MAPS_TO,,Jo,1600000000000,
B,fever and gout,7,44,y,0.50,APPROVED,WIDER,Jo,1600000000456,45,Fever,Condition,MAPS_TO_VALUE,,Jo,1600000000001,
C,nothing of that,3,,z,0.00,APPROVED,UNMATCHED,Al,1600000000789,0,Unmapped,,MAPS_TO,not here,,0,Al
D,pyrexia,2,45,,0.77,FLAGGED,UNREVIEWED,Al,1600000000999,45,Fever,Condition,MAPS_TO,?,auto,1500000000000,
E,heart attack,9,46,,0.66,UNCHECKED,UNREVIEWED,,0,46,Heart attack,Condition,MAPS_TO,,auto,1500000000000,Al
F,fever,1,,,0.00,UNCHECKED,UNREVIEWED,,0,0,Unmapped,,,,,0,
G,ignored,1,,,0.00,IGNORED,UNREVIEWED,Al,1600000001000,0,Unmapped,,,,,0,
H,gone,1,,,0.33,INVALID_TARGET,EQUIVALENT,Al,1600000001001,99,Gone,Condition,MAPS_TO,,Al,1600000001001,
"""


@cache
def omop_index() -> Index:
    return index_of({"OMOP:44": ("gout",), "OMOP:45": ("fever", "pyrexia"), "OMOP:46": ("heart attack",)})


def exported(project: Project, format: str, **more: Any) -> str:
    out = io.StringIO(newline="")
    export_project(project, out, format=format, **more)
    return out.getvalue()


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def mappings_of(text: str) -> list[dict[str, str]]:
    header, *rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return [dict(zip(header, row, strict=True)) for row in rows]


def state(project: Project) -> dict[str, Any]:
    """What counts in a project, by term and reviewer, without numbers that are its own."""
    return {
        term["text"]: {
            who: (each["verdict"], each["targets"], each["comment"], each["at"])
            for who, each in term["decisions"].items()
        }
        for term in list_terms(project, TermFilter())["terms"]
    }


@pytest.fixture
def decided(linked: Project) -> Project:
    targets = [Target("X:1", "gout"), Target("X:2", "fever", "broader")]
    decide(linked, reviewer="Ann", term=GOUT, verdict="concept", targets=targets, comment="two; of them")
    decide(linked, reviewer="Bob", term=SPELT, verdict="concept", targets=[Target("X:9", "epilepsy", "related")])
    decide(linked, reviewer="Ann", term=ELSE, verdict="nil")
    decide(linked, reviewer="Ann", term=FEVER, verdict="flag", comment="=1+1")
    return linked


@pytest.fixture
def fresh(prepared: Path, tmp_path: Path) -> Iterator[Project]:
    """Another project with the same table, of which nothing is decided."""
    (tmp_path / "other").mkdir()
    path = tmp_path / "other" / "visits.nymlink"
    shutil.copy(prepared, path)
    with Project(path) as project:
        yield project


def test_a_table_has_its_columns_the_link_and_the_decision(decided: Project) -> None:
    rows = rows_of(exported(decided, "csv"))
    said = ("code", "concept_id", "decision", "relation", "reviewer", "comment")
    assert [tuple(row[name] for name in said) for row in rows] == [
        ("A", "X:1", "concept", "exact", "Ann", "two; of them"),
        ("A", "X:2", "concept", "broader", "Ann", "two; of them"),
        ("B", "", "flag", "", "Ann", "'=1+1"),
        ("C", "X:9", "concept", "related", "Bob", ""),
        ("D", "X:1", "concept", "exact", "Ann", "two; of them"),
        ("D", "X:2", "concept", "broader", "Ann", "two; of them"),
        ("E", "", "", "", "", ""),
        ("F", "", "nil", "", "Ann", ""),
    ]
    # No search had found it.
    assert (rows[3]["concept_name"], rows[3]["score"], rows[3]["matched_name"]) == (
        "epilepsy",
        "",
        "epilepsy",
    )


def test_only_decisions_are_exported_unless_guesses_are_asked_for(linked: Project) -> None:
    decide(linked, reviewer="Ann", term=GOUT, verdict="concept", targets=[Target("X:1", "gout")])
    decide(linked, reviewer="Ann", term=SPELT, verdict="flag")
    said = ("code", "concept_id", "decision", "reviewer", "decided_at")
    rows = [tuple(row[name] for name in said[:3]) for row in rows_of(exported(linked, "csv"))]
    assert rows == [
        ("A", "X:1", "concept"),
        ("B", "", ""),
        ("C", "", "flag"),
        ("D", "X:1", "concept"),
        ("E", "", ""),
        ("F", "", ""),
    ]
    guessed = {row["code"]: row for row in rows_of(exported(linked, "csv", guesses=True))}
    assert [guessed[code]["concept_id"] for code in "BCE"] == ["X:2", "X:3", ""]
    assert [guessed[code]["decision"] for code in "BCE"] == ["guess", "flag", ""]
    assert (guessed["B"]["reviewer"], guessed["B"]["decided_at"]) == ("", "")
    assert [row["subject_label"] for row in mappings_of(exported(linked, "sssom"))] == ["gout", "gout"]
    marked = {row["subject_label"]: row["other"] for row in mappings_of(exported(linked, "sssom", guesses=True))}
    assert marked["fever"].startswith("decision=guess")
    for format in ("fhir-r5", "fhir-r4b"):
        maps = [json.loads(exported(linked, format, guesses=given)) for given in (False, True)]
        elements = [[each for group in value["group"] for each in group["element"]] for value in maps]
        assert [each["display"] for each in elements[0]] == ["gout", "gout"]
        [fever] = [each for each in elements[1] if each["display"] == "fever"]
        assert "a guess: nobody has decided" in fever["target"][0]["comment"]
    lines = [json.loads(line) for line in exported(linked, "jsonl", guesses=True).splitlines()]
    assert lines[1]["review"]["decision"] == "guess"
    with pytest.raises(InputError, match="no place to mark guesses"):
        exported(linked, "source-to-concept-map", guesses=True)


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "xlsx", "parquet", "sssom"])
def test_an_export_comes_back(decided: Project, fresh: Project, tmp_path: Path, format: str) -> None:
    file = tmp_path / "export"
    export_project(decided, file, format=format, guesses=True)
    found = import_decisions(fresh, file.read_bytes(), f"export.{format}", vocabulary=None)
    assert (found["stated"], found["new"], found["unknown_terms"]) == (4, 4, 0)
    assert found["problems"]["rejected"] == 0
    expected = state(decided)
    assert state(fresh) == expected
    again = import_decisions(fresh, file.read_bytes(), f"export.{format}", vocabulary=None)
    assert (again["stated"], again["new"]) == (4, 0)


def test_the_decisions_of_another_project_are_taken_over(decided: Project, fresh: Project, path: Path) -> None:
    expected = state(decided)
    decided.close()
    mine = decide(fresh, reviewer="Ann", term=GOUT, verdict="nil")
    found = import_decisions(fresh, path.read_bytes(), "other.nymlink", vocabulary=None)
    # Later decisions stay.
    assert (found["stated"], found["new"]) == (4, 3)
    kept = term_details(fresh, GOUT)["decisions"]["Ann"]
    assert kept == mine.to_dict()
    assert {**state(fresh), "gout": None} == {**expected, "gout": None}
    with pytest.raises(InputError, match=r"damaged|no project"):
        import_decisions(fresh, path.read_bytes()[:5000], "other.nymlink", vocabulary=None)


def test_a_file_without_a_comment_keeps_the_comment(decided: Project) -> None:
    before = state(decided)
    columns = "finding,concept_id,decision,relation,reviewer,decided_at,comment"
    kept = list_terms(decided, TermFilter(text="fever"))["terms"][0]["decisions"]["Ann"]
    at = datetime.fromtimestamp(kept["at"] / 1000, UTC).isoformat(timespec="milliseconds")
    for time in (at, ""):
        table = f"{columns}\nfever,,flag,,Ann,{time},\n"
        assert import_decisions(decided, table.encode(), "back.csv", vocabulary=None)["new"] == 0, time
    assert state(decided) == before
    # An edited comment counts.
    table = f"{columns}\nfever,,flag,,Ann,{at},seen\n"
    assert import_decisions(decided, table.encode(), "back.csv", vocabulary=None)["new"] == 1


def test_a_changed_table_is_read_with_care(decided: Project, fresh: Project) -> None:
    text = exported(decided, "csv").replace("broader", "wider").replace(",flag,", ",maybe,")
    text = text.replace("F,quite something else", "F,of another table")
    found = import_decisions(fresh, text.encode(), "export.csv", vocabulary=None, column="finding")
    assert (found["stated"], found["new"], found["unknown_terms"]) == (3, 2, 1)
    said = [problem["message"] for problem in found["problems"]["first"]]
    assert [message for message in said if "no relation" in message]
    assert [message for message in said if "'maybe' is no decision" in message]
    with pytest.raises(InputError, match="states no decisions"):
        import_decisions(fresh, TABLE.encode(), "visits.csv", vocabulary=None)


def test_every_format_is_written(decided: Project, tmp_path: Path) -> None:
    for format in export_formats():
        if format not in ("usagi", "source-to-concept-map"):
            export_project(decided, tmp_path / "out", format=format)
            assert (tmp_path / "out").stat().st_size > 100
    with pytest.raises(InputError, match="a project cannot be exported as"):
        export_project(decided, tmp_path / "out", format="pubtator")


def test_mappings_say_who_decided_what(decided: Project) -> None:
    assign(decided, reviewer="Ann", terms=[GOUT])
    value = json.loads(exported(decided, "fhir-r5"))
    ConceptMap(**value)
    element = value["group"][0]["element"][0]
    assert [(each["code"], each["relationship"]) for each in element["target"]] == [
        ("X:1", "equivalent"),
        ("X:2", "source-is-narrower-than-target"),
    ]
    assert "decided by Ann at 20" in element["target"][0]["comment"]
    rows = mappings_of(exported(decided, "sssom"))
    assert [(row["predicate_id"], row["mapping_justification"]) for row in rows[:2]] == [
        ("skos:exactMatch", "semapv:ManualMappingCuration"),
        ("skos:broadMatch", "semapv:ManualMappingCuration"),
    ]
    assert (rows[-1]["object_id"], rows[-1]["reviewer_label"]) == ("sssom:NoTermFound", "Ann")


OMOP_SYSTEM = "https://fhir-terminology.ohdsi.org|1.0"
R4_TARGETS = {
    "gout": [{"code": "44", "display": "Gout", "equivalence": "equivalent", "comment": "agreed"}],
    "fever": [
        {"code": "44", "equivalence": "disjoint"},
        {"code": "45", "equivalence": "wider"},
        {"code": "46", "equivalence": "specializes"},
    ],
    "nothing of that": [{"equivalence": "unmatched"}],
    "heart attack": [],
}
R5_TARGETS = {
    "gout": [{"code": "44", "display": "Gout", "relationship": "equivalent", "comment": "agreed"}],
    "fever": [
        {"code": "44", "relationship": "not-related-to"},
        {"code": "45", "relationship": "source-is-narrower-than-target"},
        {"code": "46", "relationship": "source-is-broader-than-target"},
    ],
    "nothing of that": None,
    "heart attack": [],
}


@pytest.mark.parametrize(("targets", "bundled"), [(R4_TARGETS, False), (R5_TARGETS, True)])
def test_a_concept_map_states_decisions(usagi: Project, targets: dict[str, Any], bundled: bool) -> None:
    elements = [
        {"code": str(n), "display": name, **({"noMap": True} if found is None else {"target": found})}
        for n, (name, found) in enumerate(targets.items())
    ]
    group = {"source": "http://example.org/local", "target": OMOP_SYSTEM, "element": [*elements, {}]}
    value: dict[str, Any] = {"resourceType": "ConceptMap", "status": "active", "group": [group]}
    if bundled:
        value = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": value}]}
    raw = json.dumps(value).encode()
    found = import_decisions(usagi, raw, "map.json", vocabulary=omop_index().vocabulary, reviewer="Map")
    assert (found["stated"], found["unknown_terms"], found["problems"]["rejected"]) == (3, 0, 1)
    stated = {name: said["Map"] for name, said in state(usagi).items() if "Map" in said}
    assert {name: said[0] for name, said in stated.items()} == {
        "fever": "concept",
        "gout": "concept",
        "nothing of that": "nil",
    }
    assert [(each["concept_id"], each["relation"]) for each in stated["fever"][1]] == [
        ("OMOP:45", "broader"),
        ("OMOP:46", "narrower"),
    ]
    assert stated["gout"][1:3] == ([{"concept_id": "OMOP:44", "name": "gout", "relation": "exact"}], "agreed")
    again = import_decisions(usagi, raw, "map.json", vocabulary=omop_index().vocabulary, reviewer="Map")
    assert again["new"] == 0


@pytest.mark.parametrize("format", ["fhir-r4b", "fhir-r5"])
def test_only_what_persons_decided_comes_back_from_a_concept_map(
    decided: Project, fresh: Project, format: str
) -> None:
    raw = exported(decided, format).encode()
    import_decisions(fresh, raw, "map.json", vocabulary=None)
    gout = [
        {"concept_id": "X:1", "name": "gout", "relation": "exact"},
        {"concept_id": "X:2", "name": "fever", "relation": "broader"},
    ]
    found = state(fresh)
    assert found["gout"]["Ann"][:3] == ("concept", gout, "two; of them")
    assert not found["quite something else"]


@pytest.mark.parametrize(
    "raw", [b'{"a": "ConceptMap"', b'{"a": "ConceptMap"}', b'{"a":"ConceptMap","x":' + b"[" * 99999]
)
def test_a_damaged_concept_map_is_one_error(usagi: Project, raw: bytes) -> None:
    with pytest.raises(InputError, match=r"map\.json"):
        import_decisions(usagi, raw, "map.json", vocabulary=None)


@pytest.fixture
def usagi(tmp_path: Path) -> Iterator[Project]:
    """A project of a review of Usagi."""
    with Project.create(tmp_path / "usagi.nymlink", index=IndexReference.of("omop", omop_index())) as project:
        added = add_table(project, REVIEW.encode(), "review.csv", vocabulary=omop_index().vocabulary)
        assert added["decisions"]["new"] == 6
        assert added["decisions"]["unknown_concepts"] == ["OMOP:99"]
        link_waiting(project, Linker(omop_index(), top_k=10).link)
        yield project


def test_a_review_of_usagi_is_understood(usagi: Project) -> None:
    found = state(usagi)
    gout = {"concept_id": "OMOP:44", "name": "gout", "relation": "exact"}
    assert found["gout"] == {"Jo": ("concept", [gout], "sure, yes", 1600000000123)}
    verdict, targets, *_ = found["fever and gout"]["Jo"]
    assert (verdict, [(each["concept_id"], each["relation"]) for each in targets]) == (
        "concept",
        [("OMOP:44", "broader"), ("OMOP:45", "broader")],
    )
    assert [found[name]["Al"][0] for name in ("nothing of that", "pyrexia", "ignored", "gone")] == [
        "nil",
        "flag",
        "nil",
        "flag",
    ]
    assert found["heart attack"] == found["fever"] == {}
    frequencies = {term["text"]: term["frequency"] for term in list_terms(usagi, TermFilter())["terms"]}
    assert (frequencies["gout"], frequencies["fever and gout"]) == (12, 7)
    assert [term["text"] for term in list_terms(usagi, TermFilter(assigned="Jo"))["terms"]] == ["gout"]


def test_a_review_of_usagi_comes_out_as_it_went_in(usagi: Project) -> None:
    vocabulary = omop_index().vocabulary
    before, after = rows_of(REVIEW), rows_of(exported(usagi, "usagi", vocabulary=vocabulary))
    assert after == before
    after = rows_of(exported(usagi, "usagi", vocabulary=vocabulary, guesses=True))
    # With guesses, what had no target gets the suggestion of a link.
    unmapped = [row for row in after if row["sourceCode"] == "F"]
    assert [row for row in after if row["sourceCode"] != "F"] == [
        row for row in before if row["sourceCode"] != "F"
    ]
    assert [(row["conceptId"], row["mappingStatus"], row["createdBy"]) for row in unmapped] == [
        ("45", "UNCHECKED", "nymlink")
    ]
    assert list(after[0]) == list(before[0])


def test_what_is_decided_anew_keeps_what_usagi_knew(usagi: Project, tmp_path: Path) -> None:
    numbers = {term["text"]: term["id"] for term in list_terms(usagi, TermFilter())["terms"]}
    targets = [Target("OMOP:45", "fever", "narrower"), Target("OMOP:46", "heart attack")]
    decide(usagi, reviewer="Ann", term=numbers["fever and gout"], verdict="concept", targets=targets)
    decide(usagi, reviewer="Ann", term=numbers["heart attack"], verdict="nil", comment="no")
    text = exported(usagi, "usagi", vocabulary=omop_index().vocabulary)
    rows = {(row["sourceCode"], row["conceptId"]): row for row in rows_of(text)}
    before = {(row["sourceCode"], row["conceptId"]): row for row in rows_of(REVIEW)}
    assert ("B", "44") not in rows
    kept, new, none = rows["B", "45"], rows["B", "46"], rows["E", "0"]
    for name in ("sourceFrequency", "sourceAutoAssignedConceptIds", "ADD_INFO:ward", "mappingType", "createdOn"):
        assert kept[name] == before["B", "45"][name]
    assert (kept["equivalence"], kept["statusSetBy"], new["equivalence"]) == ("NARROWER", "Ann", "EQUIVALENT")
    assert (new["createdBy"], new["sourceFrequency"], new["mappingType"]) == ("Ann", "7", "MAPS_TO")
    assert (none["mappingStatus"], none["equivalence"], none["comment"]) == ("APPROVED", "UNMATCHED", "no")
    assert (none["assignedReviewer"], none["sourceFrequency"]) == ("Al", "9")
    assert rows["A", "44"] == before["A", "44"]
    # Read by what reads such files.
    (tmp_path / "out.csv").write_text(text, encoding="utf-8")
    gold = {mention.text: mention for _, mention in read_corpus(tmp_path / "out.csv").mentions()}
    assert gold["fever and gout"].concept_ids == ("OMOP:45", "OMOP:46")
    assert gold["gout"].frequency == 12
    # And by a new project, with the same decisions.
    expected = state(usagi)
    with Project.create(tmp_path / "new.nymlink", index=IndexReference.of("omop", omop_index())) as other:
        add_table(other, text.encode(), "out.csv", vocabulary=omop_index().vocabulary)
        found = state(other)
    for made in found["fever and gout"].values():
        # What the first is mapped for is kept, too.
        assert made[1][0].pop("details") == {"mappingType": "MAPS_TO_VALUE"}
    latest = {text: sorted(each.values(), key=lambda made: made[3])[-1:] for text, each in expected.items()}
    assert {text: list(each.values()) for text, each in found.items()} == latest


def test_times_that_are_none_are_now(tmp_path: Path) -> None:
    text = REVIEW.replace("1600000000123", "9" * 25).replace("1600000000789", "soon")
    with Project.create(tmp_path / "t.nymlink", index=IndexReference.of("omop", omop_index())) as project:
        add_table(project, text.encode(), "review.csv", vocabulary=omop_index().vocabulary)
        times = [each["Jo"][3] for each in state(project).values() if "Jo" in each]
        assert 1_700_000_000_000 < times[0] < 10_000_000_000_000
        assert exported(project, "csv")


def test_a_table_as_usagi_has_all_its_columns(tmp_path: Path) -> None:
    with Project.create(tmp_path / "u.nymlink", index=IndexReference.of("omop", omop_index())) as project:
        add_table(project, TABLE.encode(), "visits.csv", columns={"code": "code"})
        link_waiting(project, Linker(omop_index(), top_k=10).link)
        decide(project, reviewer="Ann", term=GOUT, verdict="concept", targets=[Target("OMOP:44", "gout")])
        assign(project, reviewer="Bob", terms=[GOUT])
        rows = rows_of(exported(project, "usagi", vocabulary=omop_index().vocabulary, guesses=True))
        assert [(row["sourceCode"], row["sourceFrequency"], row["mappingStatus"]) for row in rows] == [
            ("A", "5", "APPROVED"),
            ("B", "2", "UNCHECKED"),
            ("C", "1", "UNCHECKED"),
            ("D", "1", "APPROVED"),
            ("F", "1", "UNCHECKED"),
        ]
        said = ("ADD_INFO:lang", "statusSetBy", "assignedReviewer")
        assert [rows[0][name] for name in said] == ["en", "Ann", "Bob"]
        assert rows[1]["sourceAutoAssignedConceptIds"].split(";")[0] == "45"
        mapped = rows_of(exported(project, "source-to-concept-map", vocabulary=omop_index().vocabulary))
        assert [(row["source_code"], row["target_concept_id"]) for row in mapped] == [("A", "44"), ("D", "44")]


def test_real_mappings_come_out_as_they_went_in(data: Path, tmp_path: Path, index: Any) -> None:
    raw = gzip.decompress((data / "native" / "biomappings" / "positive.sssom.tsv.gz").read_bytes())
    lines = raw.decode().splitlines()
    header = next(at for at, line in enumerate(lines) if not line.startswith("#"))
    lines = [*lines[: header + 1], *random.Random(0).sample(lines[header + 1 :], 1500)]
    raw = ("\n".join(lines) + "\n").encode()
    with Project.create(tmp_path / "m.nymlink", index=IndexReference.of("toy", index)) as project:
        added = add_table(project, raw, "positive.sssom.tsv")
        assert added["rows"] == 1500
        assert added["decisions"]["new"] >= 1400
        assert exported(project, "sssom").splitlines() == lines
        # One is decided anew: all others stay, and all can be read by the reader of mapping sets.
        first = list_terms(project, TermFilter())["terms"][0]
        decide(
            project,
            reviewer="Ann",
            term=first["id"],
            verdict="concept",
            targets=[Target("X:1", "gout", "broader")],
            comment="anew",
        )
        text = exported(project, "sssom")
        changed = [line for line in text.splitlines() if line not in set(lines)]
        assert any(line.endswith('X: "urn:x-nymlink:X:"') for line in changed)
        rows = mappings_of(text)
        [anew] = [row for row in rows if row["reviewer_label"] == "Ann"]
        original = dict(zip(lines[header].split("\t"), lines[header + 1].split("\t"), strict=True))
        assert (anew["subject_id"], anew["predicate_id"], anew["object_id"]) == (
            original["subject_id"],
            "skos:broadMatch",
            "X:1",
        )
        (tmp_path / "out.sssom.tsv").write_text(text, encoding="utf-8")
        assert len(read_mappings(tmp_path / "out.sssom.tsv").mappings) == len(rows)


def test_tables_of_several_files_are_one(linked: Project) -> None:
    add_table(linked, b"finding;ward\npodagra;x\n", "more.csv")
    rows = rows_of(exported(linked, "csv"))
    assert (rows[0]["file"], rows[0]["ward"], rows[0]["code"]) == ("visits.csv", "", "A")
    assert (rows[-1]["file"], rows[-1]["ward"], rows[-1]["finding"]) == ("more.csv", "x", "podagra")


MAPPINGS = """\
#curie_map:
#  X: https://example.org/x/
#  M: https://example.org/m/
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\tmapping_justification\tconfidence
M:1\tmurine ache\tskos:broadMatch\tX:1\tgout\tsemapv:LexicalMatching\t0.6
M:2\tfever\tskos:exactMatch\tX:5\tseizure\tsemapv:LexicalMatching\t0.7
M:3\tgout\tskos:exactMatch\tY:9\tof another vocabulary\tsemapv:LexicalMatching\t0.9
"""


def test_proposals_of_a_mapping_table_are_the_first_candidates(index: Index, fresh: Project) -> None:
    """Mappings that nobody reviewed are proposals, if their concepts are in the vocabulary of the project."""
    add_table(fresh, MAPPINGS.encode(), "mappings.sssom.tsv", vocabulary=index.vocabulary)
    linker = Linker(index, top_k=10)
    link_waiting(fresh, linker.link)
    shown = {term["text"]: term for term in list_terms(fresh, TermFilter())["terms"]}
    assert [each["id"] for each in shown["murine ache"]["candidates"]][:1] == ["X:1"]
    assert [each["id"] for each in shown["fever"]["candidates"]][:2] == ["X:5", "X:2"]
    assert shown["fever"]["confidence"] == 0.7
    assert shown["gout"]["candidates"][0]["id"] == "X:1"
    accept(fresh, reviewer="Ann", above=0.5)
    rows = {row["subject_label"]: row for row in mappings_of(exported(fresh, "sssom"))}
    assert (rows["murine ache"]["predicate_id"], rows["murine ache"]["reviewer_label"]) == (
        "skos:broadMatch",
        "Ann",
    )
    assert rows["fever"]["object_id"] == "X:5"


def test_proposals_stay_first_when_terms_are_linked_again(index: Index, fresh: Project) -> None:
    add_table(fresh, MAPPINGS.encode(), "mappings.sssom.tsv", vocabulary=index.vocabulary)
    linker = Linker(index, top_k=10)
    link_waiting(fresh, linker.link)
    rebase(fresh, fresh.index, index.vocabulary)
    link_waiting(fresh, linker.link)
    firsts = {term["text"]: term["candidates"][0]["id"] for term in list_terms(fresh, TermFilter())["terms"]}
    assert firsts["fever"] == "X:5"
    # Its concept is gone from another release: the search decides.
    rebase(fresh, fresh.index, vocabulary({id_: names for id_, names in NAMES.items() if id_ != "X:5"}))
    link_waiting(fresh, linker.link)
    firsts = {term["text"]: term["candidates"][0]["id"] for term in list_terms(fresh, TermFilter())["terms"]}
    assert firsts["fever"] == "X:2"


def test_terms_of_two_languages_keep_their_own_decisions(path: Path, index: Index) -> None:
    table = b"finding,lang\ngift,en\ngift,de\n"
    mine = Project.create(path.with_name("mine.nymlink"), index=IndexReference.of("toy", index))
    with Project.create(path.with_name("theirs.nymlink"), index=IndexReference.of("toy", index)) as other:
        for project in (mine, other):
            add_table(project, table, "words.csv", columns={"language": "lang"})
        english, german = (each["id"] for each in list_terms(other, TermFilter())["terms"])
        decide(other, reviewer="Bo", term=english, verdict="nil")
        decide(other, reviewer="Bo", term=german, verdict="concept", targets=[Target("X:2", "fever")])
    with mine:
        raw = path.with_name("theirs.nymlink").read_bytes()
        found = import_decisions(mine, raw, "theirs.nymlink", vocabulary=None)
        assert (found["new"], found["problems"]["repaired"]) == (2, 0)
        decided = {each["language"]: each["decisions"] for each in list_terms(mine, TermFilter())["terms"]}
        assert {code: each["Bo"]["verdict"] for code, each in decided.items()} == {"en": "nil", "de": "concept"}
