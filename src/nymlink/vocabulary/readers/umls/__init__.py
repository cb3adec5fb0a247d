"""The UMLS Metathesaurus in Rich Release Format, read by columns: one file a step."""
