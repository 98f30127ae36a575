"""Lint: checks by their literate tests, and what they share by tests of its own."""
