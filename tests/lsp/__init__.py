"""The language server: its parts alone, and all of it over the real protocol."""
