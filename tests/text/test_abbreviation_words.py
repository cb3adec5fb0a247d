from __future__ import annotations

from nymlink.text.abbreviations.short_forms import readings_of, words_of


def test_words_are_read_as_written_first() -> None:
    assert readings_of("ovariectomized") == ("ovariectomized", "ovariectxomized")
    assert readings_of("two") == ("two", "2")
    assert readings_of("protein") == ("protein",)


def test_every_kind_of_word_is_used() -> None:
    kinds = {"function", "never first", "never inside", "generic", "carrier", "lead"}
    assert all(words_of(kind) for kind in kinds)
