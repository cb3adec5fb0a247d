"""Distillation: a name in another language learns the vector that a frozen teacher gives its English name.

Reimers & Gurevych, "Making Monolingual Sentence Embeddings Multilingual using Knowledge Distillation" (EMNLP
2020). Each step has translations of biomedical names and of words, languages drawn by temperature, English names,
which keep their own vectors, and frequent words, whose vectors the teachers of languages give. The loss is
``2 (1 − cos)`` and a share of InfoNCE against the teachers' vectors of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import torch
from torch.nn.functional import normalize
from torch.optim import AdamW

from nymlink.core.errors import NymlinkError
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.core.toml_settings import about
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.token_batches import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.distributed import Processes
from nymlink.train.engine.gradient_cache import EncodedBatch
from nymlink.train.engine.optimiser import Precision
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses.pairwise import InfoNce
from nymlink.train.names.encoder_training import TrainingData, TrainingSetup, train_encoder
from nymlink.train.settings.common import EncoderTrainingSettings
from recipes.xl_mini.data import is_general
from recipes.xl_mini.student import LONGEST
from recipes.xl_mini.teachers import read_words

TEMPERATURE: Final = 0.5
"""Exponent of a language's number of translations in its share of the steps."""

SETTINGS: Final = {
    # The steps end it.
    "epochs": 1000,
    "learning_rate": 2e-3,
    "layers_learning_rate": 1e-3,
    "weight_decay": 0.0,
    "schedule": "linear",
    "warm_up": 0.05,
    "max_length": LONGEST,
    "checkpoint_minutes": 3.0,
    # The graph of a whole step.
    "graph_tokens": 16_384,
}

_BLOCK: Final = 20_000

_CONTRAST: Final = InfoNce(temperature=0.05)


@dataclass(frozen=True, kw_only=True)
class DistilSettings(EncoderTrainingSettings):
    """The settings of distillation; ``learning_rate`` is that of the embeddings."""

    folder: str = field(metadata=about("folder of translations, English names and teacher vectors", matters=False))
    layers_learning_rate: float = field(default=1e-4, metadata=about("learning rate of the layers"))
    biomedical: int = field(default=460, metadata=about("translations of biomedical names in a step"))
    general: int = field(default=160, metadata=about("translations of words in a step"))
    english: int = field(default=220, metadata=about("English names in a step"))
    words: int = field(default=160, metadata=about("frequent words in a step"))
    contrast: float = field(default=0.3, metadata=about("weight of InfoNCE"))


@dataclass(frozen=True, slots=True)
class Batch:
    """N names, and the rows of the vectors that they learn."""

    tokens: Tokens
    targets: npt.NDArray[np.int64]
    place: str

    def __str__(self) -> str:
        return self.place


