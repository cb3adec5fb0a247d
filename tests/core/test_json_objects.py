from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from nymlink.core.json_files import member, to_dataclass


@dataclass(frozen=True)
class Sizes:
    name: str | None
    count: int = 1
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.count == 13:
            raise TypeError("a mistake of our own")


def test_what_was_written_is_read() -> None:
    assert to_dataclass(Sizes, {"name": None, "count": 2, "share": 1}) == Sizes(None, 2, 1)
    assert to_dataclass(Sizes, {"name": "x"}) == Sizes("x")
    assert member({"a": [1]}, "a", list) == [1]


@pytest.mark.parametrize(
    "value",
    [
        *(None, 3, "x", ["name"], {}, {"name": "x", "colour": 1}),
        *({"name": "x", "count": "2"}, {"name": "x", "count": True}, {"name": "x", "count": 1.5}),
        *({"name": 5}, {"name": ["x"]}, {"name": "x", "count": None}),
    ],
)
def test_anything_else_is_damage(value: Any) -> None:
    with pytest.raises(ValueError, match=r"name|count"):
        to_dataclass(Sizes, value)
    with pytest.raises(ValueError, match="'a' is None, not of the type list"):
        member(value, "a", list)


def test_an_error_of_our_own_stays_what_it_is() -> None:
    with pytest.raises(TypeError, match="our own"):
        to_dataclass(Sizes, {"name": "x", "count": 13})


def test_a_value_of_any_size_is_said_in_short() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, "x" * 10_000, 10**5000):
        with pytest.raises(ValueError, match="'name' is ") as caught:
            to_dataclass(Sizes, {"name": [value]})
        assert len(str(caught.value)) < 400
