"""Merge vocabularies: concepts that are the same by evidence become one.

``identifiers`` normalises ids, ``concepts`` indexes the inputs, ``claims`` collects mappings and xrefs, ``names``
compares names, ``evidence`` weighs both; ``clustering`` joins concepts by evidence, ``rewrite`` makes the tables
of the result, and ``report`` documents the reasons. See ``docs/howto/merging.md``.
"""
