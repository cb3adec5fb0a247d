"""What the encoder of an index cannot read is said once, and what to install."""

from __future__ import annotations

import warnings

import pytest

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from tests.index.small import vocabulary

VOCABULARY = vocabulary({"D:1": ["seizure", "судороги"], "D:2": ["β-thalassemia"]})


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker(Index.build(VOCABULARY))


def test_mentions_in_unknown_scripts_are_counted_in_one_warning(linker: Linker) -> None:
    mentions = ["발작", "경련", "ชัก", "seizures", "β-talassemia", "12", ""]
    with pytest.warns(UserWarning, match="not know") as warned:
        linker.link(mentions)
    assert [str(warning.message) for warning in warned] == [
        "3 of 7 mentions are written in Hangul or Thai, which the encoder nymlink-mini does not know: they were "
        "compared by their letters alone; nymlink-xl-mini knows many languages: pip install 'nymlink[xl]', then "
        "build the index with nymlink index build ... --encoder nymlink-xl-mini"
    ]
    assert warned[0].filename == __file__


def test_documents_have_one_warning_in_all(linker: Linker) -> None:
    documents = [Document(str(number), "발작", (Mention("발작", 0, 2),)) for number in range(600)]
    with pytest.warns(UserWarning, match="^600 of 600 mentions are written in Hangul, which") as warned:
        assert len(list(linker.link_documents(documents))) == 600
    assert len(warned) == 1
    assert warned[0].filename == __file__


@pytest.mark.parametrize("name", ["Судороги", "СУДОРО\u0301ГИ"])
def test_a_mention_that_is_a_name_needs_no_encoder(linker: Linker, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert linker.link(name).candidates[0].concept_id == "D:1"


def test_without_an_encoder_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Linker(Index.build(VOCABULARY, encoder=None)).link(["발작", "судорога"])
