"""format_robots: what is refused and why, what is proved, and what a broken proof leads to."""

from __future__ import annotations

import sys
from types import ModuleType
from unittest import mock

import pytest

from robotrules import RobotsTxt, parse
from robotrules.analysis import compare
from robotrules.formatting import MAX_RECORDS, FormatResult, format_robots
from robotrules.formatting.layout import Layout
from robotrules.formatting.proof import first_difference, keeps_text, proves_equal
from robotrules.profile import PROFILES

UNPROVED = "it could not be proved to mean the same after formatting"


def refused(body: bytes, *, complete: bool = True) -> str:
    """Return why a file is refused; its octets are as they were."""
    found = format_robots(parse(body, complete=complete))
    assert found == FormatResult(body, False, False, found.refused)
    return found.refused


class TestRefusals:
    """Left alone, with a reason."""

    def test_misuse(self) -> None:
        """Octets are not a parsed file."""
        with pytest.raises(TypeError, match=r"not bytes: pass robotrules\.parse"):
            format_robots(b"x")  # type: ignore[arg-type]

    def test_utf16(self) -> None:
        """It would become another file."""
        assert "save it as UTF-8" in refused("\ufeffUser-agent: *\n".encode("utf-16-le"))

    @pytest.mark.parametrize("body", [b"User-agent: *\0", b"\x1f\x8b\x08" + bytes(20), b"a\x01b"])
    def test_no_text(self, body: bytes) -> None:
        """NUL, or more than a few control characters."""
        assert "not a text file" in refused(body)

    def test_a_few_control_characters(self) -> None:
        """A stray form feed is copied."""
        body = b"User-agent: *\n\x0c\nDisallow: /" + 50 * b"x" + b"\n"
        assert format_robots(parse(body)) == FormatResult(body, False, True, "")

    @pytest.mark.parametrize(
        "body", [b"<!doctype html>\na: b", b"Error\r<div>\rcolor: red\r</div>"]
    )
    def test_html(self, body: bytes) -> None:
        """A page that a server sent instead."""
        assert "HTML" in refused(body)

    def test_rules_inside_html(self) -> None:
        """Lines of HTML are copied, and rules between them are formatted."""
        body = b"<pre> \nuser-agent:*\ndisallow:/\n</pre> \n"
        expected = b"<pre> \nUser-agent: *\nDisallow: /\n</pre> \n"
        # The first line is before the group.
        assert format_robots(parse(body)).body == expected

    def test_cut(self) -> None:
        """Missing content may mean anything."""
        assert "is truncated" in refused(b"User-agent: *\nDisallow: /", complete=False)

    def test_too_long(self) -> None:
        """Content past the limit would be read in a shorter file."""
        body = b"#" * 600_000 + b"\nuser-agent:*\n"
        assert refused(body) == "it is truncated, or longer than profile default reads"

    def test_it_would_become_too_long(self) -> None:
        """Spaces take room as well."""
        body = b"user-agent:*\n" + b"disallow:/x\n" * 42_000 + b"allow:/y\n"
        assert refused(body) == "it would become longer than profile default reads"
        fits = format_robots(parse(body[:500_000]))
        assert (fits.changed, fits.proved) == (False, False)
        assert format_robots(parse(body[:400_000])).proved

    def test_a_last_line_across_the_limit(self) -> None:
        """It starts in time, so all of the file is read."""
        body = b"#" * 511_990 + b"\nDisallow: /xyz\n"
        assert format_robots(parse(body)) == FormatResult(body, False, True, "")


