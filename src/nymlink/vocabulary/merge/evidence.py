"""Weigh the evidence that two concepts are the same.

The confidence of each kind of evidence was estimated by hand on random samples of the open vocabularies:
``docs/howto/merging.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nymlink.core.terminal.progress import track
from nymlink.vocabulary.merge.claims import EquivalenceClaims, Pair
from nymlink.vocabulary.merge.concepts import LiveConcepts
from nymlink.vocabulary.merge.names import Agreement, ConceptNames

SAME_ID: Final = "same id"
EXACT: Final = "exact match"
MUTUAL: Final = "mutual xrefs"
ONE_SIDED: Final = "one-sided xref"
SHARED: Final = {"UMLS": "shared UMLS CUI", "MESH": "shared MeSH id"}

# (kind, one-to-one, agreement of names) → confidence: about the share of pairs that are right. Other evidence
# joins nothing. Even without a name in common, a curated mapping ranks above agreement by synonym.
_CONFIDENCE: Final = {
    **{(SAME_ID, True, agreement): 1.0 for agreement in Agreement},
    (EXACT, True, Agreement.PREFERRED): 0.995,
    (EXACT, True, Agreement.NAME): 0.98,
    (EXACT, True, Agreement.NONE): 0.975,
    (MUTUAL, True, Agreement.PREFERRED): 0.995,
    (MUTUAL, True, Agreement.NAME): 0.99,
    (MUTUAL, True, Agreement.NONE): 0.95,
    (MUTUAL, False, Agreement.PREFERRED): 0.99,
    (ONE_SIDED, True, Agreement.PREFERRED): 0.99,
    (ONE_SIDED, True, Agreement.NAME): 0.97,
    (ONE_SIDED, False, Agreement.PREFERRED): 0.98,
    (SHARED["UMLS"], True, Agreement.PREFERRED): 0.99,
    (SHARED["UMLS"], True, Agreement.NAME): 0.97,
    (SHARED["UMLS"], False, Agreement.PREFERRED): 0.98,
    (SHARED["MESH"], True, Agreement.PREFERRED): 0.98,
    (SHARED["MESH"], False, Agreement.PREFERRED): 0.98,
}
# Names and ids of genes are also used for their products: only a mapping joins a gene with something else.
GENES: Final = frozenset({"HGNC", "NCBIGENE", "ENSEMBL"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence about a pair of concepts.

    Attributes:
        pair: their rows in the unmerged vocabulary.
        kinds: kinds of claims about them, the surest first; those that are not one-to-one end in ``(of several)``.
        names: the agreement of their names.
        confidence: the confidence that they are the same; 0: they are not joined.
        against: the reason not to join them, where the confidence is 0.
        denied: whether a mapping states that they are not the same.
    """

    pair: Pair
    kinds: tuple[str, ...]
    names: Agreement
    confidence: float
    against: str = ""
    denied: bool = False


def claimed_pairs(
    concepts: LiveConcepts, claims: EquivalenceClaims, names: ConceptNames
) -> dict[Pair, dict[str, bool]]:
    """Collect all pairs about which there is a claim: pair → kind of claim → whether it is one-to-one."""
    pairs: dict[Pair, dict[str, bool]] = {}

    def add(one: int, other: int, kind: str, one_to_one: bool) -> None:
        kinds = pairs.setdefault(claims.pair(one, other), {})
        kinds[kind] = kinds.get(kind, False) or one_to_one

    for one, other in claims.against:
        pairs[one, other] = {}
    for one, other in concepts.same:
        add(one, other, SAME_ID, True)
    for one, other in claims.exact:
        add(one, other, EXACT, True)
    for one, others in claims.xrefs.items():
        for other in others:
            if one in claims.xrefs.get(other, ()):
                both = claims.is_one_to_one(one, other) and claims.is_one_to_one(other, one)
                add(one, other, MUTUAL, both)
            else:
                add(one, other, ONE_SIDED, claims.is_one_to_one(one, other))
    for (namespace, _), rows, unique in claims.shared_ids():
        for group in ([row for row in rows if row in unique], *names.same_preferred(rows)):
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    if concepts.keys[one][0] != concepts.keys[other][0]:
                        add(one, other, SHARED[namespace], one in unique and other in unique)
    return pairs


def weigh(
    concepts: LiveConcepts, claims: EquivalenceClaims, names: ConceptNames, *, progress: bool = False
) -> Iterator[Evidence]:
    """Weigh the evidence about each pair of concepts about which there is a claim.

    Args:
        concepts: the concepts.
        claims: the claims of mappings and xrefs.
        names: the names of all concepts in claims.
        progress: whether to show progress when standard error is a terminal.
    """
    for pair, kinds in track(claimed_pairs(concepts, claims, names).items(), "comparing concepts", shown=progress):
        agreement = names.agreement(*pair)
        confidences = {
            kind: _CONFIDENCE.get((kind, one_to_one, agreement), 0.0) for kind, one_to_one in kinds.items()
        }
        if EXACT in confidences:
            confidences[EXACT] *= claims.exact[pair]
        elif _mixes_genes(concepts, pair) and not {SAME_ID, MUTUAL} & set(kinds):
            confidences = dict.fromkeys(kinds, 0.0)
        surest_first = sorted(confidences, key=lambda kind: (-confidences[kind], kind))
        denial = claims.against.get(pair)
        against = ""
        if denial is not None:
            against = f"a mapping says {denial}"
        elif not any(confidences.values()):
            against = _reason_against(concepts, pair, kinds, agreement)
        yield Evidence(
            pair=pair,
            kinds=tuple(kind if kinds[kind] else f"{kind} (of several)" for kind in surest_first),
            names=agreement,
            confidence=0.0 if against else confidences[surest_first[0]],
            against=against,
            denied=denial is not None,
        )


def _reason_against(concepts: LiveConcepts, pair: Pair, kinds: dict[str, bool], agreement: Agreement) -> str:
    if _mixes_genes(concepts, pair):
        return "a gene and something else"
    return str(agreement) if any(kinds.values()) else f"one of several, {agreement}"


def _mixes_genes(concepts: LiveConcepts, pair: Pair) -> bool:
    one, other = (concepts.keys[row][0] in GENES for row in pair)
    return one != other
