"""Add to a vocabulary the names of equivalent concepts in a metathesaurus."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.vocabulary.enrich.borrowing import Loan, borrow
from nymlink.vocabulary.enrich.equivalence import Equivalences, find_equivalences
from nymlink.vocabulary.languages import matching_languages
from nymlink.vocabulary.model import Source, unused_name
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, SourceTables, Tables
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Enriched:
    """An enriched vocabulary, with the evidence and the counts.

    Attributes:
        vocabulary: the result; concepts keep their rows.
        equivalences: the equivalent concepts, by evidence.
        added: number of names borrowed.
        present: number of names that the concepts had already, except for case and punctuation.
        ambiguous: number of names left out because another concept has them, or would borrow them too.
    """

    vocabulary: Vocabulary
    equivalences: Equivalences
    added: int
    present: int
    ambiguous: int


def enrich(
    target: Vocabulary,
    meta: Vocabulary,
    *,
    languages: Collection[str] = (),
    without: Collection[str] = (),
    by_name: bool = False,
) -> Enriched:
    """Add to the concepts of a vocabulary the names of equivalent concepts in a metathesaurus.

    A borrowed name keeps its source, which is listed with its licence. It is preferred only for concepts without
    any name. Related, narrow and broad names are not borrowed, nor are names from sources that the target already
    has. Equivalence is found without borrowed names, so that enriching again changes nothing.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus, or any other vocabulary.
        languages: BCP 47 codes of the languages of borrowed names, each with its regions; by default the languages
            of the target's names, or all if it has no names.
        without: sources of the metathesaurus to borrow nothing from.
        by_name: whether concepts with a name in common are equivalent, too: for vocabularies to whose ids no other
            refers. See :func:`~nymlink.vocabulary.enrich.equivalence.find_equivalences`.

    Raises:
        InputError: no concept of the target has an equivalent, or the metathesaurus has no name in one of the
            languages, or no such source to leave out.
    """
    available = list(meta.counts("lang"))
    if unknown := sorted(code for code in {*languages} if not matching_languages([code], available)):
        raise InputError(
            f"no language {unknown[0]!r} among the names to borrow; there are: {', '.join(available) or 'none'}"
        )
    sources = [source.name for source in meta.sources]
    if unknown := sorted({*without}.difference(sources)):
        raise InputError(f"no source {unknown[0]!r} to leave out; there are: {', '.join(sources) or 'none'}")
    borrowed = {name for earlier in target.settings.get("enriched", ()) for name in earlier["sources"]}
    parts = target.parts()
    own = [part for part in parts if part[0].name not in borrowed]
    bare = Vocabulary.of(*own, repeats=True) if borrowed else target
    equivalences = find_equivalences(bare, meta, by_name=by_name)
    if not equivalences.pairs:
        examples = f"({_example(target)} here, {_example(meta)} to borrow from)"
        if by_name:
            raise InputError(f"no concept in common by ids, cross-references or names {examples}")
        raise InputError(
            f"no concept in common by ids or cross-references {examples}: merge the vocabulary to borrow from "
            "with one that refers to these ids, or match concepts by name, too (--by-name)"
        )
    wanted = set(languages) or bare.counts("lang").keys() - {UNKNOWN_LANGUAGE}
    loan = borrow(
        target,
        meta,
        equivalences.pairs,
        lenders=[
            source.name
            for source in meta.sources
            if source.name not in without and _find_same(source, [own_source for own_source, _ in own]) is None
        ],
        languages=matching_languages(wanted, available) if wanted else None,
    )
    lent = _borrowed_tables(target, meta, loan)
    record = {
        "sources": [source.name for source, _ in lent],
        "languages": sorted(languages),
        "without": sorted(without),
        "by_name": by_name,
    }
    enriched = [*target.settings.get("enriched", ()), record]
    settings = {**target.settings, "enriched": enriched} if lent else target.settings
    vocabulary = Vocabulary.of(*_join(parts, lent), repeats=True, settings=settings)
    return Enriched(
        vocabulary, equivalences, added=len(loan.names), present=loan.present, ambiguous=loan.ambiguous
    )


def _borrowed_tables(target: Vocabulary, meta: Vocabulary, loan: Loan) -> list[SourceTables]:
    """Make tables of borrowed names by source; a source that the target has keeps its name there."""
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
    lent: list[SourceTables] = []
    for source in meta.sources:
        own = table.filter(pc.equal(sources, source.name))
        if len(own):
            known = _find_same(source, target.sources)
            used = {other.name for other in (*target.sources, *(earlier for earlier, _ in lent))}
            lender = known or replace(source, name=unused_name(source.name, used))
            lent.append((lender, Tables(CONCEPT_SCHEMA.empty_table(), own, REDIRECT_SCHEMA.empty_table())))
    return lent


def _join(parts: list[SourceTables], lent: list[SourceTables]) -> list[SourceTables]:
    """Add borrowed names to the tables of their sources."""
    joined = dict(parts)
    for source, tables in lent:
        known = joined.get(source)
        names = [tables.names] if known is None else [known.names, tables.names]
        joined[source] = replace(known or tables, names=pa.concat_tables(names))
    return list(joined.items())


def _find_same(source: Source, others: Collection[Source]) -> Source | None:
    """Find the same source under any name: an equal one, or one of the same file."""
    return next(
        (other for other in others if other == source or (other.sha256 and other.sha256 == source.sha256)), None
    )


def _example(vocabulary: Vocabulary) -> str:
    return f"ids such as {vocabulary.concept_id(0)}" if len(vocabulary) else "no concept"