class TestSpelling:
    """Names read because of a tolerance are corrected if the meaning is the same."""

    @pytest.mark.parametrize(
        "body",
        [
            b"User-agent: *\nDisalow: /x\n",
            b"Useragent: a\nDisallow: /\n",
            b"User-agent: *\nDisallow /x\n",
            b"User-agent: *\nDisallow: /x\nSite-map: https://example.com/s.xml\n",
            # One alone would do no harm; all or none.
            b"User-agent: *\nDisallow: /\nDisalow: /x\n\nUser-agent: b\nDisalow: /\n",
        ],
    )
    def test_it_would_change_something(self, body: bytes) -> None:
        """Profile strict does not read them: to it a rule would be new."""
        assert format_robots(parse(body)) == FormatResult(body, False, True, "")

    @pytest.mark.parametrize(
        ("body", "canonical"),
        [
            (b"User-agent: *\nDisallow: /\ndisalow:/x\n", b"Disallow: /\nDisallow: /x\n"),
            (b"User-agent: *\nAllow /\n", b"Allow: /\n"),
            (b"User-agent: *\nDissallow: #no\n", b"Disallow:  # no\n"),
            (b"User-agent: *\nuser agent: *\nDisallow: /\n", b"User-agent: *\nDisallow: /\n"),
        ],
    )
    def test_same_meaning(self, body: bytes, canonical: bytes, engine: ModuleType) -> None:
        """The meaning is the same in every profile."""
        found = format_robots(parse(body, engine=engine))
        assert found.body == b"User-agent: *\n" + canonical
        for profile in PROFILES:
            assert compare(parse(body, profile), parse(found.body, profile)).equal is True

    def test_space_is_put_right_all_the_same(self) -> None:
        """A typo keeps its spelling, and no more."""
        body = b"User-agent: *\n DISALOW :/x#y\nDisallow\t/z\n"
        assert format_robots(parse(body)).body == b"User-agent: *\nDISALOW: /x#y\nDisallow\t/z\n"

    def test_large_files_are_not_compared(self) -> None:
        """Exact comparison is expensive."""
        body = b"User-agent: *\nDisallow: /\n" + b"Disalow: /x\n" * MAX_RECORDS
        assert format_robots(parse(body)) == FormatResult(body, False, True, "")

    def test_there_must_be_room(self) -> None:
        """A colon more, and the last line would lie past the limit."""
        start = b"User-agent: *\nAllow /\n"
        body = start + b"#" * (511_998 - len(start)) + b"\n# the end\n"
        assert format_robots(parse(body)) == FormatResult(body, False, True, "")
        shorter = body.replace(b"##", b"#", 1)
        assert format_robots(parse(shorter)).body == shorter.replace(b"Allow", b"Allow:")

    def test_comments_are_kept(self) -> None:
        """Comments count here too."""
        body = b"User-agent: *\nAllow /\n"
        module = sys.modules["robotrules.formatting"]
        with mock.patch.object(module, "keeps_text", return_value=False):
            assert format_robots(parse(body)) == FormatResult(body, False, True, "")


class TestProof:
    """Every change is proved first."""

    @pytest.mark.parametrize(
        ("new", "lines"),
        [
            (b"User-agent: a\nDisallow: /x\n", None),
            (b"#\n\nuser-agent:a\ndisallow:/x", None),
            (b"User-agent: a\nDisallow: /y\n", (2, 2)),
            (b"User-agent: a\nAllow: /x\n", (2, 2)),
            (b"\nUser-agent: a\n\n", (2, 0)),
            (b"User-agent: a\nDisallow: /x\nX: y", (0, 3)),
            (b"Disallow: /x\nUser-agent: a\n", (1, 1)),
        ],
    )
    def test_first_difference(
        self, new: bytes, lines: tuple[int, int] | None, engine: ModuleType
    ) -> None:
        """Keys, values, roles and groups are compared, in their order."""
        old = parse(b"User-agent: a\nDisallow: /x\n", engine=engine)
        assert first_difference(old, parse(new, engine=engine)) == lines

    @pytest.mark.parametrize(
        ("new", "kept"),
        [
            (b"# a b\nx:y  #c\nlost\n", True),
            (b"#a b \r\n\r\nX: y # c\r\nlost", True),
            (b"# a b\nx: y\nlost\n", False),
            (b"# ab\nx: y #c\nlost\n", False),
            (b"# a b\nx: y #C\nlost\n", False),
            (b"# a b\nx: y #c\n", False),
            (b"#\n# a b\nx: y #c\nlost\n", False),
            (b"x: y #a b\n#c\nlost\n", False),
        ],
    )
    def test_keeps_text(self, new: bytes, kept: bool) -> None:
        """All comments and all lines; whitespace may come and go around them."""
        assert keeps_text(parse(b"# a b\nx: y #c\nlost\n"), parse(new)) is kept

    def test_keeps_text_but_for_names(self) -> None:
        """Values, and lines that are not records, are kept."""
        old = parse(b"Disalow: /x #c\nlost\nAllow /")
        assert keeps_text(old, parse(b"Disallow: /x # c\nlost\nAllow: /"), spelling=True)
        assert not keeps_text(old, parse(b"Disallow: /y # c\nlost\nAllow: /"), spelling=True)
        assert not keeps_text(old, parse(b"Disallow: /x # c\nAllow: /"), spelling=True)

    @pytest.mark.parametrize(
        ("old", "new", "equal"),
        [
            (b"User-agent: a\nDisallow: /\nDisallow: /x", b"User-agent: a\nDisallow: /", True),
            (b"User-agent: a\nDisallow: /", b"User-agent: a\nDisallow: /*", True),
            (b"User-agent: a\nDisallow: /", b"User-agent: a\nDisallow: /?", False),
            # No rule of the new file shows it: exact questions do.
            (b"User-agent: a\nDisallow: /x\nDisallow: /y", b"User-agent: a\nDisallow: /x", False),
            (b"X: y", b"", False),
            (b"Disalow: y", b"", True),
            (b"Sitemap: https://a.example/", b"", False),
        ],
    )
    def test_exact(self, old: bytes, new: bytes, equal: bool) -> None:
        """Where records differ, only what is proved counts."""
        was, now = (parse(body, "strict") for body in (old, new))
        assert proves_equal(was, now, {"disalow"}, 10_000) is equal

    def test_not_decided(self) -> None:
        """Neither is what the budget does not suffice for."""
        rules = b"Disallow: /\n" + b"".join(
            b"Allow: /*%c*%c*\n" % (a, b) for a in b"ab" for b in b"hi"
        )
        old = parse(b"User-agent: *\n" + rules + b"Allow: /*a*h*b*i*\n")
        new = parse(b"User-agent: *\n" + rules)
        assert proves_equal(old, new, (), 10_000)
        assert not proves_equal(old, new, (), 20)

    def test_more_crawlers_than_can_be_compared(self) -> None:
        """Then there is no proof."""
        purposes = b"".join(b"User-Agent-Purpose: p%d\n" % n for n in range(9))
        old, new = (parse(purposes + rules) for rules in (b"Allow: /", b"Allow: /\nAllow: /"))
        assert not proves_equal(old, new, (), 10_000)


