"""Campaigns: they do damage of every kind to nymlink, many times at random, and count the outcomes."""
