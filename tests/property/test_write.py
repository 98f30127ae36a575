"""
Properties of the writer: written files are read back, and rewriting a file changes no verdict.

Values are drawn as widely as their constructors accept them. The files of the second property are
those that attack the parser.
"""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules import DEFAULT, STRICT, Profile, RobotsTxt
from robotrules.profile import USER_AGENT_PURPOSE
from robotrules.write import (
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    NewRule,
    app_directives_record,
    content_usage_record,
    read_back,
    write,
)
from tests.property.strategies import files, good_tokens, patterns, urls
from tests.test_write import Ask, protego_reads, rfc_9309_reads, robotspy_reads, urllib_reads

Read = Callable[..., RobotsTxt]
WITH_PURPOSES = (DEFAULT, STRICT.with_extensions(USER_AGENT_PURPOSE))

few_names = st.sampled_from(["a", "A", "b", "*", "ExampleBot", "MJ12bot", "a-b_c", "360Spider"])
names = few_names | st.text(string.ascii_letters + "-_", min_size=1, max_size=8)
few_purposes = st.sampled_from(["EXAMPLE-PURPOSE-1", "example-purpose-1", "P", "1", "a"])
purposes = few_purposes | st.text(string.ascii_letters + string.digits, min_size=1, max_size=8)
no_line_end = st.characters(exclude_characters="\r\n\0")
text = st.text(no_line_end, max_size=12) | patterns.map(
    lambda value: value.decode("utf-8", "surrogateescape").translate(dict.fromkeys(b"\r\n\0"))
)
paths = text.map("/".__add__)
new_rules = st.builds(NewRule, st.booleans(), st.one_of(paths, text.map("*".__add__)))
visible = st.text(string.ascii_letters + string.digits + " /:=,;\"'?*$%\t", max_size=12)
values = st.builds("x{}x".format, visible)
labels = st.sampled_from(["train-ai", "search", "x"])
usage = st.dictionaries(labels, st.booleans(), min_size=1)
bare = st.booleans() | st.integers(-999, 999) | st.text(string.ascii_letters + ' "\\', max_size=5)
applications = st.dictionaries(
    st.sampled_from(["examplesearch", "Other", "*x"]),
    st.dictionaries(st.sampled_from(["widgets", "max-snippet", "a.b"]), bare, max_size=3),
    min_size=1,
)
no_path = st.none()
maybe_paths = no_path | paths
group_records = st.one_of(
    st.builds(NewRecord, st.sampled_from(["Crawl-delay", "Foo", "x.y_z"]), values, no_path),
    st.builds(NewRecord, st.just("Content-Signal"), values, maybe_paths),
    st.builds(content_usage_record, usage, maybe_paths),
    st.builds(app_directives_record, applications, maybe_paths),
)
plain_paths = st.sampled_from(["/", "/a", "/a/b", "/b"])
plain_rules = st.lists(st.builds(NewRule, st.booleans(), plain_paths), max_size=2)
plain_groups = st.builds(
    lambda agents, rules: NewGroup(agents, () if agents else ["EXAMPLE-PURPOSE-1"], rules),
    st.lists(st.sampled_from(["*", "a", "ExampleBot"]), max_size=2),
    plain_rules,
)
file_records = st.builds(NewRecord, st.sampled_from(["Sitemap", "Host", "Zed"]), values, no_path)
comments = st.text(string.ascii_letters + " #:\n", max_size=20)


@st.composite
def groups(draw: st.DrawFn) -> NewGroup:
    """Draw a group; most have no rules, or names that other groups have too."""
    agents = draw(st.lists(names, max_size=3))
    others = draw(st.lists(purposes, min_size=0 if agents else 1, max_size=2))
    return NewGroup(
        agents,
        others,
        draw(st.lists(new_rules, max_size=3)),
        draw(st.lists(group_records, max_size=3)),
        draw(comments),
    )


new_files = st.builds(
    NewRobotsTxt, st.lists(groups(), max_size=5), st.lists(file_records, max_size=2), comments
)


