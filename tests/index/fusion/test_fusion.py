from __future__ import annotations

import pytest

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.index.fusion import Fusion


@pytest.mark.parametrize(
    ("parts", "weights"),
    [
        (["exact"], {"exact": 1}),
        (["exact", "sparse"], {"exact": 0.1, "sparse": 0.9}),
        (["exact", "dense"], {"exact": 0.1, "dense": 0.9}),
        (["exact", "sparse", "dense"], {"exact": 0.1, "sparse": 0.15, "dense": 0.75}),
        (
            ["exact", "characters", "words", "dense"],
            {"exact": 0.1, "characters": 0.075, "words": 0.075, "dense": 0.75},
        ),
    ],
)
def test_equal_names_come_first_then_dense_then_sparse(parts: list[str], weights: dict[str, float]) -> None:
    assert dict(Fusion.of(parts).weights) == pytest.approx(weights)


def test_ranks_count_alike() -> None:
    assert set(Fusion.of(["exact", "sparse", "dense"], "reciprocal-rank").weights.values()) == {1 / 3}


def test_weights_that_are_not_named_are_nothing() -> None:
    assert dict(Fusion.of(["exact", "sparse"], weights={"sparse": 2}).weights) == {"exact": 0, "sparse": 1}


def test_it_is_kept_as_json_values() -> None:
    fusion = Fusion.of(["exact", "sparse"], "reciprocal-rank", {"exact": 1, "sparse": 3})
    assert fusion.to_dict() == {"method": "reciprocal-rank", "weights": {"exact": 0.25, "sparse": 0.75}}
    assert Fusion.from_dict(fusion.to_dict(), ["exact", "sparse"]) == fusion


def test_what_is_kept_stays_what_it_was_to_the_last_digit() -> None:
    """Or what goes by it, a calibration, would be of other scores."""
    parts = ["exact", "characters", "words", "dense"]
    steps = range(21)
    for shares in ((a, b, c, 20 - a - b - c) for a in steps for b in steps for c in steps if a + b + c <= 20):
        fusion = Fusion.of(parts, weights=dict(zip(parts, (share / 20 for share in shares), strict=True)))
        for _ in range(2):
            kept, fusion = fusion, Fusion.from_dict(fusion.to_dict(), parts)
            assert fusion == kept


def test_nonsense_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="known: weighted, reciprocal-rank"):
        Fusion.of(["exact"], "best")
    with pytest.raises(UnknownNameError, match="no search dense in this index; it has: exact, sparse"):
        Fusion.of(["exact", "sparse"], weights={"dense": 1})
    for weight in (-1.0, 0.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="weights must be"):
            Fusion.of(["exact"], weights={"exact": weight})
