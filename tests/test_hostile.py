"""Hostile files and URLs: both engines read them completely, with the same results."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fuzz.targets.spans import check_spans
from fuzz.targets.total import check_lines_rejoin

import robotrules
from robotrules import DEFAULT, GOOGLE, RobotsTxt, RuleSet
from robotrules._engine import native, pure
from robotrules._engine.pure import SLACK
from robotrules._engine.pure_rules import Pattern

Read = Callable[..., RobotsTxt]
LIMIT = 512_000
SOURCE = Path(robotrules.__file__).parents[1]
GROUP = b"User-agent: *\nDisallow: /private\n"


def run(code: str, timeout: float) -> str:
    """Return the output of Python code, run in a separate interpreter with a timeout."""
    path = [str(Path(__file__).parents[1]), str(SOURCE)]
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return told.stdout.strip() or told.stderr


def large(name: str) -> bytes:
    """Return a hostile file of up to 2 MB, by name."""
    files: dict[str, Callable[[], bytes]] = {
        "two-megabytes-of-rules": lambda: GROUP + b"Disallow: /%d\n" * 150_000 % (*range(150_000),),
        "two-megabytes-of-nul": lambda: GROUP + b"\0" * 2_000_000,
        "two-megabytes-of-cr": lambda: GROUP + b"\r" * 2_000_000,
        "two-megabytes-of-lf": lambda: GROUP + b"\n" * 2_000_000,
        "two-megabytes-of-hash": lambda: GROUP + b"#" * 2_000_000,
        "two-megabytes-of-colon": lambda: GROUP + b":" * 2_000_000,
        "two-megabytes-of-space": lambda: GROUP + b" " * 2_000_000,
        "two-megabytes-of-octets": lambda: GROUP + bytes(range(256)) * 7800,
        "a-line-of-500-kilobytes": lambda: GROUP + b"Disallow: /" + b"a" * 500_000 + b"\nAllow: /b",
        "a-key-of-500-kilobytes": lambda: GROUP + b"a" * 500_000 + b": /\nAllow: /b",
        "100000-groups": lambda: GROUP + b"User-agent:a\nAllow:\n" * 100_000,
        "200000-user-agent-lines": lambda: GROUP + b"User-agent: a\n" * 200_000,
        "user-agent-lines-that-differ": lambda: (
            GROUP + b"".join(b"User-agent: b%d\n" % number for number in range(30_000))
        ),
        "rules-outside-groups": lambda: b"Disallow: /\n" * 100_000,
        "records-between-user-agents": lambda: GROUP + b"User-agent: a\nX: y\n" * 50_000,
        "words-without-colon": lambda: GROUP + b"disallow /a\n" * 60_000,
        "html": lambda: b"<!DOCTYPE html>\n" + b"<p>User-agent: *</p>\n" * 30_000,
        "comments-that-hide-rules": lambda: GROUP + b"#\rDisallow: /\r#\r" * 30_000,
    }
    return files[name]()


LARGE = (
    *("two-megabytes-of-rules", "two-megabytes-of-nul", "two-megabytes-of-cr"),
    *("two-megabytes-of-lf", "two-megabytes-of-hash", "two-megabytes-of-colon"),
    *("two-megabytes-of-space", "two-megabytes-of-octets", "a-line-of-500-kilobytes"),
    *("a-key-of-500-kilobytes", "100000-groups", "200000-user-agent-lines"),
    *("user-agent-lines-that-differ", "rules-outside-groups", "records-between-user-agents"),
    *("words-without-colon", "html", "comments-that-hide-rules"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_files_are_read_to_the_limit(name: str) -> None:
    """Both engines read a large hostile file to the limit, and agree to the octet."""
    body = large(name)
    one, other = (robotrules.parse(body, engine=engine) for engine in (native or pure, pure))
    assert one == other
    for ask in ("records", "lines", "notes", "group_count"):
        assert getattr(one._document, ask)() == getattr(other._document, ask)(), ask
    for url in ("/private", "/" + "a" * 1000):
        assert one.check(url, "x") == other.check(url, "x")
    if body.startswith(GROUP) and name != "two-megabytes-of-rules":
        assert not one.check("/private", "x")


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_files_are_read_whole_by_google(name: str) -> None:
    """Profile google has no practical limit: two megabytes are read to the last octet."""
    body = large(name)
    engine = native or pure
    document = engine.parse(body, GOOGLE.settings(engine), True)
    assert document.body is body
    assert document.lines()[-1][2] >= len(body) - 2
    assert [note for note in document.notes() if note[0] == "truncated"] == []
    engine.Matcher(document, document.select(b"user-agent", b"a")).decide("/private")


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_the_beginning_of_large_files(name: str, profile: str) -> None:
    """Prefixes of such a file: the engines agree, and spans are consistent."""
    body = large(name)[:9_999]
    seen = [
        robotrules.parse(body, profile, complete=False, engine=engine)
        for engine in (native or pure, pure)
    ]
    check_lines_rejoin(seen[0])
    check_spans(seen[0])
    assert seen[0].groups == seen[1].groups
    assert seen[0].lines == seen[1].lines
    assert seen[0].notes == seen[1].notes


@pytest.mark.slow
def test_many_groups_are_counted(engine: ModuleType) -> None:
    """No group and no user-agent line is lost inside the limit."""
    # In a separate interpreter, so that no tracer slows the pure engine down.
    code = (
        "from importlib import import_module; from robotrules import DEFAULT\n"
        "from tests.test_hostile import large\n"
        f"engine = import_module({engine.__name__!r})\n"
        "settings = DEFAULT.replace(max_bytes=4_000_000).settings(engine)\n"
        "groups = engine.parse(large('100000-groups'), settings, True)\n"
        "lines = engine.parse(large('200000-user-agent-lines'), settings, True)\n"
        "print(groups.group_count(), len(groups.select(b'user-agent', b'A')))\n"
        "print(lines.group_count(), len(lines.records()), lines.select(b'user-agent', b'A'))"
    )
    assert run(code, timeout=120).splitlines() == ["100001 100000", "2 200002 [1]"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["\\r", "\\n", "\\r\\n", "#", ":", " ", "\\0", "a", "#\\r", "a:\\r"]
)
def test_reading_ends(engine: ModuleType, unit: str) -> None:
    """Parsing is linear in the file: two megabytes never take minutes."""
    code = (
        "import robotrules; from importlib import import_module\n"
        f"engine = import_module({engine.__name__!r})\n"
        f"unit = '{unit}'\n"
        "robots = robotrules.parse(unit * (2_000_000 // len(unit)), 'google', engine=engine)\n"
        "print(len(robots.notes) >= 0 and robots.check('/', 'a').allowed)"
    )
    assert run(code, timeout=30) == "True"


class TestEncodings:
    """Any octets are a file; broken UTF-16 is decoded with replacements (AMB-08)."""

    @pytest.mark.parametrize("order", ["le", "be"])
    def test_utf_16_of_odd_length(self, read: Read, order: str) -> None:
        """Half a code unit at the end is ignored."""
        mark = b"\xff\xfe" if order == "le" else b"\xfe\xff"
        whole = mark + "User-agent: *\nDisallow: /x".encode(f"utf-16-{order}")
        for rest in (b"", b"\n", b"\0"):
            robots = read(whole + rest)
            assert robots.body == b"User-agent: *\nDisallow: /x"
            assert not robots.check("/x", "a")

    @pytest.mark.parametrize("order", ["le", "be"])
    @pytest.mark.parametrize(
        "units",
        [
            (0xD800,),
            (0xDC00,),
            (0xDFFF,),
            (0xD800, 0xD800),
            (0xDC00, 0xD800),
            (0xD800, 0x61),
            (0x61, 0xD800),
        ],
    )
    def test_lone_surrogates_in_utf_16(
        self, read: Read, order: str, units: tuple[int, ...]
    ) -> None:
        """Each lone surrogate becomes one replacement character."""
        mark = b"\xff\xfe" if order == "le" else b"\xfe\xff"
        text = f"User-agent: *\nDisallow: /{''.join(map(chr, units))}\nDisallow: /b"
        robots = read(mark + text.encode(f"utf-16-{order}", "surrogatepass"))
        lone = sum(unit >= 0xD800 for unit in units)
        assert robots.body.count("\ufffd".encode()) == lone
        assert not robots.check("/b", "x")

    @pytest.mark.parametrize("body", [b"\xff\xfe", b"\xfe\xff", b"\xff", b"\xfe", b"\xff\xfe\0"])
    def test_a_mark_alone(self, read: Read, body: bytes) -> None:
        """A mark alone is an empty file, and half a mark is a line."""
        robots = read(body)
        assert robots.records == ()
        assert robots.check("/x", "a")

    def test_utf_16_past_the_limit(self, read: Read) -> None:
        """The limit counts decoded octets (AMB-18)."""
        rest = "é" * 300_000 + "\nDisallow: /\n"
        body = b"\xff\xfe" + ("User-agent: *\nDisallow: /x\n" + rest).encode("utf-16-le")
        robots = read(body)
        assert len(robots.body) == LIMIT + SLACK
        assert not robots.check("/x", "a")
        assert robots.check("/y", "a")
        assert [note.code for note in robots.notes] == ["not-utf8", "truncated"]

    @pytest.mark.parametrize("octet", [0, 10, 13, 35, 58, 239, 255])
    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_every_file_of_three_octets_around_an_odd_one(
        self, read: Read, octet: int, profile: str
    ) -> None:
        """Small files of delimiters and unusual octets are read completely."""
        for first in (*b"\0\t\n\r #*:\xef\xfe\xff",):
            for last in (*b"\0\t\n\r #*:a\xbb\xfe\xff",):
                robots = read(bytes([first, octet, last]), profile)
                check_lines_rejoin(robots)
                check_spans(robots)


class TestLongLines:
    """Profile google truncates lines like google/robotstxt; others do not (AMB-17)."""

    @pytest.mark.parametrize(
        ("octets", "cut"), [(16_662, False), (16_663, False), (16_664, True), (16_665, True)]
    )
    def test_at_the_bound(self, read: Read, octets: int, cut: bool) -> None:
        """16,663 octets of a line are read; the rest is ignored."""
        line = b"Disallow: /" + b"a" * (octets - len("Disallow: /"))
        body = b"User-agent: *\n" + line + b"\n"
        robots = read(body, "google")
        (rule,) = robots.groups[0].rules
        assert rule.end - rule.start == min(octets, 16_663) - len("Disallow: ")
        assert [note.code for note in robots.notes] == ["long-line"] * cut
        short = "/" + "a" * (16_663 - len("Disallow: /"))
        assert not robots.check(short, "x")
        assert read(body).check(short, "x").allowed == cut
        assert read(body).notes == ()

    def test_a_cut_value_loses_the_space_at_its_end(self, read: Read) -> None:
        """A line is truncated before whitespace is trimmed."""
        line = b"Disallow: /a" + b" " * 17_000 + b"b"
        robots = read(b"User-agent: *\n" + line, GOOGLE)
        assert robots.groups[0].rules[0].pattern == "/a"


class TestAtTheLimit:
    """512,000 octets: lines that start before are used, if they end within 16 KiB (AMB-18)."""

    HEAD = b"User-agent: *\n"

    def body(self, start: int, line: bytes) -> bytes:
        """Return a file in which *line* starts at an offset."""
        body = self.HEAD + b"#" * (start - len(self.HEAD) - 1) + b"\n" + line
        assert body[start:] == line
        return body

    @pytest.mark.parametrize(
        ("start", "used"),
        [
            (LIMIT - 100, True),
            (LIMIT - 13, True),  # ends inside, terminator included
            (LIMIT - 12, True),
            (LIMIT - 11, True),
            (LIMIT - 1, True),
            (LIMIT, False),
            (LIMIT + 1, False),
        ],
    )
    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\nAllow: /secret"])
    def test_where_a_line_starts(self, read: Read, start: int, used: bool, end: bytes) -> None:
        """A line that starts before the limit is used; one that starts at the limit is not."""
        body = self.body(start, b"Disallow: /s" + end)
        robots = read(body)
        allow = b"Allow" in end and start + 13 < LIMIT
        assert bool(robots.check("/secret", "a")) is (allow or not used)
        past = start >= LIMIT or (b"Allow" in end and not allow)
        assert ["truncated"] * past == [note.code for note in robots.notes]

    @pytest.mark.parametrize(
        ("end", "used"),
        [
            (LIMIT + 20, True),
            (LIMIT + SLACK - 1, True),
            (LIMIT + SLACK, True),  # the whole file ends there
            (LIMIT + SLACK + 1, False),
            (LIMIT + 2 * SLACK, False),
        ],
    )
    @pytest.mark.parametrize("start", [LIMIT - 1, LIMIT - 12, LIMIT - 5000])
    def test_where_the_last_line_ends(self, read: Read, start: int, end: int, used: bool) -> None:
        """A last line without terminator may end at the last octet of the slack, not after."""
        line = b"Disallow: /" + b"a" * (end - start - len("Disallow: /"))
        robots = read(self.body(start, line))
        assert [len(group.rules) for group in robots.groups] == [int(used)]
        assert [note.code for note in robots.notes] == ([] if used else ["truncated"])
        assert robots.check("/", "x")  # never half a rule
        assert len(robots.body) == min(end, LIMIT + SLACK)

    @pytest.mark.parametrize(
        ("end", "used"),
        [(LIMIT + SLACK - 2, True), (LIMIT + SLACK - 1, True), (LIMIT + SLACK, False)],
    )
    def test_where_a_line_with_terminator_ends(self, read: Read, end: int, used: bool) -> None:
        """If the file continues, the terminator must be within the slack."""
        start = LIMIT - 1
        line = b"Disallow: /" + b"a" * (end - start - len("Disallow: /"))
        robots = read(self.body(start, line + b"\n" + b"Disallow: /\n" * 10))
        assert [len(group.rules) for group in robots.groups] == [int(used)]
        assert [note.code for note in robots.notes] == ["truncated"]
        assert robots.check("/", "x")

    def test_exactly_the_limit(self, read: Read) -> None:
        """A file of exactly 512,000 octets is read completely, without a note."""
        line = b"Disallow: /private"
        robots = read(self.body(LIMIT - len(line), line))
        assert len(robots.body) == LIMIT
        assert not robots.check("/private", "a")
        assert robots.notes == ()

    def test_a_larger_limit(self, read: Read) -> None:
        """A profile may read more, never less."""
        body = self.body(2_000_000, b"Disallow: /private")
        assert read(body).check("/private", "a")
        assert not read(body, DEFAULT.replace(max_bytes=3_000_000)).check("/private", "a")
        assert not read(body, "google").check("/private", "a")

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_incomplete(self, read: Read, profile: str) -> None:
        """The unterminated last line of an incomplete body is not used."""
        for cut in (b"Disallow: /", b"Disallow: /private", b"User-agent: a", b"Dis", b" ", b"#"):
            robots = read(self.HEAD + b"Allow: /x\n" + cut, profile, complete=False)
            assert [len(group.rules) for group in robots.groups] == [1]
            assert [note.code for note in robots.notes] == ["cut-line"]


class TestMatching:
    """Hostile patterns and paths are decided in bounded time (REP-3-07)."""

    PATH = "/" + "a" * 8190

    @pytest.mark.parametrize(
        ("pattern", "matches"),
        [
            ("/" + "*" * 10_000, True),
            ("/" + "*" * 10_000 + "b", False),
            ("/" + "*a" * 5_000, True),
            ("/" + "*a" * 5_000 + "$", True),
            ("/" + "*a" * 8_190 + "$", True),
            ("/" + "*a" * 8_191 + "$", False),
            ("/" + "*a" * 5_000 + "b", False),
            ("/" + "*aa" * 4_095, True),
            ("/" + "*aa" * 4_096, False),
            ("/" + "a*" * 8_190, True),
            ("/" + "*=" * 5_000, False),
            ("/" + "*/" * 5_000, False),
            ("/" + "*?" * 5_000, False),
            ("/" + "%" * 10_000, False),
        ],
    )
    def test_stars_against_a_long_path(self, read: Read, pattern: str, matches: bool) -> None:
        """Ten thousand wildcards against eight kibibytes: no backtracking, correct verdict."""
        rules = read(f"User-agent: *\nDisallow: {pattern}").rules_for("a")
        assert rules.allows(self.PATH) is not matches

    def test_many_such_patterns(self, read: Read) -> None:
        """Many of them at once: the index must not be slower."""
        patterns = ["/" + "*a" * count + "b" for count in range(1, 120)]
        text = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
        rules = read(text).rules_for("a")
        assert rules.allows_many([self.PATH] * 70) == [True] * 70
        assert not rules.allows(self.PATH + "b")

    def test_long_urls(self, read: Read, engine: ModuleType) -> None:
        """URLs of a megabyte are decided."""
        length = 1_000_000 if engine is native else 50_000
        rules = read("User-agent: *\nDisallow: /*b$\nAllow: /*a/../$").rules_for("a")
        for unit in ("a", "/", "/..", "/.", "%", "%2e", "é", "?", "#", "*", "\0", "://"):
            url = "/" + unit * (length // len(unit))
            assert rules.allows(url)
            assert rules.allows_many([url]) == [True]
        assert not rules.allows("/" + "é" * length + "b")

    def test_dot_segments_without_end(self, read: Read) -> None:
        """As many `..` segments as others lead to the root."""
        rules = read("User-agent: *\nDisallow: /$").rules_for("a")
        assert not rules.allows("/a" * 50_000 + "/.." * 50_000)
        assert not rules.allows("/.." * 100_000)


class TestRepeatedRules:
    """A file may repeat a wildcard rule tens of thousands of times; it is matched once."""

    COUNT = 10_000
    PATH = "/" + "a" * 200_000

    def rules(self, read: Read) -> RuleSet:
        """Return the repeated rule and two others."""
        lines = "disallow:/*a*b\n" * self.COUNT + "allow:/*c\ndisallow:/*c*\n"
        return read("user-agent:*\n" + lines).rules_for("a")

    def test_answers(self, read: Read) -> None:
        """Decisions, ties and matches are the same as without deduplication."""
        rules = self.rules(read)
        assert rules.allows(self.PATH)
        assert rules.allows_many([self.PATH] * 3) == [True] * 3
        verdict = rules.check("/ab")
        assert (verdict.allowed, verdict.rule and verdict.rule.line) == (False, 2)
        assert len(rules.tied_rules("/ab")) == self.COUNT
        assert rules.tied_rules("/c") == (self.COUNT + 1,)

    def test_each_is_matched_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The pure engine matches each different pattern once."""
        rules = self.rules(partial(robotrules.parse, engine=pure))
        matched: list[bytes] = []
        original = Pattern.matches_compared

        def counted(pattern: Pattern, path: bytes) -> bool:
            matched.append(pattern.form)
            return original(pattern, path)

        monkeypatch.setattr(Pattern, "matches_compared", counted)
        assert rules.allows(self.PATH)
        assert sorted(matched) == [b"/*a*b", b"/*c", b"/*c*"]

    @pytest.mark.skipif(native is None, reason="the native engine is not built")
    def test_cost(self) -> None:
        """In the native engine 10,000 repetitions cost about as much as one."""

        def cost(rules: RuleSet) -> float:
            rules.allows(self.PATH)
            began = time.process_time()
            for _ in range(20):
                rules.allows(self.PATH)
            return time.process_time() - began

        many = self.rules(partial(robotrules.parse, engine=native))
        assert cost(many) < 500 * max(cost(RuleSet.from_patterns(["/*a*b"])), 1e-4)

    @pytest.mark.skipif(native is None, reason="the native engine is not built")
    @pytest.mark.parametrize("ask", ["allows", "check", "tied_rules"])
    def test_other_threads_run_meanwhile(self, ask: str) -> None:
        """A long URL is matched with many rules with the interpreter lock (GIL) released."""
        patterns = [f"/*a*{number:x}*z" for number in range(20_000)]
        path = "/" + "a0123456789abcdef" * 6_000
        rules, ended = RuleSet.from_patterns(patterns), []
        usual = sys.getswitchinterval()
        thread = threading.Thread(target=lambda: ended.append(getattr(rules, ask)(path)))
        try:
            sys.setswitchinterval(100)  # a thread releases the lock only at explicit points
            thread.start()
            # If the GIL was held throughout, the thread ends before this one continues.
            assert not ended
        finally:
            sys.setswitchinterval(usual)
            thread.join()


PIECES: dict[str, Any] = {
    "stars": ["/" + "*a" * 100 + "b" for _ in range(2_000)],
    "same": ["/aaaa*b" for _ in range(20_000)],
    "delimiters": ["/*/*?*=*&*%2F" + "/" * (number % 50) for number in range(5_000)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PIECES)
def test_deciding_ends(name: str) -> None:
    """The cost of a megabyte of hostile patterns for a hostile URL is bounded."""
    code = (
        "from robotrules import RuleSet; from tests.test_hostile import PIECES\n"
        f"rules = RuleSet.from_patterns(PIECES[{name!r}])\n"
        "path = '/' + 'aaaa/?=&%2F' * 700\n"
        "print(len(rules.allows_many([path] * 20)))"
    )
    assert run(code, timeout=300) == "20"


def test_patterns_of_every_octet(read: Read) -> None:
    """Any octet may appear in a pattern and in a URL."""
    for octet in range(256):
        body = b"User-agent: *\nDisallow: /x%cy" % octet
        robots = read(body)
        url = b"/x%cy" % octet
        robots.check(url, "a")
        robots.explain(url, "a").as_dict()
        RuleSet.from_patterns([url]).tied_rules(url)
