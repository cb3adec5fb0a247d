"""Ontologies as RDF: OWL in RDF/XML and functional syntax, and Turtle."""