class DrawsNames(Protocol):
    """Draws the names of each step."""

    def batch(self, number: int, epoch: int) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Draw the names of a step, and the rows of the vectors that they learn."""
        ...

    def __len__(self) -> int:
        """Number of steps of an epoch."""
        ...


class Lessons:
    """Draws the names of each step, from its number alone.

    Args:
        folder: translations and English names.
        words: frequent words.
        settings: how many of each, and the seed.

    Attributes:
        english: E distinct English names. A target is a row of these, or E and a row of the words.
    """

    def __init__(self, folder: Path, words: Sequence[str], settings: DistilSettings) -> None:
        pairs = pq.read_table(folder / "translations.parquet")
        english, self._names, languages, tables = (
            pairs[column].to_pylist() for column in ("english", "name", "language", "table")
        )
        self.english = english_names(folder)
        row_of = {name: row for row, name in enumerate(self.english)}
        self._targets = np.array([row_of[name] for name in english])
        general = np.array([is_general(table) for table in tables])
        codes = np.array(languages)
        self._groups = [
            (size, _by_language(codes, kind))
            for size, kind in ((settings.biomedical, ~general), (settings.general, general))
        ]
        self._words = words
        self._settings = settings

    def batch(self, number: int, epoch: int) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Draw the names of a step, and the rows of the vectors that they learn."""
        draw = np.random.default_rng([self._settings.seed, epoch, number])
        rows = [row for size, languages in self._groups for row in _drawn(draw, size, languages)]
        own = draw.integers(len(self.english), size=self._settings.english)
        words = draw.integers(len(self._words), size=self._settings.words if self._words else 0)
        names = [
            *(self._names[row] for row in rows),
            *(self.english[row] for row in own),
            *(self._words[row] for row in words),
        ]
        return names, np.concatenate([self._targets[rows], own, len(self.english) + words])

    def texts(self) -> list[str]:
        """List the distinct texts that are drawn."""
        return list(dict.fromkeys((*self.english, *self._words, *self._names)))

    def __len__(self) -> int:
        """Steps in which as many translations are drawn as there are."""
        return max(1, len(self._names) // (self._settings.biomedical + self._settings.general))


class DistilTask:
    """Moves the vectors of names to their targets; a :class:`~nymlink.train.engine.task.Task`.

    Args:
        model: the encoder that learns.
        lessons: what it learns.
        vectors: float16 (N, D): the teacher's unit vectors of the English names.
        settings: the settings.
        precision: the precision to compute in.
    """

    unit = "names"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        model: TorchModel,
        lessons: DrawsNames,
        vectors: npt.NDArray[np.float16],
        settings: DistilSettings,
        precision: Precision,
    ) -> None:
        self._model = model
        self._lessons = lessons
        self._vectors = vectors
        self._settings = settings
        self._precision = precision
        self._encoded = self._cut = 0

    def __len__(self) -> int:
        return len(self._lessons)

    def start_epoch(self, epoch: int) -> None:
        """Do nothing: batches depend on their numbers alone."""

    def batch(self, epoch: int, number: int) -> Batch:
        names, targets = self._lessons.batch(number, epoch)
        return Batch(tokenise(self._model.tokenizer, names), targets, f"epoch {epoch + 1}, step {number + 1:,}")

    def backward(self, batch: Batch) -> BatchResult:
        """Add the gradients of the distillation loss."""
        encoding = EncodedBatch(
            self._model, batch.tokens, self._precision, graph_tokens=self._settings.graph_tokens
        )
        vectors = encoding.vectors.requires_grad_()
        if not torch.isfinite(vectors).all():
            raise NymlinkError("the encoder's vectors are no longer finite numbers")
        device = vectors.device
        wanted = torch.from_numpy(self._vectors[batch.targets].astype(np.float32)).to(device)
        rows = torch.from_numpy(batch.targets).to(device)
        near, apart = losses(vectors, wanted, rows)
        loss = near + self._settings.contrast * apart
        (gradient,) = torch.autograd.grad(loss * self._precision.scale, vectors)
        encoding.backward(gradient)
        self._encoded += len(batch.tokens)
        self._cut += batch.tokens.truncated
        return BatchResult(
            loss=loss.item(), size=len(batch.tokens), figures={"distance": near.item(), "contrast": apart.item()}
        )

    def names_cut(self) -> tuple[int, int]:
        """Count the truncated and the encoded names of all batches so far."""
        return self._cut, self._encoded


