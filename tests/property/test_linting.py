"""
Lint of any octets does not raise, every note points into the file, and fixes keep verdicts.

The property that `fix()` proves is tested here independently, with URLs near the patterns and with
the names in the files, under every profile.
"""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from robotrules import RobotsTxt, extensions, parse
from robotrules.errors import ProductTokenError
from robotrules.linting import CHECKS, LEVELS, LintNote, ServedResponse, fix, lint
from robotrules.profile import PROFILES
from tests.property import strategies as some

# Lines that checks report, so that most files have notes.
ODD_LINES = st.sampled_from(
    [
        b"",
        b"# robotrules: ignore",
        b"# robotrules: ignore[RR505, no-such] why",
        b"# robotrules: ignore-file[dead-rule",
        b"Disallow: x # robotrules: ignore[pattern-start]",
        b"Disallow: /y # robotrules: ignore[pattern-start]",
        b"\xef\xbb\xbfUser-agent: a",
        b"\xc3\xaf\xc2\xbb\xc2\xbfUser-agent: b",
        b"\xc2\xa0Disallow\xe2\x80\x8b:\xc2\xa0/a\xc2\xa0\xe2\x80\x8e",
        b"Disallow\xef\xbc\x9a /a",
        b"\xc2\xa0",
        b"\xc2\xa0: \xc2\xa0",
        b"Disallow: \xc2\xa0\t\xc2\xa0",
        b'User-agent: "a"',
        b"Disallow: '",
        b"Disallow: \xe2\x80\x9c/a\xe2\x80\x9d",
        b"// Disallow: /a",
        b"<!-- a --> Disallow: /",
        b"<!-- a -->",
        b"/* a",
        b"; a",
        b"Disallow: /a<br>",
        b"- Disallow: /a",
        b"User-agnet: a",
        b"Useragent : b",
        b"Dissallow /a",
        b"Disallow : /a#b",
        b"Disallow: /\xff\xe9",
        b"Noindex: /a",
        b"Crawl-delay: 5",
        b"Crawl-delay:",
        b"Sitemap:",
        b"Host: a.example",
        b"Contact: a",
        b"Expires: b",
        b"X-Robots-Tag: noindex",
        b"RewriteEngine On",
        b"a.example, 1, DIRECT",
        b'App-Directives: a;b="#c"',
        b"Content-Usage: train-ai=n",
        b"User-agent-purpose: train",
        b": /a",
        b"Allow: /\x01",
        b"Allow:\x0b/a",
        b"\x0c",
    ]
)
MARKS = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xff\xfe", b"<", b" "])


bodies = some.odd_files(ODD_LINES, MARKS) | some.bodies
names = st.sampled_from(sorted(PROFILES))
received = st.none() | st.builds(
    ServedResponse,
    st.sampled_from([None, "", "x", "https://example.com/robots.txt", "http://[", "//a"]),
    st.sampled_from([None, 0, 200, 301, 404, 500, 999]),
    st.sampled_from([None, "", "text/plain", "text/html", "\xff"]),
    st.sampled_from([None, "", "utf-8", "latin-1", "\xff"]),
    st.lists(st.sampled_from(["", "/a", "https://example.com/", "http://["]), max_size=7).map(
        tuple
    ),
    st.sampled_from([None, "", "max-age=0", "max-age=99999999999", "no-store", '"', "\xff"]),
)


def collect_verdicts(robots: RobotsTxt, urls: list[bytes], tokens: list[str]) -> list[object]:
    """Return the verdict for each crawler and URL, or None for an invalid token."""
    verdicts: list[object] = []
    for token in tokens:
        for url in urls:
            try:
                verdicts.append(robots.check(url, token).allowed)
            except ProductTokenError:
                verdicts.append(None)
    return verdicts


class TestLint:
    """Every byte string is a robots.txt (RFC 9309 §2.3.1.5), and lint MUST report on it."""

    @given(body=bodies, profile=names, how=received, complete=st.integers(0, 9).map(bool))
    @example(body=b"\xc2\xa0: \xc2\xa0", profile="default", how=None, complete=True)
    @example(body=b"", profile="default", how=None, complete=False)
    def test_no_error_and_notes_point_into_the_file(
        self, body: bytes, profile: str, how: ServedResponse | None, complete: bool
    ) -> None:
        """Spans lie inside the body, lines exist, columns are those of the span."""
        robots = parse(body, profile, complete=complete)
        notes = lint(robots, received=how)
        slugs = {check.slug: check for check in CHECKS}
        for note in notes:
            assert note.code == slugs[note.slug].code
            assert note.level in LEVELS
            assert note.message.endswith((".", "?"))
            assert 0 <= note.start <= note.end <= len(robots.body)
            if note.line is not None:
                self.check_position(robots, note)
            for related in note.related:
                assert 0 <= related.start <= related.end <= len(robots.body)
                assert 0 < related.line <= len(robots.lines)
            for edit in note.fix.edits if note.fix else ():
                assert 0 <= edit.start <= edit.end <= len(robots.body)
            json.dumps(note.as_dict())
        positions = [(note.line or 0, note.start) for note in notes]
        assert positions == sorted(positions)

    def check_position(self, robots: RobotsTxt, note: LintNote) -> None:
        """The line of a note exists, or is the truncated one."""
        assert note.line is not None
        assert 1 <= note.column <= note.end_column
        if note.slug == "cut-line":
            assert note.line == len(robots.lines) + 1
        elif robots.lines:
            line = robots.lines[note.line - 1]
            assert note.end_column - 1 <= line.end - line.start
            assert line.start + note.column - 1 == max(note.start, line.start)

    @given(body=bodies, profile=names)
    def test_lint_is_deterministic(self, body: bytes, profile: str) -> None:
        """The same file has the same notes; a check alone reports the same as among all."""
        robots = parse(body, profile)
        notes = lint(robots)
        assert lint(body, profile=profile) == notes
        for slug in {note.slug for note in notes if not note.code.startswith("RR9")}:
            alone = [note for note in notes if note.slug == slug]
            assert lint(robots, select=[slug]) == alone


class TestFix:
    """A fix that is not about verdicts MUST NOT change any."""

    @given(data=st.data(), body=bodies, profile=names, token=some.tokens)
    def test_neutral_fixes_keep_every_verdict(
        self, data: st.DataObject, body: bytes, profile: str, token: str
    ) -> None:
        """All fixes together, for every crawler and every URL; notes on other records too."""
        old = parse(body, profile)
        done = fix(old, lint(old))
        new = parse(done.body, profile)
        values = [record.value for record in old.records] or [b"/"]
        urls = data.draw(st.lists(some.urls(st.sampled_from(values)), min_size=1, max_size=4))
        tokens = [token, "*", *(agent for group in old.groups for agent in group.user_agents)]
        assert collect_verdicts(new, urls, tokens) == collect_verdicts(old, urls, tokens)
        assert all(note.fix and not note.fix.changes_verdicts for note in done.applied)
        codes = {note.code for note in extensions.notes(new)}
        assert codes <= {note.code for note in extensions.notes(old)}

    @given(body=bodies, profile=names, unsafe=st.booleans())
    def test_no_error_and_rounds_end(self, body: bytes, profile: str, unsafe: bool) -> None:
        """After a few rounds no fix is left to apply."""
        seen = set()
        for _ in range(20):
            robots = parse(body, profile)
            done = fix(robots, lint(robots), unsafe=unsafe)
            assert set(done.applied).isdisjoint(done.left)
            if done.body == body:
                return
            assert done.body not in seen, "fixes undo one another"
            seen.add(done.body)
            body = done.body
        raise AssertionError("fixes do not end")
