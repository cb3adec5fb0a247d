"""Read decisions from files: reviews of Usagi, mappings of SSSOM, what a project exported, and other projects."""
