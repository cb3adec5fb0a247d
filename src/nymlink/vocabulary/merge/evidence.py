"""What speaks for two concepts being one, and how sure that is.

Each kind of evidence was judged by eye on random samples of the open vocabularies: ``docs/merging.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nymlink.core.progress import track
from nymlink.vocabulary.merge.concepts import Concepts
from nymlink.vocabulary.merge.links import Links, Pair
from nymlink.vocabulary.merge.names import Agreement, ConceptNames

SAME_ID: Final = "same id"
EXACT: Final = "exact match"
MUTUAL: Final = "mutual xrefs"
ONE_SIDED: Final = "one-sided xref"
SHARED: Final = {"UMLS": "shared UMLS CUI", "MESH": "shared MeSH id"}

# How sure evidence of a kind is: (kind, one-to-one, what the names say) → about the share that is right. What is
# not here joins nothing. Without a name in common, what a curator mapped still goes before any synonym.
_SURE: Final = {
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
# Names and ids of genes are used for their products: only a mapping joins a gene with what is none.
GENES: Final = frozenset({"HGNC", "NCBIGENE", "ENSEMBL"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about two concepts.

    Attributes:
        pair: their rows in the unmerged vocabulary.
        kinds: kinds of links between them, the surest first; those that stand in several ends in ``(of several)``.
        names: what their names say.
        confidence: how sure it is that they are one; 0: not enough to join them.
        against: what speaks against joining them, where confidence is 0.
        denied: whether a mapping says that they are not the same.
    """

    pair: Pair
    kinds: tuple[str, ...]
    names: Agreement
    confidence: float
    against: str = ""
    denied: bool = False


def linked_pairs(concepts: Concepts, links: Links, names: ConceptNames) -> dict[Pair, dict[str, bool]]:
    """All pairs that any link holds together: pair → kind of link → whether it is one-to-one."""
    pairs: dict[Pair, dict[str, bool]] = {}

    def add(one: int, other: int, kind: str, one_to_one: bool) -> None:
        kinds = pairs.setdefault(links.pair(one, other), {})
        kinds[kind] = kinds.get(kind, False) or one_to_one

    for one, other in links.against:
        pairs[one, other] = {}
    for one, other in concepts.same:
        add(one, other, SAME_ID, True)
    for one, other in links.exact:
        add(one, other, EXACT, True)
    for one, others in links.xrefs.items():
        for other in others:
            if one in links.xrefs.get(other, ()):
                both = links.is_one_to_one(one, other) and links.is_one_to_one(other, one)
                add(one, other, MUTUAL, both)
            else:
                add(one, other, ONE_SIDED, links.is_one_to_one(one, other))
    for (namespace, _), rows, alone in links.shared_ids():
        for group in ([row for row in rows if row in alone], *names.same_preferred(rows)):
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    if concepts.keys[one][0] != concepts.keys[other][0]:
                        add(one, other, SHARED[namespace], one in alone and other in alone)
    return pairs


def weigh(concepts: Concepts, links: Links, names: ConceptNames, *, progress: bool = False) -> Iterator[Evidence]:
    """Yield what is known about each pair that any link holds together.

    Args:
        concepts: the concepts.
        links: what holds them together.
        names: the names of all that are linked.
        progress: whether to show progress when standard error is a terminal.
    """
    for pair, kinds in track(linked_pairs(concepts, links, names).items(), "comparing concepts", shown=progress):
        agreement = names.agreement(*pair)
        found = {kind: _SURE.get((kind, alone, agreement), 0.0) for kind, alone in kinds.items()}
        if EXACT in found:
            found[EXACT] *= links.exact[pair]
        elif _mixes_genes(concepts, pair) and not {SAME_ID, MUTUAL} & set(kinds):
            found = dict.fromkeys(kinds, 0.0)
        told = sorted(found, key=lambda kind: (-found[kind], kind))
        denial = links.against.get(pair)
        against = ""
        if denial is not None:
            against = f"a mapping says {denial}"
        elif not any(found.values()):
            against = _lack(concepts, pair, kinds, agreement)
        yield Evidence(
            pair=pair,
            kinds=tuple(kind if kinds[kind] else f"{kind} (of several)" for kind in told),
            names=agreement,
            confidence=0.0 if against else found[told[0]],
            against=against,
            denied=denial is not None,
        )


def _lack(concepts: Concepts, pair: Pair, kinds: dict[str, bool], agreement: Agreement) -> str:
    if _mixes_genes(concepts, pair):
        return "a gene and something else"
    return str(agreement) if any(kinds.values()) else f"one of several, {agreement}"


def _mixes_genes(concepts: Concepts, pair: Pair) -> bool:
    one, other = (concepts.keys[row][0] in GENES for row in pair)
    return one != other
