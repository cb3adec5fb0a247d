"""Prefixes of ids (``MONDO:``) and their namespaces (``http://purl.obolibrary.org/obo/MONDO_``).

nymlink ships a map of prefixes, which ``recipes/prefixes.py`` makes from Bioregistry (https://bioregistry.io,
CC0). An IRI in a namespace that nothing declares stays an IRI, because two namespaces never share a prefix. In
namespaces, ``http`` and ``https`` count as the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from nymlink.core.problems import Problems

_TABLE: Final = files("nymlink.core") / "data" / "prefixes.tsv"
_SYSTEMS: Final = files("nymlink.core") / "data" / "code_systems.tsv"
OBO: Final = "http://purl.obolibrary.org/obo/"
_PURL: Final = re.compile(
    r"https?://purl\.obolibrary\.org/obo/(?=[\w.-]+\Z)(?P<prefix>[A-Za-z][\w.-]*)_(?P<local>[A-Za-z.-]*[0-9][\w.-]*)"
)
_RESOLVER: Final = re.compile(
    r"https?://(?:www\.)?(?:bioregistry\.io|identifiers\.org|n2t\.net|bio2rdf\.org)/"
    r"(?P<prefix>[\w.-]+)[:/](?P<local>[^\s/#?]+)"
)
_SCHEME: Final = re.compile(r"https?://")
_LOCAL: Final = re.compile(r"[^\s/#?]+")
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")
# Serialisers invent prefixes with numbers ("ns1"). Another release of a file has other numbers, so these prefixes
# do not count.
_INVENTED: Final = re.compile(r"(?:ns|j\.|terms|p)\d+")
# Ids of phenotypic series, which are sometimes written with the prefix of OMIM.
_SERIES: Final = re.compile(r"PS\d+")
UNKNOWN: Final = "urn:x-nymlink:"
"""Beginning of the names that stand for the namespace of an unknown prefix where a format requires a namespace.

