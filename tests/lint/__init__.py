"""Lint: checks by their literate tests, and shared modules by ordinary tests."""
