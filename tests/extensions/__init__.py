"""Readers of records beyond User-agent, Allow and Disallow: one file for each module."""
