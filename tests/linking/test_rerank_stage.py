"""The linker with a re-ranker: how many candidates it gets, how many come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from tests.train.small import vocabulary


class Backwards:
    """Turns candidates round, and remembers how many there were."""

    candidates = 6

    def __init__(self) -> None:
        self.given: list[int] = []

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        self.given += [len(part.candidates) for link in links for part in link.parts or (link,)]
        return [replace(link, candidates=link.candidates[::-1]) for link in links]


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(
        vocabulary(*((f"X:{n}", f"heart attack {n}", "en", "exact") for n in range(9))), encoder=None
    )


MENTIONS = Mention("heart attack 3"), Mention("both", parts=("heart attack 1", "heart attack 2")), Mention("zzz")


def test_more_candidates_are_retrieved_than_are_asked_for(index: Index) -> None:
    stage = Backwards()
    found = Linker(index, top_k=2, rerank=stage).link(Document("1", mentions=MENTIONS))
    assert stage.given == [6, 6, 6, 0]
    before = Linker(index, top_k=6).link(Document("1", mentions=MENTIONS))
    assert found[0].candidates == before[0].candidates[:-3:-1]
    assert [part.candidates for part in found[1].parts] == [part.candidates[:2] for part in before[1].parts]
    assert found[2] == before[2]


def test_what_is_asked_for_is_retrieved_at_least(index: Index) -> None:
    stage = Backwards()
    (found,) = Linker(index, top_k=8, rerank=stage).link(["heart attack 3"])
    assert (stage.given, len(found.candidates)) == ([8], 8)


def test_a_target_precision_and_a_re_ranker_are_refused(index: Index) -> None:
    with pytest.raises(InputError, match="ask for one of them"):
        Linker(index, rerank=Backwards(), target_precision=0.5)
