"""Campaigns: damage of every kind, done to nymlink many times at random and counted."""
