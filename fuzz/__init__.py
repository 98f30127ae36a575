"""Fuzzing: generated inputs, and the invariants that hold for all of them."""
