"""Tests of the drop-in replacements."""
