"""Benchmarks, in folders by subject. docs/evidence/benchmarks.md says what each folder holds.

A script is run from the folder of the repository, ``python benchmarks/ROOM/SCRIPT.py``, and imports others by
their whole names: ``from benchmarks.common import report``. What an editable install puts on the path finds them.
"""
