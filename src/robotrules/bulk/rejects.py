"""
Rejects: records of an input that cannot be used, each with its place and the reason.

A reject is a value and not an exception: one bad record must not stop a run of a million. Every
record of an input is either in the output or a reject, so the two add up.
"""

from __future__ import annotations

from typing import NamedTuple


class Reject(NamedTuple):
    """A record of an input that cannot be used."""

    source: str
    """The file it is in; empty if unknown."""
    place: str
    """Where it is in the file, such as `row 12`, `line 7` or `offset 83712`."""
    reason: str
    """What is wrong with it, in a few words."""


class RejectWarning(UserWarning):
    """Records of an input cannot be used, and the caller did not ask for them."""