They are not addresses.
"""


class Prefix(NamedTuple):
    """A prefix and the namespace that it stands for."""

    name: str
    namespace: str


class _Shipped(NamedTuple):
    """The map of prefixes that nymlink ships.

    Attributes:
        spellings: spelling of a prefix, in small letters → the prefix.
        namespaces: all namespaces without their schemes, sorted.
        owners: the prefix of each namespace.
        parents: for each namespace, the place of the longest other namespace with which it begins; -1 if there is
            none.
    """

    spellings: dict[str, Prefix]
    namespaces: list[str]
    owners: list[Prefix]
    parents: list[int]

    def find(self, iri: str) -> tuple[Prefix, str] | None:
        """Find the longest namespace of an IRI, and return its prefix and the rest of the IRI."""
        iri = bare(iri)
        place = bisect_right(self.namespaces, iri) - 1
        while place >= 0 and not iri.startswith(self.namespaces[place]):
            place = self.parents[place]
        return None if place < 0 else (self.owners[place], iri[len(self.namespaces[place]) :])


@cache
def _shipped() -> _Shipped:
    spellings: dict[str, Prefix] = {}
    owners: dict[str, Prefix] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        name, namespace, others, written = line.split("\t")
        prefix = Prefix(name, namespace)
        spellings.update(dict.fromkeys((name.casefold(), *written.split()), prefix))
        owners.update(dict.fromkeys((bare(namespace), *others.split()), prefix))
    namespaces = sorted(owners)
    parents: list[int] = []
    for place, namespace in enumerate(namespaces):
        parent = place - 1
        while parent >= 0 and not namespace.startswith(namespaces[parent]):
            parent = parents[parent]
        parents.append(parent)
    return _Shipped(spellings, namespaces, [owners[namespace] for namespace in namespaces], parents)


def bare(iri: str) -> str:
    """Remove the scheme of an IRI, if it is http or https."""
    return _SCHEME.sub("", iri, count=1)


def is_iri(identifier: str) -> bool:
    """Whether an id is an IRI rather than a CURIE or a local id."""
    return "://" in identifier or identifier.startswith("urn:")


def known(name: str) -> Prefix | None:
    """Look a prefix up in the shipped map, in any of its spellings."""
    return _shipped().spellings.get(name.casefold())


def common_name(name: str) -> str:
    """Return the name that all spellings of a prefix share, in small letters: ``"SCTID"`` → ``"snomedct"``."""
    prefix = known(name)
    return (name if prefix is None else prefix.name).casefold()


def split(identifier: str) -> tuple[str, str]:
    """Divide a CURIE into its prefix, in the spelling of the shipped map, and the rest.

    Without a prefix, the first part is ``""``.

    >>> split("sctid:22298006")
    ('SNOMEDCT', '22298006')
    """
    name, colon, local = identifier.partition(":")
    if not colon or not _LOCAL.fullmatch(name) or not local or is_iri(identifier):
        return "", identifier
    if local.casefold().startswith(f"{name}:".casefold()):
        # NCBI Gene writes ``HGNC:HGNC:5``.
        local = local[len(name) + 1 :]
    prefix = known(name)
    if prefix is not None and prefix.name == "OMIM" and _SERIES.fullmatch(local):
        return "OMIMPS", local[2:]
    return name if prefix is None else prefix.name, local


@lru_cache(maxsize=1 << 16)
def contract(identifier: str) -> str:
    """Write an IRI in a namespace of the shipped map as a CURIE. Any other id is returned unchanged.

    >>> contract("http://snomed.info/id/22298006")
    'SNOMEDCT:22298006'
    >>> contract("http://example.org/other/c_1")
    'http://example.org/other/c_1'
    """
    if "://" not in identifier:
        return identifier
    if (match := _PURL.fullmatch(identifier)) and known(match["prefix"]):
        return f"{match['prefix']}:{match['local']}"
    if match := _RESOLVER.fullmatch(identifier):
        prefix, local = known(match["prefix"]), match["local"]
        if prefix is not None and local.casefold().startswith(f"{prefix.name}_".casefold()):
            # identifiers.org/mamo/MAMO_0000026
            local = local[len(prefix.name) + 1 :]
    else:
        prefix, local = _shipped().find(identifier) or (None, "")
    if prefix is None or not _LOCAL.fullmatch(local):
        return identifier
    return ":".join(split(f"{prefix.name}:{local}"))


class CodeSystem(NamedTuple):
    """A code system of FHIR.

    Attributes:
        prefix: prefix of the ids of its codes.
        uri: its URI.
        is_in_code: whether the codes contain the prefix ("HP:0001250").
    """

    prefix: str
    uri: str
    is_in_code: bool


@cache
def code_systems() -> tuple[CodeSystem, ...]:
    """List the code systems of FHIR. If a system has several prefixes, the usual one comes first."""
    rows = (line.split("\t") for line in _SYSTEMS.read_text(encoding="utf-8").splitlines()[1:])
    return tuple(CodeSystem(prefix, uri, code == "curie") for prefix, uri, code, _ in rows)


@cache
def _system_prefixes() -> dict[str, str]:
    return {system.uri: system.prefix for system in reversed(code_systems())}


def divide(iri: str) -> tuple[str, str]:
    """Divide an IRI after the last ``/``, ``#`` or ``:`` that is not at its end.

    >>> divide("http://example.org/other/c_1")
    ('http://example.org/other/', 'c_1')
    """
    cut = max(iri.rfind(sign, 0, -1) for sign in "/#:") + 1
    return iri[:cut], iri[cut:]


class Prefixes:
    """The shipped map, together with the prefixes that a user declares and those that the present file declares.

    A declared prefix counts only if no other prefix has its name, in any spelling, or its namespace. If a file
    uses a prefix that stands for another namespace elsewhere, ids with it are written as IRIs, and the prefix is
    named in :attr:`conflicts`.

    Args:
        given: prefix → namespace, as the user declares them. They have precedence over the shipped map.

    Attributes:
        conflicts: prefix → what is wrong with its declaration, if ids with it occurred.

    Raises:
        ValueError: a prefix of the user is malformed, or stands for another namespace in the shipped map.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.conflicts: dict[str, str] = {}
        self._own: dict[str, Prefix] = {}
        self._stated: dict[str, Prefix] = {}
        self._used: dict[str, str] = {}
        self._given: list[Prefix] = []
        for name, namespace in (given or {}).items():
            self._give(name, namespace)

    @classmethod
    def recorded(cls, declared: Mapping[str, str]) -> Prefixes:
        """Return the map with the prefixes that a vocabulary has recorded.

        They count even if a later shipped map has other prefixes.
        """
        prefixes = cls()
        prefixes._given = [Prefix(name, namespace) for name, namespace in declared.items()]
        prefixes._own = {prefix.name.casefold(): prefix for prefix in prefixes._given}
        return prefixes

    def _give(self, name: str, namespace: str) -> None:
        if not _NAME.fullmatch(name) or not is_iri(namespace):
            raise ValueError(f"{name}={namespace} is not of the form NAME=IRI, for example ex=http://example.org/")
        owner, local = _shipped().find(namespace) or (None, "")
        taken = known(name) or self._own.get(name.casefold())
        if taken is not None and (taken != owner or local):
            raise ValueError(f"the prefix {name} stands for {taken.namespace}: choose another name")
        if taken is None and owner is not None and not local:
            raise ValueError(f"{namespace} has the prefix {owner.name}: leave {name} out")
        if taken is None:
            self._own[name.casefold()] = Prefix(name, namespace)
            self._given.append(self._own[name.casefold()])

    def declare(self, name: str, namespace: str) -> None:
        """Add a prefix that a file declares. If a file declares a name twice, the first namespace counts."""
        if not _NAME.fullmatch(name) or not is_iri(namespace) or namespace.startswith(UNKNOWN):
            return
        if bare(namespace) == bare(OBO):
            # The common namespace of all PURLs is not the namespace of an ontology.
            return
        self._stated.setdefault(name.casefold(), Prefix(name, namespace))
        shipped = _shipped().find(namespace)
        is_shipped = shipped is not None and not shipped[1]
        if known(name) is None and not is_shipped and not _INVENTED.fullmatch(name):
            self._own.setdefault(name.casefold(), Prefix(name, namespace))

    def contract(self, identifier: str) -> str:
        """Write an IRI in a known namespace as a CURIE. Any other id is returned unchanged."""
        if "://" not in identifier:
            return identifier
        for prefix in self._given:
            if (curie := self._contract(identifier, prefix)) is not None:
                return curie
        if (curie := contract(identifier)) != identifier:
            return curie
        if match := _PURL.fullmatch(identifier):
            # An OBO prefix that nothing declares stands for its PURL.
            own = self._own.setdefault(
                match["prefix"].casefold(), Prefix(match["prefix"], f"{OBO}{match['prefix']}_")
            )
            return self._contract(identifier, own) or identifier
        longest = sorted(self._own.values(), key=lambda prefix: -len(prefix.namespace))
        found = (self._contract(identifier, prefix) for prefix in longest)
        return next(filter(None, found), None) or self._keep(identifier)

    def read(self, identifier: str) -> str:
        """Write an id of the file (an IRI, or a CURIE with a prefix of the file) in the common spelling."""
        name, colon, local = identifier.partition(":")
        stated = self._stated.get(name.casefold()) if colon and not local.startswith("//") else None
        if stated is None:
            return self.contract(identifier) if "://" in identifier else identifier
        own = self._own.get(name.casefold())
        if own is not None and own.namespace == stated.namespace:
            self._used[own.name] = own.namespace
            return f"{own.name}:{local}"
        if self._fault(name) is None and known(name) is not None:
            return identifier
        return self.contract(stated.namespace + local)

    def coded(self, system: str, code: str) -> str:
        """Write the id of a code in a code system of FHIR.

        An unknown system is a namespace; the last part of its URI is the prefix, unless that stands for another.
        """
        system = system.partition("|")[0].rstrip("/")
        prefix = _system_prefixes().get(system)
        if prefix is None and is_iri(system) and not system.startswith("urn:"):
            for iri in (f"{system}/{code}", f"{system}#{code}"):
                if (curie := contract(iri)) != iri:
                    return curie
            name, namespace = divide(system)[1], f"{system}#"
            code = code.removeprefix(f"{name}:")
            self.declare(name, namespace)
            return self.read(f"{name}:{code}") if self.namespace(name) == namespace else namespace + code
        prefix = prefix or system
        return code if not prefix or code.startswith(f"{prefix}:") else f"{prefix}:{code}"

    def expand(self, identifier: str) -> str | None:
        """Return the IRI of an id; ``None`` if its prefix is unknown.

        >>> Prefixes().expand("MESH:D009203")
        'http://id.nlm.nih.gov/mesh/D009203'
        """
        if is_iri(identifier):
            return identifier
        name, colon, local = identifier.partition(":")
        if not colon or name.casefold() not in self._own:
            name, local = split(identifier)
        namespace = self.namespace(name)
        return None if namespace is None else namespace + local

    def namespace(self, name: str) -> str | None:
        """Look up the namespace of a prefix, in any spelling; ``None`` for an unknown prefix."""
        prefix = self._own.get(name.casefold()) or known(name)
        return None if prefix is None else prefix.namespace

    def report(self, path: Path, problems: Problems) -> None:
        """Report the prefixes of a file that do not count, if ids with them occurred."""
        for fault in self.conflicts.values():
            problems.repair(path, None, f"{fault}: ids with it are written as IRIs")

    @property
    def used(self) -> Mapping[str, str]:
        """Prefix → namespace, for declared prefixes that occurred in ids and are not in the shipped map."""
        return MappingProxyType(self._used)

    def _contract(self, iri: str, prefix: Prefix) -> str | None:
        whole, namespace = bare(iri), bare(prefix.namespace)
        if not whole.startswith(namespace) or not _LOCAL.fullmatch(whole, len(namespace)):
            return None
        self._used[prefix.name] = prefix.namespace
        return f"{prefix.name}:{whole[len(namespace) :]}"

    def _keep(self, iri: str) -> str:
        """Return an IRI unchanged.

        If a prefix of the file would fit but does not count, note this in ``conflicts``.
        """
        for name, namespace in self._stated.values():
            if iri.startswith(namespace) and (fault := self._fault(name)):
                self.conflicts[name] = fault
        return iri

    def _fault(self, name: str) -> str | None:
        """Say why a prefix of the file does not count; ``None`` if it counts."""
        stated = self._stated[name.casefold()].namespace
        other = known(name) or self._own.get(name.casefold())
        found = _shipped().find(stated)
        if other is None or bare(other.namespace) == bare(stated) or found == (other, ""):
            return None
        written = self._stated[name.casefold()].name
        return f"the prefix {written} stands for {stated} here, but elsewhere for {other.namespace}"


def read_curie_map(lines: Iterable[str]) -> dict[str, str]:
    """Read prefixes and their namespaces from the lines of metadata (``#``) at the start of an SSSOM file."""
    found: dict[str, str] = {}
    inside = False
    for line in lines:
        text = line[1:]
        if text.strip().startswith("curie_map:"):
            inside = True
        elif inside and text.startswith((" ", "\t")) and ": " in text:
            name, _, iri = text.strip().partition(": ")
            found[name.strip("\"'")] = iri.strip().strip("\"'")
        elif text.strip():
            inside = False
    return found
