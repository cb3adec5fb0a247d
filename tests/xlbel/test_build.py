from __future__ import annotations

import bz2
import gzip
from collections import Counter
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, NymlinkError, StoreError
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.xlbel import build
from nymlink.xlbel.build import build_benchmark
from tests.xlbel.dumps import FOOT, HEAD, page, redirect, streams, write

TABLE = (
    "page\tconcept_id\nMyocardial infarction\tC0027051\n"
    "Gout\tC0018099|C0003868\nPain\tC0030193\ncold_(disease)\tC0009443\n"
)

PAGES = [
    page(
        "Aspirin", "It helps in [[heart attack]]. It helps in [[gout|podagra]], too.\n\nSee [[Gout]] and [[Rome]]."
    ),
    redirect("Heart attack", "Myocardial infarction"),
    page("Talk", "a [[Pain|ache]]", namespace=1),
    page("Rome", "The [[Rome|city]] & its {{box|[[Pain|aches]]}} people had [[Pain#Types|''aches & pains'']]."),
    redirect("Infarct", "Myocardial_infarction#Types"),
    page("Empty", ""),
    page("Bed", "[[Infarct]]s and a [[Cold (disease)|common cold]] keep him in it."),
]

LINES = {
    "C0027051||heart attack||It helps in <tgt>heart attack</tgt>.",
    "C0018099|C0003868||podagra||It helps in <tgt>podagra</tgt>, too.",
    "C0030193||aches & pains||The city & its people had <tgt>aches & pains</tgt>.",
    "C0027051||Infarcts||<tgt>Infarcts</tgt> and a common cold keep him in it.",
    "C0009443||common cold||Infarcts and a <tgt>common cold</tgt> keep him in it.",
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pages.tsv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "xx_test.txt"


def many(number: int = 60) -> list[str]:
    """Pages whose links have many surface forms, several sentences for each, and redirects all over the dump."""
    return [
        text
        for place in range(number)
        for text in (
            page(
                f"Page {place}",
                f"In {place} [[gout|podagra {place % 40}]] hurts. A [[Way {place - 1}]] was found.",
            ),
            redirect(f"Way {place}", "Pain"),
        )
    ]


def test_links_become_examples(tmp_path: Path, table: Path, output: Path) -> None:
    problems = Problems()
    counts = build_benchmark(write(tmp_path / "dump.xml.bz2", PAGES), table, output, problems=problems)
    assert set(output.read_text(encoding="utf-8").splitlines()) == LINES
    assert (counts.pages, counts.parsed, counts.mentions, counts.examples) == (4, 3, 6, 5)
    assert counts.complete
    assert problems.count == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.xml.bz2", "pages.tsv", "xx_test.txt"]


def test_what_is_built_can_be_read(tmp_path: Path, table: Path, output: Path) -> None:
    problems = Problems()
    build_benchmark(write(tmp_path / "dump.xml.bz2", PAGES), table, output)
    corpus = read_corpus(output, problems=problems)
    assert problems.count == 0
    assert len(corpus) == len(LINES)
    for document, mention in corpus.mentions():
        assert document.text[mention.start : mention.end] == mention.text
    assert ("C0018099", "C0003868") in {mention.concept_ids for _, mention in corpus.mentions()}


@pytest.mark.parametrize("kind", ["plain", "gzip", "one stream", "streams that end within pages", "small streams"])
def test_every_packing_gives_the_same(kind: str, tmp_path: Path, table: Path, output: Path) -> None:
    xml = (HEAD.format(language="en") + "".join(PAGES) + FOOT).encode()
    packed = {
        "plain": xml,
        "gzip": gzip.compress(xml),
        "one stream": bz2.compress(xml),
        "streams that end within pages": b"".join(
            bz2.compress(xml[at : at + 99]) for at in range(0, len(xml), 99)
        ),
        "small streams": b"".join(streams(PAGES, size=1)),
    }
    dump = tmp_path / "dump"
    dump.write_bytes(packed[kind])
    build_benchmark(dump, table, output)
    assert set(output.read_text(encoding="utf-8").splitlines()) == LINES


def test_text_without_spaces(tmp_path: Path, output: Path) -> None:
    table = tmp_path / "pages.csv.gz"
    table.write_bytes(gzip.compress("痛風,C0018099\nมะเร็ง,C0006826\n".encode()))
    pages = [
        page("足", "足は痛い。[[痛風|痛風症]]の人は「歩けない。」治る。"),
        page("โรค", "โรค[[มะเร็ง|เนื้อร้าย]]เป็นโรค\nอื่น"),
    ]
    build_benchmark(write(tmp_path / "dump.bz2", pages, language="ja"), table, output)
    assert set(output.read_text(encoding="utf-8").splitlines()) == {
        "C0018099||痛風症||<tgt>痛風症</tgt>の人は「歩けない。」",
        "C0006826||เนื้อร้าย||โรค<tgt>เนื้อร้าย</tgt>เป็นโรค",
    }


def test_wikidata_ids_need_a_table_of_pages(tmp_path: Path, output: Path) -> None:
    concepts, items = tmp_path / "concepts.tsv", tmp_path / "items.tsv"
    concepts.write_text("concept_id\txrefs\nWikidata:Q133087\tMESH:D006073\nQ1\tMESH:D1\n", encoding="utf-8")
    items.write_text("title\titem\nGout\tQ133087\n", encoding="utf-8")
    dump = write(tmp_path / "dump.bz2", PAGES)
    with pytest.raises(InputError, match=r"--wikidata"):
        build_benchmark(dump, concepts, output)
    build_benchmark(dump, concepts, output, items=items)
    assert output.read_text(encoding="utf-8") == "MESH:D006073||podagra||It helps in <tgt>podagra</tgt>, too.\n"
    items.write_text("Q133087\tGout\n", encoding="utf-8")
    with pytest.raises(InputError, match="swapped"):
        build_benchmark(dump, concepts, output, items=items)


def test_a_form_occurs_once_and_the_sample_does_not_depend_on_order(
    tmp_path: Path, table: Path, output: Path
) -> None:
    pages = many()
    drawn = []
    for order in (pages, pages[::-1]):
        build_benchmark(write(tmp_path / "dump.bz2", order), table, output, sample=12, seed=3)
        drawn.append(output.read_text(encoding="utf-8").splitlines())
    assert drawn[0] == drawn[1]
    forms = [line.split("||")[1].lower() for line in drawn[0]]
    assert len(forms) == len(set(forms)) == 12
    build_benchmark(tmp_path / "dump.bz2", table, output, sample=12, seed=4)
    assert output.read_text(encoding="utf-8").splitlines() != drawn[0]


def test_every_form_has_the_same_chance(tmp_path: Path, table: Path, output: Path) -> None:
    frequent = [page(f"P{place}", "[[Pain|ache]] or [[Pain|sore]]") for place in range(20)]
    dump = write(tmp_path / "dump.bz2", [*frequent, page("Q", " ".join(f"[[Pain|pain{n}]]" for n in range(8)))])
    drawn: Counter[str] = Counter()
    for seed in range(60):
        build_benchmark(dump, table, output, sample=1, seed=seed)
        drawn[output.read_text(encoding="utf-8").split("||")[1]] += 1
    assert drawn["ache"] + drawn["sore"] < 30
    assert len(drawn) >= 8


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", ["streams", "one stream", "plain", "garbage"])
def test_a_dump_that_breaks_off_is_read_on(
    share: float, kind: str, tmp_path: Path, table: Path, output: Path
) -> None:
    pages = many()
    whole = b"".join(streams(pages))
    if kind in ("one stream", "plain"):
        whole = bz2.decompress(whole)
    if kind == "one stream":
        whole = bz2.compress(whole)
    dump = tmp_path / "dump.bz2"
    dump.write_bytes(whole)
    expected = build_benchmark(dump, table, output, sample=30)
    lines = output.read_text(encoding="utf-8")
    output.unlink()

    cut = int(len(whole) * share)
    dump.write_bytes(whole[:cut] + (bytes(2000) if kind == "garbage" else b""))
    problems = Problems()
    if kind == "one stream":  # of less than a block of bzip2, nothing can be read
        with pytest.raises(InputError):
            build_benchmark(dump, table, output, sample=30, problems=problems)
    else:
        counts = build_benchmark(dump, table, output, sample=30, problems=problems)
        assert not counts.complete
        assert 0 < counts.pages < expected.pages
        assert output.read_text(encoding="utf-8")
        assert problems.last is not None
        assert "the part before it was used" in problems.last.outcome
        assert output.with_name("xx_test.txt.state").exists()
    dump.write_bytes(whole)
    assert build_benchmark(dump, table, output, sample=30) == expected
    assert output.read_text(encoding="utf-8") == lines
    assert not output.with_name("xx_test.txt.state").exists()


@pytest.mark.parametrize("stop", [1, 2])
def test_a_build_that_was_stopped_goes_on(
    stop: int, tmp_path: Path, table: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ["  <page>\n    <titel>broken</titel>\n  </page>\n"]
    pages = many()
    dump = write(tmp_path / "dump.bz2", [*pages[:60], *broken, *pages[60:90], *broken, *pages[90:]])
    expected = build_benchmark(dump, table, output, sample=30)
    lines = output.read_text(encoding="utf-8")
    output.unlink()
    monkeypatch.setattr(build, "_SECONDS", 0.0)
    seen: list[int] = []

    def kill(_: object) -> None:
        seen.append(1)
        if len(seen) == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_benchmark(dump, table, output, sample=30, problems=Problems(on_problem=kill))
    assert not output.exists()
    remaining = Problems()
    assert build_benchmark(dump, table, output, sample=30, problems=remaining) == expected
    assert remaining.rejected == 3 - stop  # the pages before were not read again
    assert output.read_text(encoding="utf-8") == lines


def test_a_build_does_not_go_on_with_other_settings_or_another_dump(
    tmp_path: Path, table: Path, output: Path
) -> None:
    whole = b"".join(streams(many()))
    dump = tmp_path / "dump.bz2"
    dump.write_bytes(whole[: len(whole) // 2])
    build_benchmark(dump, table, output)
    with pytest.raises(StoreError, match="another seed"):
        build_benchmark(dump, table, output, seed=5)
    table.write_text(TABLE + "Rome\tC1\n", encoding="utf-8")
    with pytest.raises(StoreError, match="another table of concepts"):
        build_benchmark(dump, table, output)
    table.write_text(TABLE, encoding="utf-8")
    write(dump, [page("Another", "dump of [[Gout|podagra]]") for _ in range(200)])
    with pytest.raises(InputError, match="another dump"):
        build_benchmark(dump, table, output)


def test_a_state_that_is_none(tmp_path: Path, table: Path, output: Path) -> None:
    output.with_name("xx_test.txt.state").write_text("mine, of no use to anybody else\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="delete it"):
        build_benchmark(write(tmp_path / "dump.bz2", PAGES), table, output)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no dump"),
        (b"PK\x03\x04", "no dump"),
        (bz2.compress(b"<html></html>"), "no dump"),
        (b"BZh91AY&SY", "breaks off"),
        (HEAD.format(language="en").encode() + FOOT.encode(), "does the table have the titles"),
    ],
)
def test_what_is_no_dump(content: bytes, message: str, tmp_path: Path, table: Path, output: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(content)
    with pytest.raises(InputError, match=message):
        build_benchmark(dump, table, output)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("Gout\n", "no page has a concept"),
        ("12\tC1\n15\tC2\n", "numbers of pages"),
        ("Gout\tgouty arthritis\n", "no page has a concept"),
    ],
)
def test_tables_that_are_none(content: str, message: str, tmp_path: Path, output: Path) -> None:
    table = tmp_path / "pages.tsv"
    table.write_text(content, encoding="utf-8")
    with pytest.raises(NymlinkError, match=message):
        build_benchmark(write(tmp_path / "dump.bz2", PAGES), table, output)


def test_rows_that_cannot_be_used_are_counted(tmp_path: Path, table: Path, output: Path) -> None:
    table.write_text(TABLE + "Rome\nRome\ttwo words\n", encoding="utf-8")
    problems = Problems()
    build_benchmark(write(tmp_path / "dump.bz2", PAGES), table, output, problems=problems)
    assert [problem.line for problem in problems.first] == [6, 7]


def test_a_page_without_end_does_not_fill_the_memory(
    tmp_path: Path, table: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nymlink.xlbel.dump.LARGEST_PAGE", 1 << 20)
    endless = bz2.compress(b"  <page>\n    <title>Endless</title>" + b"x" * (9 << 20) + b"</text></page>\n")
    first, *others = streams(PAGES)
    dump = tmp_path / "dump.bz2"
    dump.write_bytes(b"".join([first, endless, *others]))
    problems = Problems()
    build_benchmark(dump, table, output, problems=problems)
    assert problems.rejected > 0
    assert "a page of more than" in problems.first[0].message
    assert set(output.read_text(encoding="utf-8").splitlines()) == LINES


def test_the_inputs_are_not_overwritten(tmp_path: Path, table: Path) -> None:
    dump = write(tmp_path / "dump.bz2", PAGES)
    with pytest.raises(NymlinkError, match="overwritten"):
        build_benchmark(dump, table, table)