class TestReadBack:
    """`read_back(parse(write(x))) == x` for every x."""

    @given(robots=new_files, profile=st.sampled_from(WITH_PURPOSES))
    @example(NewRobotsTxt([NewGroup(["a"]), NewGroup(["b"])]), DEFAULT)
    @example(NewRobotsTxt([NewGroup(["a"]), NewGroup(["a"])]), DEFAULT)
    @example(NewRobotsTxt([NewGroup(["a"]), NewGroup(purposes=["P"])]), DEFAULT)
    def test_round_trip(self, read: Read, robots: NewRobotsTxt, profile: Profile) -> None:
        """Groups, names, rules, records and comments are unchanged."""
        assert read_back(read(write(robots), profile)) == robots

    @given(robots=new_files)
    def test_portable_text(self, read: Read, robots: NewRobotsTxt) -> None:
        """ASCII, LF, a user-agent line first in each group, no blank line inside a group."""
        written = write(robots)
        assert written.isascii()
        assert written.isprintable() or set(written) <= {*string.printable} - {*"\r\v\f"}
        blocks = [block.splitlines() for block in written.split("\n\n") if block]
        heads = [
            line
            for block in blocks
            for before, line in zip(["", *block], block, strict=False)
            if line.startswith("User-agent: ") and not before.startswith("User-agent: ")
        ]
        assert len(heads) == len(robots.groups)
        codes = {note.code for note in read(written, STRICT).notes}
        # Names such as MJ12bot are written because crawlers have them.
        assert codes <= {"user-agent-text", "unusable-user-agent"}


@st.composite
def files_and_urls(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Draw a file with some purpose lines, and URLs near its patterns."""
    body, known = draw(files())
    for name in draw(st.lists(st.sampled_from([b"*", b"a", b"b", b"ExampleBot"]), max_size=2)):
        body = body.replace(b"ser-agent: " + name, b"ser-agent-purpose: P", 1)
    return body, draw(st.lists(urls(st.sampled_from(known)), min_size=1, max_size=4))


class TestRewriting:
    """A file that is read and written again gives the same verdicts (RFC 9309 §2.2)."""

    @given(
        drawn=files_and_urls(),
        profile=st.sampled_from(WITH_PURPOSES),
        token=good_tokens,
        wanted=st.lists(few_purposes, max_size=2),
    )
    @example((b"User-agent: a\nx: y\n\nUser-agent: b\nDisallow: /", [b"/"]), DEFAULT, "a", [])
    @example((b"User-agent: *\nUser-agent-purpose: P\nDisallow: /", [b"/"]), DEFAULT, "a", ["P"])
    def test_no_verdict_changes(
        self,
        read: Read,
        drawn: tuple[bytes, list[bytes]],
        profile: Profile,
        token: str,
        wanted: list[str],
    ) -> None:
        """Every URL has the same verdict, for every name and purpose."""
        body, asked = drawn
        before = read(body, profile)
        values = read_back(before)
        after = read(write(values), profile)
        old, new = (robots.rules_for(token, wanted) for robots in (before, after))
        assert new.allows_many(asked) == old.allows_many(asked)
        assert read_back(after) == values


class TestOtherParsers:
    """A parser that does not support purposes ignores purpose-only groups (AMB-99)."""

    @pytest.mark.parametrize("reads", [urllib_reads, protego_reads, robotspy_reads, rfc_9309_reads])
    @given(drawn=st.lists(plain_groups, max_size=5), path=plain_paths)
    def test_purpose_groups_do_not_leak(
        self, reads: Callable[[str], Ask], drawn: list[NewGroup], path: str
    ) -> None:
        """Every crawler gets the verdict of the file without these groups."""
        without = [group for group in drawn if group.user_agents]
        allows, expected = (reads(write(NewRobotsTxt(found))) for found in (drawn, without))
        for token in ("a", "ExampleBot", "AnyBot", "purpose-only", "EXAMPLE-PURPOSE"):
            assert allows(path, token) == expected(path, token)
