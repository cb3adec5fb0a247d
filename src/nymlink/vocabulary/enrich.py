"""Add names of other vocabularies to the concepts of a vocabulary."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Ints
from nymlink.vocabulary.columns import normalise_all
from nymlink.vocabulary.concepts import Source, matching_languages, unused_name
from nymlink.vocabulary.equivalence import Equivalences, find_equivalences
from nymlink.vocabulary.name_matching import CrossPair
from nymlink.vocabulary.tables import (
    CONCEPT_SCHEMA,
    NAME_SCHEMA,
    REDIRECT_SCHEMA,
    SourceTables,
    Tables,
    with_common_prefixes,
)
from nymlink.vocabulary.vocabulary import Vocabulary

BORROWED: Final = ("preferred", "exact", "abbreviation", "tradename")
"""Kinds of names that are borrowed, the most reliable first. Names of other kinds mean only something related."""

# Titles in the style of code lists: SNOMED's tags, "not otherwise specified" (but "neuronal NOS" is an enzyme),
# and OMIM's titles with a symbol.
_CODE_TITLE: Final = (
    r"(?i:\((disorder|disease|finding|morphologic abnormality)\)|\[ambiguous\]|^\[X\]|, NOS\b|\bunspecified\b)"
    r"|;\s*[A-Z][A-Z0-9]+$"
)


@dataclass(frozen=True, slots=True)
class Loan:
    """The N names to borrow, and counts of names that are not borrowed.

    Names of a concept that have the same normal form count once.

    Attributes:
        concepts: int64 (N): concept rows of the target.
        names: int64 (N): name rows of the metathesaurus.
        present: number of names that the concept has already.
        ambiguous: number of names that another concept of the target has, or would also borrow.
    """

    concepts: Ints
    names: Ints
    present: int
    ambiguous: int


def borrow(
    target: Vocabulary,
    meta: Vocabulary,
    equivalent: Collection[CrossPair],
    *,
    lenders: Collection[str],
    languages: Collection[str] | None,
) -> Loan:
    """Choose the names that concepts of the target borrow from their equivalents.

    If several names have the same normal form, one of them is borrowed: a name of the most reliable kind, from the
    first source that has such a name. A name is not ambiguous if only obsolete concepts share it. Titles of code
    lists ("Uveitis, NOS (disorder)") are not borrowed.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus that offers names.
        equivalent: pairs of equivalent concepts.
        lenders: sources of the metathesaurus whose names are borrowed, in order of precedence.
        languages: languages of the names; ``None`` for all.
    """
    concepts, names = _offered(meta, equivalent, {"kind": BORROWED, "source": lenders, "lang": languages})
    live = ~target.columns.concepts["obsolete"].to_numpy()[target.columns.names["concept"].to_numpy()]
    held = target.columns.names.filter(pa.array(live))
    offered = meta.columns.names["text"].take(pa.array(names))
    texts = pa.chunked_array([*held["text"].chunks, *offered.chunks], pa.large_string())
    codes = normalise_all(texts).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    # One number for each pair of normal form and concept; names of the target come before offered ones.
    keys = codes * len(target) + np.concatenate([held["concept"].to_numpy(), concepts])
    distinct, first = np.unique(keys, return_index=True)
    forms = distinct // len(target)
    new, unique = first >= len(held), np.bincount(forms)[forms] == 1
    chosen = np.sort(first[new & unique]) - len(held)
    return Loan(
        concepts[chosen],
        names[chosen],
        present=len(np.intersect1d(keys[: len(held)], keys[len(held) :])),
        ambiguous=int(np.count_nonzero(new & ~unique)),
    )


def _offered(
    meta: Vocabulary, equivalent: Collection[CrossPair], wanted: dict[str, Collection[str] | None]
) -> tuple[Ints, Ints]:
    """List the names of equivalents that have the wanted labels, in the order of these labels.

    Returns:
        Concept rows of the target and name rows of the metathesaurus.
    """
    pairs = np.array(sorted(equivalent), np.int64).reshape(-1, 2)
    starts, ends = (meta.columns.name_offsets[pairs[:, 1] + end] for end in (0, 1))
    counts = ends - starts
    names = np.arange(counts.sum()) + np.repeat(ends - np.cumsum(counts), counts)
    concepts = np.repeat(pairs[:, 0], counts)
    table = meta.columns.names.take(pa.array(names))
    blank = pc.equal(pc.utf8_trim_whitespace(table["text"]), "")
    kept = ~pc.or_(blank, pc.match_substring_regex(table["text"], _CODE_TITLE)).to_numpy()
    ranks = []
    for field, labels in wanted.items():
        if labels is not None:
            rank = pc.index_in(table[field].cast(pa.string()), value_set=pa.array(list(labels), pa.string()))
            kept = kept & rank.is_valid().to_numpy()
            ranks.append(rank.fill_null(0).to_numpy())
    # The first field decides; the sort is stable.
    order = np.lexsort(ranks[::-1])
    order = order[kept[order]]
    return concepts[order], names[order]


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

    A borrowed name keeps its source, and the result lists this source with its licence. A borrowed name becomes a
    preferred name only if the concept had no name. Related, narrow and broad names are not borrowed, and neither
    are names from sources that the target already has. nymlink ignores borrowed names when it looks for equivalent
    concepts. A second enrichment therefore changes nothing.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus, or any other vocabulary.
        languages: BCP 47 codes of the languages of borrowed names, each with its regions. If empty, the languages
            of the target's names are taken, or all languages if it has no names.
        without: sources of the metathesaurus to borrow nothing from.
        by_name: whether concepts with a name in common are equivalent, too. Use this for vocabularies whose ids no
            other vocabulary uses. See :func:`~nymlink.vocabulary.equivalence.find_equivalences`.

    Raises:
        InputError: no concept of the target has an equivalent, the metathesaurus has no name in one of the
            languages, or it lacks a source in ``without``.

    Example:
        >>> from pathlib import Path
        >>> from nymlink import enrich, read_vocabulary
        >>> _ = Path("codes.csv").write_text("id,name,xrefs\\nOWN:1,asthma,MONDO:0004979\\n", encoding="utf-8")
        >>> enriched = enrich(read_vocabulary("codes.csv"), read_vocabulary("diseases.obo"))
        >>> [name.text for name in enriched.vocabulary.names("OWN:1")]
        ['asthma', 'bronchial asthma']
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
    # A prefix may stand for another namespace there.
    if meta.prefixes or bare.prefixes:
        meta = Vocabulary.of(
            *with_common_prefixes([*bare.parts(), *meta.parts()])[len(bare.sources) :],
            repeats=True,
            settings=meta.settings,
        )
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
    """Make a table of borrowed names for each source. A source that the target has keeps its name there."""
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
    """Find a source among others: an equal source, or one from the same file under another name."""
    return next(
        (other for other in others if other == source or (other.sha256 and other.sha256 == source.sha256)), None
    )


def _example(vocabulary: Vocabulary) -> str:
    return f"ids such as {vocabulary.concept_id(0)}" if len(vocabulary) else "no concept"
