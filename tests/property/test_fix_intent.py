"""
Fixes keep what the author of a file meant, where some of its records are misspelt.

Files are made twice: as meant, and with slips in the names of records. What was meant is known
here without asking lint. Safe fixes of the second file, and then the right spelling, must give what
the first one says; and so must the fixes that correct the spelling.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotrules import RobotsTxt, parse
from robotrules.linting import fix, lint
from robotrules.profile import PROFILES

# What each name becomes by a slip, up to the value. The last ones of each are read by profile
# default and not by strict, the others by none.
SLIPS = {
    b"User-agent: ": [b"User-agen: ", b"User-agnet: ", b"- User-agent: ", b"Useragent: "],
    b"Disallow: ": [b"Disallows: ", b"Disallow_: ", b"Dissallow: ", b"Disallow "],
    b"Allow: ": [b"Alow: ", b"Allows: ", b"Allow "],
}
RIGHT = {wrong: right for right, slips in SLIPS.items() for wrong in slips}
NAMES = ("BadBot", "EvilBot", "OtherBot", "*")
PATHS = ("/", "/a", "/a/b", "/cart", "/cart*")
URLS = [f"https://example.com{path}" for path in ("/", "/a", "/a/b", "/cart", "/cart/1", "/z")]
MOST_ROUNDS = 20


class Made(NamedTuple):
    """A file, as meant and as written."""

    meant: bytes
    written: bytes


def lines_of(names: list[bytes], values: tuple[str, ...]) -> st.SearchStrategy[tuple[bytes, bytes]]:
    """Return a strategy of lines: as meant, and with or without a slip."""

    def made(name: bytes, value: str, slip: int) -> tuple[bytes, bytes]:
        spellings = [name, name, *SLIPS[name]]
        return name + value.encode(), spellings[slip % len(spellings)] + value.encode()

    return st.builds(made, st.sampled_from(names), st.sampled_from(values), st.integers(0, 59))


agents = lines_of([b"User-agent: "], NAMES)
rules = lines_of([b"Disallow: ", b"Disallow: ", b"Allow: "], PATHS)
blanks = st.sampled_from([(b"", b""), (b"# about", b"# about")])
groups = st.builds(
    lambda *parts: [line for part in parts for line in part],
    st.lists(agents, min_size=1, max_size=2),
    st.lists(rules, min_size=1, max_size=3),
    st.lists(blanks, max_size=1),
)


def joined(parts: list[list[tuple[bytes, bytes]]]) -> Made:
    """Return the file of some groups."""
    lines = [line for group in parts for line in group]
    return Made(*(b"".join(line[n] + b"\n" for line in lines) for n in (0, 1)))


files = st.lists(groups, min_size=1, max_size=4).map(joined)
EVIL = Made(
    b"User-agent: BadBot\nDisallow: /\nUser-agent: EvilBot\nDisallow: /\n\n"
    b"User-agent: *\nDisallow: /cart\n",
    b"User-agent: BadBot\nDisallow: /\nUser-agen: EvilBot\nDisallow: /\n\n"
    b"User-agent: *\nDisallow: /cart\n",
)


def fixed(body: bytes, profile: str, *, verdicts: bool) -> bytes:
    """Return a file after fixes, round after round."""
    for _ in range(MOST_ROUNDS):
        robots = parse(body, profile)
        done = fix(robots, lint(robots), verdicts=verdicts)
        if done.body == body:
            return body
        body = done.body
    raise AssertionError("fixes go on and on")


def respelled(body: bytes) -> bytes:
    """Return a file without the slips that were made here."""
    return b"".join(map(_respelled, body.splitlines(keepends=True)))


def _respelled(line: bytes) -> bytes:
    for wrong, right in RIGHT.items():
        if line.startswith(wrong):
            return right + line[len(wrong) :]
    return line


def verdicts(robots: RobotsTxt) -> dict[tuple[str, str], bool]:
    """Return who may fetch what."""
    names = (*NAMES[:-1], "Stranger")
    return {(name, url): robots.check(url, name).allowed for name in names for url in URLS}


def everywhere(body: bytes) -> list[dict[tuple[str, str], bool]]:
    """Return who may fetch what under each profile."""
    return [verdicts(parse(body, name)) for name in PROFILES]


class TestFixesKeepWhatWasMeant:
    """A safe fix MUST NOT rest on a record that is misread."""

    @pytest.mark.parametrize("profile", PROFILES)
    @settings(max_examples=50)
    @given(made=files)
    @example(made=EVIL)
    def test_safe_fixes(self, profile: str, made: Made) -> None:
        """They change neither what is read nor what was meant."""
        body = fixed(made.written, profile, verdicts=False)
        assert everywhere(body) == everywhere(made.written)
        assert everywhere(respelled(body)) == everywhere(made.meant)

    @settings(max_examples=50)
    @given(made=files)
    @example(made=EVIL)
    def test_fixes_of_verdicts(self, made: Made) -> None:
        """
        They come to what fixes of the well spelt file come to.

        Under the other profiles some slips have no fix: google takes `Disallows` for a record, and
        strict takes a line without its colon for none.
        """
        body = fixed(made.written, "default", verdicts=True)
        assert everywhere(body) == everywhere(fixed(made.meant, "default", verdicts=True))
