"""Annotators of free text. A module imports at its top the standard library and ``peers.dictionary`` alone.

``build(dictionary, index, **settings)``, where there is one, writes an index into an empty folder.
``load(dictionary, index, **settings)`` gives a function: texts → of each its mentions, as start, end, concept.
"""
