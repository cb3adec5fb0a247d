"""Encoders turn names into vectors with a suitable back end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Vectors
from nymlink.core.terminal import track
from nymlink.encode.backend import BACKENDS, Backend, Network, Precision
from nymlink.encode.batches import Batches, TruncationCounts
from nymlink.encode.cached_vectors import CachedVectors, EmbeddingCache
from nymlink.encode.model.encoder_settings import EncoderSettings, Pooling
from nymlink.encode.model.fingerprint import check_saved, fingerprint, fingerprint_of_sum
from nymlink.encode.model.folder import BESIDE, installed, model_folder
from nymlink.encode.model.token_batches import Rows
from nymlink.encode.model.tokenizer import known_scripts, load_tokenizer, uninformative_tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def locate(
    name_or_folder: str | Path, *, backend: str | None, precision: Precision | None, device: str | None
) -> tuple[Path, Backend]:
    """Find the folder of a model and the back end that runs it.

    Args:
        name_or_folder: a folder, or the name of a model on the hub. From the hub, only files that a back end needs
            are fetched.
        backend: name of the back end; ``None`` for the first one, by priority, that can read the folder and
            supports the precision and the device.
        precision: precision of the matrix products; ``None`` for any.
        device: the device; ``None`` for any.

    Raises:
        InputError: there is no such model.
        UnknownNameError: there is no such back end.
    """
    if backend is not None:
        chosen = BACKENDS.get(backend)
        return model_folder(name_or_folder, weights=chosen.patterns(precision)), chosen
    by_priority = sorted((each for _, each in BACKENDS), key=lambda each: each.priority)
    # If no back end supports precision and device, choose one that can read the folder, or the last one. Its error
    # says what is missing.
    serving = [each for each in by_priority if each.serves(precision, device)] or by_priority
    patterns = tuple(pattern for each in serving for pattern in each.patterns(precision))
    folder = model_folder(name_or_folder, weights=patterns)
    readers = [each for each in serving if each.reads(folder, precision)]
    readers += [each for each in by_priority if each.reads(folder, None)]
    return folder, (readers or by_priority[-1:])[0]


class Encoder:
    """Encodes names as unit vectors.

    Args:
        network: token ids → vectors.
        tokenizer: names → token ids.
        settings: settings such as the pooling and the most tokens of a name.
        batch_tokens: number of tokens in a batch; ``None`` for the number that is fastest for the network.
        beside: a second encoder with a tokenizer of its own, trained towards the same vectors. A name then has the
            sum of both vectors, at unit length: their mistakes differ.

    Attributes:
        name: where it was loaded from: the name of an installed encoder, a folder, or the name of a model on the
            Hugging Face hub; ``None`` if it was made in memory.
        backend: name of its back end; ``None`` if it was made in memory.

    Example:
        >>> from nymlink import Encoder
        >>> encoder = Encoder.load("nymlink-mini")
        >>> vectors = encoder.encode(["heart attack", "myocardial infarction", "gout"])
        >>> vectors.shape
        (3, 384)
        >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
        True
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        settings: EncoderSettings,
        *,
        batch_tokens: int | None = None,
        beside: Encoder | None = None,
    ) -> None:
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"batch_tokens must be at least 1, not {batch_tokens}")
        if beside is not None and beside.width > network.width:
            raise InputError(f"vectors of width {network.width} and {beside.width} have no sum")
        self.network = network
        self.settings = settings
        self.name: str | None = None
        self.backend: str | None = None
        self._tokenizer = tokenizer
        self._batch_tokens = batch_tokens or network.batch_tokens
        self._beside = beside

    @classmethod
    def load(
        cls,
        name_or_folder: str | Path,
        *,
        backend: str | None = None,
        precision: Precision | None = None,
        device: str | None = None,
        pooling: Pooling | None = None,
        max_length: int | None = None,
        batch_tokens: int | None = None,
    ) -> Encoder:
        """Load an encoder.

        Args:
            name_or_folder: ``"nymlink-mini"``, which is a part of nymlink; the name of an encoder of another
                installed package; a model folder; or the name of a model on the Hugging Face hub.
            backend: ``"onnx"``, ``"torch"`` or another registered back end. If ``None``, nymlink takes ONNX
                Runtime (on the CPU) if the model has ONNX files for the precision and the device, otherwise torch.
            precision: precision of the matrix products; ``None`` for the best one that the back end has on the
                device.
            device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. If ``None``, torch takes a GPU if there is one.
            pooling: overrides the pooling of the folder (see :meth:`EncoderSettings.read`).
            max_length: overrides the length of the folder.
            batch_tokens: number of tokens in a batch. It is lowered if memory does not suffice.

        Raises:
            InputError: there is no such model; or its files are missing, damaged, or do not belong together; or
                the device or the precision is not available.
            StoreError: a file of an encoder written by nymlink is missing or truncated.
            UnknownNameError: there is no such back end.
            MissingExtraError: the back end is not installed.
        """
        folder, chosen = locate(name_or_folder, backend=backend, precision=precision, device=device)
        local = folder == Path(name_or_folder)
        if local or installed(name_or_folder) is not None:
            check_saved(folder)
        settings = EncoderSettings.read(folder, pooling=pooling, max_length=max_length)
        tokenizer = load_tokenizer(folder, settings)
        network = chosen.open(folder, settings, precision, device)
        beside = None
        if (folder / BESIDE).is_dir():
            beside = cls.load(
                folder / BESIDE,
                backend=backend,
                precision=precision,
                device=device,
                pooling=pooling,
                max_length=max_length,
                batch_tokens=batch_tokens,
            )
        encoder = cls(network, tokenizer, settings, batch_tokens=batch_tokens, beside=beside)
        # Make the path absolute, so that the folder is found from any working directory.
        encoder.name = str(folder.absolute() if local else name_or_folder)
        encoder.backend = chosen.name
        return encoder

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.network.width

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the encoder: 64 hex digits from its network, tokenizer, settings and kind of precision.

        Raises:
            InputError: the files of the network have changed since it was loaded.
        """
        own = fingerprint(
            weights=self.network.digest(),
            tokenizer=self._tokenizer.to_str(),
            settings=self.settings,
            precision=self.network.precision,
        )
        return own if self._beside is None else fingerprint_of_sum(own, self._beside.fingerprint)

    @cached_property
    def known_scripts(self) -> frozenset[str]:
        """Scripts in which its tokenizer knows whole words: ``{"Latin", "Cyrillic", …}``."""
        own = known_scripts(self._tokenizer)
        return own if self._beside is None else own | self._beside.known_scripts

    @cached_property
    def _uninformative(self) -> frozenset[int]:
        return uninformative_tokens(self._tokenizer)

    def encode(
        self, names: Sequence[str], *, progress: bool = False, cache: EmbeddingCache | None = None
    ) -> Vectors:
        """Encode N names. Repeated names are encoded only once.

        A name without any known token (empty, blank, control characters, another script, an emoji) gets a vector
        of zeros, which has the cosine 0 with any other vector. Names of more than ``settings.max_length`` tokens
        are truncated. One warning says how many.

        Args:
            names: N names.
            progress: show a progress bar on a terminal.
            cache: cache of vectors, which is read and extended. It stores float16, so with a cache all vectors are
                rounded to float16. If the cache cannot be written, nymlink warns.

        Returns:
            float32 (N, D), in the order of the names. Each row has the length 1, or is 0 for a name without a
            known token.

        Raises:
            NymlinkError: memory does not suffice, not even for one name at a time.
            InputError: the network gives vectors with NaN; or, with a cache, the encoder's files have changed
                since it was loaded.
        """
        row_of = {name: row for row, name in enumerate(dict.fromkeys(names))}
        distinct = list(row_of)
        vectors = np.zeros((len(distinct), self.width), np.float32)
        encoder_cache = None if cache is None else cache.for_encoder(self.fingerprint, width=self.width)
        known = None if cache is None else cache.known_to(self.fingerprint)
        cached = CachedVectors(encoder_cache, distinct, vectors, known=known)
        missing = cached.fill()
        asked = [distinct[row] for row in missing.tolist()]
        batches = self._batches(asked)
        summed = batches if self._beside is None else self._beside.added(asked, batches)
        # The progress bar counts names, because batches differ too much to estimate the time.
        encoded = _encode_missing(vectors, missing, summed, cached)
        deque(track(encoded, "encoding", total=len(missing), shown=progress), maxlen=0)
        TruncationCounts(batches.truncated, len(missing), self.settings.max_length).warn(stacklevel=2)
        if len(distinct) == len(names):
            return vectors
        return vectors[np.fromiter(map(row_of.__getitem__, names), np.int64, len(names))]

    def added(
        self, names: Sequence[str], batches: Iterable[tuple[Rows, Vectors]]
    ) -> Iterator[tuple[Rows, Vectors]]:
        """Add the vectors of this encoder to those of another one.

        If the vectors of the other one are longer, both are added at unit length in the first numbers. The further
        numbers follow with the length :data:`_FURTHER`.

        Args:
            names: N names.
            batches: rows of names, int64 (B), and their unit vectors by the other encoder, float32 (B, D).

        Yields:
            The same rows, and the sums, at unit length: float32 (B, D).
        """
        for rows, vectors in batches:
            sums, further = (_at_unit_length(part) for part in np.split(vectors, [self.width], axis=1))
            for own, encoded in self._batches([names[row] for row in rows.tolist()]):
                sums[own] += encoded
            yield rows, _at_unit_length(np.hstack([sums, np.float32(_FURTHER) * further]))

    def _batches(self, names: Sequence[str]) -> Batches:
        return Batches(
            names,
            self.network,
            self._tokenizer,
            uninformative=self._uninformative,
            batch_tokens=self._batch_tokens,
        )


_FURTHER: Final = 0.9
"""Length of the numbers that only one of two encoders has, beside a sum of two unit vectors."""


def _at_unit_length(vectors: Vectors) -> Vectors:
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return scaled


def _encode_missing(
    vectors: Vectors, missing: Rows, batches: Iterable[tuple[Rows, Vectors]], cached: CachedVectors
) -> Iterator[int]:
    """Fill the missing rows of ``vectors`` in place. Yield each row when it is encoded."""
    with cached:
        for rows, encoded in batches:
            vectors[missing[rows]] = encoded
            cached.add(missing[rows])
            yield from rows.tolist()
