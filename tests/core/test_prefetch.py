from __future__ import annotations

import threading

import pytest

from nymlink.core.computing import prefetch


def test_what_is_made_ahead_comes_in_order_and_errors_in_their_place() -> None:
    started: list[int] = []

    def make(number: int) -> int:
        started.append(number)
        if number == 5:
            raise ValueError("five")
        return number * number

    items = prefetch(make, range(9), ahead=2)
    assert next(items) == 0
    assert max(started) <= 3
    assert [next(items) for _ in range(4)] == [1, 4, 9, 16]
    with pytest.raises(ValueError, match="five"):
        next(items)


def test_one_is_made_while_the_one_before_is_used() -> None:
    started: list[int] = []
    items = prefetch(started.append, range(9))
    next(items)
    assert max(started) <= 1
    assert list(items) == [None] * 8
    assert started == list(range(9))
    assert list(prefetch(started.append, [])) == []


def test_a_single_item_is_made_where_it_is_asked_for() -> None:
    asking = threading.get_ident()
    assert list(prefetch(lambda _: threading.get_ident(), [0])) == [asking]
    assert asking not in prefetch(lambda _: threading.get_ident(), [0, 1])


def test_closed_early_it_makes_no_more() -> None:
    started: list[int] = []
    items = prefetch(started.append, range(1000))
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert len(started) < 10
