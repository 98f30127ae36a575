"""RR206: an invisible character in a record."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.pasted_text import (
    FULL_WIDTH_COLON,
    JOINERS,
    LEADING,
    ODD_CHARACTER,
    is_invisible,
    name_character,
)
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Line, Record


class InvisibleCharacter(Check):
    r"""
    What it finds:
        A no-break space, a zero width space, a soft hyphen, a direction mark, a byte order mark
        inside the file, or a full-width colon `：` in a line that is not a comment. They get into a
        file when lines are pasted from a word processor, a chat or a web page.

    Why it matters:
        In RFC 9309 only space and tab are whitespace. Crawlers read any of these characters as part
        of the name or the value: they do not recognise `Disallow` with such a character before it,
        and a pattern that ends with one matches no URL of the site. Editors do not show it.

    Example:
            User-agent: *
            \xc2\xa0Disallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR206"
    slug = "invisible-character"
    level = "error"
    message = "{name} {problem}. {advice}."
    reference = "RFC 9309 §2.2 (REP-2.2-03, REP-2.2-05); AMB-07, AMB-09, AMB-10"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each line with such characters, at the first of them."""
        body = context.robots.body
        if body.isascii() or context.parser_notes("looks-like-html"):
            return
        for line in context.lines:
            end = line.end if line.comment is None else line.comment
            text = line.text[: end - line.start]
            if text.isascii() or not ODD_CHARACTER.search(text):
                continue
            record = context.by_line.get(line.number)
            if record is not None:
                # Values of unknown records are not checked.
                if record.key in KNOWN or ODD_CHARACTER.search(
                    body, record.key_start, record.key_end
                ):
                    yield from self._in_record(context, record)
            else:
                yield from self._without_record(context, line, text)

    def _in_record(self, context: LintContext, record: Record) -> Iterator[LintNote]:
        body = context.robots.body
        spans = (record.key_start, record.key_end), (record.start, record.end)
        edits = [edit for span in spans for edit in _trim_ends(body, *span)]
        first = edits[0] if edits else _find_inside(body, record)
        if first is None:
            return
        if first.start < record.key_end:
            problem = "is in the record's name, so crawlers ignore the record"
        else:
            place = "inside"
            if edits:
                place = "before" if first.start == record.start else "at the end of"
            problem = f"is {place} the value, and crawlers read it as part of the value"
        fix = None
        if edits:
            fix = Fix("Remove it", tuple(edits), changes_verdicts=True)
        sign = ODD_CHARACTER.search(body, first.start, first.end)
        name = name_character(sign[0]) if sign else ""
        level = "error" if edits else "warning"
        yield self.note(
            context,
            first.start,
            first.end,
            level=level,
            fix=fix,
            name=name,
            problem=problem,
            advice="Remove it",
        )

    def _without_record(self, context: LintContext, line: Line, text: bytes) -> Iterator[LintNote]:
        sign = ODD_CHARACTER.search(text)
        colon = text.find(FULL_WIDTH_COLON)
        if colon >= 0:
            start, end = line.start + colon, line.start + colon + len(FULL_WIDTH_COLON)
            fix = None
            if text[:colon].strip().lower().decode("utf-8", "replace") in KNOWN:
                fix = Fix("Write ':'", (Edit(start, end, b":"),), changes_verdicts=True)
            yield self.note(
                context,
                start,
                end,
                fix=fix,
                name=name_character(FULL_WIDTH_COLON),
                problem="is not a colon, so crawlers ignore the line",
                advice="Write ':'",
            )
        elif sign and is_invisible(text):
            start, end = line.start, line.start + len(text)
            yield self.note(
                context,
                start,
                end,
                level="info",
                fix=Fix("Remove it", (Edit(start, end, b""),)),
                name=name_character(sign[0]),
                problem="is all that the line contains, and crawlers ignore the line",
                advice="Remove it",
            )


def _trim_ends(body: bytes, start: int, end: int) -> Iterator[Edit]:
    """Yield the edits that remove such characters at both ends of a name or value."""
    leading = LEADING.match(body, start, end)
    first = leading.end() if leading else start
    if first > start:
        yield Edit(start, first, b"")
    last = end
    while size := _removable_size(body, first, last):
        last -= size
    if last < end:
        yield Edit(last, end, b"")


def _removable_size(body: bytes, first: int, end: int) -> int:
    """Return the length of the removable character that ends at *end*; 0 if there is none."""
    if end <= first:
        return 0
    if body[end - 1 : end] in b" \t":
        return 1
    return next(
        (
            size
            for size in (2, 3)
            if end - size >= first and ODD_CHARACTER.fullmatch(body, end - size, end)
        ),
        0,
    )


def _find_inside(body: bytes, record: Record) -> Edit | None:
    """Return the first such character inside a name or value that no script needs there."""
    for start, end in ((record.key_start, record.key_end), (record.start, record.end)):
        for match in ODD_CHARACTER.finditer(body, start, end):
            around = body[match.start() - 1] & body[min(match.end(), end - 1)]
            if match[0] not in JOINERS or not around & 0x80:
                return Edit(match.start(), match.end(), b"")
    return None
