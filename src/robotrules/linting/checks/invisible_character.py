"""RR206: a sign in a record that nobody sees."""

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
        inside the file, or a full-width colon `：` in a line that is no comment. They get there
        when lines are pasted from a word processor, a chat or a web page.

    Why it matters:
        For RFC 9309 only space and tab are whitespace. Any of these signs is a part of the name or
        of the value: a record called `Disallow` with such a sign before it is one that nobody
        knows, and a pattern that ends with one matches no URL of yours. In an editor it looks fine.

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
    message = "{name} {where}."
    reference = "RFC 9309 §2.2 (REP-2.2-03, REP-2.2-05); AMB-07, AMB-09, AMB-10"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each line that has some, about the first."""
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
                # Values of records that nobody knows are nobody's to judge.
                if record.key in KNOWN or ODD_CHARACTER.search(
                    body, record.key_start, record.key_end
                ):
                    yield from self._in_record(context, record)
            else:
                yield from self._without_record(context, line, text)

    def _in_record(self, context: LintContext, record: Record) -> Iterator[LintNote]:
        body = context.robots.body
        spans = (record.key_start, record.key_end), (record.start, record.end)
        edits = [edit for span in spans for edit in _ends(body, *span)]
        first = edits[0] if edits else _inside(body, record)
        if first is None:
            return
        if first.start < record.key_end:
            where = "is a part of the record's name, so crawlers do not know the record"
        elif edits:
            where = "stands at the end of the value and is a part of it"
            if first.start == record.start:
                where = "stands before the value and is a part of it"
        else:
            where = "stands inside the value and is a part of it"
        fix = None
        if edits:
            fix = Fix("Take it out", tuple(edits), changes_verdicts=True)
        sign = ODD_CHARACTER.search(body, first.start, first.end)
        name = name_character(sign[0]) if sign else ""
        level = "error" if edits else "warning"
        yield self.note(
            context, first.start, first.end, level=level, fix=fix, name=name, where=where
        )

    def _without_record(self, context: LintContext, line: Line, text: bytes) -> Iterator[LintNote]:
        found = ODD_CHARACTER.search(text)
        colon = text.find(FULL_WIDTH_COLON)
        if colon >= 0:
            start, end = line.start + colon, line.start + colon + len(FULL_WIDTH_COLON)
            fix = None
            if text[:colon].strip().lower().decode("utf-8", "replace") in KNOWN:
                fix = Fix("Write ':'", (Edit(start, end, b":"),), changes_verdicts=True)
            where = "is no colon, so the line is no record and is ignored"
            yield self.note(
                context, start, end, fix=fix, name=name_character(FULL_WIDTH_COLON), where=where
            )
        elif found and is_invisible(text):
            start, end = line.start, line.start + len(text)
            where = "is all that the line has; the line is ignored"
            fix = Fix("Take it out", (Edit(start, end, b""),))
            yield self.note(
                context,
                start,
                end,
                level="info",
                fix=fix,
                name=name_character(found[0]),
                where=where,
            )


def _ends(body: bytes, start: int, end: int) -> Iterator[Edit]:
    """Yield what is to go before a name or value, and after it."""
    leading = LEADING.match(body, start, end)
    first = leading.end() if leading else start
    if first > start:
        yield Edit(start, first, b"")
    last = end
    while size := _last(body, first, last):
        last -= size
    if last < end:
        yield Edit(last, end, b"")


def _last(body: bytes, first: int, end: int) -> int:
    """Return how many octets of what must not stand at an end stand before one."""
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


def _inside(body: bytes, record: Record) -> Edit | None:
    """Return the first sign inside a name or value that no script needs there."""
    for start, end in ((record.key_start, record.key_end), (record.start, record.end)):
        for found in ODD_CHARACTER.finditer(body, start, end):
            around = body[found.start() - 1] & body[min(found.end(), end - 1)]
            if found[0] not in JOINERS or not around & 0x80:
                return Edit(found.start(), found.end(), b"")
    return None
