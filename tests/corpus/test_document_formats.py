"""Documents in BioC, BRAT, CoNLL and BigBIO as they come: other units, other orders, broken and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import CorpusOptions, Document, read_corpus
from nymlink.corpus.offsets import OFFSET_UNITS, OffsetUnit, to_code_points, unit_length

TEXT = "Ü𝔘ber gout"
PLACES: dict[OffsetUnit, tuple[int, int]] = {"characters": (6, 10), "utf-16": (7, 11), "bytes": (10, 14)}
"""Where "gout" stands in it."""


def read(path: Path, unit: OffsetUnit = "characters") -> tuple[list[Document], Problems]:
    problems = Problems()
    return list(read_corpus(path, options=CorpusOptions(offsets=unit), problems=problems).documents), problems


def xml(*documents: str) -> str:
    return f"<collection><source/><date/><key/>{''.join(documents)}</collection>"


def document(id_: str, *passages: tuple[int, str, str]) -> str:
    inside = "".join(
        f"<passage><offset>{offset}</offset><text>{text}</text>{annotations}</passage>"
        for offset, text, annotations in passages
    )
    return f"<document><id>{id_}</id>{inside}</document>"


def annotation(text: str, *places: tuple[int, int], key: str = "identifier") -> str:
    locations = "".join(f'<location offset="{start}" length="{end - start}"/>' for start, end in places)
    return f'<annotation id="1"><infon key="{key}">D1</infon>{locations}<text>{text}</text></annotation>'


def samples(unit: OffsetUnit) -> dict[str, str]:
    """A document in each format with offsets, in a unit."""
    start, end = PLACES[unit]
    first = start - 1
    bioc = {
        "id": "7",
        "passages": [
            {
                "offset": 0,
                "text": TEXT,
                "annotations": [{"text": "gout", "locations": [{"offset": start, "length": 4}]}],
            }
        ],
    }
    bigbio = {
        "id": "7",
        "passages": [{"text": [TEXT], "offsets": [[0, end]]}],
        "entities": [{"text": ["gout"], "offsets": [[start, end]], "normalized": []}],
    }
    return {
        "a.xml": xml(document("7", (0, TEXT, annotation("gout", (start, end))))),
        "a.json": json.dumps(bioc),
        "a.jsonl": json.dumps(bigbio),
        "a.txt": f"7|t|{TEXT}\n7|a|\n7\t{start}\t{end}\tgout\tDisease\tD1\n",
        "a.tsv": f"document\tmention\tstart\tend\tsentence\n7\tgout\t{start}\t{end}\t{TEXT}\n",
        "a.conll": f"# newdoc id = 7\nÜ𝔘ber\t0\t{first}\tO\ngout\t{start}\t{end}\tB-Disease\n",
    }


@pytest.mark.parametrize("unit", OFFSET_UNITS)
@pytest.mark.parametrize("name", samples("bytes"))
def test_offsets_count_what_is_said(name: str, unit: OffsetUnit, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(samples(unit)[name], encoding="utf-8")
    (found,), problems = read(path, unit)
    assert [(mention.text, mention.start, mention.end) for mention in found.mentions] == [("gout", 6, 10)]
    assert problems.count == 0


@pytest.mark.parametrize("unit", OFFSET_UNITS)
def test_units_are_those_of_encodings(unit: OffsetUnit) -> None:
    encoding, width = {"characters": ("utf-32-le", 4), "utf-16": ("utf-16-le", 2), "bytes": ("utf-8", 1)}[unit]
    text = "a\x7f\x80é\u07ff\u0800\uffff\U00010000𝔘z"
    translate = to_code_points(text, unit)
    assert unit_length(text, unit) == len(text.encode(encoding)) // width
    for place in range(len(text) + 1):
        assert translate(len(text[:place].encode(encoding)) // width) == place
    assert translate(-3) == -3
    assert translate(unit_length(text, unit) + 2) == len(text) + 2


def test_passages_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    later = (8, "gout", annotation("gout", (8, 12)))
    (tmp_path / "a.xml").write_text(xml(document("7", later, (0, "Title.", ""))), encoding="utf-8")
    (found,), problems = read(tmp_path / "a.xml")
    assert (found.text, found.mentions[0].start) == ("Title.\n gout", 8)
    assert (problems.repaired, problems.rejected) == (1, 0)


@pytest.mark.parametrize("offset", [3, 10**9])
def test_passages_that_overlap_or_are_far_away_follow_each_other(offset: int, tmp_path: Path) -> None:
    other = (offset, "gout", annotation("gout", (offset, offset + 4)))
    (tmp_path / "a.xml").write_text(xml(document("7", (0, "Title.", ""), other)), encoding="utf-8")
    (found,), problems = read(tmp_path / "a.xml")
    assert (found.text, found.mentions[0].start) == ("Title.\ngout", 7)
    assert problems.repaired == 1


def test_an_annotation_may_stand_with_another_passage_or_in_a_sentence(tmp_path: Path) -> None:
    sentence = f"<sentence><offset>7</offset><text>gout</text>{annotation('gout', (7, 11), key='MESH')}</sentence>"
    other = f"<passage><offset>7</offset>{sentence}</passage>"
    own = document("7", (0, "Title.", annotation("gout", (7, 11)))).replace("</document>", f"{other}</document>")
    (tmp_path / "a.xml").write_text(xml(own), encoding="utf-8")
    (found,), problems = read(tmp_path / "a.xml")
    assert [(mention.start, mention.concept_ids) for mention in found.mentions] == [(7, ("D1",))] * 2
    assert problems.count == 0


def test_wrong_and_overlapping_offsets_cost_only_themselves(tmp_path: Path) -> None:
    annotations = "".join(
        [
            annotation("gout", (0, 4)),
            annotation("gout", (1, 5)),
            annotation("gout", (90, 94)),
            annotation("go t", (0, 2), (1, 4)),
            annotation("", (500, 510)),
            annotation("toe", (0, 0)),
        ]
    )
    (tmp_path / "a.xml").write_text(xml(document("7", (0, "gout", annotations))), encoding="utf-8")
    (found,), problems = read(tmp_path / "a.xml")
    assert [(each.text, each.start) for each in found.mentions] == [
        *(("gout", 0), ("gout", 0), ("gout", None), ("go t", None), ("toe", None))
    ]
    assert (problems.rejected, problems.repaired) == (1, 4)


BOMB = '<!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "prologue", [BOMB, '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]>'], ids=["bomb", "other file"]
)
def test_entities_are_refused(prologue: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(prologue + xml(document("7", (0, "&b;", ""))), encoding="utf-8")
    with pytest.raises(InputError, match="declares the entity"):
        read(tmp_path / "a.xml")


def test_a_broken_document_is_left_out_and_others_read(tmp_path: Path) -> None:
    documents = [document("1", (0, "x", "")), document("2", (0, "x", "")).replace("<offset>0", "<offset>zero")]
    (tmp_path / "a.xml").write_text(
        "\n".join([xml(*documents, document("3", (0, "x", "")), document("1"))]), encoding="utf-8"
    )
    found, problems = read(tmp_path / "a.xml")
    assert [each.id for each in found] == ["1", "3"]
    assert [each.message for each in problems.first] == [
        "document 2: the offset of a passage is 'zero', not a number",
        "second copy of document 1, with 0 mentions",
    ]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda value: json.dumps({"documents": [value, 5, {"id": "x", "passages": "no"}]}, indent=2),
        lambda value: json.dumps([{"documents": [value]}, {"documents": [{"id": [], "passages": []}, 7]}]),
        lambda value: json.dumps({"PubTator3": [value, {"id": "x", "passages": [{"offset": "1"}]}, None]}),
        lambda value: json.dumps(value) + '\n{"id": "x", "passages": [3]}\nnot JSON\n',
    ],
    ids=["collection", "list", "PubTator3", "lines"],
)
def test_json_of_bioc_in_all_its_shapes(wrap: Any, tmp_path: Path) -> None:
    value = {
        "id": 7,
        "passages": [
            {
                "offset": 0,
                "text": "a gout",
                "annotations": [
                    {
                        "id": 1,
                        "text": "gout",
                        "infons": {"type": "Disease", "identifier": "D1;D2"},
                        "locations": [{"offset": 2, "length": 4}],
                    }
                ],
            }
        ],
    }
    (tmp_path / "a.json").write_text(wrap(value), encoding="utf-8")
    (found,), problems = read(tmp_path / "a.json")
    assert [(each.text, each.start, each.concept_ids) for each in found.mentions] == [("gout", 2, ("D1", "D2"))]
    assert (found.id, problems.rejected, problems.repaired) == ("7", 2, 0)


def brat(folder: Path, text: bytes, annotations: str) -> Path:
    folder.mkdir()
    (folder / "1.txt").write_bytes(text)
    (folder / "1.ann").write_text(annotations, encoding="utf-8")
    return folder


def test_brat_has_pieces_and_keeps_line_ends(tmp_path: Path) -> None:
    annotations = """\
