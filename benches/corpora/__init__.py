"""
What the engines are asked about: a body, one product token, and URLs.

Each corpus is a package beside its README, which says where it comes from and what it is good
and bad for. Does not know: engines, clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """
    One robots.txt and the questions a crawler with one product token has for it.

    *urls* are asked one by one; *many* are asked together. *oracle* holds what google/robotstxt
    says of each of *urls*, where the corpus has it.
    """

    name: str
    body: bytes
    token: str
    urls: tuple[str, ...]
    many: tuple[str, ...]
    oracle: tuple[bool, ...] = ()
