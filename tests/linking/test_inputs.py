"""What is no mention is said with its position; what is missing has an empty link."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from tests.linking.toy import built_linker

TEXT = "A heart\nattack, naïve 😀 MI."


class NotKnown:
    """Like pandas.NA: whether it equals anything is not known, and that is neither true nor false."""

    def __ne__(self, other: object) -> Any:
        return self

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


@pytest.mark.parametrize(
    "missing",
    [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN"), NotKnown()],
)
def test_what_is_missing_has_an_empty_link_and_is_counted(missing: Any) -> None:
    with pytest.warns(UserWarning, match=r"^2 of 4 mentions are missing \(None, NaN\)") as said:
        found = built_linker().link(["heart attack", missing, "MI", missing])
    assert len(said) == 1
    assert said[0].filename == __file__
    assert [len(link.candidates) > 0 for link in found] == [True, False, True, False]
    assert [(link.mention.text, link.nil, link.candidates) for link in found[1::2]] == [("", True, ())] * 2
    with pytest.warns(UserWarning, match="1 of 1 mentions"):
        assert built_linker().link(missing) == found[1]


def test_a_blank_is_not_missing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert built_linker().link(["", " "])[1].nil


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (b"MI", r"mentions\[1\]: b'MI' \(bytes\), not a string: decode it first"),
        (3, r"mentions\[1\]: 3 \(int\), not a string: write it as text"),
        (3.5, r"mentions\[1\]: 3\.5 \(float\)"),
        (True, r"mentions\[1\]: True \(bool\)"),
        (np.int64(7), r"mentions\[1\]: .*7.* \(int64\)"),
        (["MI"], r"mentions\[1\]: \['MI'\] \(list\)"),
        (np.array(["MI", "x"]), r"mentions\[1\]: array.* \(ndarray\)"),
        (Document("1"), r"mentions\[1\]: .* \(Document\)"),
        (Mention(3), r"mentions\[1\]: its text is 3 \(int\)"),  # type: ignore[arg-type]
        (Mention(None), r"mentions\[1\]: its text is None"),  # type: ignore[arg-type]
        (Mention("MI", language="deutsch"), r"mentions\[1\]: its language 'deutsch' \(str\) is not a language"),
        (Mention("MI", language="xx-nonsense!"), r"give one like 'en' or 'pt-BR', or none"),
        (Mention("MI", language=""), r"mentions\[1\]: its language ''"),
        (Mention("MI", language=3), r"its language 3 \(int\)"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_mention_is_said_with_its_position(wrong: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        built_linker().link(["heart attack", wrong])


@pytest.mark.parametrize(
    "wrong",
    [3, b"heart attack", bytearray(b"x"), {"MI": 1}, np.array([["MI"]]), np.array("MI"), True],
)
def test_what_cannot_be_linked_is_said(wrong: Any) -> None:
    with pytest.raises(InputError, match="cannot be linked: give a string, a list of strings, or a Document"):
        built_linker().link(wrong)


@pytest.mark.parametrize("given", [np.array(["MI", "x"]), np.array(["MI", "x"], object), iter(["MI", "x"])])
def test_any_column_of_strings_is_linked(given: Any) -> None:
    assert built_linker().link(given) == built_linker().link(["MI", "x"])
    assert built_linker().link(np.str_("MI")) == built_linker().link("MI")


@pytest.mark.parametrize(
    ("mention", "said"),
    [
        (("heart\nattack", 2, 900), r"it is at 2-900, outside the text, which has 27 characters"),
        (("MI", -3, -1), "it is at -3--1: offsets count from 0"),
        (("MI", 26, 24), "it is at 26-24: .*the start must be before the end"),
        (("MI", 24, None), "it is at 24-None: offsets must be two whole numbers, or none"),
        (("MI", 24.0, 26.0), "offsets must be two whole numbers"),
        (("MI", float("nan"), float("nan")), "offsets must be two whole numbers"),
        (("MI", 29, 31), "outside the text"),
        (("MI", 22, 24), r"it is at 22-24, where the text has '😀 ', not 'MI': offsets count Unicode characters"),
    ],
)
def test_offsets_must_be_those_of_the_mention(mention: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError, match=rf"^document 'd', mentions\[1\]: .*{said}"):
        built_linker().link(Document("d", TEXT, (Mention("naïve", 16, 21), Mention(*mention))))
    if "text" not in said:
        with pytest.raises(InputError, match=said):
            built_linker().link([Mention("x"), Mention(*mention)])


def test_offsets_that_serve_are_taken() -> None:
    mentions = (
        Mention("MI", 24, 26),
        Mention("Heart attack", 2, 14),
        Mention("MI", np.int64(24), np.int64(26)),  # type: ignore[arg-type]
        Mention("myocardial infarction", 24, 26, prepared=True),
        Mention("MI"),
    )
    assert len(built_linker().link(Document("d", TEXT, mentions))) == 5
    assert len(built_linker().link(Document("d", "", (Mention("MI", 900, 902),)))) == 1


def test_documents_before_a_wrong_one_are_linked() -> None:
    documents = [Document("1", mentions=(Mention("MI"),)), Document("2", "x", (Mention("MI", 7, 9),))]
    links = built_linker().link_documents(documents)
    assert len(next(links)) == 1
    with pytest.raises(InputError, match=r"document '2', mentions\[0\]"):
        next(links)
    with pytest.raises(InputError, match=r"'MI' \(str\) is not a Document"):
        list(built_linker().link_documents(["MI"]))  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"mentions\[0\]: 'MI' \(str\), not a Mention"):
        built_linker().link(Document("", mentions=("MI",)))  # type: ignore[arg-type]


def test_a_mention_in_pieces_is_what_stands_there() -> None:
    text = "Breast and ovarian cancer"
    good = Document("7", text, (Mention("breast cancer", 0, 25, spans=((0, 6), (19, 25))),))
    assert len(built_linker().link(good)) == 1
    for spans in (((19, 25), (0, 6)), ((0, 6), (11, 18)), ((0, 6), (7, 25))):
        bad = Document("7", text, (Mention("breast cancer", 0, 25, spans=spans),))
        with pytest.raises(InputError, match=r"document '7', mentions\[0\]: "):
            built_linker().link(bad)