T1\tDisease 0 6;20 26\tBreast cancer
T2\tDisease 12 19;20 26\tovarian cancer
N1\tReference T1 MESH:D1\tx
N2\tReference T1 id:D2\tx
A1\tNegated T1
#1\tAnnotatorNotes T1\tsure
E1\tDisease:T1
"""
    (found,), problems = read(brat(tmp_path / "b", b"Breast and\r\novarian cancer", annotations))
    first, second = found.mentions
    assert (first.text, first.spans, first.concept_ids) == ("Breast cancer", ((0, 6), (20, 26)), ("MESH:D1", "D2"))
    # With nothing between its pieces it is one.
    assert (second.text, second.spans, second.start) == ("ovarian cancer", (), 12)
    assert problems.count == 0
    (alone,), _ = read(tmp_path / "b" / "1.ann")
    assert alone == found


def test_brat_that_is_broken(tmp_path: Path) -> None:
    annotations = "T1\tD 2 6\tgout\nT2\tD 0 99\tnothing\nT3\tD x\tgout\nN1\tReference T9 D1\tx\n"
    folder = brat(tmp_path / "b", b"\xfc gout \0", annotations)
    (folder / "2.ann").write_text("T1\tD 0 4\tgout\n", encoding="utf-8")
    (folder / "3.ann").write_text("", encoding="utf-8")
    (folder / "3.txt").write_text("Nothing.", encoding="utf-8")
    (first, second, third), problems = read(folder)
    assert (first.text, [each.start for each in first.mentions]) == ("ü gout \0", [2, None])
    assert (second.id, second.mentions[0].start) == ("2", None)
    assert (third.id, third.text, third.mentions) == ("3", "Nothing.", ())
    said = [each.message for each in problems.first]
    assert said[0].startswith("not of the form T1")
    assert said[1] == "not UTF-8; read as Windows-1252"
    assert said[3] == "a concept of T9, and there is no such mention"
    assert said[4].startswith("there is no 2.txt beside it")


def test_conll_in_another_order_and_broken(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(
        "-DOCSTART- (7)\nB-Disease\t0\t4\tgout\nI-Disease\t5\t7\tof\nO\t9\t10\t,\nI-Drug\t11\t12\tx\nO\t2\t3\tx\n"
        "O\t13\t20\tshort\n\nU-Drug\t12\t13\ty\n-DOCSTART-\nO\t0\t1\tz\n",
        encoding="utf-8",
    )
    (first, second), problems = read(tmp_path / "a.conll")
    assert first.text == "gout of  , xy"
    found = [(each.text, each.type) for each in first.mentions]
    assert found == [("gout of", "Disease"), ("x", "Drug"), ("y", "Drug")]
    assert (first.id, second.id, second.text) == ("7", "a:10", "z")
    assert [each.line for each in problems.first] == [6, 7]


_NORMALISED = {"passages": [], "entities": [{"text": ["x"], "offsets": [[0, 1]], "normalized": ["D1"]}]}


@pytest.mark.parametrize("content", ["9" * 30, "[1, null, []]", '"text"', json.dumps(_NORMALISED)])
def test_bigbio_without_objects_is_an_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="not of BigBIO's schema"):
        read_corpus(tmp_path / "a.json", format="bigbio")


def test_bigbio_in_columns_and_in_parquet(tmp_path: Path) -> None:
    row = {
        "id": "x",
        "document_id": "7",
        "passages": {"id": ["1"], "type": ["title"], "text": [["a gout"]], "offsets": [[[0, 6]]]},
        "entities": {
            "id": ["e"],
            "type": ["Disease"],
            "text": [["gout"]],
            "offsets": [[[2, 6]]],
            "normalized": [[{"db_name": "MESH", "db_id": "D1"}]],
        },
    }
    broken = {"id": "y", "passages": [{"text": ["a"]}], "entities": []}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(broken) + "\n", encoding="utf-8")
    (found,), problems = read(tmp_path / "a.jsonl")
    assert [(each.start, each.concept_ids) for each in found.mentions] == [(2, ("MESH:D1",))]
    assert problems.rejected == 1
    listed = {
        **row,
        "passages": [{"id": "1", "type": "title", "text": ["a gout"], "offsets": [[0, 6]]}],
        "entities": [
            {
                "id": "e",
                "type": "Disease",
                "text": ["gout"],
                "offsets": [[2, 6]],
                "normalized": [{"db_name": "MESH", "db_id": "D1"}],
            }
        ],
    }
    pq.write_table(pa.Table.from_pylist([listed]), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0] == [found]
