"""Evaluate indexes on the queries of a cross-lingual benchmark, language by language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools
from nymlink.core.terminal.progress import track
from nymlink.corpus.model import Corpus
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.gold import GoldResolver
from nymlink.evaluation.metrics import Ranks, accuracy, as_array
from nymlink.evaluation.reranking.evaluate_reranking import evaluate_reranking
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.languages import matching_languages
from nymlink.vocabulary.subset import subset
from nymlink.xlbel.queries import GoldIds, ResolvedQueries

NAME: Final = "acc"
CONCEPT: Final = "concept_acc"

COUNTING: Final = {NAME: "by name, lenient", CONCEPT: "by concept"}
"""What the readings of a result are called."""


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """The figures of one index on the queries of one language.

    Attributes:
        stage: what the index is called.
        language: code of the language of the queries.
        own_names: whether names in that language are in the dictionary.
        context: whether candidates were re-ranked by the sentences of the mentions.
        n: number of mentions.
        covered: number of them whose concept the dictionary has.
        gold_concepts: number of distinct gold ids.
        covered_concepts: number of those that the dictionary has.
        figures: ``acc@k`` by name (lenient, the published reading; not where candidates were re-ranked) and
            ``concept_acc@k``, k 1 and 5, as shares of all mentions.
        covered_figures: the same, of the covered mentions; NaN where there are none.
        report: JSON values of the whole evaluation.
    """

    stage: str
    language: str
    own_names: bool
    context: bool
    n: int
    covered: int
    gold_concepts: int
    covered_concepts: int
    figures: Mapping[str, float]
    covered_figures: Mapping[str, float]
    report: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The row of a table that the result belongs to."""
        return self.stage + ("" if self.own_names else ", own names out") + (", context" if self.context else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values: those of ``nymlink evaluate``, and language and coverage."""
        covered = {name: None if np.isnan(share) else share for name, share in self.covered_figures.items()}
        return {
            "stage": self.stage,
            "language": self.language,
            "own_names": self.own_names,
            "context": self.context,
            **self.report,
            "n": self.n,
            "covered": self.covered,
            "gold_concepts": self.gold_concepts,
            "covered_concepts": self.covered_concepts,
            **self.figures,
            "covered_figures": covered,
        }


def evaluate_languages(
    indexes: Mapping[str, Index],
    queries: Mapping[str, Corpus],
    *,
    lower: bool = False,
    without_own_names: bool = False,
    reranker: str | Path | None = None,
    seed: int = 0,
    progress: bool = False,
) -> list[LanguageResult]:
    """Evaluate indexes on queries in several languages.

    Mentions are linked without their sentences, but for those results that say ``context``. A mention of several
    gold ids is right if any of them is found. A gold id that is no id of the dictionary (the CUIs of XL-BEL) means
    the concepts that have it for a cross-reference.

    Args:
        indexes: what each is called (a stage of training, a dictionary) → the index.
        queries: language code → its queries.
        lower: put mentions into lower case first, as published systems do; an index compares names in lower case
            anyway, but knows acronyms by their capitals.
        without_own_names: also evaluate each index without names in the language of the queries, built anew.
        reranker: also re-rank candidates by the sentences, with this folder that a training wrote.
        seed: of the bootstrap.
        progress: whether to show progress when standard error is a terminal.

    Returns:
        The results, index by index and language by language. An index whose names are all in the language of the
        queries has no result without own names.

    Raises:
        InputError: no query has a gold id.
        StoreError: the re-ranker is missing or damaged.
        MissingExtraError: the re-ranker needs packages that are not installed.
    """
    results = []
    gold_ids = {stage: GoldIds(index.vocabulary) for stage, index in indexes.items()}
    tasks = [(stage, language) for stage in indexes for language in queries]
    for stage, language in track(tasks, "evaluating", shown=progress):
        index, corpus, ids = indexes[stage], queries[language], gold_ids[stage]
        alone = ids.resolve(corpus, lower=lower, context=False)
        results.append(_evaluate(stage, language, index, alone, seed=seed))
        if without_own_names:
            results += _evaluate_without_own_names(results[-1], index, corpus, lower=lower, seed=seed)
        if reranker is not None:
            results.append(
                _evaluate_in_context(stage, language, index, ids.resolve(corpus, lower=lower), reranker)
            )
    return results


def _evaluate(stage: str, language: str, index: Index, queries: ResolvedQueries, *, seed: int) -> LanguageResult:
    evaluation = evaluate(Linker(index, language=language), queries.corpus, seed=seed)
    covered = np.array([bool(outcome.gold) for outcome in evaluation.outcomes])
    ranks = {
        NAME: as_array([outcome.name_rank for outcome in evaluation.outcomes]),
        CONCEPT: as_array([outcome.concept_rank for outcome in evaluation.outcomes]),
    }
    return _result(stage, language, queries, ranks, covered, context=False, report=evaluation.to_dict())


def _evaluate_without_own_names(
    result: LanguageResult, index: Index, corpus: Corpus, *, lower: bool, seed: int
) -> list[LanguageResult]:
    """Evaluate an index without names in the language of the queries; nothing where it has no others."""
    available = index.vocabulary.counts("lang")
    own = set(matching_languages([result.language], available))
    others = [code for code in available if code not in own]
    if own and others:
        index = index.rebuild(subset(index.vocabulary, languages=others))
        queries = GoldIds(index.vocabulary).resolve(corpus, lower=lower, context=False)
        result = _evaluate(result.stage, result.language, index, queries, seed=seed)
    return [replace(result, own_names=False)] if others else []


def _evaluate_in_context(
    stage: str, language: str, index: Index, queries: ResolvedQueries, folder: str | Path
) -> LanguageResult:
    if not any(document.text for document in queries.corpus.documents):
        raise InputError(f"the queries in {language} have no sentences: without them nothing can be re-ranked")
    evaluation = evaluate_reranking(index, Reranker.load(folder, index), queries.corpus)
    resolver = GoldResolver(index.vocabulary)
    covered = np.array([bool(resolver.rows(mention.mention.concept_ids)) for mention in evaluation.mentions])
    ranks = {CONCEPT: as_array([mention.after for mention in evaluation.mentions])}
    return _result(stage, language, queries, ranks, covered, context=True, report=evaluation.to_dict())


def _result(
    stage: str,
    language: str,
    queries: ResolvedQueries,
    ranks: Mapping[str, Ranks],
    covered: Bools,
    *,
    context: bool,
    report: Mapping[str, Any],
) -> LanguageResult:
    return LanguageResult(
        stage=stage,
        language=language,
        own_names=True,
        context=context,
        n=len(covered),
        covered=int(covered.sum()),
        gold_concepts=queries.gold_concepts,
        covered_concepts=queries.covered_concepts,
        figures={f"{name}@{k}": accuracy(array, k) for name, array in ranks.items() for k in (1, 5)},
        covered_figures={
            f"{name}@{k}": accuracy(array[covered], k) for name, array in ranks.items() for k in (1, 5)
        },
        report=report,
    )


def reading_of(results: Iterable[LanguageResult]) -> str:
    """Choose the reading in which results are shown: by name, as published; by concept if a result has context."""
    return CONCEPT if any(result.context for result in results) else NAME


def language_table(results: Sequence[LanguageResult]) -> str:
    """Write results as tables for people: a row for each index, a column for each language, and their mean.

    Accuracies are by name, as published; by concept if a result has context.
    """
    reading = reading_of(results)
    languages = list(dict.fromkeys(result.language for result in results))
    rows: dict[str, dict[str, LanguageResult]] = {}
    for result in results:
        rows.setdefault(result.label, {})[result.language] = result
    width = max(len("gold concepts there"), *map(len, rows)) + 2

    def line(label: str, cells: Sequence[str]) -> str:
        return label.ljust(width) + "".join(cell.rjust(11) for cell in cells)

    def accuracies(attribute: str) -> Iterator[str]:
        for label, row in rows.items():
            shares = [
                tuple(getattr(row[language], attribute)[f"{reading}@{k}"] for k in (1, 5))
                if language in row
                else ()
                for language in languages
            ]
            known = [pair for pair in shares if pair and not np.isnan(pair).any()]
            mean = tuple(np.mean(known, axis=0)) if known else ()
            yield line(label, [_pair(pair) for pair in (*shares, mean)])

    header = [*languages, "mean"]
    return "\n".join(
        [
            f"Acc@1/@5 (%) of all mentions, {COUNTING[reading]}",
            line("", header),
            *accuracies("figures"),
            "",
            "Acc@1/@5 (%) of the mentions whose concept the dictionary has",
            line("", header),
            *accuracies("covered_figures"),
            "",
            "Mentions, and gold concepts, that the dictionary has",
            line("", languages),
            *(
                line(
                    label,
                    [
                        f"{row[code].covered}/{row[code].covered_concepts}" if code in row else "–"
                        for code in languages
                    ],
                )
                for label, row in rows.items()
            ),
            line("of", [_totals(results, code) for code in languages]),
            "",
        ]
    )


def _pair(shares: Sequence[float]) -> str:
    return "/".join(f"{100 * share:.1f}" for share in shares) if shares and not np.isnan(shares).any() else "–"


def _totals(results: Sequence[LanguageResult], language: str) -> str:
    result = next(result for result in results if result.language == language)
    return f"{result.n}/{result.gold_concepts}"
