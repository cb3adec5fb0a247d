"""Collect the symbols of chemicals that come with nymlink.

    python recipes/chemical_symbols.py

Reads ChEBI, PubChem, Wikidata and MeSH from $NYMLINK_DATA or ../shared/data, and writes
``src/nymlink/text/data/chemical_symbols.tsv.gz``. Concepts that have a symbol and share a longer name are one
meaning of it. A symbol is kept if one meaning has twice as many concepts as any other.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.common.inputs import data_root
from nymlink.core.store.atomic import atomic_file
from nymlink.text.chemical_symbols import symbol_key
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Name
from nymlink.vocabulary.read import read_vocabulary

_TABLE: Final = Path(__file__).parents[1] / "src" / "nymlink" / "text" / "data" / "chemical_symbols.tsv.gz"

SOURCES: Final = {
    "chebi": frozenset[str](),
    "pubchem_subset": frozenset[str](),
    "wikidata_medical": frozenset({"medication", "hormone", "therapeutic agent"}),
    "mesh": frozenset({"Chemicals and Drugs", "supplementary concept"}),
}
"""Name of a vocabulary → types of the concepts to read; all if empty."""

_MOST: Final = 8
"""Names of a symbol."""

_REGISTERED: Final = re.compile(r"(?:LSM|CID|SID|FEMA|ZINC|CHEMBL)\d+")
"""Numbers of registers that no text uses."""

_SHORTEST: Final = 4
_LONGEST: Final = 60
"""Characters of a name."""

_HALIDE: Final = re.compile(r"\bdi(?=(?:chlor|brom|iod|fluor)ide\b)")
"""What vocabularies write or leave out in the same name: "calcium dichloride"."""

_ELEMENT: Final = " atom"
"""End of a name of an element. Its symbol means the element rather than an amino acid: "K"."""

_ION: Final = re.compile(r"(?P<element>[A-Z][a-z]?)(?P<charge>\d?)\+")
"""A charged element."""

_CLEAR: Final = 2
"""Least ratio of the concepts of the first meaning to those of the second."""


class Substance(NamedTuple):
    """A concept of a vocabulary: its symbols, its longer names in their normal form, and its preferred name."""

    symbols: frozenset[str]
    names: frozenset[str]
    preferred: str | None


def substance(names: Iterable[Name]) -> Substance:
    """Divide the names of a concept into symbols and others."""
    symbols, longer, preferred = set(), set(), None
    for name in names:
        if (key := symbol_key(name.text)) is None:
            if _SHORTEST <= len(name.text) <= _LONGEST:
                longer.add(text := normalise(name.text))
                if name.kind == "preferred":
                    preferred = text
        elif not _REGISTERED.fullmatch(key):
            symbols.add(key)
    return Substance(frozenset(symbols), frozenset(longer), preferred)


def meanings(owners: list[Substance], same: Mapping[str, list[Substance]]) -> list[list[Substance]]:
    """Group the concepts of a symbol that share a longer name, or share names with the same concept.

    Args:
        owners: concepts that have the symbol.
        same: longer name → the concepts that have it.

    Returns:
        For each meaning its concepts and those that share names with them; the meaning with most of them first.
    """
    groups: list[dict[int, Substance]] = []
    for owner in owners:
        around = {id(each): each for name in owner.names for each in same[_HALIDE.sub("", name)]}
        alike = [group for group in groups if group.keys() & around.keys()]
        groups = [group for group in groups if all(group is not each for each in alike)]
        for group in alike:
            around |= group
        groups.append(around)
    found = [list(group.values()) for group in groups]
    return sorted(list(filter(element_of, found)) or found, key=len, reverse=True)


def element_of(group: Iterable[Substance]) -> str | None:
    """Find the name of an element among the names of a meaning; ``None`` for another substance."""
    counts = Counter(name for each in group for name in each.names)
    found = [name.removesuffix(_ELEMENT) for name in counts if name.endswith(_ELEMENT)]
    return max(found, key=lambda name: (counts[name], name), default=None)


def usual_names(symbol: str, group: list[Substance]) -> list[str]:
    """List names of a meaning: an element's own, those that most concepts prefer, then those that most have.

    All are names of concepts that have the symbol, because others of the meaning may be a little wider.
    """
    own = frozenset[str]().union(*(each.names for each in group if symbol in each.symbols))
    preferred = Counter(each.preferred for each in group)
    counts = Counter(name for each in group for name in each.names)
    ordered = sorted(own, key=lambda name: (-preferred[name], -counts[name], len(name), name))
    element = element_of(group)
    first = [] if element is None else [element, element + _ELEMENT]
    return list(dict.fromkeys([*first, *ordered]))[:_MOST]


def names_of_ion(element: str, charge: str) -> list[str]:
    """List names of the ion of an element, the most special first; texts call ions by the element, too."""
    return [f"{element} {charge or 1}", f"{element} {charge or 1} ion", f"{element} ion", element]


def main() -> None:
    """Write the table."""
    owners: defaultdict[str, list[Substance]] = defaultdict(list)
    same: defaultdict[str, list[Substance]] = defaultdict(list)
    for source, types in SOURCES.items():
        vocabulary = read_vocabulary(data_root() / "vocabularies" / f"{source}.tsv.gz")
        for concept in vocabulary:
            if types and types.isdisjoint(concept.semantic_types):
                continue
            own = substance(
                name
                for name in vocabulary.names(concept.id)
                if name.lang in ("en", "und")
                and (source == "chebi" or name.kind not in ("related", "narrow", "broad"))
            )
            if own.names:
                for name in own.names:
                    same[_HALIDE.sub("", name)].append(own)
                for symbol in own.symbols:
                    owners[symbol].append(own)
    lines = ["symbol\tnames"]
    elements = {symbol: element_of(meanings(each, same)[0]) for symbol, each in owners.items()}
    for symbol, each in sorted(owners.items()):
        # A single letter has too many meanings, unless it is an element.
        first, *others = meanings(each, same)
        if (len(symbol) > 1 or element_of(first)) and all(len(first) >= _CLEAR * len(other) for other in others):
            ion = _ION.fullmatch(symbol)
            element = None if ion is None else elements.get(ion["element"])
            names = (
                usual_names(symbol, first)
                if ion is None or element is None
                else names_of_ion(element, ion["charge"])
            )
            lines.append(f"{symbol}\t{' = '.join(names)}")
    with atomic_file(_TABLE) as partial:
        # Without a time, so that the same names make the same file.
        partial.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode("utf-8"), compresslevel=9, mtime=0))
    print(f"{len(lines) - 1:,} symbols, {_TABLE.stat().st_size:,} bytes → {_TABLE}")


if __name__ == "__main__":
    main()
