"""The recipe ``biosyn``: train an encoder, and the weight of sparse scores beside it, on annotated mentions.

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
from nymlink.train.annotated_queries import annotated_queries, describe_corpus, no_concept_error
from nymlink.train.engine.distributed import Processes, process_count
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import adam
from nymlink.train.engine.precision import Precision
from nymlink.train.names.candidate_lists import CandidateLists
from nymlink.train.names.encoder_training import TrainingData, TrainingSetup, train_encoder
from nymlink.train.names.synonym_marginalisation_task import (
    BioSynModel,
    CandidateBatch,
    SynonymMarginalisationTask,
)
from nymlink.train.settings.encoder_recipes import BioSynSettings
from nymlink.vocabulary.read import open_vocabulary


def train_biosyn(
    settings: BioSynSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder and the weight of sparse scores, or resume their training.

    See :func:`~nymlink.train.names.encoder_training.train_encoder`. The result also has ``sparse_weight``, the
    learned weight, and ``fusion``, the equivalent weights of dense and sparse search in an index.

    Raises:
        InputError: it was started by ``torchrun`` with several processes.
    """
    if process_count() > 1:
        raise InputError("the recipe biosyn trains in one process only: start it without torchrun")
    open_data = partial(_open_data, settings, progress)
    return train_encoder("biosyn", settings, open_data, restart=restart, progress=progress, problems=problems)


def _open_data(
    settings: BioSynSettings, progress: bool, _: Path, problems: Problems
) -> TrainingData[CandidateBatch]:
    vocabulary = open_vocabulary(Path(settings.vocab), problems=problems)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    annotated = list(annotated_queries(vocabulary, corpora, types=settings.types))
    # As published, a mention with several ids counts as composite, even where it cannot be split.
    queries = [query for query in annotated if len(query.concept_ids) == 1]
    if not queries:
        raise no_concept_error(settings.types)
    entries = Entries.of(vocabulary)

    def setup(model: TorchModel, precision: Precision, _: Processes) -> TrainingSetup[CandidateBatch]:
        lists = CandidateLists(
            queries,
            entries,
            vocabulary.columns.names["concept"].to_numpy(),
            size=settings.candidates,
            sparse=settings.sparse_candidates,
            progress=progress,
        )
        biosyn = BioSynModel(model, precision.device)
        task = SynonymMarginalisationTask(biosyn, queries, lists, settings, precision)
        optimiser = adam(
            trainable_parameters(model),
            biosyn.sparse_weight,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            extra_learning_rate=settings.sparse_learning_rate,
        )
        return TrainingSetup(task, biosyn, optimiser, task.result)

    provenance = {
        "vocabulary": vocabulary.describe(),
        "corpora": [describe_corpus(path) for path in paths],
        "queries": {
            "count": len(queries),
            "with_several_ids": len(annotated) - len(queries),
            "entries": len(entries),
        },
    }
    return TrainingData(provenance, setup)
