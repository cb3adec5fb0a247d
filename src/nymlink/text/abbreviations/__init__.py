"""Abbreviations that a text defines, after Schwartz & Hearst (2003) and Sohn et al. (2008).

``short_forms`` lists the places where a bracket may define a short form, ``long_forms`` the ways in which letters
stand for words; ``definitions`` joins both.
"""

from nymlink.text.abbreviations.definitions import Definition, find_definitions

__all__ = ["Definition", "find_definitions"]
