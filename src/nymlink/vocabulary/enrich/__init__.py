"""Enriching a vocabulary: concepts borrow the names of what another vocabulary holds equal to them.

``known`` says which concept an id of any spelling stands for, ``called`` which are called the same, ``equals``
which concepts of two vocabularies are one, ``borrowing`` which names pass from one to the other, ``enrich`` does
it. ``docs/merging.md`` has the figures.
"""
