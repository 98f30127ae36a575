"""
Internals: access to the engine behind a RobotsTxt and a RuleSet, for packages of robotrules.

Not for users: the handles and tuples of an engine change with the engine, in any release. Users
have the methods of `RobotsTxt` and `RuleSet`. Other packages of robotrules use these functions and
no private attribute; `tests/test_architecture.py` checks this. Call them once for a file or a rule
set, not for each URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robotrules.profile import Profile
from robotrules.robotstxt import DocumentRecords, RobotsTxt, parse
from robotrules.robotstxt.ruleset import RuleSet

if TYPE_CHECKING:
    from robotrules._engine._native import Document


def get_engine(source: RobotsTxt | RuleSet) -> Any:
    """Return the engine module that parsed a file or compiled a rule set."""
    return source._engine


def get_document(robots: RobotsTxt) -> Document:
    """
    Return the engine's document: positions of lines, records and notes, as plain tuples.

    Reading them is faster than making the values of `RobotsTxt.records` or `RobotsTxt.notes`.
    """
    document: Document = robots._document
    return document


def get_received(robots: RobotsTxt) -> bytes:
    """Return the bytes passed to `parse()`, before they were cut at the limit or decoded."""
    return robots._received


def reparse(robots: RobotsTxt, profile: Profile) -> RobotsTxt:
    """Return the same file, parsed with another profile."""
    return parse(robots._received, profile, complete=robots._document.complete)


def get_document_records(robots: RobotsTxt, keys: Sequence[str]) -> DocumentRecords:
    """
    Return the records of another document than RFC 9309, over the groups of that document (AMB-29).

    *keys* are the document's names for its record. The file computes this once.
    """
    return robots._document_records(keys)


def compile_groups(robots: RobotsTxt, groups: list[int]) -> RuleSet:
    """Return the compiled rules of groups, given by index. The result is not cached."""
    return robots._compile(groups)


def get_written_patterns(rules: RuleSet) -> list[tuple[bytes, bool]]:
    """Return the path patterns of a rule set as written, each with whether it allows."""
    return rules._source.written()
