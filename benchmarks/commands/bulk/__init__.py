"""Bulk jobs on Ray against the plain commands in one process: ``python benchmarks/commands/bulk``."""
