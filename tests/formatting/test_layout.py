"""The canonical form, line by line: what changes, and what is copied octet for octet."""

from __future__ import annotations

from types import ModuleType

import pytest

from robotrules import DEFAULT, Extension, Role, parse
from robotrules.formatting import format_robots


def formatted(body: bytes | str, engine: ModuleType | None = None) -> bytes:
    """Return the canonical form, which must not be refused and must be final."""
    found = format_robots(parse(body, engine=engine))
    assert (found.refused, found.proved) == ("", True)
    again = format_robots(parse(found.body, engine=engine))
    assert (again.body, again.changed) == (found.body, False)
    return found.body


def test_a_whole_file(engine: ModuleType) -> None:
    """Everything at once."""
    body = (
        b"\xef\xbb\xbf\r\n#Our rules\r\nsitemap:https://example.com/s.xml\r\n"
        b"USER-AGENT : *\r\n\r\nDISALLOW:/a \t#not yet\r\n   disallow:\t/b%7e /c\r\n\r\n\r\n"
        b"crawl-delay:5\r\n#Disallow: /old\r\n# Images\r\nuser-agent:ImageBot\r\nallow:\r\n\r\n"
    )
    assert formatted(body, engine) == (
        b"# Our rules\nSitemap: https://example.com/s.xml\n\n"
        b"User-agent: *\nDisallow: /a  # not yet\nDisallow: /b%7e /c\nCrawl-delay: 5\n"
        b"# Disallow: /old\n\n# Images\nUser-agent: ImageBot\nAllow:\n"
    )


class TestRecords:
    """`Key: value`."""

    @pytest.mark.parametrize(
        ("written", "canonical"),
        [
            ("user-agent:*", "User-agent: *"),
            ("USER-AGENT : \t* ", "User-agent: *"),
            ("\t disallow\t:/x", "Disallow: /x"),
            ("DISALLOW:", "Disallow:"),
            ("Disallow: ", "Disallow:"),
            ("sitemap:https://example.com/", "Sitemap: https://example.com/"),
            ("CRAWL-DELAY:1", "Crawl-delay: 1"),
            ("user-agent-purpose:x", "User-Agent-Purpose: x"),
            ("content-usage:/x train-ai=n", "Content-Usage: /x train-ai=n"),
            ("app-directives:x", "App-Directives: x"),
            ("app-DIRECTIVE:x", "App-Directive: x"),
            ("clean-PARAM:a /", "Clean-param: a /"),
            ("content-signal:search=yes", "Content-Signal: search=yes"),
            ("REQUEST-rate:1/5", "Request-rate: 1/5"),
            ("noindex:/x", "Noindex: /x"),
        ],
    )
    def test_known_names(self, written: str, canonical: str) -> None:
        """They have one spelling."""
        assert formatted(written) == canonical.encode() + b"\n"

    def test_other_names(self) -> None:
        """Their usual spelling is unknown, so they are kept as written."""
        assert formatted("x-OURS :\tA  b\n") == b"x-OURS: A  b\n"

    def test_names_of_the_profile(self) -> None:
        """A profile may declare records, and how they are spelled."""
        profile = DEFAULT.with_extensions(Extension("X-Ours", (), Role.OTHER))
        assert format_robots(parse("x-ours:1", profile)).body == b"X-Ours: 1\n"

    @pytest.mark.parametrize(
        "value", ["/%7Ejoe/%e4", "/a b", "/a\tb", "/é", "*?x=$", "/a*$", "img/", "/A/../b"]
    )
    def test_values_are_as_written(self, value: str) -> None:
        """An escape that looks needless may matter to a parser."""
        body = f"User-agent: a\nDisallow: {value}\n".encode()
        assert formatted(body) == body


class TestCopies:
    """Lines that are not records or not text are copied; only the line end becomes LF."""

    @pytest.mark.parametrize(
        "line",
        [
            b"no record ",
            b" Disallow",
            b": /x ",
            b"<p class='a'>x: y</p> ",
            b"https://example.com/sitemap.xml",
            b"two words :x",
            b'"a":1 ',
            b"Disallow:/\xff ",
            b"#caf\xe9 ",
            b"disallow:/a\x0cb ",
            b"\x0b",
            b"disallow:/" + 17_000 * b"x" + b" ",
            b"disallow:/" + 16_650 * b"x" + b"#yz",
            b"disallow:/" + 17_000 * b" ",
        ],
    )
    def test_copied(self, line: bytes) -> None:
        """Where a line cannot be carried safely it is left alone."""
        around = b"User-agent: a\nDisallow: /" + 100 * b"x" + b"\n"
        assert formatted(around + line + b"\r\n") == around + line + b"\n"

    def test_it_may_not_become_too_long(self) -> None:
        """Profile google reads 16,663 octets of a line, and two more would cut the path."""
        line = b"disallow:/" + 16_653 * b"x"
        assert formatted(b"User-agent: a\n" + line) == b"User-agent: a\n" + line + b"\n"
        assert formatted(b"User-agent: a\n" + line[:-1]).endswith(
            b"Disallow: " + line[9:-1] + b"\n"
        )


