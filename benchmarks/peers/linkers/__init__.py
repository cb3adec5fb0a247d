"""Linkers of names. A module imports at its top the standard library and ``peers.dictionary`` alone.

``build(dictionary, index, **settings)``, where there is one, writes an index into an empty folder.
``load(dictionary, index, **settings)`` gives a search: mentions → of each the rows of its names, best first, or
with ``Dictionary.distinct`` its concepts.
"""
