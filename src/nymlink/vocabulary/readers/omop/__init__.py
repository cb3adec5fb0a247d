"""OMOP standardised vocabularies."""
