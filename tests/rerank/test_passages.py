"""Mentions in their contexts: what is kept of a document, and that mentions are where they should be."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntok import segmenter
from syntok.tokenizer import Tokenizer

from nymlink.core.errors import MissingExtraError
from nymlink.corpus.documents import Document, Mention
from nymlink.rerank.passages import Passage, passages, sentence_starts
from nymlink.text.abbreviations import find_definitions
from nymlink.text.expansion import expand_text


def document(text: str, *spans: tuple[int, int]) -> Document:
    return Document("1", text, tuple(Mention(text[start:end], start, end) for start, end in spans))


def of(text: str, *mentions: str) -> Document:
    """A document with the first occurrence of each mention."""
    return document(text, *((text.index(mention), text.index(mention) + len(mention)) for mention in mentions))


def test_abbreviations_are_written_out_and_sentences_without_mentions_removed() -> None:
    text = "Myotonic dystrophy (DM) is inherited. Nothing is said here. In DM the muscle is weak. The end."
    at = text.index("DM the")
    first, second = passages(document(text, (0, 18), (at, at + 2)))
    both = "myotonic dystrophy (myotonic dystrophy) is inherited. in myotonic dystrophy the muscle is weak. "
    assert first == Passage("", "myotonic dystrophy", both[18:])
    assert second is not None
    assert (second.left + second.mention + second.right, second.mention) == (both, "myotonic dystrophy")
    assert second.left.endswith("in ")


def test_mentions_may_overlap_and_cross_sentences() -> None:
    text = "He had breast cancer. It grew. Then he had none."
    whole, inner, across = passages(document(text, (7, 20), (14, 20), (14, 28)))
    assert whole is not None
    assert inner is not None
    assert across is not None
    assert (whole.left, whole.mention, whole.right) == ("he had ", "breast cancer", ". it grew. ")
    assert (inner.left, inner.mention) == ("he had breast ", "cancer")
    assert (across.left, across.mention, across.right) == ("he had breast ", "cancer. it gre", "w. ")


@pytest.mark.parametrize(
    "mention",
    [
        Mention("fever"),
        Mention("fever", 3, None),
        Mention("fever", 40, 45),
        Mention("fever", -5, 5),
        Mention("fever", 5, 5),
        Mention("fever", 0, 5),
        Mention("", 2, 2),
    ],
)
def test_a_mention_without_a_place_has_no_passage(mention: Mention) -> None:
    text = "High fever in rats."
    found = passages(Document("1", text, (mention, Mention("fever", 5, 10))))
    assert found[0] is None
    assert found[1] == Passage("high ", "fever", " in rats.")


def test_a_mention_with_nothing_beside_it_has_no_passage() -> None:
    assert passages(document(" Fever  ", (1, 6))) == (None,)
    assert passages(Document("1", "", (Mention("fever", 0, 5),))) == (None,)
    assert passages(Document("1", "Fever.")) == ()
    assert passages(document("Fever.", (0, 5))) == (Passage("", "fever", "."),)


def test_lower_case_may_be_longer() -> None:
    assert passages(of("İİİ fever İ.", "fever")) == (Passage("İİİ ".lower(), "fever", " İ.".lower()),)


def test_a_long_document_is_cut_to_what_is_near() -> None:
    text = "The patient had fever again and again. " * 2600
    spans = [(at, at + 5) for at in range(16, len(text), 39 * 20)]
    assert len(text) > 100_000
    found = passages(document(text, *spans))
    assert all(one is not None and one.mention == "fever" for one in found)
    assert max(len(one.left) + len(one.right) for one in found if one) <= 2048


def test_either_side_has_text_for_as_many_tokens_as_will_be_read() -> None:
    given = of("a " * 4000 + "fever" + " b" * 4000, "fever")
    for found, side in ((passages(given), 1024), (passages(given, max_length=512), 4096)):
        assert found == (Passage("a " * (side // 2), "fever", " b" * (side // 2)),)


def test_a_document_of_many_paragraphs_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Abc. \n\n" * 14_285 + "A fever came."
    assert len(text) > 100_000
    read = 0
    original = Tokenizer.tokenize

    def counted(self: Tokenizer, text: str, base_offset: int = 0) -> Any:
        nonlocal read
        read += base_offset + len(text)
        return original(self, text, base_offset)

    monkeypatch.setattr(Tokenizer, "tokenize", counted)
    assert passages(of(text, "fever")) == (Passage("a ", "fever", " came."),)
    assert read <= len(text)


WORDS = st.sampled_from(
    "heart attack (HA) HA HAs myotonic dystrophy (DM) DM-1 DM . ? e.g. The İ ſ \n\n ; fever, 5 mg/kg [x]".split(
        " "
    )
)


@given(st.lists(WORDS, max_size=40), st.data())
def test_a_mention_is_what_its_text_comes_to(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    ends = st.integers(0, len(text))
    spans = [tuple(sorted(pair)) for pair in data.draw(st.lists(st.tuples(ends, ends), max_size=5))]
    given = document(text, *((start, end) for start, end in spans))
    expanded = expand_text(text, find_definitions(text))
    for (start, end), found in zip(spans, passages(given), strict=True):
        if found is None:
            assert start == end or not (text[:start] + text[end:]).strip() or _alone(given, start, end)
            continue
        # By hand: the stretch of whole replacements that the mention touches, each replaced.
        for one in expanded.replacements:
            if one.start < end and start < one.end:
                start, end = min(start, one.start), max(end, one.end)
        pieces, last = [], start
        for one in expanded.replacements:
            if start <= one.start and one.end <= end:
                pieces += [text[last : one.start], one.text]
                last = one.end
        assert found.mention == "".join([*pieces, text[last:end]]).lower()
        # What stands beside it is the text's, in its order.
        whole = iter(expanded.text.lower())
        assert all(letter in whole for letter in found.left + found.mention + found.right)


def _alone(document: Document, start: int, end: int) -> bool:
    """Whether the sentences of all mentions hold nothing but this mention."""
    (found,) = passages(Document("1", document.text, (Mention(document.text[start:end], start, end),)))
    return found is None


@given(st.text(max_size=200))
def test_sentences_begin_within_the_text_in_order(text: str) -> None:
    starts = sentence_starts(text)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] <= len(text)


PIECES = [*"Heart attack. (HA) DM. e.g. 5 mg/kg İ ? B. ... '".split(), " ", "\n", "\n\n", "\r\n \t\r\n", "\u2028"]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_sentences_are_those_of_the_text_as_a_whole(text: str) -> None:
    starts = {sentence[0].offset for paragraph in segmenter.analyze(text) for sentence in paragraph}
    assert sentence_starts(text) == [0, *sorted(starts)[1:]]


def test_sentences_are_those_of_the_splitter() -> None:
    text = "It was given (vs. placebo), e.g. 5 mg/kg. B. subtilis grew.  The end."
    starts = sentence_starts(text)
    assert [text[at:][:5] for at in starts] == ["It wa", "B. su", "The e"]


def test_a_missing_splitter_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "syntok":
            raise ImportError(name)
        return original(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"splitting a text .* pip install 'nymlink\[train\]'"):
        passages(of("High fever.", "fever"))
