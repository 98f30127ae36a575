"""Tests: `test_<module>.py` mirrors src, `property/` states laws, `test_architecture.py` layers."""
