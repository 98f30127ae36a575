"""Datasets: one file for each module."""
