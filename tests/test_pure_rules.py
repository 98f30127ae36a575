"""The normal form, patterns and rule sets, as both engines have them (RFC 9309 §2.2.2, §2.2.3)."""

from __future__ import annotations

from types import ModuleType

import pytest

from robotrules import DEFAULT, GOOGLE, STRICT, Profile


def form(engine: ModuleType, url: str | bytes, profile: Profile = DEFAULT) -> bytes:
    """Return the normal form of the path of a URL."""
    found: bytes = engine.normal_form(url, False, profile.settings(engine))
    return found


def pattern_form(engine: ModuleType, value: str, profile: Profile = DEFAULT) -> bytes:
    """Return the normal form of a pattern."""
    found: bytes = engine.normal_form(value, True, profile.settings(engine))
    return found


def matches(engine: ModuleType, value: str, url: str, profile: Profile = DEFAULT) -> bool:
    """Return whether a pattern matches a URL."""
    _, found = engine.Matcher(profile.settings(engine), [(value.encode(), True)]).find_matches(url)
    return bool(found)


class TestUrls:
    """Only path and query of a URL are compared, in normal form (AMB-33)."""

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("https://e.example/a", b"/a"),
            ("http://e.example/a", b"/a"),
            ("ftp://u@e.example:21/a", b"/a"),
            ("HTTP://E.EXAMPLE/a", b"/a"),
            ("//e.example/a", b"/a"),
            ("/a", b"/a"),
            ("https://e.example", b"/"),
            ("https://e.example?q", b"/?q"),
            ("https://e.example#f", b"/"),
            ("https://e.example/a#f?g", b"/a"),
            ("https://e.example/a?b#c", b"/a?b"),
            ("https://e.example//a", b"//a"),
            ("https://e.example/http://x/y", b"/http%3A//x/y"),
            ("/a?b=http://c/d", b"/a?b=http%3A%2F%2Fc%2Fd"),
            ("e.example/a", b"/a"),
            ("x:y/a", b"/a"),
            ("a//b", b"//b"),
            ("a", b"/"),
            ("?q", b"/?q"),
            ("#f", b"/"),
            ("", b"/"),
            ("https:///a", b"/a"),
        ],
    )
    def test_path_and_query(self, engine: ModuleType, url: str, path: bytes) -> None:
        """Scheme, authority and fragment take no part (REP-2.2.2-26)."""
        assert form(engine, url) == path
        assert form(engine, url.encode()) == path

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("/foo/bar?baz=quz", b"/foo/bar?baz=quz"),  # table 4 of the RFC, row by row
            ("/foo/bar?baz=http://foo.bar", b"/foo/bar?baz=http%3A%2F%2Ffoo.bar"),
            ("/foo/bar/\u30c4", b"/foo/bar/%E3%83%84"),
            ("/foo/bar/%E3%83%84", b"/foo/bar/%E3%83%84"),
            ("/foo/bar/%62%61%7A", b"/foo/bar/baz"),
            ("/%e3%2f", b"/%E3%2F"),
            ("/a%2Fb", b"/a%2Fb"),  # AMB-34
            ("/?a%2Fb/", b"/?a%2Fb%2F"),
            ("/*$", b"/%2A%24"),  # AMB-35
            ("/%2a%24", b"/%2A%24"),
            ("/%", b"/%25"),  # AMB-37
            ("/%4", b"/%254"),
            ("/%zz%4g", b"/%25zz%254g"),
            ("/%%41", b"/%25A"),
            ('/ "<>\\^`{|}', b"/%20%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("/!'()+,;:@[]", b"/%21%27%28%29%2B%2C%3B%3A%40%5B%5D"),
            ("/=&?=&?/", b"/%3D%26?=&%3F%2F"),
            ("/-._~09azAZ", b"/-._~09azAZ"),
            ("/%2D%2e%5f%7E", b"/-._~"),
            ("/\x00\x7f\x80", b"/%00%7F%C2%80"),
            (
                "/eight-octets-and-more/%61?eight-octets-and-more=/",
                b"/eight-octets-and-more/a?eight-octets-and-more=%2F",
            ),
        ],
    )
    def test_octets(self, engine: ModuleType, url: str, path: bytes) -> None:
        """Unreserved octets are bare, delimiters in their role stay, all others are encoded."""
        assert form(engine, url) == path
        assert form(engine, url, STRICT) == path

    def test_octets_that_are_not_utf8(self, engine: ModuleType) -> None:
        """Raw octets are encoded one by one."""
        assert form(engine, b"/\xe9\xff") == b"/%E9%FF"
        assert form(engine, "/\udce9") == b"/%E9"
        assert form(engine, "/\ud83c") == b"/%ED%A0%BC"

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("/a/../b", b"/b"),
            ("/a/./b", b"/a/b"),
            ("/a/%2e%2E/b", b"/b"),
            ("/a/%2e/b", b"/a/b"),
            ("/..", b"/"),
            ("/.", b"/"),
            ("/a/..", b"/"),
            ("/a/.", b"/a/"),
            ("/a/b/..", b"/a/"),
            ("/../../a", b"/a"),
            ("/a/b/c/./../../g", b"/a/g"),  # RFC 3986 §5.2.4
            ("/a//../b", b"/a/b"),
            ("/a/...", b"/a/..."),
            ("/.a/a./..a/a..", b"/.a/a./..a/a.."),
            ("/a?/../b", b"/a?%2F..%2Fb"),
            ("/a/..?b/..", b"/?b%2F.."),
            ("https://e.example/..", b"/"),
            ("/a%2F..", b"/a%2F.."),
        ],
    )
    def test_dot_segments(self, engine: ModuleType, url: str, path: bytes) -> None:
        """Dot segments of the path are removed, also when encoded (AMB-46)."""
        assert form(engine, url) == path

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("https://e.example/a/../%62?c=/#f", b"/a/../%62?c=/"),
            ("https://e.example", b"/"),
            ("https://e.example?q", b"/?q"),
            ("https://e.example;p", b"/;p"),
            ("//e.example/a", b"/a"),
            ("/a?http://b/c", b"/a?http://b/c"),
            ("a;b", b"/;b"),
            ("a#b/c", b"/"),
            ("/a#b", b"/a"),
            ("", b"/"),
            ("#", b"/"),
            ("/a\0b", b"/a"),
            ("/é*$", "/é*$".encode()),
        ],
    )
    def test_as_given(self, engine: ModuleType, url: str, path: bytes) -> None:
        """Profile google compares the URL as it is (AMB-46)."""
        assert form(engine, url, GOOGLE) == path


