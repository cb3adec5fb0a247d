"""Compare nymlink's preparation of the raw corpora with the published prepared queries, mention by mention.

    python benchmarks/linking/preparation_agreement.py [--show N]

Reads the NCBI disease and BC5CDR corpora from $NYMLINK_DATA or ../shared/data. "as published" prepares with
``as_published=True``, "default" without. Published queries: the ``processed_*`` folders of BioSyn's form. "Exact"
is the share of the mentions that is found in the training dictionary by equality alone, each part under a gold id.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from benchmarks.common.inputs import data_root, unpack
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.corpus import read_documents
from nymlink.corpus.documents import Document, Mention
from nymlink.text.normalise import normalise
from nymlink.text.prepare import prepare_document
from nymlink.text.spelling import read_table

_NCBI: Final = "corpora/ncbi_disease/original-data/NCBI{}set_corpus.txt.gz"
_BC5CDR: Final = "corpora/bc5cdr/CDR_{}Set.PubTator.txt.gz"
_NCBI_QUERIES: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz"
_BC5CDR_QUERIES: Final = "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz"
_TABLE: Final = "corpora/ncbi_disease/ncbi-spell-check.txt"


_NCBI_NAMES: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"
_BC5CDR_NAMES: Final = "corpora/bc5cdr/bc5cdr-disease_train_dictionary.txt.gz"


@dataclass(frozen=True)
class Split:
    """Raw corpus, archive of published queries, their folder in it, dictionary, and the typo table, if any."""

    name: str
    raw: str
    queries: str
    folder: str
    names: str
    table: str | None = None


SPLITS: Final = (
    Split("NCBI train", _NCBI.format("train"), _NCBI_QUERIES, "ncbi-disease/processed_train", _NCBI_NAMES, _TABLE),
    Split("NCBI devel", _NCBI.format("develop"), _NCBI_QUERIES, "ncbi-disease/processed_dev", _NCBI_NAMES, _TABLE),
    Split("NCBI test", _NCBI.format("test"), _NCBI_QUERIES, "ncbi-disease/processed_test", _NCBI_NAMES, _TABLE),
    Split(
        "BC5CDR train",
        _BC5CDR.format("Training"),
        _BC5CDR_QUERIES,
        "bc5cdr-disease/processed_train",
        _BC5CDR_NAMES,
    ),
    Split(
        "BC5CDR devel",
        _BC5CDR.format("Development"),
        _BC5CDR_QUERIES,
        "bc5cdr-disease/processed_dev",
        _BC5CDR_NAMES,
    ),
)

Place = tuple[str, int | None, int | None]
Queries = dict[Place, tuple[str, ...]]


@dataclass
class Agreement:
    """Counts of published queries and of equal prepared ones, and the differing ones.

    A difference is (document, raw mention, prepared parts, published parts).
    """

    published: int = 0
    equal: int = 0
    differing: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    @property
    def percent(self) -> float:
        return 100 * self.equal / self.published


def compare(split: Split, data: Path, *, as_published: bool) -> Agreement:
    """Prepare a split from the raw file and compare by document and offsets.

    A published query without a prepared mention at its offsets counts as differing.
    """
    result = Agreement()
    table = {} if split.table is None else read_table(data / split.table)
    documents = list(read_documents(data / split.raw))
    raw = {_place(document, mention): mention.text for document in documents for mention in document.mentions}
    prepared = _prepared(documents, spelling=table, as_published=as_published)
    for key, reference in _published(data / split.queries, split.folder).items():
        result.published += 1
        if prepared.get(key) == reference:
            result.equal += 1
        else:
            result.differing.append((key[0], raw.get(key, ""), prepared.get(key, ()), reference))
    return result


def _prepared(
    documents: list[Document], *, spelling: Mapping[str, str] | None = None, as_published: bool = False
) -> Queries:
    return {
        _place(document, mention): queries
        for document in documents
        for mention, queries in zip(
            document.mentions,
            prepare_document(document, spelling=spelling, composites="gold", as_published=as_published),
            strict=True,
        )
    }


def _published(archive: Path, folder: str) -> Queries:
    with tempfile.TemporaryDirectory() as temporary:
        unpack(str(archive), temporary, parts=[folder])
        documents = list(read_documents(Path(temporary) / folder))
    # A few published parts end in a blank.
    return {
        _place(document, mention): tuple(part.strip() for part in mention.parts or (mention.text,))
        for document in documents
        for mention in document.mentions
    }


def _place(document: Document, mention: Mention) -> Place:
    return document.id, mention.start, mention.end


def exact(split: Split, data: Path) -> dict[str, float]:
    """Compute the percentage of mentions whose parts are all names of a gold concept, for four preparations."""
    names: dict[str, set[str]] = {}
    for _, line in read_lines(data / split.names, Problems()):
        ids, _, name = line.partition("||")
        names.setdefault(normalise(name), set()).update(ids.replace("+", "|").split("|"))
    documents = list(read_documents(data / split.raw))
    gold = {
        _place(document, mention): {one.removeprefix("OMIM:") for one in mention.concept_ids}
        for document in documents
        for mention in document.mentions
    }
    published = _published(data / split.queries, split.folder)
    table = {} if split.table is None else read_table(data / split.table)
    ways = {
        "published": published,
        "as published": _prepared(documents, spelling=table, as_published=True),
        "default": _prepared(documents, spelling=table),
        "built-in table": _prepared(documents),
    }
    return {
        way: 100
        * sum(all(names.get(q, set()) & gold[key] for q in queries[key]) for key in published)
        / len(published)
        for way, queries in ways.items()
    }


def kind_of(raw: str, prepared: tuple[str, ...], published: tuple[str, ...], *, only_by_default: bool) -> str:
    """Classify a difference; ``only_by_default``: the mention agrees when prepared as published."""
    if only_by_default:
        if set(raw) & set("(["):
            return "abbreviation in brackets after its long form left out"
        compound = "-" in raw or raw.endswith("s")
        return (
            f"abbreviation {'in a compound or plural' if compound else 'of another pattern, order or two words'}"
        )
    if len(published) > 1 and len(prepared) == 1:
        one_each = len(published) == len(raw.split())
        return "published: one part a word, as many ids" if one_each else "composite split by the published only"
    if len(prepared) > 1:
        return "composite split by nymlink only" if len(published) == 1 else "composite parts differ"
    return "definition chosen or found differently"


def _speed(data: Path) -> str:
    documents: list[Document] = list(read_documents(data / SPLITS[0].raw))
    start = time.perf_counter()
    for document in documents:
        prepare_document(document)
    seconds = time.perf_counter() - start
    mentions = sum(len(document.mentions) for document in documents)
    return f"{1e6 * seconds / len(documents):.0f} µs a document, {1e6 * seconds / mentions:.0f} µs a mention"


@click.command()
@click.option("--show", default=0, help="List the first N differing mentions of each split.")
def main(show: int) -> None:
    """Compare our preparation with the published prepared queries."""
    data = data_root()
    click.echo(f"{'split':14}{'mentions':>9} | {'as published':>12}{'%':>7} | {'default':>8}{'%':>7}")
    kinds: dict[str, Counter[str]] = {}
    listed: list[str] = []
    for split in SPLITS:
        strict, default = (compare(split, data, as_published=flag) for flag in (True, False))
        click.echo(
            f"{split.name:14}{strict.published:9} | {strict.equal:12}{strict.percent:7.2f} |"
            f" {default.equal:8}{default.percent:7.2f}"
        )
        differing = {(document, mention) for document, mention, _, _ in strict.differing}
        for document, mention, prepared, published in default.differing:
            kind = kind_of(mention, prepared, published, only_by_default=(document, mention) not in differing)
            kinds.setdefault(kind, Counter())[split.name] += 1
        listed += [
            f"{split.name} {document}: {mention!r} "
            f"prepared {' | '.join(prepared)!r} published {' | '.join(published)!r}"
            for document, mention, prepared, published in strict.differing[:show]
        ]
    click.echo("\ndiffering by default, by class and split")
    for kind, counts in sorted(kinds.items()):
        click.echo(f"{kind:58}" + "".join(f"{counts[split.name]:6}" for split in SPLITS))
    click.echo("\nexact matches in the training dictionary, %")
    for number, split in enumerate(SPLITS):
        shares = exact(split, data)
        if number == 0:
            click.echo(" " * 14 + "".join(f"{way:>16}" for way in shares))
        click.echo(f"{split.name:14}" + "".join(f"{share:16.2f}" for share in shares.values()))
    click.echo("\n" + _speed(data))
    for line in listed:
        click.echo(line)


if __name__ == "__main__":
    main()
