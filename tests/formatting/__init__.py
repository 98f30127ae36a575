"""Tests of robotrules.formatting."""
