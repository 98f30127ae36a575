"""Lines, records and groups, in both engines (RFC 9309 §2.1, §2.2, §2.5)."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from robotrules import DEFAULT, GOOGLE, STRICT, Extension, RobotsTxt, Role
from robotrules._engine.pure import SLACK

Read = Callable[..., RobotsTxt]


def texts(robots: RobotsTxt) -> list[bytes]:
    """Return the octets of each line."""
    return [line.text for line in robots.lines]


def pairs(robots: RobotsTxt) -> list[tuple[str, bytes]]:
    """Return key and value of each record."""
    return [(record.key, record.value) for record in robots.records]


def notes(robots: RobotsTxt) -> list[tuple[Any, ...]]:
    """Return code, line and span of each note."""
    return [(note.code, note.line, note.start, note.end) for note in robots.notes]


class TestLines:
    """Only CR, LF and CRLF terminate a line (§2.2, AMB-09)."""

    @pytest.mark.parametrize(
        ("body", "lines"),
        [
            (b"", []),
            (b"\n", [b""]),
            (b"\r", [b""]),
            (b"\r\n", [b""]),
            (b"\n\r", [b"", b""]),
            (b"\r\r\n", [b"", b""]),
            (b"a\nb\rc\r\nd", [b"a", b"b", b"c", b"d"]),
            (b"a\n\n\nb\n", [b"a", b"", b"", b"b"]),
            (b"a\r", [b"a"]),
            (b"a\v\f\x1c\x85\xe2\x80\xa8b", [b"a\v\f\x1c\x85\xe2\x80\xa8b"]),
        ],
    )
    def test_terminators(self, read: Read, body: bytes, lines: list[bytes]) -> None:
        """Lines are split at terminators; the last line needs none (AMB-12)."""
        assert texts(read(body)) == lines

    def test_comments(self, read: Read) -> None:
        """The first `#` starts a comment, at any position (AMB-16)."""
        robots = read("#a\nAllow: /#b#c\n\tx: y # z\nno")
        assert [line.comment for line in robots.lines] == [0, 11, 22, None]
        assert pairs(robots) == [("allow", b"/"), ("x", b"y")]

    @pytest.mark.parametrize(
        ("body", "profile", "first", "code"),
        [
            (b"\xef\xbb\xbfx: y", DEFAULT, 3, "bom"),
            (b"\xef\xbb\xbfx: y", STRICT, 3, "bom"),
            (b"\xef\xbb\xbf", DEFAULT, 3, "bom"),
            (b"\xef\xbbx: y", GOOGLE, 2, "cut-bom"),
            (b"\xefx: y", GOOGLE, 1, "cut-bom"),
            (b"\xef", GOOGLE, 1, "cut-bom"),
            (b"\xef\xbbx: y", DEFAULT, 0, None),
            (b" \xef\xbb\xbfx: y", GOOGLE, 0, None),
        ],
    )
    def test_marks(self, read: Read, body: bytes, profile: Any, first: int, code: Any) -> None:
        """A byte order mark is skipped once; an incomplete one only by google (AMB-07)."""
        robots = read(body, profile)
        assert [line.start for line in robots.lines] == ([first] if len(body) > first else [])
        assert notes(robots)[:1] == ([(code, None, 0, first)] if code else [])

    @pytest.mark.parametrize(
        ("mark", "codec"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
    )
    def test_utf_16(self, read: Read, mark: bytes, codec: str) -> None:
        """A file with a UTF-16 mark is decoded, except by strict and google (AMB-08)."""
        text = "User-agent: *\nDisallow: /é🍰"
        robots = read(mark + text.encode(codec))
        assert robots.body == text.encode()
        assert notes(robots) == [("not-utf8", None, 0, 0)]
        assert not robots.check("/é🍰", "a")
        for profile in (STRICT, GOOGLE):
            assert read(mark + text.encode(codec), profile).check("/é🍰", "a")

    def test_utf_32_is_not_decoded(self, read: Read) -> None:
        """The mark of UTF-32, which starts like that of UTF-16, is not decoded (AMB-08)."""
        body = b"\xff\xfe\0\0" + "x: y".encode("utf-32-le")
        assert read(body).body == body

    def test_long_lines(self, read: Read) -> None:
        """A line over the limit of the profile is truncated, and used (AMB-17)."""
        profile = STRICT.replace(max_line=12)
        robots = read("Disallow: /ab\nDisallow: /a\nDisallow: /", profile)
        assert pairs(robots) == [("disallow", b"/a"), ("disallow", b"/a"), ("disallow", b"/")]
        assert notes(robots)[0] == ("rule-outside-group", 1, 0, 12)
        assert [note for note in notes(robots) if note[0] == "long-line"] == [
            ("long-line", 1, 12, 13)
        ]

    def test_a_long_comment_is_a_long_line(self, read: Read) -> None:
        """The octets of a comment count for the length of the line."""
        robots = read("x: y # comment", STRICT.replace(max_line=8))
        assert pairs(robots) == [("x", b"y")]
        assert notes(robots) == [("long-line", 1, 8, 14)]

    def test_html(self, read: Read) -> None:
        """A file that starts like an HTML page is parsed as usual, with a note (AMB-19)."""
        robots = read("\ufeff \r\n<html>\nUser-agent: a")
        assert notes(robots) == [
            ("bom", None, 0, 3),
            ("looks-like-html", None, 6, 7),
            ("no-separator", 2, 6, 12),
        ]
        assert len(robots.groups) == 1
        assert "looks-like-html" not in [note.code for note in read("a <html>").notes]
        assert read(" \n ").notes == ()


class TestLimit:
    """Lines that start before the limit are read, if they end within the slack (§2.5, AMB-18)."""

    LIMIT = 20

    def lines(self, engine: ModuleType, body: bytes, complete: bool = True) -> Any:
        """Return the lines and notes of a file read with a limit of 20 octets."""
        settings = engine.Settings([], [], self.LIMIT, None)
        document = engine.parse(body, settings, complete)
        spans = [(start, end) for _, start, end, _ in document.lines()]
        noted = [note for note in document.notes() if note[0] in ("truncated", "cut-line")]
        return spans, noted, document.complete

    @pytest.mark.parametrize(
        ("body", "spans", "noted"),
        [
            (b"a" * 19 + b"\n", [(0, 19)], []),
            (b"a" * 19 + b"\nb", [(0, 19)], [("truncated", 0, 20, 21)]),
            (b"a" * 18 + b"\nb", [(0, 18), (19, 20)], []),
            (b"a" * 18 + b"\nbcd", [(0, 18), (19, 22)], []),
            (b"a" * 18 + b"\nbcd\n", [(0, 18), (19, 22)], []),
            (b"a" * 18 + b"\nbcd\ne", [(0, 18), (19, 22)], [("truncated", 0, 23, 24)]),
            (b"a" * 18 + b"\r\nb", [(0, 18)], [("truncated", 0, 20, 21)]),
            (b"a" * 19 + b"\nb\nc\n", [(0, 19)], [("truncated", 0, 20, 24)]),
        ],
    )
    def test_where_a_line_starts(
        self, engine: ModuleType, body: bytes, spans: Any, noted: Any
    ) -> None:
        """A line that starts at the limit is not read; one that starts before it is."""
        assert self.lines(engine, body) == (spans, noted, True)

    @pytest.mark.parametrize(("past", "used"), [(-1, True), (0, True), (1, False), (9, False)])
    @pytest.mark.parametrize("rest", [b"", b"c"])
    def test_where_a_line_ends(
        self, engine: ModuleType, past: int, used: bool, rest: bytes
    ) -> None:
        """A line may end up to 16 KiB after the limit; a longer line is not used."""
        long = b"b" * (self.LIMIT + SLACK - 2 + past)
        spans, noted, complete = self.lines(engine, b"a\n" + long + rest)
        whole = used and len(long + rest) + 2 <= self.LIMIT + SLACK
        assert len(spans) == (2 if whole else 1)
        assert complete is whole
        window = self.LIMIT + SLACK
        assert noted == ([] if whole else [("truncated", 0, 2, min(window, len(long + rest) + 2))])

    def test_a_line_whose_terminator_is_the_last_octet_of_the_slack(
        self, engine: ModuleType
    ) -> None:
        """A line that ends within the slack is used even if the file continues."""
        long = b"b" * (self.LIMIT + SLACK - 3) + b"\n"
        spans, noted, _ = self.lines(engine, b"a\n" + long + b"c" * 100)
        assert spans == [(0, 1), (2, self.LIMIT + SLACK - 1)]
        assert noted == [("truncated", 0, self.LIMIT + SLACK, self.LIMIT + SLACK)]

    @pytest.mark.parametrize(
        ("body", "spans", "noted"),
        [
            (b"", [], []),
            (b"a", [], [("cut-line", 1, 0, 1)]),
            (b"a\n", [(0, 1)], []),
            (b"a\r", [(0, 1)], []),
            (b"a\nb", [(0, 1)], [("cut-line", 2, 2, 3)]),
            (b"a" * 19 + b"\n", [(0, 19)], [("truncated", 0, 20, 20)]),
            (b"a" * 18 + b"\nbc", [(0, 18)], [("cut-line", 2, 19, 21)]),
        ],
    )
    def test_a_file_that_was_cut(
        self, engine: ModuleType, body: bytes, spans: Any, noted: Any
    ) -> None:
        """The unterminated last line of an incomplete file is not used (AMB-12)."""
        assert self.lines(engine, body, complete=False) == (spans, noted, False)


class TestRecords:
    """The first colon separates key and value; whitespace around both is ignored (§2.2)."""

    @pytest.mark.parametrize(
        ("line", "record"),
        [
            ("Allow:/", ("allow", b"/")),
            (" \tAllow \t:\t / \t", ("allow", b"/")),
            ("ALLOW: /a:b", ("allow", b"/a:b")),
            ("Allow:", ("allow", b"")),
            ("Allow: # c", ("allow", b"")),
            ("X-Y: é", ("x-y", "é".encode())),
            ("Crawl-Delay: 5", ("crawl-delay", b"5")),
            ("user agent: a", ("user-agent", b"a")),
            ("Disallow-foo: /", ("disallow-foo", b"/")),
            ("\u00a0Allow: /", ("\u00a0allow", b"/")),
            ("x-name-that-is-long-enough: y", ("x-name-that-is-long-enough", b"y")),
        ],
    )
    def test_records(self, read: Read, line: str, record: tuple[str, bytes]) -> None:
        """Key in lower case, value as written."""
        assert pairs(read(line)) == [record]

    @pytest.mark.parametrize(
        ("line", "note"),
        [
            ("", None),
            ("  \t", None),
            ("# x: y", None),
            ("nothing", ("no-separator", 1, 0, 7)),
            (" one two three ", ("no-separator", 1, 1, 14)),
            ("other two", ("no-separator", 1, 0, 9)),
            (": value", ("empty-key", 1, 0, 7)),
            (" \t:", ("empty-key", 1, 2, 3)),
        ],
    )
    def test_no_records(self, read: Read, line: str, note: Any) -> None:
        """A line that is not a record is skipped, with a note unless it is a comment."""
        robots = read(line)
        assert robots.records == ()
        assert notes(robots) == ([note] if note else [])

    @pytest.mark.parametrize("line", ["Disallow /x", "disallow\t /x", "  Disallow /x # c"])
    def test_a_missing_colon(self, read: Read, line: str) -> None:
        """Two words are a record for names of the RFC and sitemap, except in strict (AMB-13)."""
        robots = read("User-agent a\n" + line)
        assert pairs(robots) == [("user-agent", b"a"), ("disallow", b"/x")]
        assert [note.code for note in robots.notes] == ["missing-colon"] * 2
        assert read(line, "strict").records == ()
        assert pairs(read("dissallow /x")) == [("disallow", b"/x")]
        assert pairs(read("site-map x")) == [("sitemap", b"x")]

    def test_a_key_known_by_its_beginning(self, read: Read) -> None:
        """Profile google recognizes a record by a prefix of its name (AMB-15)."""
        body = "User-agent-purpose: a\nDisallow-foo: /\nAllowance /y\nDisalloww: /z\nUse: x"
        robots = read(body, "google")
        assert [record.key for record in robots.records] == [
            "user-agent",
            "disallow",
            "allow",
            "disallow",
            "use",
        ]
        assert [note.code for note in robots.notes if "key" in note.code] == ["prefix-key"] * 4
        assert read(body, "strict").groups == ()

    def test_white_space(self, read: Read) -> None:
        """VT and FF are data, and whitespace in google (AMB-10)."""
        line = "\v\fDisallow\v:\f/x\v"
        assert pairs(read(line)) == [("\v\fdisallow\v", b"\f/x\v")]
        assert pairs(read(line, "google")) == [("disallow", b"/x")]

    def test_nul(self, read: Read) -> None:
        """A NUL ends the content of its line in google, and is data elsewhere (AMB-05)."""
        body = b"User-agent: a\0b\nDisallow: /x\0y#\nx\0: y\n#\0\n"
        robots = read(body, "google")
        assert pairs(robots) == [("user-agent", b"a"), ("disallow", b"/x")]
        assert [note[:2] for note in notes(robots)] == [
            ("nul", 1),
            ("nul", 2),
            ("no-separator", 3),
            ("nul", 3),
            ("nul", 4),
        ]
        assert pairs(read(body)) == [
            ("user-agent", b"a\0b"),
            ("disallow", b"/x\0y"),
            ("x\0", b"y"),
        ]

    def test_a_nul_past_the_cut(self, read: Read) -> None:
        """A NUL after the limit of a line has no effect."""
        profile = STRICT.replace(max_line=4, cut_at_nul=True)
        assert notes(read(b"x: y\0z", profile)) == [("long-line", 1, 4, 6)]
        assert notes(read(b"x: \0\0z", profile)) == [("nul", 1, 3, 6), ("long-line", 1, 4, 6)]


class TestValues:
    """Control characters and octets that are not UTF-8: unusable lines, or data."""

    @pytest.mark.parametrize("octet", [0, 1, 8, 11, 12, 31])
    def test_controls(self, read: Read, octet: int) -> None:
        """A C0 control makes a rule and a user-agent line unusable (AMB-05)."""
        pattern = b"/x%c" % octet
        body = b"User-agent: a%cb\nUser-agent: c\nDisallow: %b\nAllow: /y" % (octet, pattern)
        robots = read(body)
        assert robots.select_groups("a").groups == ()
        assert robots.check(pattern, "c").reason == "no-match"
        assert [note.code for note in robots.notes] == ["control-character"] * 2
        kept = read(body, DEFAULT.replace(keep_controls=True))
        assert len(kept.select_groups("a").groups) == 1
        assert not kept.check(pattern, "c")

    def test_characters_that_are_not_controls(self, read: Read) -> None:
        """HTAB, DEL and C1 controls are allowed (AMB-04)."""
        robots = read("User-agent: *\nDisallow: /a\tb\nDisallow: /\x7f\nDisallow: /\x80")
        assert [rule.form for rule in robots.groups[0].rules] == ["/a%09b", "/%7F", "/%C2%80"]
        assert [note.code for note in robots.notes] == ["space-in-pattern"]

    def test_not_utf8(self, read: Read) -> None:
        """Octets that are not UTF-8 are data, except in strict (AMB-06)."""
        body = b"User-agent: a\xe9\nUser-agent: b\nDisallow: /\xe9\nDisallow: /\xc0\xaf"
        robots = read(body)
        assert not robots.check("/%E9", "b")
        assert not robots.check(b"/\xc0\xaf", "a")
        assert [note.code for note in robots.notes].count("invalid-utf8") == 3
        strict = read(body, "strict")
        assert strict.select_groups("a").groups == ()
        assert strict.check("/%E9", "b").reason == "no-rules"

    def test_spaces(self, read: Read) -> None:
        """Whitespace inside a pattern is data, except in strict (AMB-11)."""
        body = "User-agent: a\nDisallow: /a b\nDisallow: /c\td"
        robots = read(body)
        assert not robots.check("/a%20b", "a")
        assert not robots.check("/c%09d", "a")
        assert notes(robots)[0] == ("space-in-pattern", 2, 24, 28)
        assert read(body, "strict").check("/a%20b", "a").reason == "no-rules"

    def test_patterns_that_start_wrongly(self, read: Read) -> None:
        """A pattern that starts with neither `/` nor `*` never matches (AMB-03)."""
        robots = read("User-agent: a\nDisallow: x\nDisallow:\nUser-agent: b\nAllow: /")
        assert robots.check("x", "a")
        assert notes(robots) == [("pattern-start", 2, 24, 25)]
        assert len(robots.groups) == 2


class TestGroups:
    """Groups depend only on roles: START opens or extends, RULE ends the list (§2.1)."""

    @pytest.mark.parametrize(
        ("lines", "groups"),
        [
            ("U:a U:b D:/ D:/x U:c D:/", [["a", "b"], ["c"]]),
            ("D:/ S:x U:a D:/", [["a"]]),
            ("U:a S:x U:b D:/", [["a", "b"]]),  # §2.2.4 (AMB-28)
            ("U:a D: U:b", [["a"], ["b"]]),  # an empty rule closes too (AMB-42)
            ("U:a D:nonsense U:b", [["a"], ["b"]]),
            ("U: D:/ U:*x D:/", [[""], ["*x"]]),  # groups that no crawler obeys (AMB-23, AMB-24)
            ("U:a", [["a"]]),
            ("S:x", []),
        ],
    )
    def test_groups(self, read: Read, lines: str, groups: list[list[str]]) -> None:
        """Consecutive user-agent lines share the rules that follow."""
        names = {"U": "User-agent", "D": "Disallow", "S": "Sitemap"}
        parts = (part.partition(":") for part in lines.split())
        body = "\n".join(f"{names[key]}: {value}" for key, _, value in parts)
        assert [list(group.user_agents) for group in read(body).groups] == groups

    def test_notes(self, read: Read) -> None:
        """Rules outside groups and records between user-agent lines have notes."""
        robots = read("Allow: /\nUser-agent: a\nX: 1\nY: 2\nUser-agent: b\nZ: 3\nDisallow: /\nX: 4")
        assert notes(robots) == [
            ("rule-outside-group", 1, 0, 8),
            ("record-between-agents", 3, 23, 27),
        ]

    def test_records_of_extensions(self, engine: ModuleType) -> None:
        """Records of an extension are grouped like those of the RFC, without notes."""
        start, rule = (Extension(role.value, role=role) for role in (Role.START, Role.RULE))
        settings = DEFAULT.with_extensions(start, rule).settings(engine)
        document = engine.parse(b"start: 1\nrule: 1\nstart: 2\nAllow: /", settings, True)
        assert [tuple(found)[6:] for found in document.records()] == [
            (b"start", "START", 0),
            (b"rule", "RULE", 0),
            (b"start", "START", 1),
            (b"allow", "RULE", 1),
        ]
        assert document.notes() == []
        assert document.record(4) is None
        assert engine.Matcher(document, [0, 1]).count_usable() == 1

    def test_a_record_between_groups(self, read: Read) -> None:
        """A record after a rule is not between user-agent lines of a group."""
        assert notes(read("User-agent: a\nX: 1\nAllow: /\nY: 2\nUser-agent: b\nZ: 3")) == []


class TestNames:
    """A user-agent value names a crawler by its leading identifier, without case (§2.2.1)."""

    @pytest.mark.parametrize(
        ("value", "token", "strict", "default"),
        [
            ("ExampleBot", "examplebot", True, True),
            ("EXAMPLEBOT", "ExampleBot", True, True),
            ("ExampleBot/1.0 text", "examplebot", True, True),  # AMB-21
            ("ExampleBot", "example", False, False),  # AMB-20
            ("Example", "ExampleBot", False, False),
            ("MJ12bot", "mj", True, True),
            ("MJ12bot", "mj12BOT", False, True),  # AMB-22
            ("360Spider", "360spider", False, True),
            ("a, b", "a", True, True),  # AMB-25
            ("a, b", "b", False, False),
            ("", "a", False, False),
            ("*", "*", True, True),
            ("* text", "*", False, True),  # AMB-23
            ("*text", "*", False, False),
            ("*text", "text", False, False),
            ("Foo*", "foo", True, True),
            ("* text", "* text", False, False),
            ("\u212aite", "kite", False, False),
            ("é", "É", False, False),
            ("é", "é", False, True),
        ],
    )
    def test_names(
        self, engine: ModuleType, value: str, token: str, strict: bool, default: bool
    ) -> None:
        """The tokens that a value names, by the RFC and by the default profile."""
        body = f"User-agent: {value}\nDisallow: /".encode()
        for profile, expected in ((STRICT, strict), (DEFAULT, default)):
            document = engine.parse(body, profile.settings(engine), True)
            found = document.select(b"user-agent", token.encode())
            assert found == ([0] if expected else []), profile.name

    @pytest.mark.parametrize("gap", [" ", "\t", "\v", "\f"])
    def test_a_star_with_text_after_any_blank(self, engine: ModuleType, gap: str) -> None:
        """Profile google: what follows the star may be any ASCII whitespace (AMB-23)."""
        body = f"User-agent: *{gap}text\nDisallow: /".encode()
        document = engine.parse(body, GOOGLE.settings(engine), True)
        assert document.select(b"user-agent", b"*") == [0]

    @pytest.mark.parametrize(
        ("value", "tokens"),
        [
            ("a, b", {"a", "b"}),
            ("a/1 ,\tb x,", {"a", "b"}),
            ("a,*", {"a", "*"}),
            ("* x, a", {"*", "a"}),
            (",", set()),
            ("a", {"a"}),
        ],
    )
    def test_comma_lists(self, engine: ModuleType, value: str, tokens: set[str]) -> None:
        """`comma_user_agents` reads a list of names (erratum 8895, AMB-25)."""
        settings = DEFAULT.replace(comma_user_agents=True).settings(engine)
        document = engine.parse(f"User-agent: {value}\nDisallow: /".encode(), settings, True)
        asked = {"a", "b", "*", "x", ","}
        found = {token for token in asked if document.select(b"user-agent", token.encode())}
        assert found == tokens

    @pytest.mark.parametrize(
        ("value", "found"),
        [
            ("", [("empty-user-agent", 1, 11, 11)]),
            ("*", []),
            ("a", []),
            ("* x", [("star-with-text", 1, 13, 15)]),
            ("*x", [("unusable-user-agent", 1, 12, 14)]),
            ("12", [("unusable-user-agent", 1, 12, 14)]),
            ("a/1", [("user-agent-text", 1, 13, 15)]),
            ("a,b", [("comma-list", 1, 12, 15), ("user-agent-text", 1, 13, 15)]),
            ("a\x01,b", [("control-character", 1, 12, 16)]),
        ],
    )
    def test_notes(self, read: Read, value: str, found: list[Any]) -> None:
        """Faults of a user-agent value have notes with their span."""
        assert notes(read(f"User-agent: {value}")) == found
        lists = read(f"User-agent: {value}", DEFAULT.replace(comma_user_agents=True))
        assert notes(lists) == found[:1]

    def test_star_with_text_in_strict(self, read: Read) -> None:
        """In strict a star with text is not the star (AMB-23)."""
        assert notes(read("User-agent: * x", "strict")) == [("unusable-user-agent", 1, 12, 15)]
