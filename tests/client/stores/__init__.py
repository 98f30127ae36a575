"""Tests of the stores: one contract for all four, and what each has of its own."""
