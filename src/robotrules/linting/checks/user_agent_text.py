"""RR404: text behind the product token of a user-agent line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import identifier, is_header, is_name, split_list
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Note, shown

# A version, an asterisk, a remark in brackets: what is certainly no part of a name.
_NOT_A_NAME = re.compile(rb"(?:/\S*|\*)?(?:\s*\([^()]*\))?")
_RECORD = re.compile(rb"[\s,;](?:dis)?allow\s*:", re.IGNORECASE)


class UserAgentText(ParserNote):
    """
    What it finds:
        A user-agent line with more than a product token: a version, a second word, an asterisk.

    Why it matters:
        A product token has letters, `_` and `-` alone. What Google's parser reads ends at the first
        other octet: `Googlebot/2.1` is Googlebot, every version of it, and `Example Reader` is
        `Example`. Some parsers compare the whole value, find no crawler of that name, and the rules
        are lost. The note is a warning where what is read is the name of another well-known
        crawler, and where a rule stands in the same line: it is not read.

    Example:
            User-agent: ExampleBot/2.1
            Disallow: /search

    Instead:
            User-agent: ExampleBot
            Disallow: /search

        The fix takes a version away, or a `*` at the end. With a version it counts as one that
        changes verdicts, because a crawler that calls itself `ExampleBot/2.1`, which it should not,
        is compared with the whole value. No crawler has a `*` at the end of its name.
    """

    code = "RR404"
    slug = "user-agent-text"
    level = "info"
    message = "Only {token} is read as the name of a crawler, and {text} is not{more}."
    reference = "RFC 9309 §2.2.1; REP-2.2.1-15; AMB-21, AMB-23"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield values that no other check is about: names with digits, headers and lists."""
        for note in super().check(context):
            record = context.by_line[note.line or 0]
            value = record.value
            if not (is_name(value) or is_header(value) or split_list(value)):
                wrong = _hides_a_record(value) or _names_another(value)
                yield note._replace(level="warning" if wrong else self.level)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return what is read, and what is not."""
        record = context.by_line[note.line or 0]
        text = context.robots.body[note.start : note.end].strip()
        more = ""
        if _hides_a_record(record.value):
            more = ": a rule has a line of its own"
        elif _names_another(record.value):
            more = ": another crawler has that name"
        return {"token": quote(identifier(record.value)), "text": quote(text), "more": more}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take the text away where it is certainly no part of a name."""
        rest = context.robots.body[note.start : note.end]
        if not _NOT_A_NAME.fullmatch(rest):
            return None
        # Who asks by a name outside the grammar is told apart where whole values are compared.
        token = identifier(context.by_line[note.line or 0].value)
        edit = Edit(note.start, note.end, b"")
        # No crawler has a star in its name, so nobody asks by it.
        star = rest.strip() == b"*"
        return Fix(f"Write {quote(token)}", (edit,), changes_verdicts=not star)


def _hides_a_record(value: bytes) -> bool:
    """Tell whether a rule stands behind the name, in the same line."""
    return _RECORD.search(value) is not None


def _names_another(value: bytes) -> bool:
    """Tell whether the first word of a longer name is the name of a well-known crawler."""
    token = identifier(value)
    rest = value[len(token) :]
    return not _NOT_A_NAME.fullmatch(rest) and shown(token) in KNOWN_CRAWLERS
