"""
The JSON of `robotrules write`: a policy, the robots.txt that is made from it, and a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robotrules.errors import WriteError
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.serving.policy_lint import lint_policy, stops
from robotrules.serving.policy_source import load_policy
from robotrules.serving.site_policy import DEFAULT_MAX_AGE, find_codes
from robotrules.write import NewRobotsTxt, meta_elements, read_back, robots_tag_fields
from robotrules.write.policy import Policy
from robotrules.write.presets import Preset

# Increased when a JSON key changes its meaning or is removed.
SCHEMA_VERSION = 1
# As in `SitePolicy`.
MIN_LEVEL = "warning"


def policy_values(policy: Policy, text: str, name: str | None = None) -> dict[str, Any]:
    """Return a policy as plain values; *text* is its robots.txt, *name* the name of its file."""
    values: dict[str, Any] = {"schema": SCHEMA_VERSION, "policy": name}
    values |= {"robotstxt": text, **policy.robots.as_dict()}
    values["tags"] = [table.as_dict() for table in policy.tags]
    return values


def preset_values(preset: Preset, robots: NewRobotsTxt, text: str) -> dict[str, Any]:
    """Return a preset as plain values: its robots.txt, and what it says about each crawler."""
    values: dict[str, Any] = {"schema": SCHEMA_VERSION, "policy": None}
    values |= {"robotstxt": text, **robots.as_dict(), "tags": []}
    return values | {"preset": preset.as_dict()}


def added_values(
    preset: Preset, body: bytes, addition: dict[str, Any], file: str | None
) -> dict[str, Any]:
    """Return a file to which a preset was added as plain values; *addition* says what changed."""
    robots = parse(body)
    values = preset_values(preset, read_back(robots), body.decode("utf-8", "backslashreplace"))
    return values | {"addition": {"file": file, **addition}}


def unnamed_purposes(robots: NewRobotsTxt) -> list[str]:
    """
    Return the purposes in User-Agent-Purpose of which a file names no well-known crawler.

    None of these crawlers is known to read the record, so the group has no effect on them.
    """
    names = frozenset(name for group in robots.groups for name in group.names())
    purposes = dict.fromkeys(one.lower() for group in robots.groups for one in group.purposes)
    found = []
    for purpose in purposes:
        named, others = KNOWN_CRAWLERS.split_by_naming(purpose, names)
        if others and not named:
            found.append(purpose)
    return found


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


def check_values(text: str, ignore: Sequence[str] = ()) -> dict[str, Any]:
    """
    Return the notes of lint on the text of a policy, and whether a server would start with it.

    The policy is valid and names no file. An unknown check in *ignore* raises `CheckError`.
    """
    # A text without a line end would be the name of a file.
    loaded = load_policy(text + "\n")
    notes = lint_policy(loaded, DEFAULT_MAX_AGE, find_codes(ignore))
    stopping = any(stops(note, MIN_LEVEL) for note in notes)
    return {"can_be_served": not stopping, "notes": [note.as_dict() for note in notes]}


def tag_field_values(policy: Policy) -> list[dict[str, Any]]:
    """Return what pages have to say for each `[[tags]]` table: header fields, and elements."""
    return [
        {
            "paths": list(table.patterns),
            "headers": [list(field) for field in robots_tag_fields(table.by_token(), legacy=True)],
            "html": meta_elements(table.by_token()),
        }
        for table in policy.tags
    ]
