"""Tables as they come in: encodings, delimiters, columns, cells, and the formats that hold them."""
