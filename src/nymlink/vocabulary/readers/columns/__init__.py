"""Readers of whole columns, for releases of millions of rows."""
