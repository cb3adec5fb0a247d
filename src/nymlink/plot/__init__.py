"""Pictures of what training does to the space of names."""
