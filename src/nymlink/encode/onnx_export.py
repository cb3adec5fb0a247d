"""Export of encoders to ONNX graphs, which run without torch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, MissingExtraError, NymlinkError
from nymlink.core.store.arrays import Vectors
from nymlink.core.store.manifest import write_directory
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.encode.model.fingerprint import FORMAT, KIND, ModelSnapshot
from nymlink.encode.model.folder import WEIGHTS, model_folder, require_single
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.onnx_backend import FILES, OnnxNetwork
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.model.torch_model import TorchModel


_NAMES: Final = 20_000
_FEWEST: Final = 200
"""Smallest number of queries. With fewer queries, half a per cent would be less than one query."""

_BLOCK: Final = 500


@dataclass(frozen=True, slots=True)
class Int8Quality:
    """Recall@1 of an encoder in fp32 and in int8.

    Attributes:
        queries: number of names searched, each among all others of a :class:`SynonymSample`.
        recall_fp32: recall@1 in fp32, between 0 and 1.
        recall_int8: recall@1 in int8, between 0 and 1.
    """

    queries: int
    recall_fp32: float
    recall_int8: float

    @property
    def drop(self) -> float:
        """How much lower recall@1 is with int8."""
        # Round, since 0.79 - 0.785 is slightly more than 0.005.
        return round(self.recall_fp32 - self.recall_int8, 9)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SynonymSample:
    """A sample of names. Each name that has a synonym is searched among all other names.

    Attributes:
        names: N names. No two have the same normal form.
        concepts: int64 (N): the row of each name's concept.
        queries: int64 (Q): the rows of names with a synonym.
    """

    names: Sequence[str]
    concepts: npt.NDArray[np.int64]
    queries: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary, *, seed: int = 0) -> SynonymSample:
        """Draw concepts at random, and take all their names. Concepts with several names are drawn first.

        Raises:
            InputError: the vocabulary has too few concepts with several names.
        """
        columns = vocabulary.columns
        drawn = np.random.default_rng(seed).permutation(len(vocabulary))
        drawn = drawn[~columns.concepts["obsolete"].to_numpy()[drawn]]
        several = np.diff(columns.name_offsets)[drawn] > 1
        seen: set[str] = set()
        names: list[str] = []
        concepts: list[int] = []
        for row in chain(drawn[several].tolist(), drawn[~several].tolist()):
            start, end = columns.name_offsets[row : row + 2].tolist()
            for name in columns.names["text"][start:end].to_pylist():
                if normalise(name) not in seen:
                    seen.add(normalise(name))
                    names.append(name)
                    concepts.append(row)
            if len(names) >= _NAMES:
                break
        concept_of = np.array(concepts, np.int64)
        queries = np.flatnonzero(np.bincount(concept_of, minlength=1)[concept_of] > 1)
        if len(queries) < _FEWEST:
            raise InputError(
                f"the vocabulary has {len(queries)} names with a synonym, and measuring an encoder needs at least "
                f"{_FEWEST}: choose a larger one"
            )
        return cls(names, concept_of, queries)

    def recall(self, vectors: Vectors) -> float:
        """Compute recall@1: the share of queries whose nearest other name is of the same concept.

        Args:
            vectors: float32 (N, D): unit vectors of the names.
        """
        hits = 0
        for start in range(0, len(self.queries), _BLOCK):
            queries = self.queries[start : start + _BLOCK]
            cosines = vectors[queries] @ vectors.T
            cosines[np.arange(len(queries)), queries] = -np.inf
            hits += int(np.count_nonzero(self.concepts[cosines.argmax(1)] == self.concepts[queries]))
        return hits / len(self.queries)


_LEAST_COSINE: Final = 0.9999
"""Smallest allowed cosine between the vectors of a model and those of its graph in fp32."""

_LARGEST_DROP: Final = 0.005
"""Largest allowed loss of recall@1 with int8: half a percentage point."""

_PROBES: Final = (
    "heart attack",
    "fever",
    "MI",
    "pain in the left upper arm that gets worse at night, for two weeks",
)


def export(
    name_or_folder: str | Path,
    output: Path,
    *,
    precision: Literal["fp32", "int8"] = "fp32",
    vocabulary: Vocabulary | None = None,
    pooling: Pooling | None = None,
    max_length: int | None = None,
    progress: bool = False,
) -> Int8Quality | None:
    """Export an encoder for ONNX Runtime: its tokenizer, its settings, and a graph with pooling and normalisation.

    An int8 graph is written only if it finds synonyms of a vocabulary about as well as fp32 does.

    Args:
        name_or_folder: a model folder, or the name of a model on the hub.
        output: the folder to write.
        precision: precision of the graph.
        vocabulary: vocabulary whose synonyms are used to check int8.
        pooling: overrides the pooling of the folder.
        max_length: overrides the length of the folder.
        progress: show the progress of the check on a terminal.

    Returns:
        The recall@1 of int8 and fp32; ``None`` for fp32.

    Raises:
        InputError: there is no such model, or it is damaged; or int8 is requested without a vocabulary, or with
            too small a one.
        NymlinkError: the model cannot be exported, or int8 lowers recall@1 by more than half a percentage point.
        OutputError: the folder cannot be written.
        MissingExtraError: a required package is not installed.
    """
    if precision == "int8" and vocabulary is None:
        raise InputError("int8 must be checked with a vocabulary: give one, or choose fp32")
    _require_extra()
    from nymlink.encode.model.torch_model import TorchModel

    require_single(name_or_folder, "exported")
    folder = model_folder(name_or_folder, weights=WEIGHTS)
    if output.exists() and output.samefile(folder):
        raise InputError("this is the model itself: export to another folder", path=output)
    sample = SynonymSample.of(vocabulary) if precision == "int8" and vocabulary is not None else None
    source = ModelSnapshot(folder)
    model = TorchModel.load(folder, pooling=pooling, max_length=max_length)
    from nymlink.encode.onnx_graph import OPSET, write_graph

    notes: dict[str, Any] = {"precision": precision, "opset": OPSET, "weights": source.digest()}
    body = {"settings": model.settings.to_dict(), "export": notes}
    with write_directory(output, kind=KIND, version=FORMAT, body=body) as partial:
        model.write_settings(partial)
        write_graph(model, partial / FILES["fp32"])
        _require_same_vectors(model, OnnxNetwork(partial, model.settings, "fp32"))
        if sample is None:
            return None
        quality = _replace_by_int8(partial, model, sample, progress=progress)
        notes["quality"] = quality.to_dict()
    return quality


def _replace_by_int8(folder: Path, model: TorchModel, sample: SynonymSample, *, progress: bool) -> Int8Quality:
    """Quantise the graph of a folder, and compare the recall@1 of both graphs."""
    import onnx

    from nymlink.encode.quantise import quantise

    graph = onnx.load(folder / FILES["fp32"])
    # A model says in its configuration that 4 bits are enough for its tables.
    quantise(graph, table_bits=getattr(model.transformer.config, "table_bits", 8))
    from nymlink.encode.onnx_graph import write_proto

    write_proto(graph, folder / FILES["int8"])
    recalls = [
        sample.recall(_vectors(_encoder(folder, model, precision), sample.names, progress=progress))
        for precision in ("fp32", "int8")
    ]
    quality = Int8Quality(len(sample.queries), *recalls)
    if quality.drop > _LARGEST_DROP:
        raise NymlinkError(
            f"int8 makes this model worse: recall@1 of {quality.queries:,} names falls from "
            f"{100 * recalls[0]:.2f} to {100 * recalls[1]:.2f}, more than {100 * _LARGEST_DROP} points; nothing "
            "was written: choose fp32"
        )
    for file in (folder / FILES["fp32"]).parent.glob(f"{Path(FILES['fp32']).name}*"):
        file.unlink()
    return quality


def _encoder(folder: Path, model: TorchModel, precision: Literal["fp32", "int8"]) -> Encoder:
    return Encoder(OnnxNetwork(folder, model.settings, precision), model.tokenizer, model.settings)


def _vectors(encoder: Encoder, names: Sequence[str], *, progress: bool = False) -> Vectors:
    """Encode names without a warning about truncated names, because both precisions truncate the same names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return encoder.encode(names, progress=progress)


def _require_same_vectors(model: TorchModel, exported: OnnxNetwork) -> None:
    """Check that a graph makes the same vectors as the model. Names with unknown tokens are checked too."""
    from nymlink.encode.torch_backend import TorchNetwork

    tokens = tokenise(model.tokenizer, _PROBES)
    ids, mask = tokens.padded(np.arange(len(tokens)), pad_id=model.pad_id)
    original = TorchNetwork(model, "fp32", "cpu")
    cosine = float(np.sum(original.vectors(ids, mask) * exported.vectors(ids, mask), axis=1).min())
    if cosine < _LEAST_COSINE:
        raise NymlinkError(
            f"this model cannot be exported to ONNX, use it with torch: the vectors of its graph differ (cosine "
            f"{cosine:.4f})"
        )


def _require_extra() -> None:
    """Check that the packages for exporting are installed."""
    if any(find_spec(module) is None for module in ("onnx", "onnxscript", "torch", "transformers")):
        raise MissingExtraError("train", purpose="exporting an encoder to ONNX")
