"""Tables as input: encodings, delimiters, columns, cells, and their formats."""
