"""Adapt an index to annotated mentions: mentions become names, and the order and the confidences follow.

Cross-validation measures each step. Names are left out if they lose. Other steps must gain more than chance.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.language_codes import AUTOMATIC, UNKNOWN_LANGUAGE, language_of
from nymlink.core.store.arrays import Ints
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.fit_calibration import CalibrationRefit, refit_calibration, with_unanswerable
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.evaluation.significance import is_gain
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.calibration import Calibration
from nymlink.linking.pipeline import Pipeline
from nymlink.linking.queries import MentionQuery
from nymlink.rank.ranker import Ranker
from nymlink.rank.uses import Uses
from nymlink.text.normalise import normalise
from nymlink.train.ranking.asked import Asked, AskedMention
from nymlink.train.ranking.fit_ranker import RankerAdaptation, adapt_ranker
from nymlink.vocabulary.concepts import Name, Source, unused_name
from nymlink.vocabulary.tables import TableBuilder, Tables

FOLDS: Final = 5

_FEWEST: Final = 100
"""Smallest number of mentions from which an index learns."""

_FEWEST_DOCUMENTS: Final = 2 * FOLDS
"""If there are fewer documents, cross-validation keeps equal mentions in one fold, instead of documents."""

_ADAPTED: Final = "adapted"
_FORMAT: Final = "annotated mentions"
_JOINT: Final = ", "
"""Name and format of the source of the names, and what joins its corpora."""

_SHOWN: Final = 5
"""The second accuracy counts a right concept among this number of candidates."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an adaptation, measured by cross-validation.

    Attributes:
        name: what the index learns.
        first: share of the mentions whose first concept is right, before and after.
        five: share of the mentions with a right concept among the first five, before and after.
        taken: whether the index learns this.
    """

    name: str
    first: tuple[float, float]
    five: tuple[float, float]
    taken: bool


@dataclass(frozen=True, slots=True, eq=False)
class Adaptation:
    """What an index learns from annotated mentions.

    Attributes:
        uses: texts of mentions and how often each concept was meant; ``None`` if names are left out.
        ranker: JSON values of the ranker; ``None`` to keep that of the index.
        calibration: JSON values of the calibration; ``None`` if there is none.
        steps: the steps that change the order of candidates.
        confidences: mean cross-entropy of the confidences, before and after; ``None`` without a calibration.
        mentions: number of mentions.
        source: the source of the names.
        names: the names to add.
    """

    uses: Uses | None
    ranker: Mapping[str, Any] | None
    calibration: Mapping[str, Any] | None
    steps: tuple[Step, ...]
    confidences: tuple[float, float] | None
    mentions: int
    source: Source
    names: Sequence[Name]

    def apply(self, index: Index, *, progress: bool = False) -> Index:
        """Build the adapted index in memory, from the index that was adapted.

        Raises:
            StoreError: the encoder of the index is needed, and cannot be loaded.
        """
        vocabulary = (
            index.vocabulary if self.uses is None else index.vocabulary.extended(self.source, _tables(self.names))
        )
        built = index.rebuild(vocabulary, progress=progress)
        # An index keeps its uses of other texts.
        built = built.with_uses(index.uses if self.uses is None else self.uses.replacing(index.uses).to_dict())
        built = built if self.ranker is None else built.with_ranker(self.ranker)
        return built if self.calibration is None else built.with_calibration(self.calibration)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "mentions": self.mentions,
            "names": len(self.names),
            "steps": [asdict(step) for step in self.steps],
            "confidences": None if self.confidences is None else list(self.confidences),
        }


def adapt(
    index: Index,
    corpora: Sequence[Corpus],
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    progress: bool = False,
) -> Adaptation:
    """Learn names, the order of candidates, and confidences from annotated mentions.

    1. *Names*: the text of a mention becomes a name of the concept that most mentions with this text mean. Among
       concepts that share a name, this concept comes first (:mod:`nymlink.rank.uses`).
    2. *Order*: trees correct the ranker of the index.
    3. *Confidences*: the calibration moves towards the links of the mentions, and of others without an answer.

    Cross-validation asks for the mentions of a fifth of the documents, with the names of the others.

    Args:
        index: the index.
        corpora: documents with gold ids; no test documents.
        types: mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown.
        progress: show progress if standard error is a terminal.

    Raises:
        InputError: too few mentions have a gold id that the index has.

    Example:
        >>> from nymlink import Corpus, Document, Index, Mention, adapt, read_vocabulary
        >>> index = Index.build(read_vocabulary("diseases.obo"), encoder=None)
        >>> said = Mention("coronary", concept_ids=("MONDO:0005068",))
        >>> letters = Corpus("letters", tuple(Document(str(number), mentions=(said,)) for number in range(100)))
        >>> [(name.text, name.concept_id) for name in adapt(index, [letters]).names]
        [('coronary', 'MONDO:0005068')]
    """
    code = language_of(language)
    annotated = _annotated(index, corpora, types, code)
    if len(annotated) < _FEWEST:
        raise InputError(
            f"{len(annotated):,} mentions with a gold id of the index are too few: it takes {_FEWEST} to adapt "
            f"it; {_what_is_there(corpora, types)}"
        )
    _warn_of_former(index, corpora)
    name = unused_name(_ADAPTED, [source.name for source in index.vocabulary.sources])
    source = Source(name, _FORMAT, _JOINT.join(corpus.name for corpus in corpora))
    plain = _without_names(index, annotated)
    named = _with_names(index, annotated, source, progress=progress)
    # A table may have each mention once: then names show no gain here, but they are what people decided.
    asked, learns_names = plain, not is_gain(plain.right(1) - named.right(1))
    steps = [_step("names", plain, named, learns_names)]
    if learns_names:
        asked = named
    ranker = Ranker.of(index)
    order: RankerAdaptation | None = None
    if ranker is not None:
        before = asked
        order = adapt_ranker(
            ranker, asked.labelled, asked.folds, lambda scores: before.scored(scores).right(1).astype(bool)
        )
        ordered = asked.scored(order.scores)
        steps.append(_step("order", asked, ordered, order.trees is not None))
        asked = ordered
    trees = order.trees if order is not None else None
    learned_from = f"{len(annotated):,} mentions of {source.file}"
    changed = ranker.with_trees(trees, learned_from).to_dict() if ranker is not None and trees else None
    uses = _uses(index, annotated) if learns_names else None
    names = () if uses is None else _names(index, annotated, uses, source)
    if code not in (None, AUTOMATIC):
        names = [replace(name, lang=code) if name.lang == UNKNOWN_LANGUAGE else name for name in names]
    refit: CalibrationRefit | None = None
    if index.calibration is not None:
        learned = index.with_names(source, _tables(names)) if names else index
        learned = learned if uses is None else learned.with_uses(uses.replacing(index.uses).to_dict())
        learned = learned if changed is None else learned.with_ranker(changed)
        labelled = with_unanswerable(learned, asked.labelled_mentions())
        refit = refit_calibration(
            Calibration.of(index),
            labelled.features,
            labelled.right,
            labelled.factors,
            labelled.groups % FOLDS,
            fitted_to=f"{learned_from}, and others without an answer",
        )
    taken = None if refit is None or refit.calibration is None else refit.calibration.to_dict()
    return Adaptation(
        uses,
        changed,
        taken if taken is not None else index.calibration,
        tuple(steps),
        None if refit is None else (refit.before, refit.after),
        len(annotated),
        source,
        names,
    )


def _annotated(
    index: Index, corpora: Sequence[Corpus], types: Collection[str] | None, language: str | None
) -> list[AskedMention]:
    """List the mentions with a gold id of the index, each with its fold."""
    resolver, pipeline = GoldResolver(index.vocabulary), Pipeline(index, language=language, composites="gold")
    found, groups = [], []
    for number, corpus in enumerate(corpora):
        for document in corpus.documents:
            for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True):
                answer = resolver.rows(mention.concept_ids)
                if not answer or (types is not None and mention.type not in types):
                    continue
                # It is not known which part of a composite mention means a concept that the index lacks.
                if not resolver.knows(mention.concept_ids):
                    continue
                for part in parts:
                    if part.text and part.question.concept is None:
                        found.append((mention, part, answer, corpus.name))
                        groups.append(f"{number}\t{document.id}")
    if len(set(groups)) < _FEWEST_DOCUMENTS:
        groups = [part.text for _, part, *_ in found]
    _, numbers = np.unique(np.array(groups, object), return_inverse=True)
    folds = np.random.default_rng(0).permutation(int(numbers.max(initial=0)) + 1)[numbers] % FOLDS
    return [
        AskedMention(mention, query, answer, int(fold), corpus)
        for (mention, query, answer, corpus), fold in zip(found, folds, strict=True)
    ]


def _what_is_there(corpora: Sequence[Corpus], types: Collection[str] | None) -> str:
    """Say how many mentions there are, of which types, and with which ids."""
    mentions = [mention for corpus in corpora for _, mention in corpus.mentions()]
    known = sorted({mention.type for mention in mentions} - {""})
    if types is not None and not {*types} & {*known}:
        there = f"there are: {', '.join(known)}" if known else "mentions have no types"
        return f"no mention has the type {', '.join(sorted(types))}; {there}"
    gold = [mention.concept_ids for mention in mentions if mention.concept_ids]
    example = f", such as {gold[0][0]}" if gold else ""
    return f"of {len(mentions):,} mentions {len(gold):,} have a gold id{example}"


def _warn_of_former(index: Index, corpora: Sequence[Corpus]) -> None:
    """Warn if the index has learned from a corpus before: cross-validation finds these mentions all right."""
    former = {
        name
        for source in index.vocabulary.sources
        if source.format == _FORMAT
        for name in source.file.split(_JOINT)
    }
    if again := sorted(former & {corpus.name for corpus in corpora}):
        warnings.warn(
            f"the index has learned from {_JOINT.join(again)} before: if these are the same mentions, the gains "
            "shown are wrong; adapt the original index with all mentions",
            stacklevel=3,
        )


def _taught(index: Index, each: AskedMention) -> str:
    """Return the text that a mention of one concept teaches.

    It is the query if the concept has this name. If not, a rule or a guess may have taken the name of another
    concept for what people wrote ("HL" for "hyperlipidemia"): then it is what they wrote.
    """
    return each.query.text if each.answer <= index.concepts_named(each.query.text) else each.query.written


def _uses(index: Index, annotated: Sequence[AskedMention]) -> Uses:
    """Count the concepts of each text. Mentions of several concepts are left out."""
    times: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for each in annotated:
        if len(each.answer) == 1:
            [row] = each.answer
            times[_taught(index, each)][index.vocabulary.concept_id(row)][each.corpus] += 1
    return Uses(times)


def _names(index: Index, annotated: Sequence[AskedMention], uses: Uses, source: Source) -> list[Name]:
    """Make names of the texts that mostly mean one concept, unless the index finds the concept by this name."""
    written = {_taught(index, each): each.mention for each in reversed(annotated)}
    names = []
    for text in uses.times:
        if (known := uses.first(text)) is None or index.vocabulary.row(known[0]) in index.concepts_named(text):
            continue
        surface, language = written[text].text, written[text].language
        as_written = surface if normalise(surface) == text else text
        names.append(Name(as_written, known[0], language or UNKNOWN_LANGUAGE, "exact", source.name))
    return names


def _tables(names: Sequence[Name]) -> Tables:
    builder = TableBuilder()
    for name in names:
        builder.concept(name.concept_id)
        builder.name(name.concept_id, name.text, lang=name.lang, kind=name.kind)
    return builder.build()


def _without_names(index: Index, annotated: Sequence[AskedMention]) -> Asked:
    """Link mentions with the index as it is."""
    return _ask(annotated, [(Pipeline(index), np.arange(len(annotated)))])


def _with_names(index: Index, annotated: Sequence[AskedMention], source: Source, *, progress: bool) -> Asked:
    """Link the mentions of each fold with the names that those of the other folds add."""
    folds = np.array([each.fold for each in annotated])
    parts = []
    # With few distinct texts, some folds are empty.
    for fold in track(np.unique(folds).tolist(), "trying names", shown=progress):
        others = [each for each in annotated if each.fold != fold]
        uses = _uses(index, others)
        names = _names(index, others, uses, source)
        extended = index.with_names(source, _tables(names)) if names else index
        parts.append(
            (Pipeline(extended.with_uses(uses.replacing(index.uses).to_dict())), np.flatnonzero(folds == fold))
        )
    return _ask(annotated, parts)


def _ask(annotated: Sequence[AskedMention], parts: Sequence[tuple[Pipeline, Ints]]) -> Asked:
    """Link mentions. Equal questions together weigh as much as the square root of their number."""
    times = Counter(each.query.question for each in annotated)
    weights = np.array([times[each.query.question] ** -0.5 for each in annotated])
    found = [_describe(pipeline, [annotated[place].query for place in own]) for pipeline, own in parts]
    return Asked.of(annotated, parts, found, weights / weights.mean())


def _describe(pipeline: Pipeline, queries: Sequence[MentionQuery]) -> tuple[Matches, Scores]:
    """Find the candidates of queries, and their features; equal questions are asked once."""
    place = {question: number for number, question in enumerate(dict.fromkeys(each.question for each in queries))}
    retrieved, described = zip(*pipeline.ranking.describe(list(place)), strict=True)
    chosen = np.array([place[each.question] for each in queries])
    matches = Matches.concatenated([each.matches for each in retrieved])
    return matches.take(chosen), np.concatenate(described)[chosen]


def _step(name: str, before: Asked, after: Asked, taken: bool) -> Step:
    first, five = ((float(before.right(k).mean()), float(after.right(k).mean())) for k in (1, _SHOWN))
    return Step(name, first, five, taken)
