"""Ontologies of the OBO Foundry: OBO files and OBO Graphs."""
