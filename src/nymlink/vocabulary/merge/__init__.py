"""Merge vocabularies: concepts become one if there is enough evidence that they are the same.

``identifiers`` normalises ids, ``evidence`` collects and weighs mappings, xrefs and names, ``clustering`` joins
concepts by evidence and makes the tables of the result, ``merge`` runs these steps, and ``report`` documents the
reasons. See ``docs/howto/merging.md``.
"""
