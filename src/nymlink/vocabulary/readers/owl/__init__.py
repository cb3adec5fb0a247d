"""Ontologies in OWL and SKOS: RDF/XML, functional-style syntax and Turtle."""
