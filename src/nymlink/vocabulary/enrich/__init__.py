"""Enrich a vocabulary with the names of equivalent concepts in another one.

``concept_ids`` looks up concepts by any spelling of their ids, ``mutual_names`` and ``by_name`` compare names,
``equivalence`` decides which concepts are equivalent, ``borrowing`` chooses the names, and ``enrich`` adds them.
See ``docs/howto/merging.md``.
"""
