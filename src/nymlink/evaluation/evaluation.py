"""Evaluate a linker on annotated mentions, and report the evaluation."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType
from typing import Any, Final

import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.breakdown import UNSEEN, BreakdownRow, Mistake, breakdown, mistakes
from nymlink.evaluation.outcomes import (
    DEPTH,
    GoldQuery,
    GoldResolver,
    Outcome,
    accuracy,
    as_array,
    mean_reciprocal_rank,
    outcomes,
)
from nymlink.evaluation.significance import bootstrap_interval
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.normalise import normalise
from nymlink.text.prepare import expand_document, prepare_document
from nymlink.text.writing import ALIKE, writing_likeness
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.hierarchy import steps_between
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


def augment(
    vocabulary: Vocabulary,
    corpora: Iterable[Corpus],
    *,
    spelling: Mapping[str, str] | None = None,
    as_published: bool = False,
) -> Vocabulary:
    """Add the mentions of training or development corpora to a vocabulary, as names of their gold concepts.

    Abbreviations of the mentions are expanded. The published figures on NCBI and BC5CDR are for such a dictionary.
    Composite mentions are left out, because no annotation says which part means which concept.
    """
    resolver = GoldResolver(vocabulary)
    added = TableBuilder()
    for corpus in corpora:
        for document in corpus.documents:
            prepared = prepare_document(document, spelling=spelling, composites="gold", as_published=as_published)
            surfaces = expand_document(document, composites="gold", as_published=as_published)
            for mention, parts, (surface, *_) in zip(document.mentions, prepared, surfaces, strict=True):
                if len(parts) > 1:
                    continue
                # Keep capitals and signs, which are evidence. If a misspelling was corrected, take the corrected
                # text.
                name = parts[0] if as_published or normalise(surface) != parts[0] else surface
                for row in sorted(resolver.rows(mention.concept_ids)):
                    concept_id = vocabulary.concept_id(row)
                    added.concept(concept_id)
                    if as_published or not _has_name(vocabulary, concept_id, name):
                        added.name(concept_id, name)
    return vocabulary.extended(Source("training mentions", "corpus"), added.build())


def _has_name(vocabulary: Vocabulary, concept_id: str, text: str) -> bool:
    """Whether a concept has this name. Typesetting and the capital at the start of a sentence may differ."""
    return any(
        name.concept_id == concept_id and writing_likeness(text, name.text) > ALIKE
        for name in vocabulary.find(text)
    )


ACCURACY_AT: Final = (1, 5, 10, 20)
RECALL_AT: Final = (1, 2, 4, 8, 16, 32, 64)
_WITHIN: Final = MappingProxyType({"within_1_step": 1, "within_2_steps": 2})
"""Figure → largest number of steps in the hierarchy from the first concept to a gold concept."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of documents and mentions.

    Attributes:
        documents: documents of the corpus.
        mentions: mentions of the corpus that have the wanted types.
        without_gold: mentions left out because they have no gold id.
        unknown_gold: mentions whose gold ids are not in the vocabulary. They are scored as wrong or left out.
        composite: scored mentions that have several parts.
        scored: scored mentions, the denominator of every figure.
    """

    documents: int
    mentions: int
    without_gold: int
    unknown_gold: int
    composite: int
    scored: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of one evaluation.

    Attributes:
        counts: numbers of mentions scored and left out.
        figures: name of a figure → share, 0 to 1. ``acc@k`` and ``strict_acc@k`` say how often a right name is
            among the first k names. With ``acc@k``, a name is right if one of its concepts is gold (lenient, as in
            published figures). With ``strict_acc@k``, all of them must be gold. ``concept_acc@k`` and ``recall@k``
            say how often a gold concept is among the first k concepts. ``mrr`` and ``concept_mrr`` are the mean
            reciprocal ranks among names and concepts. ``within_1_step`` says how often the first concept is gold,
            or a parent or child of a gold concept; ``within_2_steps`` counts grandparents, grandchildren and
            siblings, too. These two are there only if the vocabulary has a hierarchy.
        intervals: 95 % bootstrap intervals of the accuracies at 1 and 5.
        breakdown: the accuracies of groups of mentions, from easy to difficult ones.
        outcomes: the ranks of each mention.
        mistakes: the mentions whose first concept is wrong.
        settings: the corpus, the dictionary and the settings of the evaluation.

    Example:
        >>> from nymlink import Linker, evaluate, read_corpus
        >>> linker = Linker.build("diseases.obo", encoder=None)
        >>> evaluation = evaluate(linker, read_corpus("dev.PubTator.txt"))
        >>> evaluation.counts.scored, len(evaluation.mistakes)
        (106, 1)
    """

    counts: Counts
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    breakdown: Sequence[BreakdownRow] = field(repr=False)
    outcomes: Sequence[Outcome] = field(repr=False)
    mistakes: Sequence[Mistake] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        """Return the main figures in one line. :func:`report` shows all figures."""
        by_concept, by_name = (
            "/".join(f"{100 * self.figures[f'{prefix}acc@{k}']:.1f}" for k in (1, 5))
            for prefix in ("concept_", "")
        )
        return (
            f"Acc@1/@5 {by_concept} by concept, {by_name} by name; {self.counts.scored:,} mentions; "
            f"{self.counts.unknown_gold:,} have no gold concept in the vocabulary"
        )

    @property
    def unseen(self) -> BreakdownRow | None:
        """The accuracies of mentions whose prepared form is not in the dictionary; ``None`` if there are none."""
        return next((row for row in self.breakdown if row.label == UNSEEN), None)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the figures, then their breakdown, counts, settings and all mentions' ranks."""
        counts = {name: getattr(self.counts, name) for name in Counts.__slots__}
        return {
            "n": self.counts.scored,
            **self.figures,
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "breakdown": [row.to_dict() for row in self.breakdown],
            "counts": counts,
            "settings": dict(self.settings),
            "mentions": {
                "fingerprint": fingerprint([outcome.query for outcome in self.outcomes]),
                "name_ranks": [outcome.name_rank for outcome in self.outcomes],
                "concept_ranks": [outcome.concept_rank for outcome in self.outcomes],
            },
        }


