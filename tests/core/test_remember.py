"""Results are remembered for short texts only."""

from __future__ import annotations

from nymlink.core.computing import remember
from nymlink.text.contradictions import contradiction, opposites


def test_results_for_long_texts_are_not_kept() -> None:
    asked = []

    @remember(2)
    def length(text: str, more: int) -> int:
        """Count."""
        asked.append(text)
        return len(text) + more

    for text in ("a", "a", "b", "c", "a", "x" * 201, "x" * 201):
        assert length(text, 1) == len(text) + 1
    assert asked == ["a", "b", "c", "a", "x" * 201, "x" * 201]
    assert length.__doc__ == "Count."


def test_languages_that_clients_name_do_not_fill_the_memory() -> None:
    for first in "abcdefghij":
        for second in "abcdefghij":
            contradiction("high fever", "low fever", language=first + second)
    assert opposites.cache_info().currsize <= 32
