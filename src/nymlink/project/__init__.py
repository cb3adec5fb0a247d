"""The project file: an SQLite database with tables, their terms and links, and the decisions of reviewers."""