def losses(vectors: torch.Tensor, wanted: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute ``2 (1 − cos)``, and InfoNCE with a temperature of 0.05, of N vectors and their targets.

    Args:
        vectors: (N, D): what the student makes of texts.
        wanted: (N, D): what it is to make.
        rows: (N): numbers of the targets. Texts with the same target are no negatives of each other.
    """
    cosines = normalize(vectors) @ normalize(wanted).T
    own = torch.eye(len(rows), dtype=torch.bool, device=rows.device)
    apart = _CONTRAST(cosines, own, rows[:, None] != rows[None, :])
    return 2 * (1 - cosines.diagonal().mean()), apart


def distil(settings: DistilSettings, *, progress: bool = False) -> Mapping[str, Any]:
    """Distil the teachers, or go on with it; see :func:`~nymlink.train.names.encoder_training.train_encoder`."""
    folder = Path(settings.folder)

    def open_data(_scratch: Path, _problems: Problems) -> TrainingData[Batch]:
        lessons = Lessons(folder, read_words(folder), settings)
        vectors = np.load(folder / "targets.npy")

        def setup(model: TorchModel, precision: Precision, _processes: Processes) -> TrainingSetup[Batch]:
            task = DistilTask(model, lessons, vectors, settings, precision)
            return TrainingSetup(task, model, optimiser(model, settings))

        files = ("translations.parquet", "english.parquet", "words.json", "targets.npy")
        return TrainingData({name: {"sha256": sha256(folder / name)} for name in files}, setup)

    return train_encoder("distil", settings, open_data, progress=progress)


def english_names(folder: Path) -> list[str]:
    """Read the distinct English names: those of translations, and others."""
    files = (("translations.parquet", "english"), ("english.parquet", "name"))
    return list(dict.fromkeys(name for file, column in files for name in _column(folder / file, column)))


def _column(path: Path, name: str) -> list[str]:
    values: list[str] = pq.read_table(path, columns=[name])[name].to_pylist()
    return values


def teacher_vectors(
    teacher: str | Path, english: Sequence[str], folder: Path, cache: EmbeddingCache
) -> npt.NDArray[np.float16]:
    """Encode the English names with the teacher, once: float16 (N, D), mapped into memory."""
    path = folder / "teacher.npy"
    if not path.exists():
        # Kept as they are made, so that what was stopped goes on.
        encoder = Encoder.load(teacher)
        with atomic_file(path) as partial:
            kept = np.lib.format.open_memmap(partial, "w+", np.float16, (len(english), encoder.width))
            for start in range(0, len(english), _BLOCK):
                kept[start : start + _BLOCK] = encoder.encode(english[start : start + _BLOCK], cache=cache)
            kept.flush()
    vectors: npt.NDArray[np.float16] = np.load(path, mmap_mode="r")
    if len(vectors) != len(english):
        raise SystemExit(
            f"{path}: {len(vectors):,} vectors for {len(english):,} names: remove it, to make it anew"
        )
    return vectors


def write_targets(folder: Path, english: npt.NDArray[np.float16], words: npt.NDArray[np.float32]) -> None:
    """Write ``targets.npy``: float16, the vectors of English names (E, D), then those of words (W, D)."""
    with atomic_file(folder / "targets.npy") as partial, partial.open("wb") as file:
        np.save(file, np.concatenate([english, words.astype(np.float16)]))


def optimiser(model: TorchModel, settings: DistilSettings) -> AdamW:
    """Create AdamW with a learning rate of its own for the embeddings of pieces."""
    pieces = list(model.transformer.get_input_embeddings().parameters())
    known = {id(parameter) for parameter in pieces}
    layers = [parameter for parameter in model.parameters() if id(parameter) not in known]
    groups = [
        {"params": pieces, "lr": settings.learning_rate},
        {"params": layers, "lr": settings.layers_learning_rate},
    ]
    return AdamW(groups, weight_decay=settings.weight_decay, fused=True)


def _by_language(codes: npt.NDArray[np.str_], kind: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.int64]]:
    """Group the rows of a kind by language."""
    return [np.flatnonzero(kind & (codes == code)) for code in np.unique(codes[kind])]


def _drawn(draw: np.random.Generator, size: int, languages: Sequence[npt.NDArray[np.int64]]) -> list[int]:
    """Draw rows; the share of a language is its number of rows to the power of :data:`TEMPERATURE`."""
    if not languages:
        return []
    weights = np.array([len(rows) for rows in languages]) ** TEMPERATURE
    counts = draw.multinomial(size, weights / weights.sum())
    return [int(row) for rows, count in zip(languages, counts, strict=True) for row in draw.choice(rows, count)]
