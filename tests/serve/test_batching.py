"""Many threads, one linker: each gets its own links, whatever the others ask for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from threading import Event, Thread
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.rank.retrieval import ConceptTable
from nymlink.serve.batching import BatchingLinker, LinkTimeoutError, OverloadedError
from tests.rank.toy import LAST_FIRST, ranker
from tests.serve.toy import built_index

NAMES = ["heart attack", "seizure", "MI", "mitral insuficiency", "focal seizures", "nothing like it"]


def document(*names: str) -> Document:
    return Document("", mentions=tuple(map(Mention, names)))


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], Event]:
    """Linkers that wait before each batch until they are let go; and the sizes of their batches."""
    batches: list[int] = []
    go = Event()
    link = Linker.link_documents

    def wait_and_link(self: Linker, documents: Any, **settings: Any) -> Any:
        documents = list(documents)
        batches.append(sum(len(each.mentions) for each in documents))
        go.wait(60)
        if any(mention.text == "break" for each in documents for mention in each.mentions):
            raise RuntimeError("broken")
        return link(self, documents, **settings)

    monkeypatch.setattr(Linker, "link_documents", wait_and_link)
    return batches, go


def test_each_thread_gets_its_own_links() -> None:
    seed = random.Random(0)
    requests = [(seed.choices(NAMES, k=seed.randrange(8)), seed.choice([1, 2])) for _ in range(200)]
    linker = BatchingLinker(built_index(), waiting_mentions=10_000)
    with ThreadPoolExecutor(32) as threads:
        found = list(
            threads.map(lambda asked: linker.link(document(*asked[0]), top_k=asked[1], timeout=60), requests)
        )
    linker.close()
    linkers = {top_k: Linker(built_index(), top_k=top_k) for top_k in (1, 2)}
    assert found == [linkers[top_k].link(names) for names, top_k in requests]


def test_what_waits_is_linked_together_and_a_long_request_lets_others_through(
    held: tuple[list[int], Event],
) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=10_000)
    done: list[str] = []

    def ask(name: str, mentions: int) -> None:
        linker.link(document(*["seizure"] * mentions), timeout=60)
        done.append(name)

    threads = [Thread(target=ask, args=("first", 1))]
    threads[0].start()
    wait_until(lambda: bool(batches))
    threads += [Thread(target=ask, args=("long", 5000))]
    threads[-1].start()
    wait_until(lambda: linker.waiting >= 5000)
    threads += [Thread(target=ask, args=(str(number), 1)) for number in range(20)]
    for thread in threads[2:]:
        thread.start()
    wait_until(lambda: linker.waiting >= 5020)
    go.set()
    for thread in threads:
        thread.join()
    linker.close()
    assert done[-1] == "long"
    assert batches[0] == 1
    assert max(batches) <= 256
    assert len(batches) < 30


def test_requests_for_a_few_candidates_each_are_linked_together(held: tuple[list[int], Event]) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=1000)
    linker.submit(document("seizure"))
    wait_until(lambda: bool(batches))
    waiting = {top_k: linker.submit(document(*NAMES), top_k=top_k) for top_k in (3, 1, 10, 2, 4)}
    deep = linker.submit(document(*NAMES), top_k=11)
    go.set()
    for top_k, links in {**waiting, 11: deep}.items():
        assert links.result(60) == Linker(built_index(), top_k=top_k).link(NAMES)
    linker.close()
    assert batches == [1, 5 * len(NAMES), len(NAMES)]


def test_a_text_is_linked_alike_whatever_others_ask(held: tuple[list[int], Event]) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=1000)
    linker.submit(document("seizure"))
    wait_until(lambda: bool(batches))
    words = ["MI", *["cancer"] * 300, "heart attacks"]
    text = ", ".join(words)
    starts = accumulate((len(word) + 2 for word in words), initial=0)
    long = Document(
        "", text, tuple(Mention(word, at, at + len(word)) for word, at in zip(words, starts, strict=False))
    )
    waiting = [linker.submit(document("gout")) for _ in range(20)]
    found = linker.submit(long)
    go.set()
    assert found.result(60) == Linker(built_index(), top_k=1).link(long)
    assert all(each.result(60) for each in waiting)
    linker.close()
    assert max(batches) > 300


def test_an_error_of_one_request_does_not_reach_the_others(held: tuple[list[int], Event]) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=1000)
    first = linker.submit(document("seizure"))
    wait_until(lambda: bool(batches))
    good = [linker.submit(document("heart attack")) for _ in range(3)]
    bad = linker.submit(document("break", *["seizure"] * 300))
    wait_until(lambda: linker.waiting >= 304)
    go.set()
    assert [each.result()[0].best for each in good] == [Linker(built_index()).link("heart attack").best] * 3
    with pytest.raises(RuntimeError, match="broken"):
        bad.result()
    assert first.result()
    linker.close()


def test_what_is_too_much_or_too_late_is_refused(held: tuple[list[int], Event]) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=5)
    with pytest.raises(LinkTimeoutError, match="1 mentions were not linked within"):
        linker.link(document("seizure"), timeout=0.05)
    with pytest.raises(LinkTimeoutError):
        linker.link(document(*["seizure"] * 4), timeout=0.05)
    with pytest.raises(OverloadedError, match="4 mentions are waiting"):
        linker.submit(document("a", "b"))
    go.set()
    wait_until(lambda: not linker.waiting)
    assert len(linker.link(document("seizure"), timeout=60)) == 1
    assert sum(batches) == 2, "nobody waited for the four"
    linker.close()


def test_what_was_taken_is_linked_before_the_end(held: tuple[list[int], Event]) -> None:
    batches, go = held
    linker = BatchingLinker(built_index(), waiting_mentions=100)
    found: list[list[Link]] = []
    thread = Thread(target=lambda: found.append(linker.link(document("seizure", "MI"), timeout=60)))
    thread.start()
    wait_until(lambda: bool(batches))
    closing = Thread(target=linker.close)
    closing.start()
    go.set()
    closing.join()
    thread.join()
    assert len(found[0]) == 2
    with pytest.raises(OverloadedError, match="shutting down"):
        linker.submit(document("seizure"))


def test_offsets_are_checked_before_anything_waits() -> None:
    linker = BatchingLinker(built_index(), waiting_mentions=100)
    with pytest.raises(InputError, match="mentions"):
        linker.submit(Document("", "text", (Mention("other", 0, 4),)))
    linker.close()


def test_clients_that_ask_for_many_depths_share_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    make = ConceptTable.of.__func__

    def of(cls: type[ConceptTable], index: Index) -> ConceptTable:
        made.append(index)
        return make(cls, index)

    monkeypatch.setattr(ConceptTable, "of", classmethod(of))
    index = built_index().with_ranker(ranker(LAST_FIRST).to_dict())
    linker = BatchingLinker(index, waiting_mentions=1000)
    for top_k in range(1, 101):
        [link] = linker.link(document("heart attack"), top_k=top_k, timeout=30)
        assert len(link.candidates) <= top_k
    linker.close()
    assert made == [index]
