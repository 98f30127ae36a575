"""Tests of `operations.watch`."""
