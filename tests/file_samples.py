"""Files that several tests read."""

from __future__ import annotations

GROUPS = """\
User-agent: a
Disallow: /one
User-agent: b
User-agent: A
Disallow: /two
User-agent: *
Disallow: /star
User-agent: c
User-agent: *
Disallow: /other-star
"""
