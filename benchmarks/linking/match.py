"""Measure the mappings between pairs of vocabularies.

    python benchmarks/linking/match.py [PAIR]... [--encoder MODEL] [--json FILE]

The vocabularies and the mappings of curators are in $NYMLINK_DATA (or ../shared/data). Pairs:

- ``doid-ncit``, ``doid-ordo``: mappings to one MONDO concept. The vocabularies have hierarchies.
- ``ma-mesh``, ``ma-ncit``: mouse anatomy; cross-references of one UBERON concept. No hierarchy of MA.
- ``hp-doid``: phenotypes that are diseases, by the Pistoia Alliance (confidence of at least one half).
- ``mp-hp``: labels of mouse phenotypes, by MGI, with broader and narrower mappings.
- ``doid-mesh``, ``cl-mesh``, ``vo-mesh``: diseases, cells, vaccines; confirmed or refuted in Biomappings.

The matcher reads no cross-references. The mappings are incomplete, so a mapping that was found is judged only if a
curator mapped one of its two concepts. Equal names are measured in the same run: ``labels`` are equal
preferred names, ``exact names`` are equal preferred or exact names; all pairs count.

With ``--json``, the rows of the pairs are added to those in the file.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root, ontology
from nymlink.encode.model.folder import MINI
from nymlink.linking.matching.match import MIN_CONFIDENCE, match
from nymlink.linking.matching.names import Names
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.mappings import Mapping, read_mappings
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.subset import part_of, subset
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[str, str]
"""Ids of a concept of the first vocabulary and one of the second."""

DEVELOPMENT: Final = ("doid-ncit", "ma-mesh", "ma-ncit")
"""Pairs on which the constants of the matcher were chosen."""

_CURATED: Final = "curated/mappings"
_ANATOMY: Final = "NCIT:C12219"
_DIRECTIONS: Final = {"skos:exactMatch": "exact", "skos:broadMatch": "broader", "skos:narrowMatch": "narrower"}
_PISTOIA: Final = 0.5
_INEXACT: Final = 0.3
"""Smallest confidence of broader and narrower mappings; exact ones have the default."""


@dataclass(frozen=True)
class Task:
    """Two vocabularies, and what curators say of their concepts.

    Attributes:
        one: the first vocabulary.
        other: the second one.
        gold: pairs that are the same.
        against: pairs that are not the same.
        inexact: pair → "broader" or "narrower".
    """

    one: Vocabulary
    other: Vocabulary
    gold: set[Pair]
    against: set[Pair] = field(default_factory=set)
    inexact: dict[Pair, str] = field(default_factory=dict)


@cache
def vocabulary(file: str, prefix: str = "") -> Vocabulary:
    """Read a vocabulary, or its concepts with a prefix."""
    whole = read_vocabulary(ontology() if file == "hp.obo" else data_root() / file)
    if not prefix:
        return whole
    return part_of(
        whole, np.array([id_.startswith(f"{prefix}:") for id_ in whole.columns.concepts["id"].to_pylist()])
    )


def doid() -> Vocabulary:
    """Read the Disease Ontology, without the concepts of others in its file."""
    return vocabulary("native/doid/doid-2018-07-05.json.gz", "DOID")


def ncit() -> Vocabulary:
    """Read the NCI Thesaurus: diseases, and the anatomy that they need."""
    return vocabulary("native/ncit/ncit-disease-2018-06-08.json.gz")


def mouse() -> Vocabulary:
    """Read the anatomy of the adult mouse."""
    return vocabulary("vocabularies/mouse_zebrafish_anatomy.tsv.gz", "MA")


def mondo(name: str) -> dict[str, set[str]]:
    """Read which concepts of a vocabulary MONDO says to equal each of its own."""
    found = defaultdict(set)
    for mapping in read_mappings(data_root() / f"native/mondo/mondo_exactmatch_{name}.sssom.tsv.gz").mappings:
        found[mapping.subject_id].add(mapping.object_id)
    return found


def uberon(prefix: str) -> dict[str, set[str]]:
    """Read the cross-references of UBERON to a vocabulary."""
    concepts = vocabulary("vocabularies/uberon.tsv.gz").columns.concepts
    rows = zip(concepts["id"].to_pylist(), concepts["xrefs"].to_pylist(), strict=True)
    return {id_: {xref for xref in xrefs if xref.startswith(f"{prefix}:")} for id_, xrefs in rows}


def curated(file: str) -> tuple[Mapping, ...]:
    """Read the mappings of a file of curators."""
    return read_mappings(data_root() / _CURATED / f"{file}.sssom.tsv.gz").mappings


def via(one: dict[str, set[str]], other: dict[str, set[str]]) -> set[Pair]:
    """Join two mappings of one hub."""
    return {(a, b) for hub, ids in one.items() for a in ids for b in other.get(hub, ())}


def mouse_phenotypes() -> Task:
    """Make a vocabulary of the labels of mouse phenotypes that MGI mapped to HPO; none of them has synonyms."""
    builder = TableBuilder()
    inexact, gold = {}, set()
    for mapping in curated("mp_hp_mgi_all"):
        builder.concept(mapping.subject_id)
        builder.name(mapping.subject_id, mapping.subject_label, lang="en", kind="preferred")
        direction = _DIRECTIONS.get(mapping.predicate_id)
        pair = (mapping.subject_id, mapping.object_id)
        if direction == "exact":
            gold.add(pair)
        elif direction is not None:
            inexact[pair] = direction
    return Task(
        Vocabulary.of((Source("mp", "table"), builder.build())), vocabulary("hp.obo"), gold, inexact=inexact
    )


def reviewed(one: Vocabulary, other: Vocabulary) -> Task:
    """Select the pairs of Biomappings between two vocabularies, in either direction."""
    found: dict[bool, set[Pair]] = {True: set(), False: set()}
    for file in ("positive", "negative"):
        for mapping in curated(f"biomappings_{file}"):
            ids = (mapping.subject_id, mapping.object_id)
            for first, second in (ids, ids[::-1]) if mapping.is_exact else ():
                own, others = one.resolve(first), other.resolve(second)
                if own and others:
                    found[not mapping.negated].add((own[0], others[0]))
    return Task(one, other, found[True], against=found[False])


def mesh() -> Vocabulary:
    """Read MeSH."""
    return vocabulary("vocabularies/mesh.tsv.gz")


TASKS: Final[dict[str, Callable[[], Task]]] = {
    "doid-ncit": lambda: Task(doid(), ncit(), via(mondo("doid"), mondo("ncit"))),
    "ma-mesh": lambda: Task(mouse(), mesh(), via(uberon("MA"), uberon("MESH"))),
    "ma-ncit": lambda: Task(mouse(), subset(ncit(), branches=[_ANATOMY]), via(uberon("MA"), uberon("NCIT"))),
    "doid-ordo": lambda: Task(
        doid(), vocabulary("native/ordo/ordo-2_6-2018-07-12.json.gz"), via(mondo("doid"), mondo("orphanet"))
    ),
    "hp-doid": lambda: Task(
        vocabulary("hp.obo"),
        doid(),
        {(m.subject_id, m.object_id) for m in curated("hp_doid_pistoia") if (m.confidence or 0) >= _PISTOIA},
    ),
    "mp-hp": mouse_phenotypes,
    "doid-mesh": lambda: reviewed(doid(), mesh()),
    "cl-mesh": lambda: reviewed(vocabulary("vocabularies/cl.tsv.gz"), mesh()),
    "vo-mesh": lambda: reviewed(vocabulary("vocabularies/vo.tsv.gz"), mesh()),
}


def live(pairs: Iterable[Pair], task: Task) -> set[Pair]:
    """Select the pairs whose concepts are both in the vocabularies, and not obsolete."""
    ids = [
        {
            id_
            for id_, old in zip(*(concepts[name].to_pylist() for name in ("id", "obsolete")), strict=True)
            if not old
        }
        for concepts in (task.one.columns.concepts, task.other.columns.concepts)
    ]
    return {(one, other) for one, other in pairs if one in ids[0] and other in ids[1]}


def accuracy(found: Collection[Pair], gold: set[Pair]) -> str:
    """Write precision, recall and F as percentages; a pair is judged if a concept of it is in the gold pairs."""
    ones, others = ({pair[side] for pair in gold} for side in (0, 1))
    judged = [pair for pair in found if pair[0] in ones or pair[1] in others]
    right = len(gold & set(judged))
    precision, recall = right / max(len(judged), 1), right / len(gold)
    mean = 2 * precision * recall / max(precision + recall, 1e-9)
    return " ".join(f"{100 * value:.1f}" for value in (precision, recall, mean))


def equal_names(task: Task, kinds: Collection[str]) -> set[Pair]:
    """Find all pairs of concepts with an equal normalised name of some kinds."""
    found = set()
    known = defaultdict[str, list[int]](list)
    for name in Names(task.other).all:
        if name.kind in kinds:
            known[name.prepared].append(name.concept)
    for name in Names(task.one).all:
        if name.kind in kinds:
            found |= {
                (task.one.concept_id(name.concept), task.other.concept_id(row)) for row in known[name.prepared]
            }
    return found


def measure(pair: str, encoder: str | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Measure a pair of vocabularies.

    Returns:
        The row of the pair; and for a task with broader and narrower mappings, a row for each relation.
    """
    task = TASKS[pair]()
    gold = live(task.gold, task)
    start = time.perf_counter()
    links = match(task.one, task.other, encoder=encoder, min_confidence=_INEXACT)
    seconds = time.perf_counter() - start
    relations = {
        (link.mention.id or "", candidate.concept_id): candidate.relation
        for link in links
        for candidate in link.candidates
        if candidate.relation != "exact" or (candidate.confidence or 0) >= MIN_CONFIDENCE
    }
    exact = {each for each, relation in relations.items() if relation == "exact"}
    row = {
        "pair": pair,
        "part": "development" if pair in DEVELOPMENT else "test",
        "concepts": f"{len(task.one):,} / {len(task.other):,}",
        "gold": len(gold),
        "labels P R F": accuracy(equal_names(task, {"preferred"}), gold),
        "exact names P R F": accuracy(equal_names(task, {"preferred", "exact"}), gold),
        "encoder": encoder or "none",
        "nymlink P R F": accuracy(exact, gold),
        "found": len(exact),
        "seconds": round(seconds),
    }
    against = live(task.against, task)
    if against:
        row["refuted, found"] = f"{len(exact & against)} of {len(against)}"
    if not task.inexact:
        return row, []
    wanted = {**dict.fromkeys(gold, "exact"), **{each: task.inexact[each] for each in live(task.inexact, task)}}
    counts = Counter(wanted.values())
    said = Counter(relations.values())
    right = Counter(relation for each, relation in relations.items() if wanted.get(each) == relation)
    other = Counter(relation for each, relation in relations.items() if wanted.get(each) not in (None, relation))
    return row, [
        {
            "relation": relation,
            "by curators": counts[relation],
            "found": said[relation],
            "same pair and relation": right[relation],
            "same pair, other relation": other[relation],
        }
        for relation in _DIRECTIONS.values()
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="pairs to measure; all if none is given")
    parser.add_argument("--encoder", default=MINI, help="encoder, or none")
    parser.add_argument("--json", type=Path, help="also add the rows to this file")
    arguments = parser.parse_args()
    known = {} if arguments.json is None else report.load(arguments.json)
    rows = {(row["pair"], row["encoder"]): row for row in known.get("match", [])}
    relations = known.get("relations", [])
    encoder = None if arguments.encoder == "none" else arguments.encoder
    for pair in arguments.pairs or TASKS:
        row, of_relations = measure(pair, encoder)
        rows[pair, row["encoder"]] = row
        relations = of_relations or relations
        print(row, *of_relations, sep="\n", flush=True)
        ordered = sorted(rows.values(), key=lambda row: (list(TASKS).index(row["pair"]), row["encoder"]))
        about = report.about(
            data="mappings of MONDO, UBERON, MGI, the Pistoia Alliance and Biomappings",
            split=None,
            dictionary=None,
            seed=None,
            counting="a mapping is judged if a curator mapped one of its concepts",
        )
        about["command"] = "python benchmarks/linking/match.py --json benchmarks/results/match.json"
        report.save(arguments.json, {"about": about, "match": ordered, "relations": relations})


if __name__ == "__main__":
    main()
