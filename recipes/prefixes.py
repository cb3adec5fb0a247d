"""Make the table of prefixes from Bioregistry (CC0), with the names that nymlink and its sources use.

    pip install "bioregistry>=0.15"
    python recipes/prefixes.py

Writes ``prefixes.tsv`` into ``src/nymlink/core/data``, a prefix a line: the prefix, the namespace that it stands
for, other namespaces of the same ids, without schemes, and other spellings of the prefix, in small letters. Left
out are resolvers that name the prefix in the address, and addresses with an address in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bioregistry import manager

TABLE: Final = Path("src/nymlink/core/data/prefixes.tsv")

OURS: Final = """
AGROVOC agrovoc -
ATC atc http://purl.bioontology.org/ontology/ATC/
Cellosaurus cellosaurus https://www.cellosaurus.org/ CVCL
ComplexPortal complexportal -
DRUGBANK drugbank https://go.drugbank.com/drugs/
DRUGCENTRAL drugcentral -
DOID doid - DO
EuroVoc eurovoc -
FMA fma http://purl.org/sig/ont/fma/fma
FPLX fplx - FAMPLEX
gard gard http://identifiers.org/gard:
HGNC hgnc http://identifiers.org/hgnc/
HGNC.GENEGROUP hgnc.genegroup - HGNC_GROUP
HP hp - HPO
ICD10 icd10 http://purl.bioontology.org/ontology/ICD10/ ICD-10
ICD10CM icd10cm http://purl.bioontology.org/ontology/ICD10CM/ ICD-10-CM
ICD10PCS icd10pcs http://purl.bioontology.org/ontology/ICD10PCS/
ICD11 icd11 http://id.who.int/icd/entity/
ICD9CM icd9cm http://purl.bioontology.org/ontology/ICD9CM/ ICD-9-CM
ICDO icdo - ICD-O ICD-O-3
LOINC loinc http://loinc.org/rdf/
MEDDRA meddra http://identifiers.org/meddra: MDR
MEDGEN medgen https://www.ncbi.nlm.nih.gov/medgen/
MESH mesh http://id.nlm.nih.gov/mesh/ MSH
NANDO nando http://nanbyodata.jp/ontology/NANDO_
NCBIGene ncbigene http://identifiers.org/ncbigene/ ENTREZ ENTREZGENE NCBI_GENE GENEID
NCBITaxon ncbitaxon - NCBI_TAXID TAXONOMY TAXID
NCIT ncit - NCI NCI_THESAURUS
NeuroNames neuronames -
OMIM omim https://omim.org/entry/ MIM
OMIMPS omim.ps https://omim.org/phenotypicSeries/PS MIMPS OMIM.PS
OMOP omop https://athena.ohdsi.org/search-terms/terms/
Orphanet orpha http://www.orpha.net/ORDO/Orphanet_ ORDO ORPHA ORPHACODE
PHARMGKB pharmgkb.drug - PHARMGKB.DRUG PHARMGKB.DISEASE
PUBCHEM pubchem.compound - PUBCHEM.COMPOUND PUBCHEM_CID
RXNORM rxnorm http://purl.bioontology.org/ontology/RXNORM/ RXCUI
SNOMEDCT snomedct http://snomed.info/id/ SNOMEDCT_US SNOMED SCTID SCT SNOMED-CT
UMLS umls http://linkedlifedata.com/resource/umls/id/ UMLS_CUI UMLSCUI CUI
UniProtKB uniprot http://purl.uniprot.org/uniprot/ UNIPROT UNIPROT_KB
Wikidata wikidata http://www.wikidata.org/entity/ WD
YSO yso http://www.yso.fi/onto/yso/
"""
"""Our prefix, that of Bioregistry, the namespace ("-": Bioregistry's), further spellings."""

ALSO: Final = {
    "ICD11": ["id.who.int/icd/release/11/mms/"],
    "NCIT": ["ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#"],
    "Orphanet": ["www.orpha.net/consor/cgi-bin/OC_Exp.php?Lng=EN&Expert="],
    "OMIM": ["www.omim.org/entry/", "omim.org/MIM:"],
    "MONDO": ["monarchinitiative.org/MONDO:"],
    "UniProtKB": ["www.uniprot.org/uniprotkb/"],
}
"""Further namespaces, also such as the rule for pages excludes."""

WITHOUT: Final = {"uniprot.mnemonic"}
"""Prefixes of Bioregistry whose namespace is that of another kind of id."""

SHORT: Final = 3
"""Most letters of spellings that may mean anything ("di", "icd")."""

_OBO: Final = "purl.obolibrary.org/obo/"
_RESOLVER: Final = re.compile(
    r"(?:www\.)?(?:bioregistry\.io|identifiers\.org|n2t\.net|bio2rdf\.org|scholia\.toolforge\.org)/"
)
_PAGE: Final = re.compile(r"[%\s]|iri=|browse/20")
_SCHEME: Final = re.compile(r"https?://")


class _Row(NamedTuple):
    """A line of the table.

    Attributes:
        name: the prefix.
        namespace: what it stands for.
        others: other namespaces of the same ids, without schemes.
        spellings: other spellings of the prefix.
    """

    name: str
    namespace: str
    others: list[str]
    spellings: list[str]


def main() -> None:
    """Collect the prefixes and write the table."""
    ours = {key: (name, stated, also) for name, key, stated, *also in map(str.split, OURS.strip().split("\n"))}
    rows: dict[str, _Row] = {}
    for key, resource in sorted(manager.registry.items()):
        if resource.has_canonical or resource.provides or key in WITHOUT:
            continue
        name, stated, also = ours.pop(key, (resource.get_preferred_prefix() or key, "-", []))
        namespace = stated if stated != "-" else resource.get_rdf_uri_prefix() or resource.get_uri_prefix() or ""
        spellings = [key, *also, *sorted(each for each in resource.get_synonyms() if len(each) > SHORT)]
        if _OBO in namespace:
            # The prefix of a PURL is the one in its address.
            name = namespace.partition(_OBO)[2].removesuffix("_")
            spellings.append(resource.get_preferred_prefix() or key)
        if _SCHEME.match(namespace) and re.fullmatch(r"\w[\w.-]*", name):
            others = [*ALSO.get(name, ()), *_bare(resource.get_uri_prefixes())]
            rows[name] = _Row(name, namespace, others, spellings)
    for key, (name, stated, also) in ours.items():
        rows[name] = _Row(name, stated, ALSO.get(name, []), [key, *also])
    TABLE.parent.mkdir(exist_ok=True)
    lines = ["prefix\tnamespace\tothers\tspellings", *_lines(sorted(rows.values(), key=_order))]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _bare(namespaces: Iterable[str]) -> list[str]:
    """Drop schemes, resolvers, and addresses in addresses."""
    bare = sorted({_SCHEME.sub("", each) for each in namespaces if _SCHEME.match(each)})
    return [each for each in bare if not _RESOLVER.match(each) and not _PAGE.search(each) and _OBO not in each]


def _order(row: _Row) -> str:
    return row.name.casefold()


def _lines(rows: list[_Row]) -> Iterator[str]:
    """Yield lines in which no namespace and no spelling is that of two prefixes; main ones go first."""
    namespaces = {_SCHEME.sub("", row.namespace): row.name for row in reversed(rows)}
    names = {_order(row): row.name for row in rows}
    for name, namespace, others, spellings in rows:
        bare = _SCHEME.sub("", namespace)
        if namespaces[bare] != name:
            print(f"{name} left out: {namespace} is that of {namespaces[bare]}")
            continue
        # A namespace that is cut elsewhere would give other ids.
        same = (each for each in dict.fromkeys(others) if each != bare and not _cut_differs(bare, each))
        own = [each for each in same if namespaces.setdefault(each, name) == name]
        written = dict.fromkeys(each.casefold() for each in spellings if not re.search(r"[\s:]", each))
        kept = [each for each in written if each != name.casefold() and names.setdefault(each, name) == name]
        yield "\t".join([name, namespace, " ".join(own), " ".join(kept)])


def _cut_differs(namespace: str, other: str) -> bool:
    ends = "/#=:"
    return (
        namespace.startswith(other)
        or other.startswith(namespace)
        or (namespace[-1] in ends and other[-1] not in ends)
    )


if __name__ == "__main__":
    main()
