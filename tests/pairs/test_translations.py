"""Translation pairs: read from each format, refused where a file is not what is told, grouped by meaning."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.pairs.pairs import NamedPairs
from nymlink.pairs.translations import (
    ColumnLanguages,
    TranslationPairs,
    Translations,
    parse_languages,
    read_translations,
)

PAIRS = [("heart", "kalp"), ("heart", "yürek"), ("of the lung", "akciğerin")]


def write(folder: Path, text: str, name: str = "words.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, languages: str | None = None) -> list[tuple[str, str]]:
    translations = read_translations(path, languages=parse_languages(languages) if languages else None)
    return list(zip(translations.left, translations.right, strict=True))


@pytest.mark.parametrize("separator", ["\t", " ||| ", ";", ","])
@pytest.mark.parametrize("header", ["", "source{}target\n", "en{}tr\n"])
def test_two_columns_are_read_with_a_header_or_without(tmp_path: Path, separator: str, header: str) -> None:
    lines = "".join(f"{left.title()}{separator}{right}\n" for left, right in PAIRS)
    assert read(write(tmp_path, header.format(separator) + lines), "en-tr") == PAIRS


@pytest.mark.parametrize("space", [" ", "\t"])
def test_words_of_muse_are_read_compressed_or_not(tmp_path: Path, space: str) -> None:
    text = f"heart{space}kalp\nheart{space}yürek\n"
    assert read(write(tmp_path, text)) == PAIRS[:2]
    path = tmp_path / "en-tr.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read(path) == PAIRS[:2]
    assert read_translations(path).languages == ColumnLanguages("en", "tr")


def test_cells_may_be_quoted_and_columns_named_by_their_languages(tmp_path: Path) -> None:
    text = 'id,tr,en\n1,kalp,heart\n2,"kalp, akut","heart, acute"\n'
    assert read(write(tmp_path, text, "en-tr.csv")) == [("heart", "kalp"), ("heart, acute", "kalp, akut")]


def test_rows_of_one_word_are_left_out_and_broken_ones_said(tmp_path: Path) -> None:
    path = write(tmp_path, "heart\tkalp\nLondon\tlondon\nheart\n\t\nliver\t\nliver\tkaraciğer\textra\n")
    problems = Problems()
    translations = read_translations(path, problems=problems)
    assert (translations.left, translations.right, translations.same) == (["heart"], ["kalp"], 1)
    assert [(one.line, one.message) for one in problems.first] == [
        (3, "1 columns, where the first line has 2"),
        (5, "a word or its translation is empty"),
        (6, "3 columns, where the first line has 2"),
    ]


def test_first_lines_of_one_column_are_said_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "words\n\nheart\tkalp\nliver\tkaraciğer\n")
    problems = Problems()
    assert read_translations(path, problems=problems).left == ["heart", "liver"]
    assert [one.line for one in problems.first] == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty: it needs a word and its translation in each line"),
        ("\n \n", "the file is empty"),
        ("heart attack of the left side\nliver\n", ":1: one column, 'heart attack of the left side': put the tr"),
        ("heart\nliver\n", ":1: one column, 'heart'"),
        ("a\tb\tc\n", ":1: 3 columns: keep the two with the words, or name these in a header"),
        ("source\ttarget\n", ":1: no line has two words: choose a file whose two columns"),
        ("x\tX\ny\ty\n", ":1: the same word on both sides of every line: choose a file whose two columns"),
    ],
)
def test_files_without_translations_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(write(tmp_path, text))
    assert said in str(caught.value)
    assert "words.txt" in str(caught.value)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("heart\tkalp\nheart\tyürek\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"words\.txt:2: not UTF-8: convert the file first, for example iconv"):
        read(path)


TURKISH = [("within the", "içinde"), ("bird", "kuş"), ("with", "ile"), ("three", "üç"), ("tooth", "diş")]
RUSSIAN = [("heart", "сердце"), ("dna", "днк"), ("covid", "covid-19")]


@pytest.mark.parametrize(("pairs", "told"), [(TURKISH, "en-tr"), (RUSSIAN, "en-ru"), (RUSSIAN, "fr-ru")])
def test_exchanged_columns_are_refused(tmp_path: Path, pairs: list[tuple[str, str]], told: str) -> None:
    as_told = write(tmp_path, "".join(f"{left}\t{right}\n" for left, right in pairs), "as_told.tsv")
    exchanged = write(tmp_path, "".join(f"{right}\t{left}\n" for left, right in pairs), "exchanged.tsv")
    opposite = "-".join(reversed(told.split("-")))
    assert read(as_told, told) == pairs
    assert len(read(exchanged, opposite)) == len(pairs)
    for path, languages in ((exchanged, told), (as_told, opposite)):
        with pytest.raises(InputError) as caught:
            read(path, languages)
        right_way = told if languages == opposite else opposite
        assert f":1: the columns look like {right_way}, where --languages says {languages}" in str(caught.value)
    named = exchanged.rename(tmp_path / f"{told}.tsv")
    with pytest.raises(InputError, match=f"where its name says {told}: exchange them, or say --languages"):
        read(named)


def test_languages_that_cannot_be_told_apart_are_believed(tmp_path: Path) -> None:
    path = write(tmp_path, "herz\tcoeur\nleber\tfoie\ngrün\tvert\n")
    assert read(path, "de-fr") == read(path, "fr-de")


@pytest.mark.parametrize("code", ["", "en", "en-en", "english-german", "en_tr", "1-2"])
def test_languages_are_two_codes(code: str) -> None:
    with pytest.raises(ValueError, match="two different language codes, the first column's first"):
        parse_languages(code)


def file(*pairs: tuple[str, str]) -> Translations:
    return Translations(Path("words"), None, [left for left, _ in pairs], [right for _, right in pairs], 0)


def test_each_pair_has_its_own_label_and_pairs_of_a_word_are_one_group() -> None:
    pairs = TranslationPairs([file(*PAIRS, ("cardia", "yürek")), file(("kalp", "heart"), ("lung", "akciğer"))])
    assert len(pairs) == 5  # ("kalp", "heart") is that of the first file
    batch = pairs.slice(0, 5, epoch=0)
    group = group_of(batch)
    assert len(set(batch.concepts.tolist())) == 5
    assert group["heart", "kalp"] == group["heart", "yürek"] == group["cardia", "yürek"]
    assert len(set(group.values())) == 3


def test_words_are_one_group_when_the_pair_that_joins_them_is_not_in_the_batch() -> None:
    pairs = TranslationPairs([file(("heart", "kalp"), ("cardia", "yürek"), ("heart", "yürek"))])
    for epoch in range(20):
        batch = pairs.slice(0, 2, epoch=epoch)
        assert len(set(group_of(batch).values())) == 1


def group_of(batch: NamedPairs) -> dict[tuple[str, str], int]:
    assert batch.groups is not None
    return {
        (left, right): group
        for left, right, group in zip(batch.left, batch.right, batch.groups.tolist(), strict=True)
    }


WORD = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(WORD, WORD).filter(lambda pair: pair[0] != pair[1]), min_size=1), st.integers(1, 9))
def test_groups_are_what_translations_in_the_file_join(pairs: list[tuple[str, str]], size: int) -> None:
    sequence = TranslationPairs([file(*pairs)], seed=size)
    assert len(sequence) == len(set(map(frozenset, pairs)))
    seen = []
    for start in range(0, len(sequence), size):
        batch = sequence.slice(start, min(start + size, len(sequence)), epoch=1)
        group = group_of(batch)
        seen += [frozenset(pair) for pair in group]
        joined = {word: word for word in (*batch.left, *batch.right)}
        for left, right in pairs:
            if left in joined and right in joined:
                kept, replaced = joined[left], joined[right]
                joined = {word: kept if of == replaced else of for word, of in joined.items()}
        for one in group:
            for other in group:
                assert (group[one] == group[other]) == (joined[one[0]] == joined[other[0]])
    assert sorted(map(sorted, seen)) == sorted(map(sorted, set(map(frozenset, pairs))))
