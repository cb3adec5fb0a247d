from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import Corpus, CorpusOptions, Document, Mention, read_corpus


def read(path: Path, content: str, name: str = "t.csv", **columns: str) -> tuple[Corpus, Problems]:
    file = path / name
    file.write_text(content, encoding="utf-8", newline="")
    problems = Problems()
    return read_corpus(file, options=CorpusOptions(columns=columns), problems=problems), problems


def rows(corpus: Corpus) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(document.id, mention.text, mention.concept_ids) for document, mention in corpus.mentions()]


@pytest.mark.parametrize(
    ("mention", "gold"),
    [
        *((each, "concept_id") for each in ("mention", "Text", "TERM", "name", "phrase", "Query", "surface form")),
        *(("mention", each) for each in ("Concept ID", "id", "ids", "gold", "cui", "code", "curie", "mondo_id")),
    ],
)
def test_common_headers_are_known(mention: str, gold: str, tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, f"pmid,{mention},{gold}\n7,heart attack,D1\n", "data")
    assert rows(corpus) == [("7", "heart attack", ("D1",))]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_delimiters(delimiter: str, tmp_path: Path) -> None:
    row = (
        delimiter.join(["mention", "concept_id"]) + "\n" + delimiter.join(['"acute, old ""MI"""', "D1|D2"]) + "\n"
    )
    assert rows(read(tmp_path, row, "data")[0]) == [("data:2", 'acute, old "MI"', ("D1", "D2"))]


def test_a_column_of_terms_alone(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, 'Term\nheart attack, acute\n"MI, old"\n')
    assert [text for _, text, _ in rows(corpus)] == ["heart attack, acute", "MI, old"]
    assert problems.count == 0


def test_all_columns(tmp_path: Path) -> None:
    corpus, problems = read(
        tmp_path,
        "doc_id\tstart\tend\ttype\tmention\tsentence\tconcept_id\n"
        "a\t5\t7\tDisease\tMI\told, MI here\tD1; D2\n"
        "a\t0\t3\t\told\told, MI here\t-1\n",
        "data",
    )
    assert corpus.documents == (
        Document(
            "a",
            "old, MI here",
            (
                Mention("MI", start=5, end=7, type="Disease", concept_ids=("D1", "D2")),
                Mention("old", start=0, end=3),
            ),
        ),
    )
    assert problems.count == 0


def test_rows_of_a_document_come_together(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "pmid,mention\n1,a\n2,b\n1,c\n,d\n")
    found = {document.id: [mention.text for mention in document.mentions] for document in corpus.documents}
    assert found == {"1": ["a", "c"], "2": ["b"], "t:5": ["d"]}


def test_rows_of_a_document_with_other_contexts_are_documents_of_their_own(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "pmid,mention,context\n1,MI,an MI\n1,flu,the flu\n1,an,an MI\n")
    assert corpus.documents == (
        Document("1:1", "an MI", (Mention("MI", start=3, end=5), Mention("an", start=0, end=2))),
        Document("1:2", "the flu", (Mention("flu", start=4, end=7),)),
    )


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("4", "7", (4, 7)),
        ("0", "3", (4, 7)),
        ("", "", (4, 7)),
        ("x", "7", None),
        ("7", "", None),
        ("7", "4", None),
    ],
)
def test_offsets_are_checked_against_the_context(
    start: str, end: str, found: tuple[int, int] | None, tmp_path: Path
) -> None:
    corpus, problems = read(tmp_path, f"mention,start,end,context\nflu,{start},{end},the flu\n")
    mention = corpus.documents[0].mentions[0]
    assert (mention.start, mention.end) == (found or (None, None))
    assert problems.rejected == 0
    assert problems.repaired == int((start, end) not in {("4", "7"), ("", "")})


@pytest.mark.parametrize(
    ("mention", "context", "found"),
    [
        ("MI", "SMITH had MI.", (10, 12)),
        ("flu", "influenza, flu_a, flu", (18, 21)),
        ("MI", "MI", (0, 2)),
        ("(MI)", "MIMI(MI)", (4, 8)),
        ("-omab", "anti-omab", (4, 9)),
        ("infarkt", "der Herzinfarkt, Hirninfarkte", (8, 15)),
        ("心", "心心不全", (0, 1)),
        ("mi", "SMITH had MI", None),
    ],
)
def test_a_mention_without_offsets_is_a_whole_word_of_its_context_if_it_can_be(
    mention: str, context: str, found: tuple[int, int] | None, tmp_path: Path
) -> None:
    corpus, problems = read(tmp_path, f"mention\tcontext\n{mention}\t{context}\n", "data")
    assert corpus.documents[0].mentions[0] == Mention(mention, *(found or ()))
    assert problems.count == 0