def evaluate(
    linker: Linker | Index,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    training: Sequence[Corpus] = (),
    keep_unknown: bool = True,
    as_published: bool = False,
    seed: int = 0,
) -> Evaluation:
    """Link the mentions of a corpus with a linker, and score the links.

    A mention with several gold ids is split into as many parts, if possible.

    Args:
        linker: the linker to measure, or an index, to measure a linker with default settings. The linker's
            ``top_k`` and NIL threshold change nothing, because figures are computed from ranks.
        corpus: documents with gold ids.
        types: score mentions of these types only.
        training: group mentions also by how often their gold concepts occur in these corpora.
        keep_unknown: whether mentions without a gold id of the vocabulary are scored as wrong. Otherwise they are
            left out.
        as_published: whether to evaluate as published systems do. Mentions are prepared as in
            :func:`~nymlink.text.prepare.prepare_document`, exactly these texts are searched, no ranker is used,
            and each order of the words of a name counts as a name.
        seed: the seed of the bootstrap.

    Raises:
        InputError: nothing is left to score, and the message says why; or the linker re-ranks candidates by
            context, which :func:`~nymlink.evaluation.reranking.evaluate_reranking` measures.

    Example:
        >>> from nymlink import Linker, evaluate, read_corpus
        >>> linker = Linker.build("diseases.obo", encoder=None)
        >>> evaluation = evaluate(linker, read_corpus("dev.PubTator.txt"), types=["Disease"])
        >>> evaluation.counts.scored, evaluation.figures["concept_acc@5"]
        (106, 1.0)
    """
    linker = linker if isinstance(linker, Linker) else Linker(linker)
    if linker.reranker is not None:
        raise InputError(
            "the linker re-ranks candidates by context: measure that with `nymlink rerank evaluate` "
            "(nymlink.evaluation.reranking.evaluate_reranking)"
        )
    if linker.judge is not None:
        raise InputError("a judge is not measured here: evaluate a linker without one")
    index = linker.index
    pipeline = replace(linker.pipeline, composites="gold")
    if as_published:
        # Published systems have no ranker.
        plain = index.with_ranker(None).restricted(linker.restriction)
        pipeline = replace(pipeline, index=plain, as_published=True)
    # Link all mentions, because mentions that are not scored may decide ties of others.
    found = pipeline.search(corpus.documents, DEPTH)
    queries = [
        GoldQuery(document.id, mention, prepared, tuple(part.question for part in asked), first)
        for number, document in enumerate(corpus.documents)
        for mention, prepared, asked, first in zip(
            document.mentions,
            prepare_document(
                document,
                language=pipeline.language,
                spelling=pipeline.spelling,
                composites="gold",
                as_published=as_published,
            ),
            found.queries[number],
            found.settled(number),
            strict=True,
        )
        if types is None or mention.type in types
    ]
    resolver = GoldResolver(index.vocabulary)
    annotated = [query for query in queries if query.mention.concept_ids]
    known = [query for query in annotated if resolver.rows(query.mention.concept_ids)]
    scored = annotated if keep_unknown else known
    if not scored:
        raise InputError(_nothing_to_score(corpus, queries, annotated, types))
    ranked = outcomes(found, scored, resolver, as_published=as_published)
    counts = Counts(
        documents=len(corpus.documents),
        mentions=len(queries),
        without_gold=len(queries) - len(annotated),
        unknown_gold=len(annotated) - len(known),
        composite=sum(len(query.parts) > 1 for query in scored),
        scored=len(scored),
    )
    readings = {
        "acc": as_array([outcome.name_rank for outcome in ranked]),
        "strict_acc": as_array([outcome.strict_rank for outcome in ranked]),
        "concept_acc": as_array([outcome.concept_rank for outcome in ranked]),
    }
    figures = {f"{name}@{k}": accuracy(ranks, k) for name, ranks in readings.items() for k in ACCURACY_AT}
    figures |= {f"recall@{k}": accuracy(readings["concept_acc"], k) for k in RECALL_AT}
    figures |= {
        "mrr": mean_reciprocal_rank(readings["acc"]),
        "concept_mrr": mean_reciprocal_rank(readings["concept_acc"]),
    }
    figures |= _nearness(index.vocabulary, ranked)
    documents = [query.document_id for query in scored]
    intervals = {
        f"{name}@{k}": bootstrap_interval(ranks < k, documents, seed=seed)
        for name, ranks in readings.items()
        for k in ACCURACY_AT[:2]
    }
    settings = {
        "corpus": corpus.name,
        "types": None if types is None else sorted(types),
        "training": [split.name for split in training],
        "keep_unknown": keep_unknown,
        "as_published": as_published,
        "dictionary": [source.to_dict() for source in index.vocabulary.sources],
        "concepts": len(index.vocabulary),
        "distinct_names": index.entries.distinct_names,
        "entries": len(index.entries),
        "index": dict(index.settings),
        "seed": seed,
    }
    return Evaluation(
        counts=counts,
        figures=figures,
        intervals=intervals,
        breakdown=breakdown(index, ranked, resolver, training=training),
        outcomes=ranked,
        mistakes=mistakes(index.vocabulary, ranked, resolver, corpus),
        settings=settings,
    )


