"""Pictures of what training learns from, and of what it does to names and mentions."""
