"""Variants of names, as texts write them: other case, hyphens, Greek letters, numerals, words beside a name.

A family makes of a name one variant, or none where it does not apply. Variants are made here and not by the rules
of nymlink, which would else be measured by themselves.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

GREEK: Final = MappingProxyType(
    dict(
        zip(
            "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu sigma omega".split(),
            "αβγδεζηθκλμσω",
            strict=True,
        )
    )
)
ROMAN: Final = MappingProxyType(
    {str(number): roman for number, roman in enumerate("I II III IV V VI VII VIII IX X".split(), 1)}
)

_SYMBOL: Final = re.compile(r"(?=.*[A-Za-z].*[A-Za-z])[A-Za-z0-9-]{3,12}")
_GREEK_WORD: Final = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(GREEK)})(?![A-Za-z])", re.IGNORECASE)
_GREEK_LETTER: Final = re.compile("[" + "".join(GREEK.values()) + "]")
_HYPHEN: Final = re.compile(r"(?<=[A-Za-z0-9])-(?=[A-Za-z0-9])")
_BOUNDARY: Final = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_NUMERAL: Final = re.compile(
    rf"(?P<stem>.*[A-Za-z]{{3}}[ -])(?P<numeral>{'|'.join(ROMAN)}|{'|'.join(ROMAN.values())})"
)

Family = Callable[[str, random.Random], str | None]
"""What makes a variant of a name with random choices; ``None`` where there is none."""


def is_symbol(name: str) -> bool:
    """Whether a name is a short word of letters, digits and hyphens."""
    return _SYMBOL.fullmatch(name) is not None


def _verbatim(name: str, _: random.Random) -> str | None:
    return name


def _case(name: str, chance: random.Random) -> str | None:
    others = [other for other in (name.lower(), name.upper(), name.capitalize()) if other != name]
    return chance.choice(others) if others else None


def _hyphen_in_symbol(name: str, chance: random.Random) -> str | None:
    """Remove a hyphen of a symbol, or add one between a letter and a digit."""
    if not is_symbol(name):
        return None
    if hyphens := list(_HYPHEN.finditer(name)):
        place = chance.choice(hyphens)
        # "NKX2-5" is another gene without it, or none.
        if name[place.start() - 1].isdigit() and name[place.end()].isdigit():
            return None
        return name[: place.start()] + name[place.end() :]
    if not (boundaries := list(_BOUNDARY.finditer(name))):
        return None
    place = chance.choice(boundaries)
    return name[: place.start()] + "-" + name[place.start() :]


def _hyphen_of_words(name: str, chance: random.Random) -> str | None:
    """Write a space for a hyphen of other names, or nothing for one between letters."""
    if is_symbol(name) or not (hyphens := list(_HYPHEN.finditer(name))):
        return None
    place = chance.choice(hyphens)
    letters = name[place.start() - 1].isalpha() and name[place.end()].isalpha()
    return name[: place.start()] + (chance.choice(["", " "]) if letters else " ") + name[place.end() :]


def _greek(name: str, chance: random.Random) -> str | None:
    """Write a Greek letter for its name, or its name for it, with or without the hyphen before it."""
    if word := _GREEK_WORD.search(name):
        written = chance.choice([GREEK[word.group().lower()], word.group().lower()])
    elif word := _GREEK_LETTER.search(name):
        written = next(spelt for spelt, letter in GREEK.items() if letter == word.group())
    else:
        return None
    before, after = name[: word.start()], name[word.end() :]
    if is_symbol(before.rstrip("- ")) and before[-1:] in {"-", " "}:
        before = chance.choice([before, before[:-1]])
    return before + written + after


def _plural(name: str, _: random.Random) -> str | None:
    """Write a plural in s of a symbol or a word."""
    if is_symbol(name):
        return None if name.endswith(("s", "S")) else f"{name}s"
    if not name[-4:].isalpha() or name.endswith(("s", "x", "z", "ch", "sh")):
        return None
    return re.sub("(?<=[^aeiou])y$", "ie", name) + "s"


def _species(name: str, chance: random.Random) -> str | None:
    if is_symbol(name) and name.isupper() and not name.startswith(("RNA", "DNA")) and chance.random() < 0.2:
        return f"h{name}"
    return f"{chance.choice(['human', 'mouse', 'rat', 'murine'])} {name}"


def _head(name: str, chance: random.Random) -> str | None:
    if name.split()[-1].lower() in {"gene", "protein", "complex", "family"}:
        return None
    return f"{name} {chance.choice(['gene', 'protein', 'mRNA'])}"


def _change(name: str, chance: random.Random) -> str | None:
    """Add a change of the sequence to a symbol: "BRAF V600E"."""
    if not is_symbol(name):
        return None
    old, new = chance.sample("ACDEFGHIKLMNPQRSTVWY", 2)
    return f"{name}{chance.choice([' ', '-', ' p.'])}{old}{chance.randint(2, 999)}{new}"


def _numeral(name: str, _: random.Random) -> str | None:
    """Write the numeral at the end as a Roman or an Arabic one."""
    if not (match := _NUMERAL.fullmatch(name)):
        return None
    arabic = {roman: number for number, roman in ROMAN.items()}
    return match["stem"] + ({**ROMAN, **arabic})[match["numeral"]]


FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "verbatim": _verbatim,
        "case": _case,
        "hyphen, symbols": _hyphen_in_symbol,
        "hyphen, words": _hyphen_of_words,
        "Greek": _greek,
        "numeral": _numeral,
        "plural": _plural,
    }
)
"""Those of any vocabulary."""

GENE_FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {"species": _species, "head": _head, "change": _change}
)
"""Those of genes, proteins and their families."""
