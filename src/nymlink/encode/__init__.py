"""Encoders: names → unit vectors."""
