"""RR506: whitespace inside a path pattern."""

from __future__ import annotations

import re
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.linting.value_shapes import line_end
from robotrules.robotstxt.values import Note

_SPACE = re.compile(rb"[ \t]")


class SpaceInPattern(ParserNote):
    """
    What it finds:
        A rule with a space or a tab inside its path pattern.

    Why it matters:
        A rule has one pattern, and a URL has no spaces: a request has `%20` instead. Parsers
        disagree: crawler-commons, Python's urllib.robotparser and profile `default` read the space
        as `%20`; Google's parser keeps it, so that the rule never matches; by the grammar the line
        is not a rule. Two paths need two rules, and a comment starts with `#`.

    Example:
            User-agent: *
            Disallow: /my files/

    Instead:
            User-agent: *
            Disallow: /my%20files/
    """

    code = "RR506"
    slug = "space-in-pattern"
    level = "warning"
    message = "{text} contains whitespace, which URLs do not have. {hint}."
    reference = "RFC 9309 §2.2, §2.2.2; AMB-11"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the pattern, and how to correct it."""
        value = context.robots.body[note.start : note.end]
        hint = "Google's parser never matches it, others read '%20'. Write '%20'"
        if len(_split_paths(value)) > 1:
            hint = "Write one rule for each path"
        return {"text": quote(value), "hint": hint}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write a rule for each path, or `%20` where one path has spaces."""
        value = context.robots.body[note.start : note.end]
        record = context.by_line[note.line or 0]
        paths = _split_paths(value)
        if len(paths) > 1:
            before = line_end(context, record.line)
            before += context.robots.body[record.key_start : record.start]
            edit = Edit(note.start, note.end, before.join(paths))
            return Fix("Write one rule for each path", (edit,), changes_verdicts=True)
        if re.search(rb"[ \t]/|//|--|<|:", value):
            return None  # a remark, or something else
        encoded = _SPACE.sub(lambda match: b"%20" if match[0] == b" " else b"%09", value)
        edit = Edit(note.start, note.end, encoded)
        return Fix(f"Write {quote(encoded)}", (edit,), changes_verdicts=True)


def _split_paths(value: bytes) -> list[bytes]:
    """Return the paths of a value that consists of paths; otherwise nothing."""
    parts = value.split()
    return parts if all(re.match(rb"/(?!/)", part) for part in parts) else []
