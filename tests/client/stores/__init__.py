"""Tests of the stores: one contract for all four, and the specifics of each."""
