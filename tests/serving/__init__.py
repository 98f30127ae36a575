"""Tests of what a site sends to crawlers."""