class TestPatterns:
    """`*` matches any octets, a final `$` the end; the rest is literal (§2.2.3)."""

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("/a%62*%2a$", b"/ab*%2A$"),
            ("/a$b", b"/a%24b"),  # AMB-41
            ("/$$", b"/%24$"),
            ("**", b"**"),
            ("$", b"$"),
            ("", b""),
            ("/a/../b", b"/a/../b"),  # patterns are not URLs (AMB-46)
            ("/a=&b", b"/a%3D%26b"),
            ("/*=&/?", b"/*=&/?"),
            ("/*?a/*=/", b"/*?a%2F*=%2F"),
            ("/?*/=&?", b"/?*%2F=&%3F"),
            ("/é *", b"/%C3%A9%20*"),
            ("/#", b"/%23"),
        ],
    )
    def test_forms(self, engine: ModuleType, value: str, shown: bytes) -> None:
        """A pattern has the normal form of a path, except for its wildcards."""
        assert pattern_form(engine, value) == shown

    @pytest.mark.parametrize(
        ("value", "shown"),
        [("/%e9é%zz%", b"/%E9%C3%A9%zz%"), ("/a=:*$", b"/a=:*$"), ("/%6a", b"/%6A")],
    )
    def test_minimal_forms(self, engine: ModuleType, value: str, shown: bytes) -> None:
        """Profile google changes only hex case and octets above ASCII (AMB-33)."""
        assert pattern_form(engine, value, GOOGLE) == shown

    @pytest.mark.parametrize(
        ("value", "yes", "no"),
        [
            ("/fish", "/fish /fish.html /fish/ /fishheads?x", "/Fish /catfish /?fish /"),
            ("/fish/", "/fish/ /fish/x", "/fish /fishes"),
            ("/fish$", "/fish", "/fish/ /fish? /fishes"),
            ("/*.gif$", "/a.gif /a/b.gif /.gif", "/a.gif? /a.giff /gif"),
            ("*.gif$", "/a.gif", "/a.gift"),
            ("/this/*/exactly", "/this/x/exactly /this//exactly", "/this/exactly /this/x"),
            ("/*a**b*c$", "/xaybzc /abc /aabbcc", "/xaybz /acb"),
            ("/a*a$", "/aa /aba", "/a /ab"),
            ("/*ab*ab$", "/abab /xabab", "/ab /aba"),
            ("/*", "/ /a /?", ""),
            ("/*$", "/ /a", ""),
            ("/$", "/", "/a /?"),
            ("*", "/ /a", ""),
            ("/a*", "/a /ab", "/b"),
            ("/a*$", "/a /ab", "/b"),
            ("/a**$", "/a /ab", "/b"),
            ("/%2A", "/* /%2a", "/a"),  # AMB-35
            ("/%24", "/$ /%24x", "/"),
            ("/a%2Fb", "/a%2fb", "/a/b"),  # AMB-34
            ("/?a/b", "/?a/b /?a%2Fb", "/a/b"),
            ("/*4$", "/foo-4 /%244", "/foo-%24 /foo-$5"),  # AMB-43
            ("/*3D", "/3D /a=3D /?3D", "/a=b /a%3db /%3D"),
            ("/*%3D", "/a=b /a%3d", "/a3D"),
            ("/*D$", "/D /=D", "/= /%3D"),
            ("/a%2", "/a%2 /a%252", "/a%2F /a/"),
        ],
    )
    def test_matching(self, engine: ModuleType, value: str, yes: str, no: str) -> None:
        """A pattern matches from the first octet on."""
        assert [url for url in yes.split() if not matches(engine, value, url)] == []
        assert [url for url in no.split() if matches(engine, value, url)] == []

    @pytest.mark.parametrize(
        ("value", "yes", "no"),
        [
            ("/*&sort=", "/x?a=1&sort=2 /x&sort=2", "/x?a=1&sort /x?a=1%26sort=2"),
            ("/*http://", "/x?u=http://y /http://y /?http%3A%2F%2F", "/http%3A%2F%2F"),
            ("/*%2F", "/a%2Fb /?a/b /?a%2Fb", "/a/b"),
            ("/*?a", "/x?a /?b?a /?b%3Fa", "/x%3Fa /a"),
            ("/*/$", "/a/ /?a/ /?%2F", "/a /a%2F"),
            ("/*=$", "/?a= /a=", "/a /?a%3D"),
            ("/*/*/b", "/a/b/b /a/?x/b /x?/y/b", "/a/b"),
            ("/?*/", "/?a/ /?%2F", "/a/?"),
            ("/*?*=1", "/?a=1 /x?y?z=1", "/a=1"),
            ("/*=*/", "/a=b/ /a?b=c/d /a=b?c/d", "/a?b/c=d"),
        ],
    )
    def test_delimiters_after_a_wildcard(
        self, engine: ModuleType, value: str, yes: str, no: str
    ) -> None:
        """After `*` the part is unknown, so that a delimiter matches in path and query."""
        assert [url for url in yes.split() if not matches(engine, value, url)] == []
        assert [url for url in no.split() if matches(engine, value, url)] == []

    def test_robots_txt_of_google(self, engine: ModuleType) -> None:
        """Profile google compares octets: raw and encoded differ."""
        assert matches(engine, "/caf\u00e9", "/caf%C3%A9", GOOGLE)
        assert not matches(engine, "/caf\u00e9", "/caf\u00e9", GOOGLE)
        assert not matches(engine, "/%62", "/b", GOOGLE)
        assert matches(engine, "/a b", "/a b", GOOGLE)


