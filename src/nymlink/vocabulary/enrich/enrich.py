"""Giving a vocabulary the names of its equals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.vocabulary.enrich.borrowing import Loan, borrow
from nymlink.vocabulary.enrich.equals import Equals, find_equals
from nymlink.vocabulary.languages import with_regions
from nymlink.vocabulary.model import UNKNOWN_LANGUAGE, Source, unused_name
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, Part, Tables
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Enriched:
    """An enriched vocabulary, and how it came about.

    Attributes:
        vocabulary: the result; its concepts have the rows they had.
        equals: which concepts were found equal to which of the metathesaurus, and by what.
        added: names that were borrowed.
        there: names that the concepts had already, but for case and punctuation.
        ambiguous: names left out because another concept has them, or would borrow them as well.
    """

    vocabulary: Vocabulary
    equals: Equals
    added: int
    there: int
    ambiguous: int


def enrich(
    target: Vocabulary,
    meta: Vocabulary,
    *,
    languages: Collection[str] = (),
    without: Collection[str] = (),
    by_name: bool = False,
) -> Enriched:
    """Add to each concept of a vocabulary the names of what a metathesaurus holds equal to it.

    A borrowed name keeps its source, which is listed with its licence. It is preferred for concepts only that have
    no name of their own; one that has no preferred name may be called by a surer one than its own. Related, narrow
    and broad names are not borrowed, nor is what the target's own sources hold: it has of them what it is to have.
    Borrowed names serve no further borrowing, so that what is enriched twice is as it was.

    Args:
        target: the vocabulary that is to have more names.
        meta: the metathesaurus, or any other vocabulary.
        languages: BCP 47 codes of the languages to borrow names in, each with its regions; by default those in
            which the target has names, and all if it has none.
        without: sources of the metathesaurus to borrow nothing from.
        by_name: whether concepts that are called the same are equal, too: for vocabularies whose ids nobody refers
            to. See :func:`~nymlink.vocabulary.enrich.equals.find_equals`.

    Raises:
        InputError: nothing in the metathesaurus is equal to a concept of the target, it has no name in one of the
            languages, or it has no such source to leave out.
    """
    there = list(meta.counts("lang"))
    if unknown := sorted(one for one in {*languages} if not with_regions([one], there)):
        raise InputError(
            f"no language {unknown[0]!r} among the names to borrow; there are: {', '.join(there) or 'none'}"
        )
    sources = [source.name for source in meta.sources]
    if strange := sorted({*without}.difference(sources)):
        raise InputError(f"no source {strange[0]!r} to leave out; there are: {', '.join(sources) or 'none'}")
    borrowed = {name for once in target.settings.get("enriched", ()) for name in once["sources"]}
    parts = target.parts()
    own = [part for part in parts if part[0].name not in borrowed]
    bare = Vocabulary.of(*own, repeats=True) if borrowed else target
    equals = find_equals(bare, meta, by_name=by_name)
    if not equals.pairs:
        examples = f"({_example(target)} here, {_example(meta)} to borrow from)"
        if by_name:
            raise InputError(f"no concept in common by ids, cross-references or names {examples}")
        raise InputError(
            f"no concept in common by ids or cross-references {examples}: merge what is to be borrowed from with "
            "a vocabulary that refers to these ids, or ask for equals by name (--by-name)"
        )
    wanted = set(languages) or bare.counts("lang").keys() - {UNKNOWN_LANGUAGE}
    loan = borrow(
        target,
        meta,
        equals.pairs,
        lenders=[
            source.name
            for source in meta.sources
            if source.name not in without and _same(source, [one for one, _ in own]) is None
        ],
        languages=with_regions(wanted, there) if wanted else None,
    )
    lent = _lent(target, meta, loan)
    made = {
        "sources": [source.name for source, _ in lent],
        "languages": sorted(languages),
        "without": sorted(without),
        "by_name": by_name,
    }
    enriched = [*target.settings.get("enriched", ()), made]
    settings = {**target.settings, "enriched": enriched} if lent else target.settings
    vocabulary = Vocabulary.of(*_joined(parts, lent), repeats=True, settings=settings)
    return Enriched(vocabulary, equals, added=len(loan.names), there=loan.there, ambiguous=loan.ambiguous)


def _lent(target: Vocabulary, meta: Vocabulary, loan: Loan) -> list[Part]:
    """The names of a loan as tables of their sources, under names that these have or can have in the target."""
    names = meta.columns.names.take(pa.array(loan.names))
    nameless = np.diff(target.columns.name_offsets)[loan.concepts] == 0
    kinds = names["kind"].cast(pa.string())
    demoted = pc.and_(pc.equal(kinds, "preferred"), pa.array(~nameless))
    table = pa.table(
        [
            target.columns.concepts["id"].take(pa.array(loan.concepts)),
            names["text"].cast(pa.string()),
            names["lang"].cast(pa.string()),
            pc.if_else(demoted, "exact", kinds),
        ],
        schema=NAME_SCHEMA,
    )
    sources = names["source"].cast(pa.string())
    lent: list[Part] = []
    for source in meta.sources:
        own = table.filter(pc.equal(sources, source.name))
        if len(own):
            known = _same(source, target.sources)
            taken = {one.name for one in (*target.sources, *(one for one, _ in lent))}
            lender = known or replace(source, name=unused_name(source.name, taken))
            lent.append((lender, Tables(CONCEPT_SCHEMA.empty_table(), own, REDIRECT_SCHEMA.empty_table())))
    return lent


def _joined(parts: list[Part], lent: list[Part]) -> list[Part]:
    """All parts, one a source."""
    joined = dict(parts)
    for source, tables in lent:
        known = joined.get(source)
        names = [tables.names] if known is None else [known.names, tables.names]
        joined[source] = replace(known or tables, names=pa.concat_tables(names))
    return list(joined.items())


def _same(source: Source, among: Collection[Source]) -> Source | None:
    """The one that is the same source, under whatever name, if any is."""
    return next((one for one in among if one == source or (one.sha256 and one.sha256 == source.sha256)), None)


def _example(vocabulary: Vocabulary) -> str:
    return f"ids such as {vocabulary.concept_id(0)}" if len(vocabulary) else "no concept"
