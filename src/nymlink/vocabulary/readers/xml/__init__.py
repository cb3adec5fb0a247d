"""Vocabularies in XML of one record a concept."""
