"""Read the table of prefixes: what the ids of vocabularies are as IRIs, and as codes of FHIR."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

_TABLE: Final = files("nymlink.linking.writers.mappings") / "data" / "prefixes.tsv"


class Prefix(NamedTuple):
    """A row of the table.

    Attributes:
        name: the prefix as ids have it ("MONDO").
        iri: what stands for the prefix in an IRI.
        system: the URI of the code system in FHIR.
        is_in_code: whether codes of that system have the prefix ("HP:0001250").
    """

    name: str
    iri: str
    system: str
    is_in_code: bool


def split_curie(concept_id: str, source: str) -> tuple[str, str]:
    """Divide an id into its prefix and the rest; an id without prefix has the name of its source for one."""
    prefix, colon, local = concept_id.partition(":")
    if colon and prefix and local and not local.startswith("//") and " " not in prefix:
        return prefix, local
    return source or "nymlink", concept_id


def prefix(name: str) -> Prefix:
    """Look a prefix up; one that is not in the table is resolved by Bioregistry."""
    known = _table().get(name.casefold())
    iri = f"https://bioregistry.io/{name}:"
    return Prefix(name, iri, iri, False) if known is None else known._replace(name=name)


@cache
def _table() -> dict[str, Prefix]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {name.casefold(): Prefix(name, iri, system, code == "curie") for name, iri, system, code, _ in rows}
