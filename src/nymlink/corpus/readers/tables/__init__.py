"""Readers of tables of mentions: delimited text, JSON lines, Parquet, XLSX, and reviews of Usagi."""
