"""Encoder: names → unit vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.progress import track
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backends import Network, Precision
from nymlink.encode.backends.choose import locate
from nymlink.encode.batches import Batches
from nymlink.encode.cache.cached_vectors import Keeper
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.model.embedded import embedded
from nymlink.encode.model.fingerprint import fingerprint
from nymlink.encode.model.saved import check_saved
from nymlink.encode.model.settings import EncoderSettings, Pooling
from nymlink.encode.model.tokenizer import load_tokenizer, silent_tokens
from nymlink.encode.model.tokens import Rows
from nymlink.encode.truncation import Cuts

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Encoder:
    """Makes unit vectors of names.

    Args:
        network: what makes vectors of token ids.
        tokenizer: what makes token ids of names.
        settings: the pooling, and the length that names are cut to.
        batch_tokens: how many tokens the network is given at once; what it prefers if ``None``.

    Attributes:
        name: where it was loaded from: an embedded encoder, a folder, or a model on the Hugging Face hub; ``None``
            if it was not.
        backend: the name of the back end that it was loaded with; ``None`` if it was not.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        settings: EncoderSettings,
        *,
        batch_tokens: int | None = None,
    ) -> None:
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"batch_tokens must be at least 1, not {batch_tokens}")
        self.network = network
        self.settings = settings
        self.name: str | None = None
        self.backend: str | None = None
        self._tokenizer = tokenizer
        self._batch_tokens = batch_tokens or network.batch_tokens

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
            name_or_folder: ``"nymlink-mini"`` (the one that comes with nymlink), a model folder, or the name of a
                model on the Hugging Face hub.
            backend: what runs it; if ``None``, ONNX Runtime (on the CPU) where the model has ONNX files that serve
                the precision and the device asked for, else torch.
            precision: of the matrix products; if ``None``, the best the back end has for the device.
            device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; if ``None``, with torch a GPU where there is one.
            pooling: overrides what the folder says (see :meth:`EncoderSettings.read`).
            max_length: overrides what the folder says.
            batch_tokens: tokens encoded at once; where memory does not suffice for them, fewer are.

        Raises:
            InputError: no such model; or its files are missing, damaged, or do not belong together; or device or
                precision cannot be had.
            StoreError: a file of an encoder that nymlink wrote is missing or truncated.
            UnknownNameError: there is no such back end.
            MissingExtraError: the back end is not installed.
        """
        folder, chosen = locate(name_or_folder, backend=backend, precision=precision, device=device)
        local = folder == Path(name_or_folder)
        if local or embedded(name_or_folder) is not None:
            check_saved(folder)
        settings = EncoderSettings.read(folder, pooling=pooling, max_length=max_length)
        tokenizer = load_tokenizer(folder, settings)
        network = chosen.open(folder, settings, precision, device)
        encoder = cls(network, tokenizer, settings, batch_tokens=batch_tokens)
        # A folder must be found from anywhere, other models have no place.
        encoder.name = str(folder.absolute() if local else name_or_folder)
        encoder.backend = chosen.name
        return encoder

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.network.width

    @cached_property
    def fingerprint(self) -> str:
        """What identifies the encoder: 64 hex digits over network, tokenizer, settings and class of precision.

        Raises:
            InputError: the files that the network was loaded from have changed since.
        """
        return fingerprint(
            weights=self.network.digest(),
            tokenizer=self._tokenizer.to_str(),
            settings=self.settings,
            precision=self.network.precision,
        )

    @cached_property
    def _silent(self) -> frozenset[int]:
        return silent_tokens(self._tokenizer)

    def encode(
        self, names: Sequence[str], *, progress: bool = False, cache: EmbeddingCache | None = None
    ) -> Vectors:
        """The vectors of N names, in their order; each distinct name is encoded once.

        A name without a token of its own (empty, blank, control characters), or of which the tokenizer knows
        nothing (a script that it lacks, an emoji), has a vector of zeros: it is like nothing. Names longer than
        ``settings.max_length`` tokens are cut, with one warning that counts them.

        Args:
            names: N names.
            progress: show a progress bar on a terminal.
            cache: where vectors encoded before are, and new ones are kept. It keeps float16: with a cache all
                vectors, new ones too, are what that leaves of them. One that cannot be written is warned of.

        Returns:
            float32 (N, D): rows of length 1, or 0 for names of which no token is known.

        Raises:
            NymlinkError: memory does not suffice, not even for one name at a time.
            InputError: the network gives no numbers, or with a cache, its files are no longer those it was loaded
                from.
        """
        row_of = {name: row for row, name in enumerate(dict.fromkeys(names))}
        distinct = list(row_of)
        vectors = np.zeros((len(distinct), self.width), np.float32)
        shelf = None if cache is None else cache.shelf(self.fingerprint, width=self.width)
        keeper = Keeper(shelf, distinct, vectors)
        missing = keeper.recall()
        batches = Batches(
            [distinct[row] for row in missing.tolist()],
            self.network,
            self._tokenizer,
            silent=self._silent,
            batch_tokens=self._batch_tokens,
        )
        # Each name is a step, whatever the batches: they differ too much to foretell the time by.
        done = _filled(vectors, missing, batches, keeper)
        deque(track(done, "encoding", total=len(missing), shown=progress), maxlen=0)
        Cuts(batches.truncated, len(missing), self.settings.max_length).say(stacklevel=2)
        if len(distinct) == len(names):
            return vectors
        return vectors[np.fromiter(map(row_of.__getitem__, names), np.int64, len(names))]


def _filled(vectors: Vectors, missing: Rows, batches: Batches, keeper: Keeper) -> Iterator[int]:
    """Write the missing rows of ``vectors``; yield each as it is done."""
    with keeper:
        for rows, found in batches:
            vectors[missing[rows]] = found
            keeper.add(missing[rows])
            yield from rows.tolist()