class TestModesty:
    """A line that breaks the proof is copied; what cannot be proved is not there to write."""

    BODY = b"user-agent:a\ndisallow:/x\nallow:/y\n"

    def spoiled(self, *spoils: tuple[bytes, bytes]) -> FormatResult:
        """Format with a layout that writes something else."""
        real = Layout._format_line

        def wrong(layout: Layout, line: object, spelling: bool) -> bytes:
            text = real(layout, line, spelling)  # type: ignore[arg-type]
            for was, now in spoils:
                text = text.replace(was, now)
            return text

        with mock.patch.object(Layout, "_format_line", wrong):
            return format_robots(parse(self.BODY))

    def test_a_line_is_copied(self) -> None:
        """The others are formatted."""
        found = self.spoiled((b"/x", b"/z"))
        assert found.body == b"User-agent: a\ndisallow:/x\nAllow: /y\n"
        assert found.proved

    def test_several(self) -> None:
        """One after the other."""
        found = self.spoiled((b"/x", b"/z"), (b"Allow", b"Disallow"))
        assert found.body == b"User-agent: a\ndisallow:/x\nallow:/y\n"

    def test_an_additional_record(self) -> None:
        """No line is the cause, so no change is made."""
        found = self.spoiled((b"/y", b"/y\nAllow: /z"))
        assert found == FormatResult(self.BODY, False, False, UNPROVED)

    def test_a_comment_too_many(self) -> None:
        """Records are the same, and still it is not what was written."""
        assert self.spoiled((b"/y", b"/y # new")).refused == UNPROVED

    def test_not_for_ever(self) -> None:
        """After a few tries it is left alone."""
        body = b"user-agent:a\n" + b"".join(b"disallow:/x%d\n" % n for n in range(99))
        with mock.patch.object(type(self), "BODY", body):
            assert self.spoiled((b"/x", b"/z")).refused == UNPROVED

    @pytest.mark.parametrize("name", PROFILES)
    def test_every_profile_is_checked(self, name: str) -> None:
        """One contradiction is enough."""
        module = sys.modules["robotrules.formatting"]

        def doubts(old: RobotsTxt, new: RobotsTxt) -> tuple[int, int] | None:
            return (0, 1) if old.profile.name == name else first_difference(old, new)

        with mock.patch.object(module, "first_difference", doubts):
            assert format_robots(parse(self.BODY)).refused == UNPROVED
