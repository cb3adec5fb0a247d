"""Records of delimited text: quoted cells of any length, and quotation marks that quote nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE
from nymlink.tables.delimited import Record, parse_records, require_distinct


def read(lines: Iterable[str], delimiter: str = ",") -> list[Record]:
    return list(parse_records(enumerate(lines, 1), delimiter))


def rows(lines: Iterable[str], delimiter: str = ",") -> list[tuple[int, list[str]]]:
    return [(record.line, record.fields) for record in read(lines, delimiter)]


@pytest.mark.parametrize(
    "cell",
    ["x" * 131_073, "two, or\n" * 101, "x" * (MAX_LINE - 10), 'a\n"b"\n' * 200_000],
    ids=["long", "many lines", "longest", "many quotation marks"],
)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_quoted_cell_is_one_however_long(cell: str, delimiter: str) -> None:
    quoted = cell.replace('"', '""')
    text = f'a{delimiter}"{quoted}"{delimiter}b\nc{delimiter}d{delimiter}e'
    first, last = read(text.split("\n"), delimiter)
    assert first.fields == ["a", cell, "b"]
    assert first.text == text.rpartition("\n")[0]
    assert (last.line, last.fields) == (text.count("\n") + 1, ["c", "d", "e"])


def test_a_quotation_mark_that_stays_open_for_longer_is_stray() -> None:
    within = ["x" * 1000] * (MAX_LINE // 1000 + 5)
    found = rows(['"two,2', *within, 'three,"3"'])
    assert found[:2] == [(1, ['"two', "2"]), (2, within[:1])]
    assert found[-1] == (len(within) + 2, ["three", "3"])
    assert len(found) == len(within) + 2


def test_no_more_than_the_beginning_of_a_huge_cell_is_held() -> None:
    lines = chain(['"'], (str(number) + "x" * 10_000 for number in range(10_000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in parse_records(enumerate(lines, 1), ",")) == 10_001
        assert tracemalloc.get_traced_memory()[1] < 8 * MAX_LINE
    finally:
        tracemalloc.stop()


def test_tab_separated_rows_after_a_stray_quotation_mark_are_all_read() -> None:
    others = ["x" * 100 + "\t1"] * (MAX_LINE // 50)
    found = rows(chain(['"two\t2'], others), "\t")
    assert found[0] == (1, ['"two', "2"])
    assert len(found) == len(others) + 1


@pytest.mark.parametrize("end", [[], ['a"b']], ids=["never closed", "no delimiter"])
def test_lines_that_each_leave_a_quotation_mark_open_are_looked_through_once(end: list[str]) -> None:
    # To look to the end again from each line would take minutes.
    found = [fields for _, fields in rows([*repeat('a",b,"c', 20_000), *end, "d,e,f"])]
    assert found == [*repeat(['a"', "b", '"c'], 20_000), *([line] for line in end), ["d", "e", "f"]]


def test_a_thousand_columns_of_one_name_make_a_short_message() -> None:
    with pytest.raises(InputError, match=r"columns 1 and 2 and 3 and others have the same name, .a+.: ") as caught:
        require_distinct(["a" * 1000] * 1000, ["a" * 1000], Path("a.csv"), 1)
    assert len(str(caught.value)) < 200
