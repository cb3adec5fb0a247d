"""Merge vocabularies: concepts that are the same by evidence become one.

``identifiers`` normalises ids, ``evidence`` collects and weighs mappings, xrefs and names, ``clustering`` joins
concepts by evidence and makes the tables of the result, ``merge`` runs these steps, and ``report`` documents the
reasons. See ``docs/howto/merging.md``.
"""
