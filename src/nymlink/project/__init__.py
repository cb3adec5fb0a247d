"""The project file: tables whose terms are linked and reviewed, and all that is decided of them, in SQLite."""
