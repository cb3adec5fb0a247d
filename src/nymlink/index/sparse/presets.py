"""Presets: named settings of sparse search, published ones and the default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from nymlink.core.errors import UnknownNameError
from nymlink.index.sparse.settings import SparseSettings

DEFAULT_PRESET: Final = "nymlink"

PRESETS: Final[Mapping[str, Mapping[str, SparseSettings]]] = MappingProxyType(
    {
        # Chosen on the development sets of NCBI and BC5CDR: see docs/howto/evaluation.md.
        "nymlink": {"sparse": SparseSettings(chars=(1, 2), word_chars=(3, 4), romanised=True, search_share=0.15)},
        # Sung et al. 2020 (BioSyn), section 3.2.
        "biosyn": {"sparse": SparseSettings(chars=(1, 2))},
        # Le & Nguyen 2023, section 3.1: two searches whose lists are merged, here by the mean of their scores.
        "le-nguyen": {
            "characters": SparseSettings(chars=(2, 5)),
            "words": SparseSettings(words=True, shortest_word=2, stop_words=False),
        },
        # Exact search alone: the baseline of other searches.
        "none": {},
    }
)
"""Preset → its sparse searches, by the name of their score part."""


def preset(name: str) -> Mapping[str, SparseSettings]:
    """Look up the sparse searches of a preset.

    Raises:
        UnknownNameError: there is none of that name; the message lists the known ones.
    """
    if name not in PRESETS:
        raise UnknownNameError(f"unknown sparse setting {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]
