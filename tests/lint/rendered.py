"""Test data for the renderers: a few notes, hostile notes, and very many notes."""

from __future__ import annotations

from typing import Any

from robotrules.linting import Edit, Fix, LintNote, Related, lint
from robotrules.linting.render import LintedFile

BODY = b"User-agent: *\nDisallow: private/\nDisallow: /shop*\nAllow: /shop\n"
CHECKED = ("pattern-start", "dead-rule")
# An escape of a terminal, orders to a runner, XML's own signs, what XML and SARIF cannot have.
HOSTILE = "\x1b[31m\0\r\n::error::%0A,<b a='\"'>&]]>\ufffe\udc80[x](https://evil.example)\u2028é😀"


def lint_file(body: bytes = BODY, where: bytes = b"robots.txt", **more: Any) -> LintedFile:
    """Lint a body with two checks, as a file."""
    notes = tuple(lint(body, select=CHECKED))
    return LintedFile(where, notes=notes, body=body)._replace(**more)


def note(message: str = "A message.", start: int = 24, end: int = 32, **more: Any) -> LintNote:
    """Return a note on the second line of `BODY`."""
    made = LintNote("RR505", "pattern-start", "error", message, 2, 11, 19, start, end)
    return made._replace(**more)


def hostile_file() -> LintedFile:
    """Return a file in which every field has hostile content."""
    fix = Fix(HOSTILE, (Edit(24, 24, b"\xff"), Edit(32, 33, b"\r\n")), True)
    bad = note(HOSTILE, related=(Related(HOSTILE, 3, 11, 43, 49),), url=HOSTILE, fix=fix)
    about_page = note(HOSTILE, line=None, column=0, end_column=0, part=HOSTILE)
    about_file = note(HOSTILE, line=None, column=0, end_column=0)
    name = HOSTILE.encode("utf-8", "surrogatepass") + b"\xff"
    return LintedFile(name, notes=(bad, about_page, about_file), body=BODY)


def large_file(count: int = 100_000) -> LintedFile:
    """Return a file with very many notes on one very long line that is not ASCII."""
    body = b"Disallow: " + "é".encode() * 250_000
    notes = tuple(note(start=10 + 2 * at, end=12 + 2 * at, line=1) for at in range(count))
    return LintedFile(b"robots.txt", notes=notes, body=body)
