"""The language server: unit tests of its modules, and tests over the real protocol."""
