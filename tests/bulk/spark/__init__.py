"""Tests of `robotrules.bulk.spark` on a standalone cluster."""
