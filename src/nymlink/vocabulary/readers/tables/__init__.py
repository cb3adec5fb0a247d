"""Vocabularies in one text table with a row for each name or concept."""
