"""The map of prefixes: contraction, expansion, declarations."""

from __future__ import annotations

from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core import prefixes as module
from nymlink.core.prefixes import Prefixes, bare, contract, divide, known, read_curie_map, split

OBO = "http://purl.obolibrary.org/obo/"
SHIPPED = sorted(set(module._shipped().spellings.values()))
LOCALS = st.text(ascii_letters + digits + "-_.", min_size=1, max_size=8)
NAMESPACES = st.sampled_from(
    [
        *(prefix.namespace for prefix in SHIPPED),
        *(f"http://{each}" for each in module._shipped().namespaces),
        "http://a.example.org/",
        "http://a.example.org/c_",
        "https://b.example.org/x#",
        *(f"{OBO}{each}_" for each in ("coll", "NEW", "hp")),
    ]
)
DECLARED = st.dictionaries(
    st.sampled_from(["coll", "Coll", "HP", "new", "mesh", "ns1", "x"]),
    st.sampled_from(["http://a.example.org/", "http://a.example.org/c_", "https://b.example.org/x#", f"{OBO}HP_"]),
    max_size=4,
)


@pytest.mark.parametrize(
    ("iri", "curie"),
    [
        (OBO + "DOID_8718", "DOID:8718"),
        (OBO + "HP_0001250", "HP:0001250"),
        (OBO + "APOLLO_SV_00000008", "APOLLO_SV:00000008"),
        ("http://www.orpha.net/ORDO/Orphanet_124", "Orphanet:124"),
        ("http://www.orpha.net/ORDO/Orphanet_C017", "Orphanet:C017"),
        ("http://www.ebi.ac.uk/efo/EFO_0000400", "EFO:0000400"),
        ("https://bioregistry.io/gard:1", "gard:1"),
        ("https://bioregistry.io/mesh:D009203", "MESH:D009203"),
        ("http://identifiers.org/hgnc/HGNC:5", "HGNC:5"),
        ("http://identifiers.org/mamo/MAMO_0000026", "MAMO:0000026"),
        ("https://biopragmatics.github.io/providers/cvx/01", "cvx:01"),
        ("http://snomed.info/id/22298006", "SNOMEDCT:22298006"),
        ("http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3262", "NCIT:C3262"),
        ("http://id.nlm.nih.gov/mesh/D009203", "MESH:D009203"),
        ("https://id.nlm.nih.gov/mesh/D009203", "MESH:D009203"),
        ("http://www.wikidata.org/entity/Q12152", "Wikidata:Q12152"),
        ("http://eurovoc.europa.eu/2819", "EuroVoc:2819"),
        ("http://aims.fao.org/aos/agrovoc/c_1", "AGROVOC:c_1"),
        ("http://purl.bioontology.org/ontology/ICD10/I21", "ICD10:I21"),
        ("http://id.who.int/icd/entity/1334938734", "ICD11:1334938734"),
    ],
)
def test_known_namespaces_become_prefixes(iri: str, curie: str) -> None:
    assert contract(iri) == Prefixes().contract(iri) == curie


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/other/c_1",
        "http://example.org/onto#EX_1",
        "https://bioregistry.io/unheard:1",
        OBO + "doid#has_symptom",
        "http://id.nlm.nih.gov/mesh/",
        "http://id.nlm.nih.gov/mesh/2026#D009203",
        "http://snomed.info/id/1/2",
        "MESH:D009203",
        "a_1",
        "",
    ],
)
def test_anything_else_stays(other: str) -> None:
    assert contract(other) == Prefixes().contract(other) == Prefixes().read(other) == other


@given(NAMESPACES, LOCALS, DECLARED)
def test_contraction_is_undone_by_expansion(namespace: str, local: str, declared: dict[str, str]) -> None:
    prefixes = Prefixes()
    for each in declared.items():
        prefixes.declare(*each)
    curie = prefixes.contract(namespace + local)
    iri = prefixes.expand(curie)
    assert iri is not None
    # Other namespaces of a prefix lead to its main one, of which the same id comes.
    assert prefixes.contract(iri) == curie or namespace.startswith(OBO)
    if curie != namespace + local and namespace in {prefix.namespace for prefix in SHIPPED}:
        assert split(prefixes.contract(iri)) == split(curie)


@given(st.lists(st.tuples(NAMESPACES, LOCALS), min_size=2, max_size=4), DECLARED)
def test_two_iris_never_become_one_id(parts: list[tuple[str, str]], declared: dict[str, str]) -> None:
    """Except for the namespaces that the shipped map lists for one prefix, and http and https."""
    prefixes = Prefixes()
    for each in declared.items():
        prefixes.declare(*each)
    meant: dict[str, str] = {}
    for namespace, local in parts:
        iri = namespace + local
        canonical = Prefixes().expand(contract(iri)) or iri
        assert bare(meant.setdefault(prefixes.contract(iri), canonical)) == bare(canonical)


