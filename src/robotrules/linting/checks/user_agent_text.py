"""RR404: text after the product token of a user-agent line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import identifier, is_header, is_name, split_list
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Note

# A version, an asterisk or a remark in brackets, which are certainly not part of a name.
_NOT_A_NAME = re.compile(rb"(?:/\S*|\*)?(?:\s*\([^()]*\))?")
_RECORD = re.compile(rb"[\s,;](?:dis)?allow\s*:", re.IGNORECASE)


class UserAgentText(ParserNote):
    """
    What it finds:
        A user-agent line with text after the product token: a version, a second word, an asterisk.

    Why it matters:
        A product token has only letters, `_` and `-`. Google's parser stops at the first other
        character: it reads `Googlebot/2.1` as Googlebot in any version, and `Example Reader` as
        `Example`. Some parsers compare the whole value and find no crawler of that name, so that
        the rules have no effect. The note is a warning if the token is the name of another
        well-known crawler, or if the text contains a rule, which no parser reads.

    Example:
            User-agent: ExampleBot/2.1
            Disallow: /search

    Instead:
            User-agent: ExampleBot
            Disallow: /search

        The fix removes a version or a final `*`. Removing a version counts as a change of verdicts,
        because a crawler that identifies itself as `ExampleBot/2.1`, which it should not, is
        compared with the whole value. No crawler has a `*` at the end of its name.
    """

    code = "RR404"
    slug = "user-agent-text"
    level = "info"
    message = (
        "Google's parser reads {token} and ignores {text}; parsers that compare the whole value "
        "find no such crawler. {advice}."
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-15; AMB-21, AMB-23"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield all values but names with digits, headers and lists, which other checks report."""
        for note in super().check(context):
            record = context.by_line[note.line or 0]
            value = record.value
            if not (is_name(value) or is_header(value) or split_list(value)):
                is_harmful = _contains_rule(value) or _names_another(value)
                yield note._replace(level="warning" if is_harmful else self.level)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the product token, the text after it, and how to correct the line."""
        record = context.by_line[note.line or 0]
        text = context.robots.body[note.start : note.end].strip()
        token = quote(identifier(record.value))
        advice = "Write the product token alone"
        if _contains_rule(record.value):
            advice = "Put the rule on a separate line"
        elif _names_another(record.value):
            advice = f"{token} is another crawler: write the right product token"
        return {"token": token, "text": quote(text), "advice": advice}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove the text if it is certainly not part of a name."""
        rest = context.robots.body[note.start : note.end]
        if not _NOT_A_NAME.fullmatch(rest):
            return None
        # Parsers that compare whole values distinguish a crawler with a name outside the grammar.
        token = identifier(context.by_line[note.line or 0].value)
        edit = Edit(note.start, note.end, b"")
        # No crawler has a star in its name, so removing one changes no verdict.
        star = rest.strip() == b"*"
        return Fix(f"Write {quote(token)}", (edit,), changes_verdicts=not star)


def _contains_rule(value: bytes) -> bool:
    """Return whether a rule follows the name on the same line."""
    return _RECORD.search(value) is not None


def _names_another(value: bytes) -> bool:
    """Return whether the first word of a longer name is the name of a well-known crawler."""
    token = identifier(value)
    rest = value[len(token) :]
    return not _NOT_A_NAME.fullmatch(rest) and to_text(token) in KNOWN_CRAWLERS
