"""Vocabularies in one table of text, a row a name or a concept."""
