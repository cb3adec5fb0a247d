"""SNOMED CT, Release Format 2."""
