"""XML and JSON, whose lines mean nothing: guarded parsers, and text in blocks of bounded size."""
