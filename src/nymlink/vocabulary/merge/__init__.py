"""Merging vocabularies: concepts that evidence shows to be the same become one.

``identifiers`` says what is the same id, ``concepts`` what the inputs hold, ``links`` which of them refer to each
other, ``names`` which are called the same, ``evidence`` what follows from both; ``clustering`` joins by evidence,
``rewrite`` makes the tables of the result, ``report`` writes down why. ``docs/merging.md`` has the figures.
"""
