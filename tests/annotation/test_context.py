"""Sentences say of mentions that they are negated, of the family, hypothetical, historical."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from nymlink.corpus.documents import Mention
from nymlink.linking.context import contexts_of
from nymlink.linking.link import FLAGS, Context

SENTENCES = Path(__file__).parent / "context_sentences.tsv"
LETTERS = {"n": "negated", "f": "family", "h": "hypothetical", "p": "historical"}


def context(text: str, mention: str, **options: object) -> Context:
    start = text.lower().index(mention.lower())
    [told] = contexts_of(text, [Mention(mention, start, start + len(mention))], **options)  # type: ignore[arg-type]
    return told


def test_flags_of_three_hundred_sentences() -> None:
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) > 300
    for row in rows:
        gold = {LETTERS[letter] for letter in row["flags"].split(",") if letter}
        told = set(context(row["sentence"], row["mention"]).triggers)
        right.update(told & gold)
        wrong.update(told - gold)
        missed.update(gold - told)
    f1 = {flag: 2 * right[flag] / (2 * right[flag] + wrong[flag] + missed[flag]) for flag in FLAGS}
    assert min(f1.values()) > 0.95, f1


@pytest.mark.parametrize(
    ("text", "mention", "triggers"),
    [
        ("No seizures. He had ataxia.", "ataxia", {}),  # another sentence
        ("No seizures. He had ataxia.", "seizures", {"negated": "No"}),
        ("Dr. Smith found no E. coli or ataxia.", "ataxia", {"negated": "no"}),
        ("There was no change in ataxia.", "ataxia", {}),
        ("His mother did not have ataxia.", "ataxia", {"family": "mother", "negated": "did not have"}),
        ("No rash, but ataxia.", "ataxia", {}),
        ("Weakness (no spasticity), and ataxia", "ataxia", {}),
        ("Ataxia", "ataxia", {}),
    ],
)
def test_phrases_say_of_what_they_reach(text: str, mention: str, triggers: dict[str, str]) -> None:
    assert context(text, mention).triggers == triggers


def test_flags_can_be_switched_off() -> None:
    text = "His mother had no ataxia."
    assert context(text, "ataxia", flags=("family",)).triggers == {"family": "mother"}
    assert context(text, "ataxia", flags=()) == Context()


def test_a_mention_without_offsets_has_no_context() -> None:
    assert contexts_of("no ataxia", [Mention("ataxia")]) == [Context()]


@pytest.mark.parametrize(
    ("language", "text", "mention", "flags"),
    [
        ("es", "Niega fiebre, sin tos ni disnea.", "disnea", {"negated"}),
        ("es", "Fiebre: no. Tos: sí.", "Fiebre", {"negated"}),
        ("es", "Fiebre: no. Tos: sí.", "Tos", set()),
        ("fr", "Elle ne présente pas de fièvre.", "fièvre", {"negated"}),
        ("fr", "Pas d’œdème, mais une toux.", "œdème", {"negated"}),
        ("fr", "Pas d’œdème, mais une toux.", "toux", set()),
        ("de", "Fieber wurde verneint.", "Fieber", {"negated"}),
        ("de", "Verdacht auf Ataxie.", "Ataxie", {"hypothetical"}),
        ("it", "Il nonno aveva demenza.", "demenza", {"family"}),
        ("pt-BR", "Não apresenta tosse.", "tosse", {"negated"}),
        ("pt", unicodedata.normalize("NFD", "Não apresenta tosse."), "tosse", {"negated"}),
        ("pt", unicodedata.normalize("NFD", "Tosse: não."), "Tosse", {"negated"}),
        ("fr", "Pas de fièvre. Œdème des chevilles.", "Œdème", set()),
        ("nl", "Galstenen werden uitgesloten.", "Galstenen", {"negated"}),
        ("nl", "In de voorgeschiedenis galstenen.", "galstenen", {"historical"}),
        ("eo", "No ataxia.", "ataxia", {"negated"}),  # no phrases: those of English
    ],
)
def test_phrases_of_other_languages(language: str, text: str, mention: str, flags: set[str]) -> None:
    assert set(context(text, mention, language=language).triggers) == flags
