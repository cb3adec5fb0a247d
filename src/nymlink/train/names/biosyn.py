"""BioSyn: an encoder and the weight of a sparse search beside it learn from annotated mentions what they mean.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.entries.entries import Entries
from nymlink.train.engine.distributed import Processes, process_count
from nymlink.train.engine.loop import trained
from nymlink.train.engine.optimiser import adam
from nymlink.train.engine.precision import Precision
from nymlink.train.mentions.annotated import annotated_queries, describe_corpus, no_concept
from nymlink.train.names.dictionary_names import CandidateLists
from nymlink.train.names.encoder_training import Learner, Material, train
from nymlink.train.names.sap import describe
from nymlink.train.names.synonym_marginalisation import CandidateBatch, Marginalisation, Scorer
from nymlink.train.settings.recipes import BioSynSettings
from nymlink.vocabulary.read import open_vocabulary


def train_biosyn(
    settings: BioSynSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train, or go on with a training that was stopped; see :func:`~nymlink.train.names.encoder_training.train`.

    The result also says ``sparse_weight``, the weight that was learned, and ``fusion``, the weights of dense and
    sparse search that it comes to in an index.
    """
    if process_count() > 1:
        raise InputError("biosyn trains in one process: start it without torchrun")
    material = partial(_material, settings, progress)
    return train("biosyn", settings, material, restart=restart, progress=progress, problems=problems)


def _material(settings: BioSynSettings, progress: bool, _: Path, problems: Problems) -> Material[CandidateBatch]:
    vocabulary = open_vocabulary(Path(settings.vocab), problems=problems)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    found = list(annotated_queries(vocabulary, corpora, types=settings.types))
    # As published, a mention with several ids counts as composite, even where it is not to be split.
    queries = [one for one in found if len(one.concept_ids) == 1]
    if not queries:
        raise no_concept(settings.types)
    entries = Entries.of(vocabulary)

    def learner(model: TorchModel, precision: Precision, _: Processes) -> Learner[CandidateBatch]:
        lists = CandidateLists(
            queries,
            entries,
            vocabulary.columns.names["concept"].to_numpy(),
            size=settings.candidates,
            sparse=settings.sparse_candidates,
            progress=progress,
        )
        scorer = Scorer(model, precision.device)
        task = Marginalisation(scorer, queries, lists, settings, precision)
        optimiser = adam(
            trained(model),
            scorer.sparse_weight,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            of_weight=settings.sparse_learning_rate,
        )
        return Learner(task, scorer, optimiser, task.result)

    origin = {
        "vocabulary": describe(vocabulary),
        "corpora": [describe_corpus(path) for path in paths],
        "queries": {
            "count": len(queries),
            "with_several_ids": len(found) - len(queries),
            "entries": len(entries),
        },
    }
    return Material(origin, learner)