def _nearness(vocabulary: Vocabulary, ranked: Sequence[Outcome]) -> dict[str, float]:
    """Compute how often the first concept is near a gold concept; empty if the vocabulary has no hierarchy."""
    if not pc.max(pc.list_value_length(vocabulary.columns.concepts["parents"])).as_py():
        return {}
    steps = [_steps_away(vocabulary, outcome) for outcome in ranked]
    return {figure: sum(each <= most for each in steps) / len(steps) for figure, most in _WITHIN.items()}


def _steps_away(vocabulary: Vocabulary, outcome: Outcome) -> float:
    """Count the steps from the first concept to a gold concept, of a composite mention those of its worst part."""
    if outcome.concept_rank == 0:
        return 0
    if None in outcome.predicted:
        return inf
    most = max(_WITHIN.values())
    firsts = [first for first in outcome.predicted if first is not None]
    return max((steps_between(vocabulary, row, outcome.gold, most=most) for row, _ in firsts), default=inf)


def fingerprint(queries: Sequence[GoldQuery]) -> str:
    """Compute a digest of the scored mentions and their order.

    Evaluations with the same digest can be compared.
    """
    digest = hashlib.sha256()
    for query in queries:
        mention = query.mention
        # Offsets identify a mention. Without offsets, its text does.
        place = mention.text if mention.start is None else f"{mention.start}\t{mention.end}"
        line = f"{query.document_id}\t{place}\t{'|'.join(mention.concept_ids)}\n"
        digest.update(line.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _nothing_to_score(
    corpus: Corpus, queries: Sequence[GoldQuery], annotated: Sequence[GoldQuery], types: Collection[str] | None
) -> str:
    if not queries and types is not None:
        there = sorted({mention.type for _, mention in corpus.mentions()} - {""})
        has = f"it has: {', '.join(there)}" if there else "its mentions have no types"
        return f"the corpus has no mention of type {', '.join(sorted(types))}; {has}"
    if not annotated:
        return "no mention of the corpus has a gold id: name the column that holds them"
    return "none of the corpus's gold ids is in the vocabulary: is it the right one?"


_READINGS = {"acc": "by name, lenient", "strict_acc": "by name, strict", "concept_acc": "by concept"}


def report(evaluation: Evaluation, *, examples: int = 10) -> str:
    """Write an evaluation as a page of text: counts, figures with intervals, breakdown, and mistakes.

    Args:
        evaluation: the evaluation.
        examples: the number of mistakes shown.
    """
    figures, intervals, counts = evaluation.figures, evaluation.intervals, evaluation.counts
    settings = evaluation.settings
    dictionary = " + ".join(source["file"] or source["name"] for source in settings["dictionary"])
    handling = "scored as wrong" if settings["keep_unknown"] else "left out"
    lines = [
        f"corpus      {settings['corpus']}"
        + (f", types {', '.join(settings['types'])}" if settings["types"] is not None else ""),
        f"dictionary  {dictionary}: {settings['concepts']:,} concepts, "
        f"{settings['distinct_names']:,} distinct names",
        f"mentions    {counts.mentions:,} in {counts.documents:,} documents; {counts.without_gold:,} without "
        f"gold id left out; {counts.unknown_gold:,} with gold id not in the dictionary {handling}",
        f"scored      {counts.scored:,} ({counts.composite:,} composite)",
        "",
        f"{'accuracy (%)':34}" + "".join(f"{f'@{k}':>8}" for k in ACCURACY_AT) + "    95 % interval of @1",
    ]
    for name, label in _READINGS.items():
        low, high = intervals[f"{name}@1"]
        shares = "".join(f"{100 * figures[f'{name}@{k}']:8.1f}" for k in ACCURACY_AT)
        lines.append(f"{label:34}{shares}    {100 * low:.1f} to {100 * high:.1f}")
    lines += [
        "",
        f"{'recall (%) of concepts':34}" + "".join(f"{f'@{k}':>8}" for k in RECALL_AT),
        f"{'':34}" + "".join(f"{100 * figures[f'recall@{k}']:8.1f}" for k in RECALL_AT),
        "",
        f"mean reciprocal rank: {figures['mrr']:.3f} by name, {figures['concept_mrr']:.3f} by concept",
    ]
    if near := [f"{steps}: {100 * figures[name]:.1f} %" for name, steps in _WITHIN.items() if name in figures]:
        lines.append(f"first concept at most so many steps from gold in the hierarchy: {', '.join(near)}")
    lines += ["", f"{'by name, lenient, of mentions with':52}{'n':>8}{'@1':>8}{'@5':>8}"]
    for row in evaluation.breakdown:
        share = f"{row.n:8,}{100 * row.acc_1:8.1f}{100 * row.acc_5:8.1f}"
        lines.append(f"{row.group:26}{row.label:26}{share}")
    if evaluation.mistakes:
        lines += ["", f"{len(evaluation.mistakes):,} mentions whose first concept is wrong:"]
        reasons = Counter(mistake.why for mistake in evaluation.mistakes)
        lines += [f"{number:8,}  {why}" for why, number in reasons.most_common()]
        lines += ["", "for example:"] if examples else []
        step = max(len(evaluation.mistakes) // max(examples, 1), 1)
        for mistake in list(evaluation.mistakes)[::step][:examples]:
            lines.append(
                f"  {mistake.mention!r}: gold {mistake.gold}; predicted {mistake.predicted} ({mistake.why})"
            )
    return "\n".join(lines) + "\n"
