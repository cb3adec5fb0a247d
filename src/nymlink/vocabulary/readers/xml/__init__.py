"""Vocabularies in XML with a record for each concept."""
