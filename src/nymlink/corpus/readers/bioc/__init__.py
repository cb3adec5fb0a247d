"""Readers of BioC, in XML and in JSON."""
