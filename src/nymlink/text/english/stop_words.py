"""English words that say nothing about which concept a name means."""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = tuple(
    """
    a about above after again against all also am among an and any are as at be because been before being
    below between both but by can could did do does doing down due during each either few for from further
    had has have having he her here hers him his how i if in into is it its itself me more most must my
    neither no nor not of off on once only or other our out over own per same she should since so some such
    than that the their them then there these they this those through to too under until up upon us very via
    was we were what when where whether which while who whom whose why will with within without would you
    your
    """.split()
)
"""Function words, in their normal form."""
