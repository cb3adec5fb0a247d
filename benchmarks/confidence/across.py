"""Measure confidences on corpora that they were not fitted to.

    python benchmarks/confidence/across.py FOLDER [--encoder MODEL] [--json FILE]

Mentions with the same text and answer are one mention; at most 1,000 of a set of
``benchmarks/linking/curated_sets.py`` are drawn. 30 % of all mentions have no answer: the concepts of some are
hidden, others are names of other vocabularies, words and codes. For each corpus, confidences are fitted to the
sets of the other corpora, but not to documents that are in the corpus, too. Doubts lower the confidences, as for
users. Training and development parts are read, and no test part. Of most sets, the ranker that ships learned from
at most 600 questions. Indexes and labelled mentions are kept in FOLDER.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.curated_sets import SETS, Set, folder_of, opened, parser_of
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus, Mention
from nymlink.evaluation.calibration_data import LabelledMentions, draw_absent_names, label_mentions
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.fit_calibration import fit_weights, with_unanswerable
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Calibration, Confidences, Features, is_verbatim
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary

MOST: Final = 1_000
"""Mentions of a set."""

FOREIGN: Final = ("cellosaurus_human", "chebi", "foodon", "go", "hgnc", "icd10pcs", "ncbitaxon", "uberon")
EACH: Final = 400
"""Names drawn of each of these tables."""

SHARED: Final[Mapping[str, frozenset[str]]] = {
    "askapatient": frozenset({"icd10pcs"}),
    "cellosaurus_human": frozenset({"cellosaurus_human"}),
    "chebi": frozenset({"chebi", "foodon"}),
    "cl": frozenset({"cellosaurus_human"}),
    "go": frozenset({"chebi", "go"}),
    "labs": frozenset({"chebi", "hgnc"}),
    "mesh": frozenset(FOREIGN) - {"cellosaurus_human"},
    "ncbigene_human": frozenset({"chebi", "go", "hgnc"}),
    "ncbitaxon": frozenset({"foodon", "ncbitaxon"}),
    "so": frozenset({"go", "hgnc"}),
    "uberon": frozenset({"foodon", "uberon"}),
}
"""Vocabulary → tables whose concepts it may have by other names. No names of these are drawn for it."""

SURE: Final = 0.9
LOW: Final = 0.5

NOW: Final = "nymlink"


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labelled mentions of a set: P parts.

    Attributes:
        mentions: mentions with an answer, and others without.
        documents: the document of each part (P); "" for a name that was drawn.
    """

    mentions: LabelledMentions
    documents: Sequence[str]

    def fitted(self, hidden: Collection[str] = ()) -> tuple[Features, npt.NDArray[np.bool_]]:
        """Choose the parts without doubts to fit to: their features, and whether their first concepts are right.

        Args:
            hidden: documents whose mentions are left out.
        """
        own = self.mentions
        seen = np.array([document not in hidden for document in self.documents])
        kept = seen & (own.factors == 1)
        return own.features[kept], own.right[kept]


def labelled_sets(sets: Iterable[Set], encoder: str, folder: Path, data: Path) -> dict[str, Labelled]:
    """Read the labelled mentions of sets, or label them first: name of the set → mentions.

    Args:
        sets: the sets.
        encoder: the encoder of the indexes.
        folder: keeps the indexes and the mentions of each encoder.
        data: the data folder.
    """
    own = folder_of(folder, encoder)
    return {each.name: _labelled(each, encoder, own, data) for each in track(list(sets), "labelling")}


def _labelled(chosen: Set, encoder: str, folder: Path, data: Path) -> Labelled:
    path = folder / f"{chosen.name.replace(' ', '_')}.labelled.pickle"
    if not path.exists():
        made = _label(chosen, opened(chosen.vocabulary, encoder, folder, data), data)
        with atomic_file(path) as partial:
            partial.write_bytes(pickle.dumps((made.mentions, made.documents)))
    return Labelled(*pickle.loads(path.read_bytes()))


