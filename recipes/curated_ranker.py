"""Average the ranker that comes with an encoder with trees that learned from what curators decided.

    python recipes/curated_ranker.py FOLDER [--encoder NAME]

``recipes/ranker.py`` wrote the ranker; it learned from diseases and phenotypes, and from names. The trees also
learn from mentions of genes, chemicals, species, cell lines, cells, anatomy, laboratory tests and patients' words:
the sets of ``benchmarks/linking/across.py`` whose licences allow it. For each set they also learn from 60 mentions
whose concepts are hidden, and from 60 words and codes that are no names: no candidate is right.

Indexes and questions are kept in FOLDER, where ``across.py`` may have left them. Replaces the ranker beside the
folder of the encoder; afterwards ``recipes/calibration.py`` fits its confidences.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.inputs import data_root
from benchmarks.linking.across import SETS, Set, asked, learnable, opened
from nymlink.core.errors import InputError
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.corpus.documents import Mention
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, ranker_file
from nymlink.evaluation.calibration_data import draw_absent_names
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.ranker import Ranker
from nymlink.rank.retrieval import Question
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

SETTINGS: Final = BoostingSettings(trees=120, depth=4, ridge=10.0)

UNLICENSED: Final = frozenset({"BC5CDR", "GSC+"})
"""Corpora without a stated licence."""

EACH: Final = 60
"""Unanswerable questions of each of two kinds from a set."""

WEIGHT: Final = 0.3
"""Weight of an unanswerable question."""

_SEARCHED: Final = 400
"""Questions from which those with hidden concepts are drawn."""

_LEARNED_FROM: Final = "curated mentions of 12 corpora"


def main() -> None:
    """Learn the trees and replace the ranker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes and questions")
    parser.add_argument("--encoder", default=MINI, help="name of the installed encoder")
    arguments = parser.parse_args()
    file = ranker_file(arguments.encoder)
    content = json.loads(file.read_text(encoding="utf-8"))
    former = Ranker.from_dict(content["ranker"])
    if _LEARNED_FROM in former.learned_from:
        raise InputError(
            "the ranker has learned from these mentions already: run recipes/ranker.py first", path=file
        )
    folder = arguments.folder / Encoder.load(arguments.encoder).fingerprint[:12]
    folder.mkdir(parents=True, exist_ok=True)
    sets = [each for each in SETS if each.corpus not in UNLICENSED]
    parts = [learnable((asked(each, arguments.encoder, folder, data_root()), frozenset()) for each in sets)]
    for each in track(sets, "asking without answers"):
        described = unanswerable(each, arguments.encoder, folder, data_root())
        nothing = np.zeros(described.shape[:2], bool)
        parts.append(LabelledQuestions(described, nothing, np.full(len(described), WEIGHT)))
    curated = learn_trees(LabelledQuestions.joined(parts), SETTINGS, progress=True)
    joined = Ranker(Trees.mean([former.trees, curated]), f"{former.learned_from}; {_LEARNED_FROM}")
    with atomic_file(file) as partial:
        content["ranker"] = joined.to_dict()
        partial.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{joined.learned_from} → {file}")


def unanswerable(chosen: Set, encoder: str, folder: Path, data: Path) -> Scores:
    """Describe the candidates of questions without a right candidate, or read them: float32 (Q, K, F)."""
    path = folder / f"{chosen.name.replace(' ', '_')}.unanswerable.npz"
    if not path.exists():
        index = opened(chosen.vocabulary, encoder, folder, data)
        pipeline = Pipeline(index, composites="gold")
        hidden = _answered(chosen, index, pipeline, data)
        questions = [question for question, _ in hidden]
        left_out = LabelledQuestions.of(
            index,
            questions,
            [frozenset()] * len(hidden),
            without=[index.entries_of(answer) for _, answer in hidden],
        )
        absent = pipeline.queries_of([Mention(name) for name in draw_absent_names(index, EACH)])
        named = [parts[0].question for parts in absent if parts[0].text]
        lacking = LabelledQuestions.of(index, named, [frozenset()] * len(named))
        with atomic_file(path) as partial, partial.open("wb") as file:
            np.savez(file, described=np.concatenate([left_out.described, lacking.described]))
    with np.load(path) as arrays:
        described: Scores = arrays["described"]
        return described


def _answered(chosen: Set, index: Index, pipeline: Pipeline, data: Path) -> list[tuple[Question, frozenset[int]]]:
    """Draw distinct questions of a set with their answers."""
    resolver, rng = GoldResolver(index.vocabulary), np.random.default_rng(1)
    found: dict[tuple[Question, frozenset[int]], None] = {}
    documents = chosen.read(data).documents
    for place in rng.permutation(len(documents)).tolist():
        if len(found) >= _SEARCHED:
            break
        document = documents[place]
        for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True):
            if (not chosen.types or mention.type in chosen.types) and (
                answer := resolver.rows(mention.concept_ids)
            ):
                found.update(dict.fromkeys((part.question, answer) for part in parts))
    distinct = list(found)
    return [distinct[place] for place in sorted(rng.permutation(len(distinct))[:EACH].tolist())]


if __name__ == "__main__":
    main()
