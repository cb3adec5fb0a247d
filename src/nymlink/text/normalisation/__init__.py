"""What counts as the same writing: normal forms, folded forms, scripts, Latin letters for others."""
