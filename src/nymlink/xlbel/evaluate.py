"""Evaluate indexes on the queries of a benchmark, by language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.core.store.arrays import Bools
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.outcomes import GoldResolver, Ranks, accuracy, as_array
from nymlink.evaluation.reranking import evaluate_reranking
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.concepts import matching_languages
from nymlink.vocabulary.subset import subset
from nymlink.vocabulary.vocabulary import Vocabulary

_CODE: Final = re.compile(r"([a-z]{2,3})[_.-]")


def find_queries(paths: Iterable[Path], languages: Collection[str] = ()) -> dict[str, Path]:
    """Find the file of queries for each language.

    The name of a file begins with the code of its language (``es_test.txt``). A single file for a single wanted
    language may have any name.

    Args:
        paths: files, or folders of such files.
        languages: the wanted languages, in this order; empty for all.

    Raises:
        InputError: the language of a file is not known, two files have the same language, or a wanted language has
            no file.
    """
    files = [file for path in paths for file in (sorted(path.glob("[!.]*")) if path.is_dir() else [path])]
    if not files:
        raise InputError("no file of queries in the folder")
    wanted = [normalise_language(code) or code for code in languages]
    found: dict[str, Path] = {}
    for file in files:
        match = _CODE.match(file.name)
        if match is None and len(files) == len(wanted) == 1:
            return {wanted[0]: file}
        if match is None:
            raise InputError(
                "the language of these queries is not known: let the name of the file begin with its code "
                "(es_test.txt), or give one file alone and --language",
                path=file,
            )
        code = normalise_language(match[1]) or match[1]
        if found.setdefault(code, file) != file:
            raise InputError(f"two files for the language {code}: give one of {found[code]} and this", path=file)
    if missing := [code for code in wanted if code not in found]:
        raise InputError(f"no queries in the language {missing[0]}; there are: {', '.join(sorted(found))}")
    return {code: found[code] for code in wanted} if wanted else dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class ResolvedQueries:
    """The queries of a language, with their gold ids translated to ids of a dictionary.

    Attributes:
        corpus: the queries. Gold ids missing in the dictionary are unchanged.
        gold_concepts: number of distinct gold ids.
        covered_concepts: number of gold ids in the dictionary.
    """

    corpus: Corpus
    gold_concepts: int
    covered_concepts: int


class GoldIds:
    """Translates gold ids to ids of a dictionary.

    An id of the dictionary stays unchanged. Any other id is translated to the ids of the concepts that have a
    cross-reference to it. An id without a prefix (``C0018099``) is not translated if cross-references with several
    prefixes fit it.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._resolver = GoldResolver(vocabulary)
        self._referring: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        columns = vocabulary.columns.concepts
        for concept_id, xrefs, obsolete in zip(
            *(columns[field].to_pylist() for field in ("id", "xrefs", "obsolete")), strict=True
        ):
            for xref in () if obsolete else xrefs:
                prefix, _, local = xref.rpartition(":")
                self._referring[local][prefix.casefold()].append(concept_id)

    def translate(self, gold_id: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a gold id stands for; empty if the dictionary has none."""
        if self._resolver.rows([gold_id]):
            return (gold_id,)
        prefix, _, local = gold_id.rpartition(":")
        referring = self._referring.get(local, {})
        if prefix:
            return tuple(referring.get(prefix.casefold(), ()))
        return tuple(next(iter(referring.values()))) if len(referring) == 1 else ()

    def resolve(self, corpus: Corpus, *, lower: bool = False, context: bool = True) -> ResolvedQueries:
        """Translate the gold ids of all mentions. A mention is right if any one of its gold ids is found.

        Args:
            corpus: the queries.
            lower: whether to put mentions into lower case.
            context: whether to keep the sentences of mentions.
        """
        known = {gold: self.translate(gold) for _, mention in corpus.mentions() for gold in mention.concept_ids}

        def resolved(mention: Mention) -> Mention:
            ids = [new for gold in mention.concept_ids for new in known[gold] or (gold,)]
            text = mention.text.lower() if lower else mention.text
            # Given as its own single part: several gold ids are alternatives here, not the parts of a composite.
            kept = replace(mention, text=text, parts=(text,), concept_ids=tuple(dict.fromkeys(ids)))
            return kept if context else replace(kept, start=None, end=None)

        documents = tuple(
            Document(document.id, document.text if context else "", tuple(map(resolved, document.mentions)))
            for document in corpus.documents
        )
        return ResolvedQueries(Corpus(corpus.name, documents), len(known), sum(map(bool, known.values())))


NAME: Final = "acc"
CONCEPT: Final = "concept_acc"

COUNTING: Final = {NAME: "by name, lenient", CONCEPT: "by concept"}
"""The two ways in which results count, by name or by concept → their titles."""


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """The figures of one index on the queries of one language.

    Attributes:
        stage: title of the index.
        language: code of the language of the queries.
        own_names: whether names in that language are in the dictionary.
        context: whether candidates were re-ranked by the sentences of the mentions.
        n: number of mentions.
        covered: number of mentions with a concept of the dictionary.
        gold_concepts: number of distinct gold ids.
        covered_concepts: number of gold ids in the dictionary.
        figures: shares of all mentions that are right at k = 1 and k = 5. ``acc@k`` counts by name, leniently, as
            in published results; re-ranked candidates do not have it. ``concept_acc@k`` counts by concept.
        covered_figures: the same shares, but of the covered mentions; NaN if there are none.
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
        """Label of the row that shows the result in a table."""
        return self.stage + ("" if self.own_names else ", own names out") + (", context" if self.context else "")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: those of ``nymlink evaluate``, with the language and the coverage."""
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

    Mentions are linked without their sentences, except in results with ``context``. If a mention has several gold
    ids, it is right if any one of them is found. If the dictionary does not have a gold id (a CUI of XL-BEL), the
    concepts with a cross-reference to this id count as gold.

    Args:
        indexes: title (a stage of training, a dictionary) → index.
        queries: language code → its queries.
        lower: whether to put mentions into lower case first, as published systems do. An index compares names in
            lower case in any case, but it recognises acronyms by their capitals.
        without_own_names: whether to evaluate each index a second time, without names in the language of the
            queries. The index is built again for this.
        reranker: folder of a trained re-ranker. If given, candidates are also re-ranked by the sentences.
        seed: seed of the bootstrap.
        progress: whether to show progress when standard error is a terminal.

    Returns:
        The results, index by index and language by language. If all names of an index are in the language of the
        queries, it has no result without own names.

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
    """Evaluate an index without names in the language of the queries; no result if it has no other names."""
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
    evaluation = evaluate_reranking(index, Reranker.load(folder, index), queries.corpus, language=language)
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
    """Choose how the results of a table count.

    Returns:
        :data:`CONCEPT` if a result has context, because re-ranked candidates have no names; otherwise
        :data:`NAME`, as in published results.
    """
    return CONCEPT if any(result.context for result in results) else NAME


def language_table(results: Sequence[LanguageResult]) -> str:
    """Write results as tables for people.

    A table has a row for each index, a column for each language, and a column for the mean. :func:`reading_of`
    chooses whether accuracies count by name or by concept.
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
