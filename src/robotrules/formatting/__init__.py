"""
Formatting: a robots.txt in canonical form, its comments kept, its meaning proved unchanged.

Lines are written anew one by one (`layout`), in their order. What comes out is not trusted: it is
read again under every profile and compared with the file it came from (`proof`), and every comment
has to be there. A line at which that fails is copied as it was; where that does not help, the file
is left alone, and the reason said. Nothing here reads or writes a file.

    from robotrules import parse
    from robotrules.formatting import format_robots
    formatted = format_robots(parse(body))
    formatted.body                       # the octets to write, if formatted.changed
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from robotrules.analysis.solver import MAX_STATES
from robotrules.formatting.layout import BOM, Layout, canonical_names
from robotrules.formatting.proof import first_difference, keeps_text, proves_equal
from robotrules.profile import DEFAULT, PROFILES, Role
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.internals import get_document, get_engine, get_received

__all__ = ["MAX_STATES", "FormatResult", "format_robots"]

# How often a line that breaks the proof is looked for. None is expected.
MOST_TRIES = 5
# Of a larger file no exact questions are asked about its typos: they might take seconds.
MOST_RECORDS = 2_000
# The new file has a record too many; no line of the old one is to blame.
NOWHERE = -1
# A form feed may have got into a text. A file with more than one octet of so many is none.
_CONTROL = re.compile(rb"[\x01-\x1f]")
MOST_CONTROLS = 50
# A line that starts with an element of HTML.
_ELEMENT = re.compile(rb"(?:\A|[\r\n])[ \t]*</?[A-Za-z][-0-9A-Za-z]*[ \t/>]")


class FormatResult(NamedTuple):
    """A file in canonical form, or as it was."""

    body: bytes
    """What to write: proved to mean the same, or the octets as they were."""
    changed: bool
    proved: bool
    """Whether it is proved that it means the same under every profile; False: it was refused."""
    refused: str
    """Why the file is left alone; empty: it is not."""


def format_robots(robots: RobotsTxt, *, budget: int = MAX_STATES) -> FormatResult:
    """
    Return a file in canonical form, which is proved to mean the same under every profile.

    Formatting what is formatted changes nothing. Never raises on content: a file that cannot be
    formatted is refused with a reason. *budget* bounds the states of each exact question, and there
    are such questions only where the name of a record is misspelled.
    """
    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"a file is a RobotsTxt, not {name}: pass robotrules.parse(body)")
    return _Work(robots, budget).done()


class _Work:
    """One file on its way."""

    def __init__(self, robots: RobotsTxt, budget: int) -> None:
        self._robots, self._budget = robots, budget
        self._octets = get_received(robots)
        # Whoever reads it, it means the same; how it looks does not depend on who reads it.
        self._profiles = list(dict.fromkeys([DEFAULT, *PROFILES.values(), robots.profile]))
        self._old = [*self._read(self._octets)]

    def _read(self, body: bytes) -> Iterator[RobotsTxt]:
        complete, engine = get_document(self._robots).complete, get_engine(self._robots)
        return (
            parse(body, profile, complete=complete, engine=engine) for profile in self._profiles
        )

    def done(self) -> FormatResult:
        """Lay it out, prove it, and leave out what breaks the proof."""
        if why := self._refusal():
            return self._as_it_was(why)
        names = canonical_names(self._robots.profile.extensions)
        limits = [limit for one in self._profiles if (limit := one.max_line) is not None]
        layout = Layout(self._old[0], names, min(limits))
        body, why = self._laid(layout)
        if why:
            return self._as_it_was(why)
        body = self._spelled(layout, body)
        return FormatResult(body, body != self._octets, True, "")

    def _as_it_was(self, refused: str) -> FormatResult:
        return FormatResult(self._octets, False, False, refused)

    def _refusal(self) -> str:
        """Return why a file is left alone; empty: it is not."""
        octets, usual = self._octets, self._old[0]
        codes = _codes(usual)
        if "not-utf8" in codes:
            return (
                "it is UTF-16, and robots.txt is UTF-8: save it as UTF-8 first, as "
                "'robotrules lint FILE --fix-verdicts' does"
            )
        if not _is_text(octets):
            return "it is no text: it holds control characters"
        if not any(record.role is Role.START for record in usual.records):
            if "looks-like-html" in codes or _ELEMENT.search(octets):
                return "it is an HTML page, and no robots.txt"
        for robots in self._old:
            if _is_cut(robots):
                return f"it is not whole, or longer than profile {robots.profile.name} reads"
        return ""

    def _laid(self, layout: Layout) -> tuple[bytes, str]:
        """
        Return it in canonical form, proved; lines that break the proof are as they were.

        And why there is none; empty: there is.
        """
        copied: set[int] = set()
        for _ in range(MOST_TRIES):
            body = layout.render(copied=copied)
            if body == self._octets:
                return body, ""
            new = [*self._read(body)]
            for robots in new:
                if _is_cut(robots):
                    return b"", f"it would become longer than profile {robots.profile.name} reads"
            broken = {self._broken(*pair) for pair in zip(self._old, new, strict=True)} - {0}
            if not broken and keeps_text(self._old[0], new[0]):
                return body, ""
            if broken <= copied:
                break
            copied |= broken
        return b"", "it could not be proved that it would mean the same"

    @staticmethod
    def _broken(old: RobotsTxt, new: RobotsTxt) -> int:
        """Return the line of the old file at which records start to differ; 0: they do not."""
        found = first_difference(old, new)
        return 0 if found is None else found[0] or NOWHERE

    def _spelled(self, layout: Layout, body: bytes) -> bytes:
        """Return it with all names put right, if that is proved to change nothing."""
        wrong = layout.misspelled
        if not wrong or len(self._old[0].records) > MOST_RECORDS:
            return body
        tried = layout.render(spelling=True)
        new = [*self._read(tried)]
        if any(map(_is_cut, new)):
            return body
        # What a profile without the tolerance reads is a record that nobody knows.
        misspelled = {
            record.key for robots in self._old for record in robots.records if record.line in wrong
        } - {record.key for record in self._old[0].records}
        pairs = list(zip(self._old, new, strict=True))
        if not keeps_text(*pairs[0], spelling=True):
            return body
        if not all(proves_equal(*pair, misspelled, self._budget) for pair in pairs):
            return body
        return tried


def _is_text(octets: bytes) -> bool:
    """Tell whether there is no NUL, and hardly a control character; formatting changes neither."""
    solid = octets.removeprefix(BOM).translate(None, b" \t\r\n")
    return b"\0" not in solid and len(_CONTROL.findall(solid)) * MOST_CONTROLS <= len(solid)


def _codes(robots: RobotsTxt) -> set[str]:
    return {code for code, *_ in get_document(robots).notes()}


def _is_cut(robots: RobotsTxt) -> bool:
    """Tell whether there is more than was read."""
    return not get_document(robots).complete or bool(_codes(robots) & {"truncated", "cut-line"})
