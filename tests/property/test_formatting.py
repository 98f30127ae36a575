"""
Formatting: whatever the octets, nothing is lost, nothing means something else, and once is enough.

What is proved inside is asked again here from outside: records, verdicts and comments of the old
file and of the new one, under every profile and with both engines.
"""

from __future__ import annotations

import re
from itertools import pairwise
from types import ModuleType

from hypothesis import example, given
from hypothesis import strategies as st

from robotrules import RobotsTxt, extensions, parse
from robotrules._engine import pure
from robotrules.errors import ProductTokenError
from robotrules.formatting import FormatResult, format_robots
from robotrules.profile import PROFILES, Profile, Role
from tests.property import strategies as some

# Lines that a formatter may stumble on: marks inside, drawings, half records, blank lines of kinds.
ODD_LINES = st.sampled_from(
    [
        b"",
        b" ",
        b"\t ",
        b"#",
        b"  # words",
        b"#words",
        b"#\xc3\xa9t\xc3\xa9",
        b"#  /\\_/\\",
        b" #####",
        b"## head",
        b"#!",
        b"# robotrules: ignore[RR501]",
        b"#Disallow: /gone",
        b"<p>",
        b"no record",
        b"Disallow /x",
        b"user agent x",
        b"https://example.com/sitemap.xml",
        b"Sitemap:https://example.com/s.xml#a",
        b"disallow:/a#b",
        b"DISALLOW :\t/a b\t#c",
        b"dissallow:/a",
        b"Disallow: /",
        b"User-agent:*",
        b"user-AGENT : a # one",
        b"USERAGENT: b",
        b"user-agent-purpose:train",
        b"content-usage:train-ai=n",
        b"x-y:z",
        b"\xef\xbb\xbfUser-agent: a",
        b"\xef\xbc\x9a: x",
        b"\xff\xfe",
        b"Allow: /\xff",
        b"Allow: /\x0c",
        b"\x0b",
    ]
)
MARKS = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b" ", b"\n"])


bodies = some.odd_files(ODD_LINES, MARKS) | some.bodies


def formatted(body: bytes, engine: ModuleType, profile: Profile | str = "default") -> FormatResult:
    """Format octets; what is refused is left alone."""
    found = format_robots(parse(body, profile, engine=engine))
    assert found.proved is not bool(found.refused)
    assert found.changed is (found.body != body)
    if found.refused:
        assert found.body == body
    return found


def comments(body: bytes) -> list[bytes]:
    """Return what comments say, but for whitespace at their ends."""
    return [text[1:].strip(b" \t") for text in re.findall(rb"#[^\r\n]*", body)]


def records(robots: RobotsTxt) -> list[tuple[object, ...]]:
    """Return what a reader of records reads."""
    return [(found.key, found.value, found.role, found.group) for found in robots.records]


def put_right(body: bytes) -> bool:
    """Tell whether there are names that may be put right, so that strict sees other records."""
    return bool({note.code for note in parse(body).notes} & {"typo", "missing-colon"})


class TestFormatting:
    """Canonical form MUST mean what was written (RFC 9309 §2.2), to everybody."""

    @given(body=bodies)
    @example(body=b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: a\nDisallow: /")
    @example(body=b" \xef\xbb\xbfUser-agent: a\nDisallow: /")
    @example(body=b"\n\xef\xbb\xbfUser-agent: a\nDisallow: /")
    @example(body=b"  # a\n #####\n# b")
    @example(body=b"a: b\r\r\nc: d")
    @example(body=b"\xef\xbb\xbf" + b"a:  b\n" * 20 + b"\x0b\n\x0c\n")
    def test_once_is_enough(self, body: bytes, engine: ModuleType) -> None:
        """Formatting what is formatted changes nothing, and is not refused."""
        once = formatted(body, engine)
        if not once.refused:
            again = formatted(once.body, engine)
            assert (again.body, again.changed, again.refused) == (once.body, False, "")

    @given(body=bodies)
    def test_records_and_comments(self, body: bytes, engine: ModuleType) -> None:
        """The same records in the same groups, but for typos; and all comments."""
        new = formatted(body, engine).body
        assert comments(new) == comments(body)
        for profile in PROFILES.values():
            old_file, new_file = (parse(octets, profile, engine=engine) for octets in (body, new))
            if not put_right(body):
                assert records(new_file) == records(old_file)
                was, now = map(extensions.notes, (old_file, new_file))
                assert [note.code for note in now] == [note.code for note in was]

    @given(data=st.data(), body=bodies, token=some.tokens)
    def test_verdicts(
        self, data: st.DataObject, body: bytes, token: str, engine: ModuleType
    ) -> None:
        """Every crawler gets the same verdict on every URL, under every profile."""
        new = formatted(body, engine).body
        values = [record.value for record in parse(body).records] or [b"/"]
        urls = data.draw(st.lists(some.urls(st.sampled_from(values)), min_size=1, max_size=4))
        names = [record.text for record in parse(body).records if record.key == "user-agent"]
        for profile in PROFILES.values():
            old_file, new_file = (parse(octets, profile, engine=engine) for octets in (body, new))
            for name in {token, *names[:3]}:
                for url in urls:
                    try:
                        was = old_file.check(url, name)
                    except ProductTokenError:
                        continue
                    assert new_file.check(url, name).allowed is was.allowed, (profile.name, url)

    @given(body=bodies)
    def test_form(self, body: bytes, engine: ModuleType) -> None:
        """LF and one at the end; no two blank lines; no blank line between rules of a group."""
        found = formatted(body, engine)
        if found.refused:
            return
        assert b"\r" not in found.body
        assert b"\n\n\n" not in found.body
        assert not found.body.endswith(b"\n\n")
        assert not found.body or found.body.endswith(b"\n")
        robots = parse(found.body, engine=engine)
        lines = [b"", *(line.text for line in robots.lines)]
        for above, record in pairwise(robots.records):
            if above.role is not Role.OTHER and record.role is not Role.OTHER:
                inside = above.group == record.group is not None
                between = lines[above.line : record.line]
                assert inside is not (b"" in between) or record.group is None
        for before, group in zip(robots.groups, robots.groups[1:], strict=False):
            between = lines[before.records[-1].line : group.records[0].line]
            assert b"" in between

    @given(body=bodies, profile=some.profiles())
    def test_looks_do_not_depend_on_the_profile(
        self, body: bytes, profile: Profile, engine: ModuleType
    ) -> None:
        """Whoever parsed the file: it is formatted alike, or not at all."""
        usual, other = formatted(body, engine), formatted(body, engine, profile)
        if profile.name in PROFILES and profile == PROFILES[profile.name]:
            assert other == usual
        old_file, new_file = (
            parse(octets, profile, engine=engine) for octets in (body, other.body)
        )
        if not put_right(body):
            assert records(new_file) == records(old_file)

    @given(body=bodies)
    def test_engines_agree(self, body: bytes, native: ModuleType) -> None:
        """Both engines format alike, to the octet."""
        assert formatted(body, native) == formatted(body, pure)
