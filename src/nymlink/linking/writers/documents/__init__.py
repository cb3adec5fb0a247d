"""Write documents with their links: PubTator, BioC, BRAT, CoNLL."""
