"""Projects of a server: opened once, linked in the background."""
