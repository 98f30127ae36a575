"""
Formatting: a robots.txt in canonical form, with its comments, and its meaning proved unchanged.

Lines are written one by one (`layout`), in their order. The result is parsed under every profile
and compared with the original (`proof`), and every comment has to be there. A line at which that
fails is copied unchanged; if that does not help, the file is left unchanged, with the reason. The
package does not read or write files.

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

# Attempts to find a line that breaks the proof. None is expected.
MAX_TRIES = 5
# In a larger file misspelt names are not corrected: the queries might take seconds.
MAX_RECORDS = 2_000
# The new file has an additional record, which corresponds to no line of the old one.
NOWHERE = -1
# Text may contain a form feed; a file with more than one control character in so many octets is
# not text.
_CONTROL = re.compile(rb"[\x01-\x1f]")
OCTETS_PER_CONTROL = 50
# A line that starts with an element of HTML.
_ELEMENT = re.compile(rb"(?:\A|[\r\n])[ \t]*</?[A-Za-z][-0-9A-Za-z]*[ \t/>]")


class FormatResult(NamedTuple):
    """A file in canonical form, or unchanged."""

    body: bytes
    """The octets to write: proved to mean the same, or unchanged."""
    changed: bool
    proved: bool
    """Whether it is proved to mean the same under every profile; False: it was refused."""
    refused: str
    """Why the file was not formatted; empty if it was."""


def format_robots(robots: RobotsTxt, *, max_states: int = MAX_STATES) -> FormatResult:
    """
    Return a file in canonical form, which is proved to mean the same under every profile.

    Formatting is idempotent. It never raises on content: a file that cannot be formatted is refused
    with a reason. *max_states* limits the states of each query; there are queries only if the name
    of a record is misspelt.
    """
    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"a file is a RobotsTxt, not {name}: pass robotrules.parse(body)")
    return _Formatter(robots, max_states).run()


class _Formatter:
    """The formatting of one file."""

    def __init__(self, robots: RobotsTxt, max_states: int) -> None:
        self._robots, self._max_states = robots, max_states
        self._octets = get_received(robots)
        # The layout does not depend on the profile; the meaning is proved for each.
        self._profiles = list(dict.fromkeys([DEFAULT, *PROFILES.values(), robots.profile]))
        self._old = [*self._read(self._octets)]

    def _read(self, body: bytes) -> Iterator[RobotsTxt]:
        complete, engine = get_document(self._robots).complete, get_engine(self._robots)
        return (
            parse(body, profile, complete=complete, engine=engine) for profile in self._profiles
        )

    def run(self) -> FormatResult:
        """Lay out the file, prove the result, and leave out changes that break the proof."""
        if refusal := self._refusal():
            return self._unchanged(refusal)
        names = canonical_names(self._robots.profile.extensions)
        limits = [limit for one in self._profiles if (limit := one.max_line) is not None]
        layout = Layout(self._old[0], names, min(limits))
        body, refusal = self._lay_out(layout)
        if refusal:
            return self._unchanged(refusal)
        body = self._correct_names(layout, body)
        return FormatResult(body, body != self._octets, True, "")

    def _unchanged(self, refused: str) -> FormatResult:
        return FormatResult(self._octets, False, False, refused)

    def _refusal(self) -> str:
        """Return why a file cannot be formatted; empty if it can."""
        octets, usual = self._octets, self._old[0]
        codes = _codes(usual)
        if "not-utf8" in codes:
            return (
                "it is UTF-16, and robots.txt is UTF-8: save it as UTF-8 first, as "
                "'robotrules lint FILE --unsafe-fixes' does"
            )
        if not _is_text(octets):
            return "it is not a text file: it has control characters"
        if not any(record.role is Role.START for record in usual.records):
            if "looks-like-html" in codes or _ELEMENT.search(octets):
                return "it is an HTML page, not a robots.txt"
        for robots in self._old:
            if _is_truncated(robots):
                return f"it is truncated, or longer than profile {robots.profile.name} reads"
        return ""

    def _lay_out(self, layout: Layout) -> tuple[bytes, str]:
        """
        Return the file in canonical form, proved; lines that break the proof are unchanged.

        The second value is the reason if that is impossible, else empty.
        """
        copied: set[int] = set()
        for _ in range(MAX_TRIES):
            body = layout.render(copied=copied)
            if body == self._octets:
                return body, ""
            new = [*self._read(body)]
            for robots in new:
                if _is_truncated(robots):
                    return b"", f"it would become longer than profile {robots.profile.name} reads"
            broken = {self._broken_line(*pair) for pair in zip(self._old, new, strict=True)} - {0}
            if not broken and keeps_text(self._old[0], new[0]):
                return body, ""
            if broken <= copied:
                break
            copied |= broken
        return b"", "it could not be proved to mean the same after formatting"

    @staticmethod
    def _broken_line(old: RobotsTxt, new: RobotsTxt) -> int:
        """Return the line of the old file at which records start to differ; 0: none."""
        found = first_difference(old, new)
        return 0 if found is None else found[0] or NOWHERE

    def _correct_names(self, layout: Layout, body: bytes) -> bytes:
        """Return the file with corrected names, if that is proved to change nothing."""
        lines = layout.misspelled
        if not lines or len(self._old[0].records) > MAX_RECORDS:
            return body
        corrected = layout.render(spelling=True)
        new = [*self._read(corrected)]
        if any(map(_is_truncated, new)):
            return body
        # A profile without the tolerance reads a misspelt name as an unknown record.
        misspelled = {
            record.key for robots in self._old for record in robots.records if record.line in lines
        } - {record.key for record in self._old[0].records}
        pairs = list(zip(self._old, new, strict=True))
        if not keeps_text(*pairs[0], spelling=True):
            return body
        if not all(proves_equal(*pair, misspelled, self._max_states) for pair in pairs):
            return body
        return corrected


def _is_text(octets: bytes) -> bool:
    """Return whether there is no NUL and hardly a control character; formatting keeps that."""
    solid = octets.removeprefix(BOM).translate(None, b" \t\r\n")
    return b"\0" not in solid and len(_CONTROL.findall(solid)) * OCTETS_PER_CONTROL <= len(solid)


def _codes(robots: RobotsTxt) -> set[str]:
    return {code for code, *_ in get_document(robots).notes()}


def _is_truncated(robots: RobotsTxt) -> bool:
    """Return whether the profile did not read the whole file."""
    return not get_document(robots).complete or bool(_codes(robots) & {"truncated", "cut-line"})
