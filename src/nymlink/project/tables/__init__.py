"""Read the tables that are reviewed: from bytes, as whoever sent them; how they were read is said."""