def test_offsets_without_a_context_are_kept(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "mention,start,end\nflu,100,103\n")
    assert corpus.documents[0].mentions[0].start == 100


def test_the_caller_names_columns(tmp_path: Path) -> None:
    content = "what,code,mondo_id\nrabies,C1,MONDO:2\n"
    corpus, _ = read(tmp_path, content, "data", mention="what", concept_id="mondo_id")
    assert rows(corpus) == [("data:2", "rabies", ("MONDO:2",))]


def test_the_caller_numbers_the_columns_of_a_file_without_header(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "x,rabies,D1\ny,flu,D2\n", "data", mention="2", concept_id="3", document="1")
    assert rows(corpus) == [("x", "rabies", ("D1",)), ("y", "flu", ("D2",))]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"mention": "absent"}, "no column 'absent' among what, id"),
        ({"concept_id": "id"}, "no column is called mention among what, id"),
        ({"label": "what"}, "unknown column 'label'.*mention, concept_id"),
        ({"mention": "9"}, "2 columns instead of 9"),
    ],
)
def test_columns_that_are_not_there(columns: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, "what,id\nrabies,1\n", **columns)


def test_an_empty_table_is_named_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the table is empty"):
        read(tmp_path, "\n", mention="1")


@pytest.mark.parametrize("header", ["mention,cui,mondo_id", "mention,id,cui", "name,mesh_id,omim_id,pmid"])
def test_several_columns_of_ids_are_the_callers_to_choose_from(header: str, tmp_path: Path) -> None:
    cells = header.replace("mention", "rabies").replace("name", "rabies")
    with pytest.raises(
        InputError, match=r"several columns could hold the gold ids \((cui|id|mesh_id), .*concept_id"
    ):
        read(tmp_path, f"{header}\n{cells}\n")
    with pytest.raises(InputError, match="several columns"):
        read(tmp_path, json.dumps(dict.fromkeys(header.split(","), "x")) + "\n", "data")


def test_a_header_of_two_columns_is_refused_where_one_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.csv:1: columns 1 and 3 have the same name, 'mention'"):
        read(tmp_path, "mention,x,mention\na,b,c\n")
    assert rows(read(tmp_path, "mention,x,x\na,b,c\n")[0]) == [("t:2", "a", ())]


def test_an_explicit_concept_id_goes_before_other_ids(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "id,cui,gold,mention\n1,C1,D1,rabies\n")
    assert rows(corpus) == [("t:2", "rabies", ("D1",))]


def test_a_table_of_unknown_headers_asks_for_columns_instead_of_becoming_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column is called mention among krankheit, nummer"):
        read(tmp_path, "krankheit,nummer\nTollwut,1\n", "t.csv")
    with pytest.raises(InputError, match=r"for example --map-column mention=krankheit"):
        read(tmp_path, "krankheit,nummer\nTollwut,1\n", "t.csv")
    with pytest.raises(InputError, match="no column is called mention among krankheit, nummer"):
        read(tmp_path, "krankheit\tnummer\nTollwut\t1\nGrippe\t2\n", "data")


def test_medmentions_is_known_without_a_header(tmp_path: Path) -> None:
    corpus, problems = read(
        tmp_path,
        "25847295\tNonylphenol, a, b, c\tC1254354\n2584\t\"5' tube\tC3463820\n25847295\tC12\tC0162638\n",
        "d",
    )
    assert rows(corpus) == [
        ("25847295", "Nonylphenol, a, b, c", ("C1254354",)),
        ("25847295", "C12", ("C0162638",)),
        ("2584", "\"5' tube", ("C3463820",)),
    ]
    assert problems.count == 0


def test_ragged_rows_and_empty_mentions_are_left_out(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, "mention,concept_id\na,1\nb\nc,2,x\n,3\n  ,4\nd,5\n")
    assert [text for _, text, _ in rows(corpus)] == ["a", "d"]
    assert [problem.line for problem in problems.first] == [3, 4, 5, 6]


def test_line_numbers_are_right_after_cells_of_several_lines(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, 'mention,context\na,"one\n\ntwo a"\nbroken\nb,"b"\n')
    assert [(document.id, document.text) for document in corpus.documents] == [
        ("t:2", "one\n\ntwo a"),
        ("t:6", "b"),
    ]
    assert [problem.line for problem in problems.first] == [5]