def _label(chosen: Set, index: Index, data: Path) -> Labelled:
    corpus = _drawn(chosen, index, data)
    absent = foreign_names(index, data, SHARED.get(chosen.vocabulary, frozenset()))
    mentions = with_unanswerable(index, label_mentions(index, corpus), absent)
    # Mentions without an answer are some of the same objects.
    documents = {id(mention): document.id for document, mention in corpus.mentions()}
    return Labelled(mentions, [documents.get(id(mention), "") for mention in mentions.mentions])


def _drawn(chosen: Set, index: Index, data: Path) -> Corpus:
    """Draw distinct mentions of a set that have an answer, each where it is first."""
    resolver = GoldResolver(index.vocabulary)
    corpus = chosen.read(data)
    first: dict[tuple[str, tuple[str, ...]], tuple[int, Mention]] = {}
    for place, document in enumerate(corpus.documents):
        for mention in document.mentions:
            if (not chosen.types or mention.type in chosen.types) and resolver.rows(mention.concept_ids):
                first.setdefault((mention.text, mention.concept_ids), (place, mention))
    distinct = list(first.values())
    own: dict[int, list[Mention]] = {}
    for number in sorted(np.random.default_rng(0).permutation(len(distinct))[:MOST].tolist()):
        place, mention = distinct[number]
        own.setdefault(place, []).append(mention)
    documents = tuple(replace(corpus.documents[place], mentions=tuple(found)) for place, found in own.items())
    return Corpus(chosen.name, documents)


def foreign_names(index: Index, data: Path, shared: Collection[str] = ()) -> list[str]:
    """Draw names of vocabularies, words and codes that an index lacks.

    Args:
        index: the index.
        data: the data folder.
        shared: tables that are not drawn from.
    """
    tables = [data / "vocabularies" / f"{table}.tsv.gz" for table in FOREIGN if table not in shared]
    names = [name for table in tables for name in _names(table)]
    lacking = [name for name in names if index.entries.find(normalise(name)) is None]
    return lacking + draw_absent_names(index, len(lacking))


@cache
def _names(table: Path) -> list[str]:
    """Draw preferred names of a table."""
    vocabulary = read_vocabulary(table)
    drawn = np.random.default_rng(0).permutation(len(vocabulary))[:EACH].tolist()
    return [vocabulary.preferred_name(row) for row in drawn]


def fit(parts: Iterable[Labelled], hidden: Collection[str] = ()) -> Calibration:
    """Fit a calibration to sets, each of which counts as much as it has mentions."""
    features, right = zip(*(part.fitted(hidden) for part in parts), strict=True)
    return fit_weights(np.concatenate(features), np.concatenate(right))


Way = Callable[[Mapping[str, Labelled], Collection[str], LabelledMentions], Confidences]
"""Function of the sets to fit to, hidden documents, and the mentions whose confidences it computes."""


def ours(sets: Mapping[str, Labelled], hidden: Collection[str], others: LabelledMentions) -> Confidences:
    """Fit to all features."""
    return fit(sets.values(), hidden).confidence(others.features) * others.factors


def score(sets: Mapping[str, Labelled], hidden: Collection[str], others: LabelledMentions) -> Confidences:
    """Fit to the score alone: a feature that is always 0 has no weight."""
    only = np.array([name == "score" for name in CONFIDENCE_FEATURES])
    features, right = zip(*(part.fitted(hidden) for part in sets.values()), strict=True)
    calibration = fit_weights(np.concatenate(features) * only, np.concatenate(right))
    return calibration.confidence(others.features * only) * others.factors


def diseases(sets: Mapping[str, Labelled]) -> Way:
    """Fit as nymlink did before: to two sets, where a query that equals a name of one concept alone is certain."""
    whole = LabelledMentions.joined([sets[name].mentions for name in ("NCBI disease → medic", "BC5CDR → medic")])
    calibration = fit_weights(_certain(whole.features), whole.right, doubted=whole.factors < 1)
    return lambda _, __, others: calibration.confidence(_certain(others.features)) * others.factors


def _certain(features: Features) -> Features:
    changed = features.copy()
    changed[is_verbatim(features), CONFIDENCE_FEATURES.index("ranked")] = 1
    return changed


