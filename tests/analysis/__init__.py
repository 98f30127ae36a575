"""Exact answers about rules: one file for each module."""
