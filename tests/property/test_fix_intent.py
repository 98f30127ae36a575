"""
Fixes keep the intent of a file in which some records are misspelt.

Each file is generated twice: as intended, and with misspelt names of records, so the intent is
known without lint. Safe fixes of the second file, followed by the right spelling, must give the
verdicts of the first; and so must the fixes that correct the spelling.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotrules import RobotsTxt, parse
from robotrules.linting import fix, lint
from robotrules.profile import PROFILES

# Misspellings of each name, up to the value. Profile default reads the last ones of each and strict
# does not; no profile reads the others.
MISSPELLINGS = {
    b"User-agent: ": [b"User-agen: ", b"User-agnet: ", b"- User-agent: ", b"Useragent: "],
    b"Disallow: ": [b"Disallows: ", b"Disallow_: ", b"Dissallow: ", b"Disallow "],
    b"Allow: ": [b"Alow: ", b"Allows: ", b"Allow "],
}
RIGHT = {wrong: right for right, wrongs in MISSPELLINGS.items() for wrong in wrongs}
NAMES = ("BadBot", "EvilBot", "OtherBot", "*")
PATHS = ("/", "/a", "/a/b", "/cart", "/cart*")
URLS = [f"https://example.com{path}" for path in ("/", "/a", "/a/b", "/cart", "/cart/1", "/z")]
MAX_ROUNDS = 20


class IntendedFile(NamedTuple):
    """A file, as intended and as written."""

    intended: bytes
    written: bytes


def draw_lines(
    names: list[bytes], values: tuple[str, ...]
) -> st.SearchStrategy[tuple[bytes, bytes]]:
    """Return a strategy of lines: as intended, and as written, possibly misspelt."""

    def make_line(name: bytes, value: str, choice: int) -> tuple[bytes, bytes]:
        spellings = [name, name, *MISSPELLINGS[name]]
        return name + value.encode(), spellings[choice % len(spellings)] + value.encode()

    return st.builds(make_line, st.sampled_from(names), st.sampled_from(values), st.integers(0, 59))


agents = draw_lines([b"User-agent: "], NAMES)
rules = draw_lines([b"Disallow: ", b"Disallow: ", b"Allow: "], PATHS)
blanks = st.sampled_from([(b"", b""), (b"# about", b"# about")])
groups = st.builds(
    lambda *parts: [line for part in parts for line in part],
    st.lists(agents, min_size=1, max_size=2),
    st.lists(rules, min_size=1, max_size=3),
    st.lists(blanks, max_size=1),
)


def join_groups(parts: list[list[tuple[bytes, bytes]]]) -> IntendedFile:
    """Return the file of some groups."""
    lines = [line for group in parts for line in group]
    return IntendedFile(*(b"".join(line[n] + b"\n" for line in lines) for n in (0, 1)))


files = st.lists(groups, min_size=1, max_size=4).map(join_groups)
EVIL = IntendedFile(
    b"User-agent: BadBot\nDisallow: /\nUser-agent: EvilBot\nDisallow: /\n\n"
    b"User-agent: *\nDisallow: /cart\n",
    b"User-agent: BadBot\nDisallow: /\nUser-agen: EvilBot\nDisallow: /\n\n"
    b"User-agent: *\nDisallow: /cart\n",
)


def apply_fixes(body: bytes, profile: str, *, unsafe: bool) -> bytes:
    """Return a file after repeated fixes, until none is left."""
    for _ in range(MAX_ROUNDS):
        robots = parse(body, profile)
        done = fix(robots, lint(robots), unsafe=unsafe)
        if done.body == body:
            return body
        body = done.body
    raise AssertionError("fixes do not end")


def correct_spelling(body: bytes) -> bytes:
    """Return a file with the right spelling of all records."""
    return b"".join(map(_correct_line, body.splitlines(keepends=True)))


def _correct_line(line: bytes) -> bytes:
    for wrong, right in RIGHT.items():
        if line.startswith(wrong):
            return right + line[len(wrong) :]
    return line


def collect_verdicts(robots: RobotsTxt) -> dict[tuple[str, str], bool]:
    """Return the verdict for each crawler and URL."""
    names = (*NAMES[:-1], "Stranger")
    return {(name, url): robots.check(url, name).allowed for name in names for url in URLS}


def verdicts_by_profile(body: bytes) -> list[dict[tuple[str, str], bool]]:
    """Return the verdicts under each profile."""
    return [collect_verdicts(parse(body, name)) for name in PROFILES]


class TestFixesKeepIntent:
    """A safe fix MUST NOT depend on a record that is misread."""

    @pytest.mark.parametrize("profile", PROFILES)
    @settings(max_examples=50)
    @given(made=files)
    @example(made=EVIL)
    def test_safe_fixes(self, profile: str, made: IntendedFile) -> None:
        """They change neither the verdicts nor the intended verdicts."""
        body = apply_fixes(made.written, profile, unsafe=False)
        assert verdicts_by_profile(body) == verdicts_by_profile(made.written)
        assert verdicts_by_profile(correct_spelling(body)) == verdicts_by_profile(made.intended)

    @settings(max_examples=50)
    @given(made=files)
    @example(made=EVIL)
    def test_fixes_that_change_verdicts(self, made: IntendedFile) -> None:
        """
        The result agrees with the fixes of the file with the right spelling.

        Under the other profiles some misspellings have no fix: google reads `Disallows` as a
        record, and strict does not read a line without a colon as a record.
        """
        body = apply_fixes(made.written, "default", unsafe=True)
        assert verdicts_by_profile(body) == verdicts_by_profile(
            apply_fixes(made.intended, "default", unsafe=True)
        )
