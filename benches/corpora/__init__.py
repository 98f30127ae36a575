"""
The inputs of the benchmarks: a body, one product token, and URLs.

Each corpus is a package with a README that states its source and its limits. Does not know:
engines, clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """
    One robots.txt and the URLs that a crawler with one product token checks.

    *urls* are checked one by one; *many* are checked together. *oracle* holds the verdicts of
    google/robotstxt for *urls*, if the corpus has them.
    """

    name: str
    body: bytes
    token: str
    urls: tuple[str, ...]
    many: tuple[str, ...]
    oracle: tuple[bool, ...] = ()