def test_the_shipped_map_is_unambiguous() -> None:
    assert len({bare(prefix.namespace) for prefix in SHIPPED}) == len(SHIPPED) > 2000
    for prefix in SHIPPED:
        assert known(prefix.name) == known(prefix.name.upper()) == prefix


def test_a_file_may_name_its_own_namespace() -> None:
    prefixes = Prefixes()
    prefixes.declare("coll", "http://a.example.org/")
    prefixes.declare("ns1", "http://b.example.org/")
    assert prefixes.contract("http://a.example.org/1") == prefixes.read("coll:1") == "coll:1"
    assert prefixes.contract("http://b.example.org/1") == prefixes.read("ns1:1") == "http://b.example.org/1"
    assert dict(prefixes.used) == {"coll": "http://a.example.org/"}
    assert (prefixes.expand("coll:1"), prefixes.expand("other:1")) == ("http://a.example.org/1", None)
    assert not prefixes.conflicts


def test_a_file_cannot_give_a_known_prefix_another_meaning() -> None:
    prefixes = Prefixes()
    prefixes.declare("Mesh", "http://a.example.org/")
    prefixes.declare("coll", "http://b.example.org/")
    prefixes.declare("COLL", "http://c.example.org/")
    assert prefixes.read("Mesh:1") == prefixes.contract("http://a.example.org/1") == "http://a.example.org/1"
    assert prefixes.contract("http://c.example.org/1") == "http://c.example.org/1"
    assert [*prefixes.conflicts.values()] == [
        "the prefix Mesh stands for http://a.example.org/ here, but elsewhere for http://id.nlm.nih.gov/mesh/"
    ]


def test_other_names_and_namespaces_of_known_prefixes() -> None:
    prefixes = Prefixes()
    prefixes.declare("agrovoc", "http://aims.fao.org/aos/agrovoc/c_")
    prefixes.declare("sct", "http://snomed.info/id/")
    prefixes.declare("m", "http://id.nlm.nih.gov/mesh/")
    assert prefixes.read("agrovoc:1") == "AGROVOC:c_1"
    assert prefixes.read("sct:22298006") == "sct:22298006"
    assert prefixes.read("m:D009203") == "MESH:D009203"
    assert not prefixes.used


def test_an_obo_purl_takes_no_declared_prefix() -> None:
    prefixes = Prefixes()
    prefixes.declare("coll", "http://a.example.org/")
    assert prefixes.contract(OBO + "coll_1") == OBO + "coll_1"
    assert prefixes.contract(OBO + "NEW_1") == "NEW:1"
    assert (dict(prefixes.used), prefixes.expand("NEW:1")) == ({"NEW": OBO + "NEW_"}, OBO + "NEW_1")


def test_prefixes_of_the_user_go_first() -> None:
    given = Prefixes({"mine": "http://a.example.org/c_", "MESH": "http://id.nlm.nih.gov/mesh/"})
    given.declare("theirs", "http://a.example.org/c_")
    given.declare("mine", "http://b.example.org/")
    assert given.contract("https://a.example.org/c_1") == "mine:1"
    assert given.read("mine:1") == "http://b.example.org/1"
    assert [*given.conflicts] == ["mine"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"HP": "http://a.example.org/"}, "choose another name"),
        ({"x": "http://a.example.org/", "X": "http://b.example.org/"}, "choose another name"),
        ({"sct": "http://a.example.org/"}, "choose another name"),
        ({"mine": "http://snomed.info/id/"}, "has the prefix SNOMEDCT: leave mine out"),
        ({"a b": "http://a.example.org/"}, "NAME=IRI"),
        ({"x": "nowhere"}, "NAME=IRI"),
    ],
)
def test_prefixes_of_the_user_change_none(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Prefixes(wrong)


def test_spellings() -> None:
    assert split("sctid:22298006") == ("SNOMEDCT", "22298006")
    assert split("OMIM:PS123") == ("OMIMPS", "123")
    assert split("hgnc:HGNC:5") == ("HGNC", "5")
    assert split("unheard:5") == ("unheard", "5")
    assert split("C0027051") == ("", "C0027051")


def test_curie_maps_and_divided_iris() -> None:
    lines = [
        "#curie_map:",
        '#  HP: "http://purl.obolibrary.org/obo/HP_"',
        "#  x: http://x/#",
        "#license: y",
        "#  z: w",
    ]
    assert read_curie_map(lines) == {"HP": OBO + "HP_", "x": "http://x/#"}
    assert divide("http://a.example.org/x/") == ("http://a.example.org/", "x/")
