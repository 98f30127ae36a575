"""Tests: `test_<module>.py` mirrors src, `property/` states laws, `test_house.py` the plan."""