def measured(sets: Mapping[str, Labelled], corpus_of: Mapping[str, str], way: Way) -> dict[str, Reliability]:
    """Measure each set with confidences that were fitted to the other corpora."""
    found = {}
    for corpus in dict.fromkeys(corpus_of.values()):
        own = [name for name in sets if corpus_of[name] == corpus]
        hidden = frozenset(document for name in own for document in sets[name].documents) - {""}
        others = {name: part for name, part in sets.items() if name not in own}
        for name in own:
            mentions = sets[name].mentions
            found[name] = mentions.reliability(way(others, hidden, mentions))
    return found


def with_answers(reliability: Reliability) -> Reliability:
    """Leave out the mentions without an answer."""
    kept = reliability.answerable
    return Reliability(reliability.confidences[kept], reliability.right[kept], kept[kept])


class Figures(NamedTuple):
    """What is asked of confidences: a share of 1 each.

    Attributes:
        error: expected calibration error.
        auroc: area under the ROC curve of right against wrong links.
        answer: the same of mentions with an answer against others.
        sure: right links among those above :data:`SURE`.
        low: links below :data:`LOW` among the right ones.
    """

    error: float
    auroc: float
    answer: float
    sure: float
    low: float

    @classmethod
    def of(cls, reliability: Reliability) -> Figures:
        return cls(
            reliability.expected_error,
            reliability.right_auroc,
            reliability.answerable_auroc,
            reliability.above(SURE)[1],
            float((reliability.confidences[reliability.right] < LOW).mean()),
        )


def tables(found: Mapping[str, Mapping[str, Reliability]]) -> dict[str, list[dict[str, Any]]]:
    """Make the tables: each way over all sets, and nymlink set by set.

    Args:
        found: way → set → reliability.
    """
    ways = []
    for label, own in found.items():
        for situation, part in (("answerable", with_answers), ("30 % without", lambda whole: whole)):
            every = [Figures.of(part(each)) for each in own.values()]
            mean = Figures(*np.mean(every, axis=0).tolist())
            ways.append(
                {
                    "confidences": label,
                    "mentions": situation,
                    "error": f"{mean.error:.3f}",
                    "largest": f"{max(each.error for each in every):.3f}",
                    "AUROC, right": f"{mean.auroc:.3f}",
                    "AUROC, answer": "–" if np.isnan(mean.answer) else f"{mean.answer:.3f}",
                    f"right above {SURE}": f"{100 * mean.sure:.1f}",
                    "lowest": f"{100 * min(each.sure for each in every):.1f}",
                    f"right ones below {LOW}": f"{100 * mean.low:.1f}",
                }
            )
    sets = []
    for name, whole in found[NOW].items():
        alone, mixed = Figures.of(with_answers(whole)), Figures.of(whole)
        sets.append(
            {
                "corpus: vocabulary": name.replace(" → ", ": "),
                "error": f"{alone.error:.3f}/{mixed.error:.3f}",
                f"right above {SURE}": f"{100 * alone.sure:.1f}/{100 * mixed.sure:.1f}",
                f"right ones below {LOW}": f"{100 * alone.low:.1f}",
            }
        )
    return {"ways": ways, "sets": sets}


def main() -> None:
    arguments = parser_of(__doc__).parse_args()
    sets = labelled_sets(SETS, arguments.encoder, arguments.folder, data_root())
    corpus_of = {each.name: each.corpus for each in SETS}
    ways: dict[str, Way] = {"score alone": score, "fitted to diseases": diseases(sets), NOW: ours}
    found = tables({label: measured(sets, corpus_of, way) for label, way in track(ways.items(), "fitting")})
    for rows in found.values():
        header = list(rows[0])
        print(report.table(header, [[str(row[key]) for key in header] for row in rows]), end="\n\n")
    about = report.about(
        data="as the row says; fitted to the other corpora",
        split="training and development parts",
        dictionary="bare, English names",
        counting="distinct mentions",
        encoder=Path(arguments.encoder).name,
        seed=0,
    )
    report.save(arguments.json, {"about": about, **found})


if __name__ == "__main__":
    main()
