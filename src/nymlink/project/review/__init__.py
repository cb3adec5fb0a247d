"""Review: terms, what reviewers decide of them, and how far they agree."""