def test_a_cell_of_many_lines_and_characters_is_one(tmp_path: Path) -> None:
    context = "MI, 1\n" * 200 + "x" * 200_000
    corpus, problems = read(tmp_path, f'mention,context,id\nMI,"{context}",D1\nflu,,D2\n')
    assert [(document.id, document.text) for document in corpus.documents] == [("t:2", context), ("t:203", "")]
    assert problems.count == 0


def test_lines_may_end_as_they_once_did_on_the_macintosh(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, "mention,concept_id\rMI,D1\rbroken\rflu,D2\r", "data")
    assert rows(corpus) == [("data:2", "MI", ("D1",)), ("data:4", "flu", ("D2",))]
    assert [problem.line for problem in problems.first] == [3]


@pytest.mark.parametrize("stray", ['"open,1', 'x,"open', '"a"b,2'])
@pytest.mark.parametrize("after", [3, 300])
def test_a_stray_quotation_mark_costs_no_row(stray: str, after: int, tmp_path: Path) -> None:
    others = [f'm{i},"D{i}"' for i in range(after)]
    corpus, problems = read(tmp_path, "\n".join(["mention,concept_id", "first,1", stray, *others, ""]))
    stands = stray.split(",")[0]
    assert [text for _, text, _ in rows(corpus)] == ["first", stands, *(f"m{i}" for i in range(after))]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, False)]


def test_json_lines(tmp_path: Path) -> None:
    objects = [
        {"mention": "MI", "ids": ["D1", 2], "pmid": 7, "start": 3, "end": 5, "type": "Disease"},
        {"mention": "flu", "ids": "D3|D4"},
        {"mention": "pain", "ids": None},
        {"mention": "rabies"},
    ]
    corpus, problems = read(tmp_path, "\n".join(map(json.dumps, objects)), "data")
    mi = Mention("MI", start=3, end=5, type="Disease", concept_ids=("D1", "2"))
    assert set(corpus.documents) == {
        Document("7", mentions=(mi,)),
        Document("data:2", mentions=(Mention("flu", concept_ids=("D3", "D4")),)),
        Document("data:3", mentions=(Mention("pain"),)),
        Document("data:4", mentions=(Mention("rabies"),)),
    }
    assert problems.count == 0


def test_keys_that_come_later_change_no_columns(tmp_path: Path) -> None:
    objects = [
        {"mention": "MI"},
        {"mention": "flu", "id": "D2"},
        {"mention": "pain", "id": "D3", "code": "C3"},
        {"term": "cough", "id": "D4"},
        {"mention": "rabies", "code": "C5", "concept_id": "D5"},
    ]
    corpus, problems = read(tmp_path, "\n".join(map(json.dumps, objects)), "data")
    assert [(text, ids) for _, text, ids in rows(corpus)] == [
        ("MI", ()),
        ("flu", ("D2",)),
        ("pain", ("D3",)),
        ("rabies", ()),
    ]
    assert [str(problem) for problem in problems.first] == [
        f"{tmp_path / 'data'}:4: the mention is empty: the row is passed over (kept)"
    ]


def test_keys_that_come_much_later_are_passed_over(tmp_path: Path) -> None:
    objects = [{"mention": f"m{i}"} for i in range(30)] + [{"mention": "x", "id": "D1", "code": "C1"}]
    corpus, problems = read(tmp_path, "\n".join(map(json.dumps, objects)), "data")
    assert rows(corpus)[-1] == ("data:31", "x", ())
    assert problems.count == 0


def test_objects_whose_ids_are_the_callers_to_choose_are_named_by_their_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data:2: several columns could hold the gold ids \(code, id\)"):
        read(tmp_path, '{"mention": "a"}\n{"mention": "b", "code": "C", "id": "D"}\n', "data")


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("mention", {"text": "MI"}, "a list or an object, no text"),
        ("mention", ["MI"], "a list or an object, no text"),
        ("context", ["x" * 99], '["' + "x" * 38),
        ("type", {}, "{}"),
        ("pmid", [7], "[7]"),
        ("id", {"id": "D1"}, '{"id": "D1"}'),
        ("id", ["D1", ["D2"]], '["D1", ["D2"]]'),
    ],
)
def test_json_values_of_a_wrong_kind_are_left_out(key: str, value: object, shown: str, tmp_path: Path) -> None:
    good = {"mention": "flu", "context": "the flu", "type": None, "pmid": 7, "start": 4, "end": 7, "id": "D1"}
    lines = "\n".join(map(json.dumps, (good, good | {key: value}, good)))
    corpus, problems = read(tmp_path, lines, "data")
    assert rows(corpus) == [("7", "flu", ("D1",))] * 2
    assert [str(problem) for problem in problems.first] == [
        f"{tmp_path / 'data'}:2: {shown if key == 'mention' else f'{key!r} cannot be {shown}'} (left out)"
    ]


