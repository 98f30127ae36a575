"""Fuzzing: inputs nobody would write by hand, and what must hold for all of them."""
