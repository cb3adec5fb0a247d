"""A script of a user, for type checkers: it is not run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import nymlink
from nymlink import Annotator, Candidate, Concept, Corpus, Document, InputError, Link, Linker, Links, Mention


def names() -> Iterator[str | None]:
    yield "gout"
    yield None


def first_id(link: Link) -> str | None:
    best: Candidate | None = link.best
    return None if best is None else best.concept_id


def counted(links: Links) -> dict[str, int]:
    counts: dict[str, int] = {}
    for link in links:
        for candidate in link.candidates:
            counts[candidate.concept_id] = counts.get(candidate.concept_id, 0) + 1
    return counts


def tables(linker: Linker, folder: Path) -> pa.Table:
    links = linker.link(["gout", None], top_k=3)
    links.write(folder / "links.parquet")
    rows: list[dict[str, object]] = links.to_dicts()
    print(len(rows), nymlink.LINK_SCHEMA.names)
    return links.to_arrow()


def evaluated(linker: Linker, corpus: Corpus) -> float:
    report: nymlink.Evaluation = nymlink.evaluate(linker, corpus, types=["Disease"])
    print(report)
    return sum(len(document.mentions) for document in corpus.documents)


def main() -> None:
    vocabulary = nymlink.read_vocabulary("mondo.obo")
    concept: Concept = vocabulary["MONDO:0005393"]
    print(concept.name, concept.parents)
    linker = Linker.build("mondo.obo", encoder=None)
    single: Link = linker.link("gout")
    empty: Link = linker.link(None)
    several: Links = linker.link(names())
    mixed: Links = nymlink.link(["gout", None, Mention("MI", language="en")])
    default: Link = nymlink.link("gout", top_k=2)
    in_text: Links = linker.link(Document("1", "He has gout.", (Mention("gout", 7, 11),)))
    found: Links = Annotator(linker.index).annotate("He has no gout.")
    known: set[Link] = {single, empty, default, *several, *mixed, *in_text, *found}
    print(len(known), first_id(single), counted(several))
    tables(linker, Path())
    try:
        evaluated(linker, nymlink.read_corpus("x.txt"))
    except InputError as error:
        print(error.message)


main()
