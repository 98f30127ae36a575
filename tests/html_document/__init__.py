"""Self-contained pages: one file for each module."""