def test_keys_that_are_not_read_may_hold_anything(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, '{"mention": "flu", "seen": true, "x": [{}], "context": null}\n', "data")
    assert corpus.documents == (Document("data:1", mentions=(Mention("flu"),)),)
    assert problems.count == 0


@pytest.mark.parametrize(
    ("ids", "gold"), [(["D1", None, 2], ("D1", "2")), ([None], ()), ([], ()), (7, ("7",)), ("D1;D2", ("D1", "D2"))]
)
def test_ids_in_json(ids: object, gold: tuple[str, ...], tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, json.dumps({"mention": "flu", "ids": ids}) + "\n", "data")
    assert rows(corpus) == [("data:1", "flu", gold)]
    assert problems.count == 0


@pytest.mark.parametrize(
    "line", ['{"mention": "a"', "[1]", '{"x": 1}', '{"mention": null}', '{"mention": "\\ud800"}']
)
def test_broken_json_lines_are_left_out(line: str, tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, f'{{"mention": "a"}}\n{line}\n{{"mention": "b"}}\n', "data")
    assert [text for _, text, _ in rows(corpus)] == ["a", "b"]
    assert [problem.line for problem in problems.first] == [2]


CELL = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\0"), max_size=8)
# A character that is seen, between any others: no mention is drawn to be thrown away.
SEEN = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs"))
TABLE = st.lists(st.tuples(st.tuples(CELL, SEEN, CELL).map("".join), CELL), min_size=1, max_size=4)


@given(TABLE, st.sampled_from(",;"))
def test_any_csv_that_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], delimiter: str
) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows([("mention", "type"), *cells])
    corpus, problems = read(tmp_path_factory.mktemp("table"), buffer.getvalue())
    found = [(mention.text, mention.type) for _, mention in corpus.mentions()]
    assert found == [(mention.strip(), kind.strip()) for mention, kind in cells]
    assert problems.count == 0


@given(TABLE)
def test_any_json_that_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]]
) -> None:
    content = "".join(
        json.dumps({"mention": mention, "context": context}, ensure_ascii=False) + "\n"
        for mention, context in cells
    )
    corpus, problems = read(tmp_path_factory.mktemp("table"), content, "data")
    assert [mention.text for _, mention in corpus.mentions()] == [mention.strip() for mention, _ in cells]
    assert [document.text for document in corpus.documents] == [context for _, context in cells]
    assert problems.count == 0


@pytest.mark.parametrize("header", ["language", "Lang"])
def test_each_mention_may_have_its_language(header: str, tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, f"term,{header}\nKopfschmerz,DE\nseizure,\ncrise,pt_br\nMI,und\n")
    assert [mention.language for _, mention in corpus.mentions()] == ["de", None, "pt-BR", None]
    assert problems.count == 0


@pytest.mark.parametrize("code", ["deutsch", "xx-nonsense!", "d"])
def test_a_language_that_is_no_code_is_reported_and_unknown(code: str, tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, f"term,language\nKopfschmerz,{code}\n")
    assert [mention.language for _, mention in corpus.mentions()] == [None]
    assert [(problem.line, problem.message) for problem in problems.first] == [
        (2, f"{code!r} is no language code, as 'de' and 'pt-BR' are: taken as unknown")
    ]
    assert (problems.repaired, problems.rejected) == (1, 0)


def test_what_was_guessed_is_said_and_cells_are_restored(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="fields are separated by semicolons, not by commas as its name says"):
        corpus, problems = read(tmp_path, "mention;mention_id\n'=gout;'+1\n'a;-5\n")
    assert [(mention.text, mention.id) for _, mention in corpus.mentions()] == [("=gout", "+1"), ("'a", "-5")]
    assert problems.count == 0


def test_a_mention_with_a_nul_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("mention\tid\ngout\tD1\ngo\0ut\tD1\n", encoding="utf-8")
    problems = Problems()
    corpus = read_corpus(tmp_path / "t.tsv", format="table", problems=problems)
    assert (len(rows(corpus)), problems.rejected) == (1, 1)
