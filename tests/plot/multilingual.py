"""A small vocabulary with names in several languages."""

from __future__ import annotations

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

CONCEPTS = 24


def multilingual() -> Vocabulary:
    """Concepts with two English names and a German one; half of them have a Chinese, two a Dutch one."""
    builder = TableBuilder()
    for number in range(CONCEPTS):
        word = chr(ord("a") + number)
        builder.concept(f"T:{number}")
        builder.name(f"T:{number}", f"{word} Attack", lang="en", kind="preferred")
        builder.name(f"T:{number}", f"{word} fever", lang="en")
        builder.name(f"T:{number}", f"{word} Anfall", lang="de-AT")
        if number % 2:
            builder.name(f"T:{number}", f"癫痫{number}", lang="zh")
        if number < 2:
            builder.name(f"T:{number}", f"{word} attack", lang="nl")
    return Vocabulary.of((Source(name="test", format="table"), builder.build()))
