"""Canonical forms of ids, so that ``mesh:D009203`` and ``MSH:D009203`` are equal."""

from __future__ import annotations

import re
from typing import Final

Key = tuple[str, str]
"""The namespace and the local part of an id."""

# Spellings of the prefixes of namespaces, in capitals; the first of a line is canonical.
_SPELLINGS: Final = """
CELLOSAURUS CVCL
DOID DO
FPLX FAMPLEX
HGNC.GENEGROUP HGNC_GROUP
HP HPO
ICD10 ICD-10
ICD10CM ICD-10-CM
ICD9CM ICD-9-CM
ICDO ICD-O ICD-O-3
MEDDRA MDR
MESH MSH
NCBIGENE ENTREZ ENTREZGENE NCBI_GENE GENEID
NCBITAXON NCBI_TAXID TAXONOMY TAXID
NCIT NCI NCI_THESAURUS
OMIM MIM
OMIMPS MIMPS OMIM.PS
ORPHANET ORDO ORPHA ORPHACODE
PHARMGKB PHARMGKB.DRUG PHARMGKB.DISEASE
PUBCHEM PUBCHEM.COMPOUND PUBCHEM_CID
RXNORM RXCUI
SNOMEDCT SNOMEDCT_US SNOMED SCTID SCT SNOMED-CT
UMLS UMLS_CUI UMLSCUI CUI
UNIPROT UNIPROTKB UNIPROT_KB
WIKIDATA WD
"""
_CANONICAL: Final = {
    spelling: first
    for first, *others in map(str.split, _SPELLINGS.split("\n")[1:-1])
    for spelling in (first, *others)
}
_CUI: Final = re.compile(r"C\d{7}")
# Phenotypic series, written with the prefix of OMIM.
_SERIES: Final = re.compile(r"PS\d+")


def canonical(concept_id: str, source: str = "") -> Key:
    """Return the canonical namespace and local part of an id.

    Args:
        concept_id: an id as a source writes it.
        source: the source, which is the namespace of ids without a prefix (except UMLS CUIs, which are
            recognised).

    >>> canonical("SCTID:22298006")
    ('SNOMEDCT', '22298006')
    >>> canonical("C0027051") == canonical("UMLS:C0027051")
    True
    >>> canonical("I21", "icd")
    ('(icd)', 'I21')
    """
    if "://" in concept_id:
        cut = max(concept_id.rfind("/"), concept_id.rfind("#")) + 1
        return concept_id[:cut], concept_id[cut:]
    prefix, colon, local = concept_id.partition(":")
    if not colon:
        return ("UMLS" if _CUI.fullmatch(concept_id) else f"({source})", concept_id)
    prefix = prefix.upper()
    namespace = _CANONICAL.get(prefix, prefix)
    if local.upper().startswith(prefix + ":"):
        # NCBI Gene writes ``HGNC:HGNC:5``.
        local = local[len(prefix) + 1 :]
    if namespace == "OMIM" and _SERIES.fullmatch(local):
        return "OMIMPS", local[2:]
    return namespace, local
