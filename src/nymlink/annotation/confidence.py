"""How sure a mention is by the way it was found: the numbers, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from nymlink.annotation.names.levels import Level

LEVELS: Final[Mapping[Level, float]] = MappingProxyType(
    {Level.EXACT: 0.8, Level.FORM: 0.55, Level.SENSE: 0.5, Level.CORE: 0.4}
)
"""Confidence of a phrase whose words are those of a name at a level: the share of such that is right in the
training texts of NCBI disease, with MEDIC (benchmarks/annotation/annotate.py measures it). There are too few of
the last."""

FACTORS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "loose": 0.9,
        "qualifier": 0.1,
        "adverb": 0.2,
        "ordinary": 0.2,
        "product": 0.2,
        "coordination": 0.75,
        "gap": 0.75,
    }
)
"""Shares of it that are left: to a name that is related, narrower or broader; to words that only qualify; to an
adverb; to a word of general language that is a loose name, or another form of one; to other forms of the name of a
chemical or another product; to a name whose words are those of a coordination; to one with a qualifier between its
words."""

MIN_CONFIDENCE: Final = 0.25
"""Mentions of less confidence are left out, unless asked for: chosen on the development half of GSC+."""

MIN_FUZZY_CONFIDENCE: Final = 0.5
"""Phrases that the searches of an index link with less confidence are left out: chosen in the same way."""