class TestRuleSets:
    """The match with the greatest specificity decides; allow at a tie (§2.2.2)."""

    def decide(
        self, engine: ModuleType, rules: str, url: str, profile: Profile = DEFAULT
    ) -> tuple[int, bool]:
        """Return the number of the deciding rule, or a negative number, and whether it allows."""
        patterns = [(rule[1:].encode(), rule[0] == "+") for rule in rules.split(" ")]
        matcher = engine.Matcher(profile.settings(engine), patterns)
        number: int = matcher.decide(url)
        return number >> 2 if number >= 0 else number, matcher.allows(url)

    @pytest.mark.parametrize(
        ("rules", "url", "rule", "allowed"),
        [
            ("-/ +/p", "/p", 1, True),
            ("+/p -/", "/p", 0, True),
            ("-/ +/p", "/q", 0, False),
            ("-/f +/f", "/f", 1, True),  # AMB-40
            ("-/f -/f", "/f", 0, False),
            ("+/page -/*.ph", "/page.php5", 0, True),  # AMB-38
            ("+/page -/*.htm", "/page.htm", 1, False),
            ("+/$ -/", "/", 0, True),
            ("+/$ -/", "/p", 1, False),
            ("-/ +/*", "/x", 1, True),  # AMB-39
            ("-/%61%62 +/ab", "/ab", 1, True),
            ("-/x", "/y", -1, True),
            ("- +x", "/x", -1, True),  # AMB-42, AMB-03
            ("-/", "/robots.txt", -2, True),  # AMB-45
            ("-/", "https://e.example/%72obots.txt#x", -2, True),
            ("-/", "/robots.txt?", 0, False),
            ("-/", "/Robots.txt", 0, False),
        ],
    )
    def test_precedence(
        self, engine: ModuleType, rules: str, url: str, rule: int, allowed: bool
    ) -> None:
        """Octets of the normal form, with wildcards; then allow; then the first."""
        assert self.decide(engine, rules, url) == (rule, allowed)

    @pytest.mark.parametrize(
        ("rules", "url", "rule", "allowed"),
        [
            ("-/ +/d/index.html", "/d/", 1, True),
            ("-/ +/d/index.html", "/d/index.html", 1, True),
            ("-/ +/d/index.htm", "/d/", 1, True),
            ("-/ +/d/index.htmx", "/d/", 1, True),
            ("-/ +/d/index.html", "/d", 0, False),
            ("-/ +/d/index.html", "/d/x", 0, False),
            ("-/ -/d/index.html", "/d/", 0, False),
            ("-/ +index.html", "/", 0, False),
            ("-/ +/index.html", "/", 1, True),
            ("-/ +*index.html", "/index.html", 1, True),
            ("-/", "/robots.txt", 0, False),
            ("- -/a", "/b", 0, True),
            ("- +", "/b", 1, True),
        ],
    )
    def test_google(
        self, engine: ModuleType, rules: str, url: str, rule: int, allowed: bool
    ) -> None:
        """Index pages, `/robots.txt` and empty rules as in google/robotstxt."""
        assert self.decide(engine, rules, url, GOOGLE) == (rule, allowed)

    def test_all_methods_agree(self, engine: ModuleType) -> None:
        """Batches, ties and matches give the same rules in the same order."""
        patterns = [(b"/a", False), (b"/*", False), (b"/a", True), (b"/", False)]
        matcher = engine.Matcher(DEFAULT.settings(engine), patterns)
        urls = ["/a", b"/b", "/\udce9", "/\ud83c"]
        assert matcher.decide_many(urls) == [2 << 2 | 1, 1 << 2, 1 << 2, 1 << 2]
        assert matcher.allows_many(iter(urls)) == [True, False, False, False]
        assert matcher.tied("/a") == [2, 0, 1]
        assert matcher.find_matches("/a") == (b"/a", [(2, 2), (0, 2), (1, 2), (3, 1)])
        for url in (None, 1, bytearray(b"/")):
            with pytest.raises(TypeError, match="a URL is str or bytes"):
                matcher.decide(url)

    @pytest.mark.parametrize(
        ("line", "codes"),
        [
            ("Disallow: /x", []),
            ("Disallow:", []),
            ("Disallow: x", ["pattern-start"]),
            ("Disallow: x y", ["space-in-pattern", "pattern-start"]),
            ("Disallow: x\x01", ["control-kept", "pattern-start"]),
            ("Allow: /d/index.html", ["index-page"]),
            ("Disallow: /d/index.html", []),
        ],
    )
    def test_notes(self, engine: ModuleType, line: str, codes: list[str]) -> None:
        """Faults of a pattern have notes with its span."""
        settings = GOOGLE.settings(engine)
        found = engine.parse(f"User-agent: *\n{line}".encode(), settings, True).notes()
        assert [note[0] for note in found] == codes
        assert {note[1:] for note in found} <= {(2, 15 + line.index(":") + 1, 14 + len(line))}
        strict = engine.parse(f"User-agent: *\n{line}".encode(), STRICT.settings(engine), True)
        if "\x01" in line:
            assert [note[0] for note in strict.notes()] == ["control-character"]

    def test_count_usable(self, engine: ModuleType) -> None:
        """Rules that can never match are not counted."""
        patterns = [(value, True) for value in (b"", b"x", b"/\x01", b"/", b"/index.htm")]
        assert engine.Matcher(DEFAULT.settings(engine), patterns).count_usable() == 2
        assert engine.Matcher(GOOGLE.settings(engine), patterns).count_usable() == 5
