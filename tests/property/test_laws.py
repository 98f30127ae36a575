"""
The MUSTs of RFC 9309 §2.2 as laws: what may change in a file without changing an answer.

Each class states its law and the requirement it comes from. The matcher is compared with a naive
one that is written here from the text of the RFC and of AMB-33, and shares no code with an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from types import ModuleType
from typing import Any

from fuzz.targets.index import compare
from hypothesis import assume, given
from hypothesis import strategies as st

from robotrules import DEFAULT, GOOGLE, STRICT, Profile, RobotsTxt
from tests.property.strategies import (
    files,
    good_tokens,
    large_rules,
    patterns,
    profiles,
    shared_patterns,
    urls,
    values,
)

Read = Callable[..., RobotsTxt]
Rule = tuple[bytes, bool]

ORIGINS = (b"https://www.site.example", b"http://a", b"https://user@longer.site.example:8443", b"")

# Patterns that stand in a file as they are: no line end, no comment, no blank at the end.
written = patterns.map(
    lambda value: value.translate(None, b"\r\n#").strip(b" \t\v\f").replace(b"\0", b"")
)
rules = st.lists(st.tuples(written | shared_patterns, st.booleans()), max_size=8)


def file(*groups: tuple[Sequence[str], Sequence[Rule]]) -> bytes:
    """Write groups of names and rules."""
    lines = []
    for names, group in groups:
        lines += [b"User-agent: " + name.encode() for name in names]
        lines += [(b"Allow: " if allow else b"Disallow: ") + value for value, allow in group]
    return b"".join(line + b"\n" for line in lines)


def answers(robots: RobotsTxt, asked: Sequence[bytes], token: str = "a") -> list[Any]:
    """Return what is decided, without where it stands in the file."""
    found = []
    for verdict in robots.rules_for(token).check_many(asked):
        rule = verdict.rule
        found.append((verdict.allowed, verdict.reason, rule and (rule.allow, rule.octets)))
    return found


@st.composite
def groups_and_urls(draw: st.DrawFn) -> tuple[list[Rule], list[bytes]]:
    """Draw the rules of a group, and URLs near them."""
    drawn = draw(rules)
    near = st.sampled_from([value for value, _ in drawn] or [b"/"])
    return drawn, draw(st.lists(urls(near), min_size=1, max_size=4))


class TestOrder:
    """Most specific means most octets; the order of lines is irrelevant (REP-2.2.2-05)."""

    @given(drawn=groups_and_urls(), profile=profiles(), seed=st.integers(0, 99))
    def test_shuffled(
        self, read: Read, drawn: tuple[list[Rule], list[bytes]], profile: Profile, seed: int
    ) -> None:
        """A group whose rules are shuffled answers the same."""
        group, asked = drawn
        shuffled = group.copy()
        Random(seed).shuffle(shuffled)
        one, other = (read(file((["a"], found)), profile) for found in (group, shuffled))
        assert answers(one, asked) == answers(other, asked)


class TestDuplicates:
    """Duplicate rules may be dropped; no answer changes (REP-2.2.2-08)."""

    @given(drawn=groups_and_urls(), profile=profiles())
    def test_doubled(
        self, read: Read, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """A group with every rule twice answers the same."""
        group, asked = drawn
        one, other = (read(file((["a"], found)), profile) for found in (group, group + group))
        assert answers(one, asked) == answers(other, asked)


class TestMerging:
    """All groups that match are merged into one rule set, wherever they stand (REP-2.2.1-07)."""

    @given(drawn=groups_and_urls(), profile=profiles(), cut=st.integers(0, 8), named=good_tokens)
    def test_groups_are_their_concatenation(
        self,
        read: Read,
        drawn: tuple[list[Rule], list[bytes]],
        profile: Profile,
        cut: int,
        named: str,
    ) -> None:
        """Two groups for a crawler, with another's between, answer like one."""
        group, asked = drawn
        one = read(file(([named], group)), profile)
        parts = ([named], group[:cut]), (["other"], [(b"/", False)]), ([named], group[cut:])
        if group[:cut] and group[cut:]:
            assert answers(one, asked, named) == answers(read(file(*parts), profile), asked, named)

    @given(drawn=groups_and_urls(), profile=profiles())
    def test_a_named_group_shuts_out_the_star(
        self, read: Read, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """Star groups do not count for a crawler that has a group (REP-2.2.1-10)."""
        group, asked = drawn
        assume(group)
        one = read(file((["a"], group)), profile)
        other = read(file((["*"], [(b"/*", False)]), (["a"], group)), profile)
        assert answers(one, asked) == answers(other, asked)

    @given(drawn=groups_and_urls(), profile=profiles())
    def test_the_star_is_for_everybody_else(
        self, read: Read, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """Without a group of its own a crawler obeys the star group (REP-2.2.1-09)."""
        group, asked = drawn
        named = read(file((["a"], group)), profile)
        star = read(file((["b"], [(b"/", False)]), (["*"], group)), profile)
        assert answers(named, asked) == answers(star, asked)


class TestCase:
    """Group lookup ignores ASCII case, and so do record names (REP-2.2.1-04, REP-2.2-01)."""

    @given(drawn=groups_and_urls(), profile=profiles(), seed=st.integers(0, 99), token=good_tokens)
    def test_any_case(
        self,
        read: Read,
        drawn: tuple[list[Rule], list[bytes]],
        profile: Profile,
        seed: int,
        token: str,
    ) -> None:
        """However tokens and names are written, the answers are the same."""
        group, asked = drawn
        random = Random(seed)

        def any_case(text: str) -> str:
            return "".join(random.choice((char.lower(), char.upper())) for char in text)

        lines = [f"{any_case('user-agent')}: {any_case(token)}".encode()]
        for value, allow in group:
            lines.append(any_case("allow" if allow else "disallow").encode() + b": " + value)
        one = read(file(([token], group)), profile)
        other = read(b"\r\n".join(lines), profile)
        assert answers(one, asked, token) == answers(other, asked, any_case(token))


class TestOtherRecords:
    """Other records MUST NOT interfere with user-agent, allow and disallow (REP-2.2.4-03)."""

    OTHERS = (
        *(b"Sitemap: https://e.example/s.xml", b"Crawl-delay: 5", b"X: User-agent: b", b"Host: e"),
        *(b"# Disallow: /", b"", b"nonsense", b"one two three", b"X-Disallow: /", b"Noindex: /"),
        *(b": /", b"\xff\xff", b"Content-Usage: /a x=y", b"\tY\t:\tz\t", b"<html>"),
    )

    @given(drawn=groups_and_urls(), profile=profiles(), data=st.data())
    def test_they_may_stand_anywhere(
        self,
        read: Read,
        drawn: tuple[list[Rule], list[bytes]],
        profile: Profile,
        data: st.DataObject,
    ) -> None:
        """Records nobody knows, comments and nonsense between the lines change no answer."""
        group, asked = drawn
        lines = file((["b", "a"], group), (["*"], [(b"/x", False)])).split(b"\n")
        places = st.tuples(st.integers(0, len(lines)), st.sampled_from(self.OTHERS))
        mixed = lines.copy()
        for place, line in data.draw(st.lists(places, max_size=6)):
            mixed.insert(place, line)
        one, other = (read(b"\n".join(found), profile) for found in (lines, mixed))
        for token in ("a", "b", "c"):
            assert answers(one, asked, token) == answers(other, asked, token)

    @given(found=files(), token=good_tokens)
    def test_a_file_without_them(
        self, read: Read, found: tuple[bytes, list[bytes]], token: str
    ) -> None:
        """A file written anew from its user-agent lines and rules alone answers the same."""
        body, known = found
        robots = read(body)
        kept = [r for r in robots.records if r.key in ("user-agent", "allow", "disallow")]
        lines = [record.key.encode() + b": " + record.value for record in kept]
        again = read(b"\n".join(lines))
        asked = [value.replace(b"*", b"x").removesuffix(b"$") for value in known]
        assert answers(robots, asked, token) == answers(again, asked, token)


# --- The longest match, by a naive oracle ---------------------------------------------------------

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def spelled(octets: bytes, keep: bytes) -> bytes:
    """Return octets with everything encoded that is neither unreserved nor in *keep*."""
    out, at = b"", 0
    while at < len(octets):
        pair = octets[at + 1 : at + 3]
        escaped = (
            octets[at] == 0x25
            and len(pair) == 2
            and all(c in b"0123456789abcdefABCDEF" for c in pair)
        )
        octet = int(pair, 16) if escaped else octets[at]
        bare = octet in UNRESERVED or (octet in keep and not escaped)
        out += bytes([octet]) if bare else b"%%%02X" % octet
        at += 3 if escaped else 1
    return out


def form(octets: bytes, query: bool = False) -> bytes:
    """Return path and query in normal form: `/` in the path, `=` and `&` in the query stay."""
    before, mark, after = (b"", b"", octets) if query else octets.partition(b"?")
    return spelled(before, b"/") + mark + spelled(after, b"=&")


def naive_match(value: bytes, path: bytes) -> bool:
    """Try every way for a pattern to match: what follows a `*` is spelled as where it stands."""
    query = path.find(b"?") + 1 or len(path) + 1
    first, *others = value.removesuffix(b"$").split(b"*")
    ends = {len(form(first))} if path.startswith(form(first)) else set()
    asked = b"?" in first
    for piece in others:
        found = set()
        for start in range(min(ends, default=len(path) + 1), len(path) + 1):
            if b"%" in path[max(start - 2, 0) : start]:
                continue  # inside an escape, which is one unit (AMB-43)
            octets = form(piece, query=asked or start >= query)
            if path.startswith(octets, start):
                found.add(start + len(octets))
        ends, asked = found, asked or b"?" in piece
    return len(path) in ends if value.endswith(b"$") else bool(ends)


def naive(group: Sequence[Rule], path: bytes) -> bool:
    """Decide by the RFC: the most octets, allow at a tie, allowed when nothing matches."""
    best = (0, True)
    for value, allow in group:
        if value.startswith((b"/", b"*")) and naive_match(value, path):
            body = value.removesuffix(b"$")
            shown = value.endswith(b"$") + len(b"*".join(_shown(body)))
            best = max(best, (shown, allow))
    return best[1]


def _shown(body: bytes) -> list[bytes]:
    """Return the pieces of a pattern as they count: delimiters after a `*` stay."""
    out: list[bytes] = []
    query = False
    for piece in body.split(b"*"):
        before, mark, after = (b"", b"", piece) if query else piece.partition(b"?")
        query = query or bool(mark)
        out.append(spelled(before, b"/=&" if out else b"/") + mark + spelled(after, b"=&"))
    return out


class TestLongestMatch:
    """The most specific match MUST be used: the match that has the most octets (REP-2.2.2-04)."""

    @given(drawn=groups_and_urls())
    def test_as_the_naive_matcher_says(
        self, engine: ModuleType, drawn: tuple[list[Rule], list[bytes]]
    ) -> None:
        """Both engines decide like ten lines that try everything."""
        group, asked = drawn
        settings = DEFAULT.replace(keep_controls=True, match_robots_txt=True).settings(engine)
        matcher = engine.Matcher(settings, group)
        for url in asked:
            path = engine.normal_form(url, False, settings)
            assert matcher.allows(url) == naive(group, path), path

    @given(value=written | shared_patterns, data=st.data())
    def test_one_pattern(self, engine: ModuleType, value: bytes, data: st.DataObject) -> None:
        """One pattern matches what trying every way matches, with the octets of its form."""
        assume(value.startswith((b"/", b"*")))
        settings = DEFAULT.replace(keep_controls=True).settings(engine)
        url = data.draw(urls(st.just(value)))
        path, found = engine.Matcher(settings, [(value, True)]).find_matches(url)
        assert bool(found) == naive_match(value, path), path
        shown = b"*".join(_shown(value.removesuffix(b"$"))) + b"$" * value.endswith(b"$")
        assert engine.normal_form(value, True, settings) == shown
        assert found in ([], [(0, len(shown))])


class TestNormalForm:
    """Octets are compared in one form (REP-2.2.2-13 to -17), and that form is final."""

    @given(url=urls() | values, profile=st.sampled_from([DEFAULT, STRICT, GOOGLE]))
    def test_idempotent(self, engine: ModuleType, url: bytes, profile: Profile) -> None:
        """The normal form of a normal form is itself."""
        settings = profile.settings(engine)
        once = engine.normal_form(url, False, settings)
        assert once.startswith(b"/")
        # A path alone that starts with "//" would be an authority (RFC 3986 §4.2).
        assert engine.normal_form(b"https://e.example" + once, False, settings) == once

    @given(path=values)
    def test_as_the_naive_form_says(self, engine: ModuleType, path: bytes) -> None:
        """Without dot segments the form of a path is the one written above."""
        assume(b"#" not in path and b"." not in path and b"%2e" not in path.lower())
        url = b"https://e.example/" + path
        assert engine.normal_form(url, False, DEFAULT.settings(engine)) == form(b"/" + path)

    @given(path=values, seed=st.integers(0, 99))
    def test_escapes_of_unreserved_octets_do_not_matter(
        self, engine: ModuleType, path: bytes, seed: int
    ) -> None:
        """An unreserved octet and its escape are the same, in URLs and in patterns."""
        random, settings = Random(seed), DEFAULT.settings(engine)
        # A stray "%" would make an escape with what follows it.
        plain = path.replace(b"%", b"")
        escaped = b"".join(
            b"%%%02x" % octet if octet in UNRESERVED and random.random() < 0.5 else bytes([octet])
            for octet in plain
        )
        for pattern in (False, True):
            one, other = (
                engine.normal_form(b"/" + text, pattern, settings) for text in (plain, escaped)
            )
            assert one == other

    @given(value=patterns)
    def test_patterns_that_have_their_form(self, engine: ModuleType, value: bytes) -> None:
        """A pattern without delimiters after a wildcard is its own form's form."""
        settings = DEFAULT.settings(engine)
        once = engine.normal_form(value, True, settings)
        assert engine.normal_form(once, True, settings) == once


class TestIndex:
    """However many rules there are and however they are asked, the answer is the same."""

    @given(drawn=large_rules(), profile=st.sampled_from([DEFAULT, STRICT, GOOGLE]))
    def test_index_equals_scan(
        self, engine: ModuleType, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """Very many rules decide like each of them alone: scanned, indexed, in a batch."""
        group, asked = drawn
        compare(engine, profile.settings(engine), group, asked)

    @given(drawn=large_rules(), profile=st.sampled_from([DEFAULT, GOOGLE]))
    def test_after_many_checks(
        self, native: ModuleType, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """The first check, the hundredth and a batch hear the same."""
        group, asked = drawn
        matcher = native.Matcher(profile.settings(native), group)
        first = [matcher.decide(url) for url in asked]
        for url in asked * 8:
            matcher.decide(url)
        assert [matcher.decide(url) for url in asked] == first
        assert matcher.decide_many(asked) == first

    @given(drawn=large_rules(least=110, most=150))
    def test_as_the_naive_matcher_says(
        self, native: ModuleType, drawn: tuple[list[Rule], list[bytes]]
    ) -> None:
        """An index decides like ten lines that try everything."""
        group, asked = drawn
        settings = DEFAULT.replace(match_robots_txt=True).settings(native)
        found = native.Matcher(settings, group).allows_many(asked * 6)[: len(asked)]
        for url, allowed in zip(asked, found, strict=True):
            assert allowed == naive(group, native.normal_form(url, False, settings)), url

    @given(count=st.integers(17, 90), seed=st.integers(0, 999))
    def test_a_path_that_has_many_grams(self, native: ModuleType, count: int, seed: int) -> None:
        """Of many patterns that all match one path, found by different octets, the longest wins."""
        random = Random(seed)
        words = [f"{number:04x}" for number in random.sample(range(0x10000), count)]
        patterns = [f"/*{word}".encode() for word in words] + [b"/x%d" % n for n in range(120)]
        winner = random.randrange(count)
        patterns[winner] += b"**"
        url = "/" + "-".join(random.sample(words, count))
        matcher = native.Matcher(DEFAULT.settings(native), [(value, False) for value in patterns])
        assert matcher.decide_many([url] * 70) == [winner << 2] * 70
        assert matcher.tied(url) == [winner]


class TestBatches:
    """A batch answers like one question after the other."""

    @given(drawn=groups_and_urls(), profile=profiles())
    def test_many(
        self, read: Read, drawn: tuple[list[Rule], list[bytes]], profile: Profile
    ) -> None:
        """`allows_many` is `allows`, `check_many` is `check`."""
        group, asked = drawn
        rules = read(file((["a"], group)), profile).rules_for("a")
        assert rules.allows_many(asked) == [rules.allows(url) for url in asked]
        assert rules.check_many(asked) == [rules.check(url) for url in asked]
        assert rules.allows_many(asked) == [bool(verdict) for verdict in rules.check_many(asked)]

    @given(drawn=groups_and_urls(), profile=profiles(), origin=st.sampled_from(ORIGINS))
    def test_long(
        self,
        native: ModuleType,
        drawn: tuple[list[Rule], list[bytes]],
        profile: Profile,
        origin: bytes,
    ) -> None:
        """So do long ones, which the native engine reads as one text: as octets and as text."""
        group, asked = drawn
        matcher = native.Matcher(profile.settings(native), group)
        urls = (asked + [origin + url for url in asked]) * (300 // (2 * len(asked) or 1) + 1)
        expected = [matcher.decide(url) for url in urls]
        assert matcher.decide_many(urls) == expected
        texts = [url.decode("utf-8", "surrogateescape") for url in urls]
        assert matcher.decide_many(texts) == expected
        plain = [text for text in texts if text.isprintable()] * 2
        assert matcher.allows_many(plain) == [matcher.allows(text) for text in plain]
