"""Delimited tables: columns by header or by option, quoting, and rows that cannot be used."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers.tables import shared_table
from nymlink.vocabulary.readers.tables.table import FORMAT
from nymlink.vocabulary.tables import Tables


def read(folder: Path, text: str, problems: Problems | None = None, **options: Any) -> Tables:
    path = folder / "table"
    path.write_text(text, encoding="utf-8", newline="")
    return FORMAT.read(
        path, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


def names(tables: Tables) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def texts(tables: Tables) -> list[tuple[str, ...]]:
    return [name[:2] for name in names(tables)]


def test_all_columns(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        "id,name,synonyms,lang,kind,semantic_type,definition,xrefs,parents,obsolete,replaced_by\n"
        'X:1,heart attack,MI|coronary; acute,en,,"disease|a: b, c; d","Death, of muscle",M:1; M:2,X:3|X:4,,\n'
        "X:2,old attack,,,,,,,,TRUE,X:1|X:3\n"
        "X:1,crise cardiaque,,FR,exact,disease,another,M:3,,no,\n",
    )
    assert tables.concepts.to_pylist() == [
        {
            "id": "X:1",
            "definition": "Death, of muscle",
            "semantic_types": ["disease", "a: b, c; d"],
            "xrefs": ["M:1", "M:2", "M:3"],
            "parents": ["X:3", "X:4"],
            "obsolete": False,
            "replaced_by": [],
        },
        {
            "id": "X:2",
            "definition": None,
            "semantic_types": [],
            "xrefs": [],
            "parents": [],
            "obsolete": True,
            "replaced_by": ["X:1", "X:3"],
        },
    ]
    assert names(tables) == [
        ("X:1", "heart attack", "en", "preferred"),
        ("X:1", "MI", "en", "exact"),
        ("X:1", "coronary; acute", "en", "exact"),
        ("X:2", "old attack", "en", "preferred"),
        ("X:1", "crise cardiaque", "fr", "exact"),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "id,name",
        "Concept ID\tName",
        "code;Preferred Label",
        "CURIE|label",
        '"Class ID","Preferred Label"',
        "cui , STR",
        "identifier,Term",
        "#id\tname",
        "# id,name",
    ],
)
def test_headers_and_delimiters(tmp_path: Path, header: str) -> None:
    delimiter = next(delimiter for delimiter in "\t;|," if delimiter in header)
    text = f"{header}\nX:1{delimiter}one\nX:1{delimiter}uno\n"
    assert FORMAT.recognises(tmp_path, text)
    assert names(read(tmp_path, text)) == [("X:1", "one", "en", "preferred"), ("X:1", "uno", "en", "exact")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "some words\n",
        "id,value\n1,2\n",
        "subject_id\tsubject_label\tobject_id\nX:1\tone\tY:1\n",
        '{"id": "X:1", "name": "one"}\n',
        "X:1\tone\n",
    ],
)
def test_what_is_no_vocabulary_is_not_recognised(tmp_path: Path, text: str) -> None:
    assert not FORMAT.recognises(tmp_path, text)


def test_the_likeliest_of_several_headers_is_taken(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "cui,title,concept_id,name\nC1,a,X:1,one\n")) == [("X:1", "one")]


def test_columns_by_option(tmp_path: Path) -> None:
    text = "#comment: a 'b\nsubject_id\tid\tname\tTranslation Value\nX:1\t7\tone\teins\n"
    columns = {"id": "subject_id", "name": "translation value"}
    assert texts(read(tmp_path, text, columns=columns)) == [("X:1", "eins")]
    assert texts(read(tmp_path, text, columns={"concept_id": "subject_id"})) == [("X:1", "one")]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"name": "lable"}, "no column 'lable'; the file has: code, label, x"),
        ({"colour": "x"}, "no column 'colour' to fill; known: id, name"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, columns: dict[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read(tmp_path, "code,label,x\nX:1,one,2\n", columns=columns)


def test_headers_that_say_nothing_are_an_error_that_lists_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"known for the id; the file has: key, label.*--map-column id=key`"):
        read(tmp_path, "key,label\nX:1,one\n")
    with pytest.raises(
        InputError, match=r"the id or the name; .*--map-column id=Nr\. --map-column 'name=Ein Name'`"
    ):
        read(tmp_path, "Nr.;Ein Name\nX:1;one\n")
    with pytest.raises(InputError, match=r"the id; .*--map-column 'id=…'`"):
        read(tmp_path, "name\none\n")


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    table = "id,name,Notiz,Synonyme,,\nX:1,one,a,eins,,\n"
    with pytest.warns(UserWarning, match=r"not read: Notiz, Synonyme; .*--map-column synonyms=Synonyme$"):
        read(tmp_path, table)
    with pytest.warns(UserWarning, match="not read: Notiz; "):
        assert texts(read(tmp_path, table, columns={"synonyms": "Synonyme"})) == [("X:1", "one"), ("X:1", "eins")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, "id,name,\nX:1,one,\n")


def test_a_header_of_two_columns_is_refused_where_one_value_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="table:1: columns 2 and 4 have the same name, 'name'"):
        read(tmp_path, "id,name,x,name\nX:1,one,,un\n")
    assert texts(read(tmp_path, "id,name,x,x\nX:1,one,,\n")) == [("X:1", "one")]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("id,name,synonym,synonym", {}),
        ("id,name,Synonym 1,Synonym 2", {}),
        ("id,name,a,b", {"synonyms": ("a", "b")}),
        ("id,name,synonym,Alias", {}),
    ],
)
def test_several_columns_of_synonyms(tmp_path: Path, header: str, columns: dict[str, Any]) -> None:
    assert texts(read(tmp_path, f"{header}\nX:1,one,eins;un,uno\n", columns=columns)) == [
        ("X:1", "one"),
        ("X:1", "eins"),
        ("X:1", "un"),
        ("X:1", "uno"),
    ]


def test_columns_of_kinds(tmp_path: Path) -> None:
    text = "id,name,abbreviation,Related Synonyms,Handel\nX:1,one,I|1,first,Uno®\n"
    assert sorted(names(read(tmp_path, text, columns={"tradename": "Handel"}))) == [
        ("X:1", "1", "en", "abbreviation"),
        ("X:1", "I", "en", "abbreviation"),
        ("X:1", "Uno®", "en", "tradename"),
        ("X:1", "first", "en", "related"),
        ("X:1", "one", "en", "preferred"),
    ]


def test_ids_with_synonyms_alone(tmp_path: Path) -> None:
    text = "id,synonym\nX:1,one\nX:1,uno\n"
    assert FORMAT.recognises(tmp_path, text)
    assert names(read(tmp_path, text)) == [("X:1", "one", "en", "exact"), ("X:1", "uno", "en", "exact")]


def test_a_separator_within_cells(tmp_path: Path) -> None:
    text = "id\tname\tsynonyms\txrefs\nX:1\tone, the first\teins, un; uno\tM:1;M:2\n"
    tables = read(tmp_path, text, separator=", ")
    assert texts(tables) == [("X:1", "one, the first"), ("X:1", "eins"), ("X:1", "un; uno")]
    assert tables.concepts["xrefs"].to_pylist() == [["M:1", "M:2"]]


def test_columns_by_number(tmp_path: Path) -> None:
    columns = {"id": "1", "name": "3", "synonyms": ("2", "4")}
    assert texts(read(tmp_path, "X:1\tI\tone\teins\nX:2\t\ttwo\t\n", columns=columns)) == [
        ("X:1", "one"),
        ("X:1", "I"),
        ("X:1", "eins"),
        ("X:2", "two"),
    ]
    # A line that names ids and names is a header.
    assert texts(read(tmp_path, "id,x,name,y\nX:1,I,one,eins\n", columns=columns))[0] == ("X:1", "one")
    with pytest.raises(InputError, match="no column '9'"):
        read(tmp_path, "X:1,one\n", columns={"id": "1", "name": "9"})


def test_comments_among_the_rows(tmp_path: Path) -> None:
    problems = Problems()
    text = "# made by hand\nid,name\nX:1,one\n# the second\nX:2,two\n#3,three\n"
    assert texts(read(tmp_path, text, problems)) == [("X:1", "one"), ("X:2", "two"), ("#3", "three")]
    assert problems.count == 0


def test_a_robot_template(tmp_path: Path) -> None:
    text = (
        "Ontology ID,Label,Also,Short,Kind of,Text,Refs,Gone,Instead\n"
        "ID,LABEL,A oboInOwl:hasExactSynonym SPLIT=|,A oboInOwl:hasRelatedSynonym,SC % SPLIT=|,A IAO:0000115,"
        "A oboInOwl:hasDbXref SPLIT=;,AT owl:deprecated^^xsd:boolean,AI IAO:0100001\n"
        'X:1,one,eins|un,1st,X:2|X:3,"First, of all",M:1;M:2,,\nX:2,two,,,,,,,\nX:4,old,,,,,,true,X:1\n'
    )
    assert FORMAT.recognises(tmp_path, text)
    tables = read(tmp_path, text)
    assert sorted(names(tables)) == [
        ("X:1", "1st", "en", "related"),
        ("X:1", "eins", "en", "exact"),
        ("X:1", "one", "en", "preferred"),
        ("X:1", "un", "en", "exact"),
        ("X:2", "two", "en", "preferred"),
        ("X:4", "old", "en", "preferred"),
    ]
    first, _, old = tables.concepts.to_pylist()
    assert (first["parents"], first["definition"]) == (["X:2", "X:3"], "First, of all")
    assert first["xrefs"] == ["M:1", "M:2"]
    assert (old["obsolete"], old["replaced_by"]) == (True, ["X:1"])


def test_iris_become_curies(tmp_path: Path) -> None:
    obo = "http://purl.obolibrary.org/obo/"
    path = tmp_path / "bioportal.csv"
    path.write_text(
        "Class ID,Preferred Label,Synonyms,Definitions,Obsolete,CUI,Semantic Types,Parents\n"
        f"{obo}HP_1,one,eins|un,,false,,,{obo}HP_2\n",
        encoding="utf-8",
    )
    [concept] = read_vocabulary(path)
    assert (concept.id, concept.parents) == ("HP:1", ("HP:2",))


def test_a_column_that_numbers_the_rows_holds_no_ids(tmp_path: Path) -> None:
    chebi = "ID\tCOMPOUND_ID\tTYPE\tNAME\n1\t18357\tNAME\tnoradrenaline\n2\t18357\tSYNONYM\tarterenol\n"
    assert texts(read(tmp_path, chebi)) == [("18357", "noradrenaline"), ("18357", "arterenol")]
    compounds = "ID\tSTATUS\tCHEBI_ACCESSION\tPARENT_ID\tNAME\n7\tC\tCHEBI:7\tnull\ta\n9\tC\tCHEBI:9\t7\tb\n"
    assert texts(read(tmp_path, compounds)) == [("CHEBI:7", "a"), ("CHEBI:9", "b")]
    assert texts(read(tmp_path, "id,parent_id,name\n1,,a\n2,1,b\n")) == [("1", "a"), ("2", "b")]


def test_columns_are_proposed_by_their_content(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--map-column id=Entry --map-column 'name=Protein designation'"):
        read(
            tmp_path,
            "Reviewed\tEntry\tLength\tOrganism\tProtein designation\n"
            + "".join(
                f"reviewed\tP0000{at}\t{at}00\tHomo sapiens (Human)\t{word} kinase of cells\n"
                for at, word in enumerate(("tyrosine", "serine", "lipid"), start=1)
            ),
        )


def test_a_table_that_nothing_recognises_is_described(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("".join(f"x\tX:{at}\tname of {at}\n" for at in range(9)), encoding="utf-8")
    with pytest.raises(InputError, match=r"a table of 3 columns .*--map-column id=2 --map-column name=3"):
        read_vocabulary(path)
    vocabulary = read_vocabulary(path, options=ReadOptions(columns={"id": "2", "name": "3"}))
    assert (len(vocabulary), vocabulary.name_count) == (9, 9)


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("preferred", "preferred"),
        ("EXACT", "exact"),
        ("oboInOwl:hasExactSynonym", "exact"),
        ("http://www.geneontology.org/formats/oboInOwl#hasBroadSynonym", "broad"),
        ("oboInOwl:hasRelatedSynonym@fr", "related"),
        ("rdfs:label", "preferred"),
        ("skos:altLabel", "exact"),
        ("exact_synonym", "exact"),
        ("synonym", "exact"),
        ("acronym", "abbreviation"),
        ("trade name", "tradename"),
        ("Brand-Name", "tradename"),
    ],
)
def test_kinds(tmp_path: Path, stated: str, kind: str) -> None:
    problems = Problems()
    assert names(read(tmp_path, f"id,name,scope\nX:1,one,{stated}\n", problems))[0][3] == kind
    assert problems.count == 0


def test_the_first_name_in_a_language_is_preferred(tmp_path: Path) -> None:
    text = "id,name,lang\nX:1,one,en\nX:1,eins,de\nX:1,uno,en\nX:2,two,\n"
    assert [(name[1], name[3]) for name in names(read(tmp_path, text))] == [
        ("one", "preferred"),
        ("eins", "preferred"),
        ("uno", "exact"),
        ("two", "preferred"),
    ]


def test_languages_asked_for(tmp_path: Path) -> None:
    text = "id,name,language\nX:1,one,en\nX:1,eins,de\nX:2,zwei,de\n"
    tables = read(tmp_path, text, languages=frozenset({"en"}))
    assert texts(tables) == [("X:1", "one")]
    assert len(tables.concepts) == 2


def test_rows_that_cannot_be_used(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path,
        "id,name,synonyms,kind,lang,obsolete\n"
        "X:1,one,,,,\n"
        ",nobody,,,,\n"
        "X:2,,,,,\n"
        '"X:3","a ""b""\nc\n\nd",,,,\n'
        "X:4,four,,weird,,\n"
        "X:5,five,,,klingon?,\n"
        "X:6,six\n"
        "X:7,seven,,,,,one too many\n"
        "X:8,eight,,,,,,,\n"
        "X:9,,nine,,,\n"
        "X:10,,,,,yes\n",
        problems,
    )
    assert names(tables) == [
        ("X:1", "one", "en", "preferred"),
        ("X:3", 'a "b" c d', "en", "preferred"),
        ("X:4", "four", "en", "related"),
        ("X:5", "five", "und", "preferred"),
        ("X:6", "six", "en", "preferred"),
        ("X:8", "eight", "en", "preferred"),
        ("X:9", "nine", "en", "exact"),
    ]
    assert "X:10" in tables.concepts["id"].to_pylist()
    assert [(problem.line, problem.rejected) for problem in problems.first] == [
        (3, True),
        (4, True),
        (9, False),
        (10, False),
        (11, False),
        (12, True),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("stray", ['"five" fingers', '"five', '5" rule', 'a "b" c'])
def test_a_stray_quotation_mark_spoils_no_other_row(tmp_path: Path, delimiter: str, stray: str) -> None:
    rows = [
        ("id", "name"),
        ("X:1", "one"),
        ("X:2", stray),
        *((f"X:{number}", f"n{number}") for number in range(3, 300)),
    ]
    problems = Problems()
    tables = read(tmp_path, "".join(delimiter.join(row) + "\n" for row in rows), problems)
    assert texts(tables) == rows[1:]
    assert problems.rejected == 0
    assert [problem.line for problem in problems.first] == (
        [3] if stray.startswith('"') and delimiter != "\t" else []
    )


def test_two_stray_quotation_marks_enclose_no_rows_of_a_tab_separated_table(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, 'id\tname\nX:1\t"one\nX:2\ttwo\nX:3\tthree"\nX:4\t"a\nb"\n', problems)
    assert texts(tables) == [("X:1", '"one'), ("X:2", "two"), ("X:3", 'three"'), ("X:4", "a b")]
    assert problems.count == 0


def test_quoted_cells_of_a_tab_separated_table_may_hold_tabs_or_line_breaks(tmp_path: Path) -> None:
    problems = Problems()
    text = 'id\tname\tnote\nX:1\t"a\tb"\t"line\n\nline"\nX:2\ttwo\t\n'
    assert texts(read(tmp_path, text, problems)) == [("X:1", "a b"), ("X:2", "two")]
    assert problems.count == 0


NOT_NAMES = {"", "-", "NULL", "null", r"\N", "N/A", "n/a", "#N/A", "<NA>", "NA", "nan", "NaN", "NAN", "None"}
CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\",;|\t'"), max_size=12)


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 99), CELLS.filter(lambda cell: cell.strip() not in NOT_NAMES)),
        min_size=1,
        max_size=8,
    ),
    delimiter=st.sampled_from(",;|"),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_spreadsheet_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str]], delimiter: str, newline: str
) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=newline)
    writer.writerows([("id", "name", "definition"), *((f"X:{id_}", name, name) for id_, name in rows)])
    problems = Problems()
    tables = read(tmp_path_factory.mktemp("table"), buffer.getvalue(), problems)
    assert problems.count == 0
    expected = dict.fromkeys((f"X:{id_}", " ".join(name.split())) for id_, name in rows)
    assert texts(tables) == list(expected)
    first = {f"X:{id_}": name.strip() for id_, name in reversed(rows)}
    assert (
        dict(zip(tables.concepts["id"].to_pylist(), tables.concepts["definition"].to_pylist(), strict=True))
        == first
    )


def test_an_ontology_report_of_xrefs(data: Path) -> None:
    path = data / "native/doid/allXREFinDO.tsv.gz"
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    assert (len(tables.concepts), len(tables.names)) == (11_559, 11_559)


@pytest.mark.parametrize(("lang", "count"), [("es", 19_932), ("ja", 17_868), ("zh", 18_988)])
def test_translations_by_columns_of_other_names(data: Path, lang: str, count: int) -> None:
    columns = {
        "id": "subject_id",
        "name": "translation_value",
        "lang": "translation_language",
        "kind": "predicate_id",
    }
    problems = Problems()
    path = data / f"native/hpo/hp-{lang}.babelon.tsv.gz"
    tables = FORMAT.read(path, options=ReadOptions(columns=columns), problems=problems)
    # The Japanese table says NA for what is not translated.
    missing = ["219 names are markers of missing values (NA): left out"] if lang == "ja" else []
    assert [problem.message for problem in problems.first] == missing
    assert len(tables.concepts) == count
    assert set(tables.names["lang"].to_pylist()) == {lang}
    assert set(tables.names["kind"].to_pylist()) == {"preferred"}


def test_the_shared_table_read_as_any_table(data: Path) -> None:
    path = data / "vocabularies/ordo.tsv.gz"
    problems = Problems()
    as_any = FORMAT.read(path, options=ReadOptions(), problems=problems)
    as_shared = shared_table.FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    assert as_any.names == as_shared.names
    assert as_any.concepts["id"] == as_shared.concepts["id"]


def test_a_translated_ontology_with_quoted_cells_of_many_lines(data: Path) -> None:
    columns = {"id": "source_id", "name": "translation_text", "lang": "translation_lang", "kind": "predicate"}
    problems = Problems(keep=5_000)
    path = data / "native/doid/doid-es-translated.tsv.gz"
    tables = FORMAT.read(path, options=ReadOptions(columns=columns), problems=problems)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(tables.names) == len(
        {(row["source_id"], " ".join(row["translation_text"].split())) for row in rows}
    )
    # Its definitions are no names: their predicate is no kind of name, and each is reported.
    assert problems.rejected == 0
    assert problems.repaired == sum(row["predicate"] == "IAO:0000115" for row in rows)


def test_columns_of_a_table_without_header_are_proposed_by_number(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("A:1,gout,podagra\nA:2,asthma,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"the number of its column.*--map-column id=1 --map-column name=2`"):
        read_vocabulary(path)


def test_a_list_of_names_is_told_from_a_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("gout\nheart attack\n", encoding="utf-8")
    with pytest.raises(InputError, match="a list of names without ids"):
        read_vocabulary(path)
