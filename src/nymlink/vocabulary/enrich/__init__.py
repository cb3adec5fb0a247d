"""Enriching a vocabulary: concepts borrow the names of what another vocabulary holds equal to them.

``known`` says which concept an id of any spelling stands for, ``sharing`` which of those that refer to each other
share their names, ``by_name`` which are called the same, ``equals`` which concepts of two vocabularies are one,
``borrowing`` which names pass from one to the other, ``enrich`` does it. ``docs/merging.md`` has the figures.
"""