class TestEnds:
    """UTF-8 without a mark, LF, one at the end."""

    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
    def test_line_ends(self, end: bytes) -> None:
        """CR, LF and CRLF become LF."""
        lines = [b"User-agent: a", b"Disallow: /", b"", b"User-agent: b", b"Disallow:"]
        assert formatted(end.join(lines)) == b"\n".join(lines) + b"\n"

    @pytest.mark.parametrize("body", [b"", b"\n", b"\r\n \n\t\n", b"\xef\xbb\xbf"])
    def test_an_empty_file(self, body: bytes) -> None:
        """A file without content is empty."""
        assert formatted(body) == b""

    def test_the_mark_goes(self) -> None:
        """It is skipped, and old readers take it for a part of the first name."""
        assert formatted(b"\xef\xbb\xbfUser-agent: a\n") == b"User-agent: a\n"

    @pytest.mark.parametrize(
        ("body", "canonical"),
        [
            # Another mark behind it would be taken for the first one.
            (b"\xef\xbb\xbf\xef\xbb\xbfa: b", b"\xef\xbb\xbf\xef\xbb\xbfa: b\n"),
            # What is a name now must not move to the place of a mark.
            (b"\n\n\xef\xbb\xbfa: b", b"\n\xef\xbb\xbfa: b\n"),
            (b"\n\xef\xbc\x9ax", b"\n\xef\xbc\x9ax\n"),
            # Profile google skips what is left of a mark.
            (b"\xef\xbc\x9ax", b"\xef\xbc\x9ax\n"),
            (b"\n\xff\xfea\n", b"\n\xff\xfea\n"),
        ],
    )
    def test_what_looks_like_a_mark(self, body: bytes, canonical: bytes) -> None:
        """Octets that a mark is made of keep their place."""
        assert formatted(body) == canonical


class TestBlankLines:
    """One before each group, and none inside."""

    def test_none_inside(self) -> None:
        """Readers of the first standard end a group there, and lose what follows."""
        body = (
            "User-agent: a\n\nUser-agent: b\n\nAllow: /x\n\n# why\n\nDisallow: /\n\nCrawl-delay: 1"
        )
        assert formatted(body) == (
            b"User-agent: a\nUser-agent: b\nAllow: /x\n# why\nDisallow: /\nCrawl-delay: 1\n"
        )

    def test_one_between(self) -> None:
        """Missing ones come, others go."""
        body = "User-agent: a\nAllow:\nUser-agent: b\nAllow:\n\n \n\nUser-agent: c\nAllow:\n"
        groups = [f"User-agent: {name}\nAllow:\n" for name in "abc"]
        assert formatted(body) == "\n".join(groups).encode()

    def test_records_of_the_file(self) -> None:
        """A sitemap belongs to no group: blank lines around it are kept."""
        body = b"User-agent: a\nAllow:\n\nSitemap: /s\n\nX: y\n"
        assert formatted(body) == body
        body = b"User-agent: a\nAllow:\nSitemap: /s\nX: y\n"
        assert formatted(body) == body

    def test_a_sitemap_inside(self) -> None:
        """Where rules follow, the group goes on."""
        assert formatted("User-agent: a\n\nSitemap: /s\n\nAllow: /\n") == (
            b"User-agent: a\nSitemap: /s\nAllow: /\n"
        )

    def test_groups_that_are_one(self) -> None:
        """Without a rule between them they are one group (AMB-28), but it was meant otherwise."""
        body = b"User-agent: a\nCrawl-delay: 1\n\nUser-agent: b\nCrawl-delay: 2\n\nSitemap: /s\n"
        assert len(parse(body).groups) == 1
        assert formatted(body) == body
        assert formatted(body.replace(b"\n", b"\n\n")) == body
        together = body.replace(b"\n\nUser", b"\nUser")
        assert formatted(together) == together
        body = b"User-agent: a\n\nSitemap: /s\n\nUser-agent: b\nAllow:\n"
        assert formatted(body) == body

    def test_before_the_first_group(self) -> None:
        """Lines there keep their paragraphs."""
        assert formatted("\n# a\n\n\n# b\nSitemap: /s\n\nHost: x\nUser-agent: a\nAllow:") == (
            b"# a\n\n# b\nSitemap: /s\n\nHost: x\n\nUser-agent: a\nAllow:\n"
        )

    def test_comments_go_with_what_they_stood_above(self) -> None:
        """A blank line comes before them; rules that were commented out are of the group above."""
        body = "User-agent: a\nAllow: /\n#Disallow: /x\n# For b\n#  and us\nUser-agent: b\nAllow:"
        assert formatted(body) == (
            b"User-agent: a\nAllow: /\n#Disallow: /x\n\n# For b\n#  and us\nUser-agent: b\nAllow:\n"
        ).replace(b"#Dis", b"# Dis")
        body = "User-agent: a\nAllow: /\n# Disallow: /x\nUser-agent: b\nAllow:\n"
        assert formatted(body) == body.replace("/x\n", "/x\n\n").encode()

    def test_paragraphs_of_comments_between_groups(self) -> None:
        """Where a blank line is, none comes."""
        body = b"User-agent: a\nAllow:\n# on a\n\n# b\n\n# c\nUser-agent: b\nAllow:\n\n# end\n"
        assert formatted(body) == body


class TestOrder:
    """Lines are never moved."""

    def test_order(self) -> None:
        """Whatever would look better."""
        body = (
            b"Disallow: /early\n\nUser-agent: b\nDisallow: /b\nAllow: /a\n\nUser-agent: a\nAllow:\n"
        )
        assert formatted(body) == body

    def test_suppressions_keep_their_place(self) -> None:
        """On their line, or above it."""
        body = (
            "# robotrules: ignore-file[RR101]\nUser-agent: a\n"
            "Allow: / # robotrules: ignore[RR501]\n"
            "#robotrules: ignore\n\nDisallow: /\n"
        )
        assert formatted(body) == (
            b"# robotrules: ignore-file[RR101]\nUser-agent: a\n"
            b"Allow: /  # robotrules: ignore[RR501]\n# robotrules: ignore\nDisallow: /\n"
        )
