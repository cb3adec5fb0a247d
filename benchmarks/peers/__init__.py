"""Linkers and annotators of others beside nymlink: one file a peer, each in an environment of its own."""
