"""nymlink."""
