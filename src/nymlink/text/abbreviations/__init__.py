"""Abbreviations: where a text defines one, and what its letters stand for.

After Schwartz & Hearst (2003) and Sohn et al. (2008): ``places`` lists where a bracket may define a short form,
``spellings`` the ways in which letters stand for words, ``definitions`` joins the two.
"""

from nymlink.text.abbreviations.definitions import Definition, find_definitions

__all__ = ["Definition", "find_definitions"]
