"""Ontologies as the OBO world writes them: OBO files and OBO Graphs."""
