"""The UMLS Metathesaurus in Rich Release Format, read column by column."""
