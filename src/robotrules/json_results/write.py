"""
The JSON of `robotrules write`: a policy, the robots.txt that is made from it, and a comparison.
"""

from __future__ import annotations

from typing import Any

from robotrules.errors import WriteError
from robotrules.robotstxt import RobotsTxt
from robotrules.write import NewRobotsTxt, read_back
from robotrules.write.policy import Policy

# Increased when a JSON key changes its meaning or is removed.
SCHEMA_VERSION = 1


def policy_values(policy: Policy, text: str, name: str | None = None) -> dict[str, Any]:
    """Return a policy as plain values; *text* is its robots.txt, *name* the name of its file."""
    values: dict[str, Any] = {"schema": SCHEMA_VERSION, "policy": name}
    values |= {"robotstxt": text, **policy.robots.as_dict()}
    values["tags"] = [table.as_dict() for table in policy.tags]
    return values


def compare_with_policy(
    robots: NewRobotsTxt, text: str, existing: RobotsTxt, octets: bytes
) -> tuple[bool, bool]:
    """
    Return whether a robots.txt is the *text* of a policy, and whether it is equivalent.

    *octets* are the bytes of *existing*.
    """
    same = octets == text.encode("ascii")
    try:
        equivalent = read_back(existing) == robots
    except WriteError:  # not expressible as a policy
        equivalent = False
    return same, equivalent
