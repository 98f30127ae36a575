"""A path pattern in words: sentences that are true, URLs that were checked, reasons that hold."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import DEFAULT, GOOGLE, STRICT, Profile, RuleSet
from robotrules.analysis import includes, is_empty, overlaps
from robotrules.analysis.describe import Description, describe, trace
from robotrules.analysis.pattern_trace import ParsedPattern
from robotrules.analysis.values import ORIGIN, Undecided, Witness
from robotrules.errors import ProfileError, WrongWitnessError

PROFILES = (
    DEFAULT,
    STRICT,
    GOOGLE,
    DEFAULT.replace(name="mixed", minimal_encoding=True),
    DEFAULT.replace(name="split", split_escapes=True),
    STRICT.replace(name="as given", url_as_given=True),
)
# Signs that do something, or seem to, and few letters, so that pieces overlap.
PATTERNS = st.one_of(
    st.text("/a*$", max_size=8),
    st.text("/ab*?=&$", max_size=9),
    st.text("/.*aB%2F$", max_size=9),
    st.text("/*3D=%$", max_size=9),
    st.text("/*é #[a]|()\\$?", max_size=8),
    st.binary(max_size=6),
).flatmap(
    lambda text: st.sampled_from([text, b"/" + text if isinstance(text, bytes) else "/" + text])
)
URLS = st.one_of(st.text("/aAb?=&.$*%2F", max_size=9), st.binary(max_size=6)).map(
    lambda text: b"/" + text if isinstance(text, bytes) else "/" + text
)


def codes(pattern: str | bytes, profile: str | Profile = "default") -> list[str]:
    """Return the codes of the notes on a pattern."""
    return [note.code for note in describe(pattern, profile).notes]


def note(pattern: str | bytes, code: str, profile: str | Profile = "default") -> str:
    """Return the text of a note."""
    notes = {found.code: found.message for found in describe(pattern, profile).notes}
    return notes[code]


# --- The sentence ---------------------------------------------------------------------------------

Says = Callable[[str], object]


def without_first(path: str) -> str:
    """Return a path without the slash it begins with."""
    return path[1:]


class TestSentence:
    """The sentence describes exactly what is matched."""

    @pytest.mark.parametrize(
        ("pattern", "sentence", "says"),
        [
            ("/", "Matches every URL.", lambda path: True),
            ("*", "Matches every URL.", lambda path: True),
            ("/**$", "Matches every URL.", lambda path: True),
            ("*/", "Matches every URL.", lambda path: True),
            (
                "/a",
                "Matches every URL whose path begins with '/a', whatever follows.",
                lambda path: path.startswith("/a"),
            ),
            (
                "/a*",
                "Matches every URL whose path begins with '/a', whatever follows.",
                lambda path: path.startswith("/a"),
            ),
            (
                "/a?b",
                "Matches every URL whose path and query begin with '/a?b', whatever follows.",
                lambda path: path.startswith("/a?b"),
            ),
            (
                "/$",
                "Matches only one URL: the home page, '/', without a query.",
                lambda path: path == "/",
            ),
            (
                "/ab$",
                "Matches only one path: '/ab', with nothing after it and no query.",
                lambda path: path == "/ab",
            ),
            (
                "/a?b$",
                "Matches only one path: '/a?b', with nothing after it.",
                lambda path: path == "/a?b",
            ),
            (
                "/*ab",
                "Matches every URL that has 'ab' in its path or query.",
                lambda path: "ab" in path,
            ),
            (
                "/*ab$",
                "Matches every URL that ends with 'ab'.",
                lambda path: path.endswith("ab"),
            ),
            (
                "*/a",
                "Matches every URL that has '/a' in its path or query.",
                lambda path: "/a" in path,
            ),
            (
                "/*/a$",
                "Matches every URL that ends with '/a', not counting the first '/' of its path. "
                "So '/a' itself does not match.",
                lambda path: without_first(path).endswith("/a"),
            ),
            (
                "/*/a",
                "Matches every URL that has '/a' in its path or query, not counting the first '/' "
                "of its path. So '/a' itself does not match.",
                lambda path: "/a" in without_first(path),
            ),
            (
                "/*?",
                "Matches every URL that has a '?', with or without something after it.",
                lambda path: "?" in path,
            ),
            (
                "/*?*a$",
                "Matches every URL that has a '?' and ends with 'a'.",
                lambda path: "?" in path and path.endswith("a"),
            ),
            (
                "/*?a",
                "Matches every URL that has '?a' in it.",
                lambda path: "?a" in path,
            ),
            (
                "/*a*b",
                "Matches every URL that has 'a' and later 'b'.",
                lambda path: "b" in path.partition("a")[2],
            ),
            (
                "/*b*a$",
                "Matches every URL that has 'b' and ends with 'a'.",
                lambda path: "b" in path and path.endswith("a"),
            ),
            (
                "/a*b",
                "Matches every URL whose path begins with '/a' and that has 'b' after it.",
                lambda path: path.startswith("/a") and "b" in path[2:],
            ),
            (
                "/a*b$",
                "Matches every URL whose path begins with '/a' and that ends with 'b'.",
                lambda path: path.startswith("/a") and path[2:].endswith("b"),
            ),
            (
                "/b*a*b$",
                "Matches every URL whose path begins with '/b' and that has 'a' after it and ends "
                "with 'b'.",
                lambda path: path.startswith("/b") and "a" in path[2:] and path.endswith("b"),
            ),
            (
                "/*a*b*a*b",
                "Matches every URL that has 'a' and later 'b' and later 'a' and later 'b'.",
                lambda path: re.search("a.*b.*a.*b", path),
            ),
            (
                "/*a*b*a*b*a",
                "Matches every URL that has 'a' and later 'b' and later 'a' and later 2 other "
                "pieces in this order.",
                lambda path: re.search("a.*b.*a.*b.*a", path),
            ),
            (
                "/*/.$",
                "Matches every URL that ends with '/.', not counting the first '/' of its path.",
                lambda path: False,  # of those without a dot; the others have it in the query
            ),
            ("/a/../b", "Matches no URL at all.", lambda path: False),
            ("a", "Matches no URL at all.", lambda path: False),
            ("", "Matches no URL at all.", lambda path: False),
        ],
    )
    def test_it_is_true_of_every_short_url(self, pattern: str, sentence: str, says: Says) -> None:
        """Of all URLs with up to five signs, exactly those described by the sentence match."""
        assert describe(pattern).sentence == sentence
        rules = RuleSet.from_patterns([pattern])
        for size in range(6):
            for signs in itertools.product("/ab?", repeat=size):
                path = "/" + "".join(signs)
                matches = bool(rules.tied_rules("https://example.com" + path))
                assert matches == bool(says(path)), path

    def test_sentences_depend_on_the_profile(self) -> None:
        """A pattern that one profile ignores may be used by another."""
        assert describe("", "google").sentence == "Matches every URL."
        assert describe("/a b").sentence.startswith("Matches every URL whose path begins with")
        assert describe("/a b", "strict").sentence == "Matches no URL at all."
        assert describe("/a/../b", "google").sentence.endswith("'/a/../b', whatever follows.")

    def test_it_stays_short(self) -> None:
        """Long pieces are cut, and many are counted."""
        assert describe("/" + "a" * 900).sentence == (
            f"Matches every URL whose path begins with '/{'a' * 38}…', whatever follows."
        )
        assert "1,995 other pieces" in describe("/" + "*ab" * 1_999 + "$").sentence


class TestParts:
    """Every piece as written, with what it requires."""

    @pytest.mark.parametrize(
        ("pattern", "parts"),
        [
            ("/", [("/", "every path begins with this")]),
            ("a", [("a", "no path begins with this")]),
            ("/./", [("/./", "no path begins with this")]),
            ("*", [("*", "any characters, or none; without effect at the end")]),
            (
                "/é**b*$",
                [
                    ("/é", "the path begins with this"),
                    ("**", "any characters, or none"),
                    ("b", "then this, wherever it is"),
                    ("*", "any characters, or none; without effect at the end"),
                    ("$", "the end, but the '*' before it leaves it open"),
                ],
            ),
            (
                "*a$b$",
                [
                    ("*", "any characters, or none"),
                    ("a$b", "then this, at the very end"),
                    ("$", "the end: nothing follows, not even a query"),
                ],
            ),
            ("", []),
        ],
    )
    def test_pieces(self, pattern: str, parts: list[tuple[str, str]]) -> None:
        """Stars in a row are one piece."""
        assert [tuple(part) for part in describe(pattern).parts] == parts

    @given(PATTERNS)
    def test_together_they_are_the_pattern(self, pattern: str | bytes) -> None:
        """No text is lost between the pieces."""
        found = describe(pattern)
        assert "".join(part.text for part in found.parts) == found.pattern

    def test_there_are_not_endlessly_many(self) -> None:
        """After a hundred, the others are counted."""
        parts = describe("/" + "*a" * 100).parts
        assert len(parts) == 101
        assert tuple(parts[-1]) == ("…", "101 more pieces")


# --- Examples -------------------------------------------------------------------------------------


class TestExamples:
    """Every example URL matches, or does not, as described."""

    def test_what_people_see(self) -> None:
        """Matches with the shortest first, and a miss for each way to get it wrong."""
        found = describe("/*/print$")
        assert [match.path for match in found.matches] == [
            "//print",
            "/x/print",
            "/x/y/print",
            "/x?n=%2Fprint",
        ]
        assert [(str(miss.witness), miss.code, miss.reason) for miss in found.misses] == [
            ("/x/print?id=1", "follows", "something follows the end: '?id=1'"),
            ("/x/print/", "follows", "something follows the end: '/'"),
            ("/print", "overlap", "the same '/' cannot count twice"),
            ("/xprint", "incomplete", "no '/' before 'print'"),
            ("/x/Print", "case", "upper and lower case differ"),
            ("/x/prin", "incomplete", "no 't' after '/prin'"),
        ]

    @pytest.mark.parametrize(
        ("pattern", "url"),
        [
            ("/*&page=", "/x?n=1&page="),  # a parameter, in the query
            ("/*sort=*page=", "/x?sort=1&page="),
            ("/search?q=*&page=", "/search?q=1&page="),
            ("/*?a=*b", "/x?a=xb"),
            ("/*?", "/x?id=1"),
            ("/private", "/private-x"),
            ("/x/y", "/x/y-a"),  # letters that the pattern does not have
            ("/a/.", "/a/.x"),  # what follows makes it no dot segment
            ("/a/.*?", "/a/.x?"),
        ],
    )
    def test_matches_look_like_urls(self, pattern: str, url: str) -> None:
        """Parameters are in the query, and names after a slash."""
        assert url in [str(match) for match in describe(pattern).matches]

    @pytest.mark.parametrize(
        ("pattern", "path", "reason"),
        [
            ("/private/", "/private", "no '/' after '/private'"),
            ("/private/", "/private%2F", "an escaped slash, '%2F', is not a '/'"),
            ("/private", "/x/private", "'/private' is not at the beginning"),
            ("/*?sort=", "/x?id=1&sort=", "no '?' directly before 'sort='"),
            ("/*?", "/x/", "no '?'"),
            ("/a?b", "/a/b", "no '?'"),
            ("/*.pdf$", "/x.PDF", "upper and lower case differ"),
            ("/*.pdf$", "/xpdf", "no '.' before 'pdf'"),
            ("/?q=$", "/?q=&id=1", "something follows the end: '&id=1'"),
            ("/?q=", "/?id=1&q=", "begins with '/?id', not with '/?q='"),
            ("/*a*b*c", "/xbxaxc", "'b' is only before 'a'"),
            ("/*ab*bc", "/xabc", "the same 'b' cannot count twice"),
            ("/é", "/", "no '%C3%A9' after '/'"),  # a letter at a time, and no half of one
            ("/*éb", "/xb", "no 'éb'"),
            ("/$", "/x", "something follows the end: 'x'"),
            ("/$", "/?id=1", "something follows the end: '?id=1'"),
        ],
    )
    def test_misses_are_near(self, pattern: str, path: str, reason: str) -> None:
        """A miss differs in one thing from a match, and that is the reason."""
        parsed = trace(pattern, path)
        assert (parsed.matches, parsed.reason) == (False, reason)
        if path != "/xabc":
            misses = {str(miss.witness): miss.reason for miss in describe(pattern).misses}
            assert misses[path] == reason

    @given(PATTERNS, st.sampled_from(PROFILES))
    def test_all_are_checked(self, pattern: str | bytes, profile: Profile) -> None:
        """Matches match, misses miss, the first is a shortest, in the form that is compared."""
        found = describe(pattern, profile)
        plain = profile.replace(index_page=False)
        rules = RuleSet.from_patterns([pattern], plain)
        for match in found.matches:
            assert rules.tied_rules(match.url) == (0,)
        for miss in found.misses:
            assert rules.tied_rules(miss.url) == ()
            assert miss.reason
        assert len(found.matches) <= 5
        assert len(found.misses) <= 6
        for code, count in Counter(miss.code for miss in found.misses).items():
            assert count <= (2 if code in ("follows", "incomplete", "overlap") else 1)
        shown = [*found.matches, *(miss.witness for miss in found.misses)]
        for witness in shown:
            path = witness.path.encode("utf-8", "surrogateescape")
            assert rules.find_matches(witness.url)[0] == path
        assert len({witness.path for witness in shown}) == len(shown)
        if not pattern:
            return
        assert found.empty == is_empty(pattern, plain)
        assert bool(found.matches) == (not found.empty)
        if found.matches:
            best = overlaps(pattern, "/", plain)
            assert isinstance(best, Witness)
            assert found.shortest
            assert len(found.matches[0].path) == len(best.path)
            sizes = [len(match.path) for match in found.matches]
            assert sizes == sorted(sizes)
        assert (found.sentence == "Matches every URL.") == (includes(pattern, "/", plain) is True)

    @given(PATTERNS, st.sampled_from(PROFILES))
    def test_near_misses_come_with_most_matches(
        self, pattern: str | bytes, profile: Profile
    ) -> None:
        """A pattern that matches some URLs and not all has a near miss."""
        found = describe(pattern, profile)
        if found.matches and found.sentence != "Matches every URL.":
            assert found.misses

    def test_a_screen_of_them(self) -> None:
        """Few for each reason, and few together."""
        for pattern in ("/a/b*c/d*e?f=g$", "/shop/*/reviews/*?page=", "/*a*b*c*d$"):
            reasons = Counter(miss.code for miss in describe(pattern).misses)
            assert sum(reasons.values()) == 6 or pattern.startswith("/*a")
            assert max(reasons.values()) <= 2

    def test_patterns_that_match_all_or_no_urls_have_no_misses(self) -> None:
        """Either every URL matches, or none does."""
        assert describe("/*").misses == ()
        assert (describe("a").matches, describe("a").misses) == ((), ())

    def test_patterns_without_a_near_miss(self) -> None:
        """Any change of a match is a match; a miss is still shown."""
        misses = describe("*/*/").misses
        assert [(str(miss.witness), miss.code) for miss in misses] == [
            ("/", "overlap"),
            ("/x", "overlap"),
        ]

    def test_no_example_is_longer_than_a_url(self) -> None:
        """Also where the pattern has the maximal length."""
        found = describe("/" + "a" * 7_999)
        assert [len(match.path) for match in found.matches] == [8_000]
        assert {len(miss.witness.path) for miss in found.misses} == {7_999, 8_000}

    def test_a_matcher_that_disagrees_is_an_error(self) -> None:
        """Neither a match nor a miss is shown that the engine contradicts."""
        true = ParsedPattern.path_of

        def wrong(parsed: ParsedPattern, url: str | bytes) -> tuple[bytes, bool]:
            path, matches = true(parsed, url)
            return path, not matches

        with mock.patch.object(ParsedPattern, "path_of", wrong):
            with pytest.raises(WrongWitnessError, match="please report this"):
                trace("/a", "/a")
            with pytest.raises(WrongWitnessError, match="please report this"):
                trace("/a", "/b")
            with pytest.raises(WrongWitnessError, match="please report this"):
                describe("/a")

    def test_a_form_that_is_not_the_path_is_an_error(self) -> None:
        """A witness is the very path that is compared."""
        true = ParsedPattern.path_of
        asked = itertools.count()

        def later_wrong(parsed: ParsedPattern, url: str | bytes) -> tuple[bytes, bool]:
            path, matches = true(parsed, url)
            return (path if next(asked) < 2 else path + b"x"), matches

        with (
            mock.patch.object(ParsedPattern, "path_of", later_wrong),
            pytest.raises(WrongWitnessError, match="should match"),
        ):
            describe("/a")


# --- Why not --------------------------------------------------------------------------------------


class TestTrace:
    """Where each piece of a pattern is in a URL, or why it does not match."""

    def test_where_pieces_are(self) -> None:
        """Each piece as early as possible; a star matches the octets between."""
        found = trace("/a*b**c*", "https://e.example/axxbc?y#z")
        assert found.matches
        assert (found.path, found.code, found.reason) == ("/axxbc?y", "", "")
        assert [tuple(step) for step in found.steps] == [
            ("/a", 0, 2),
            ("*", 2, 4),
            ("b", 4, 5),
            ("**", 5, 5),
            ("c", 5, 6),
            ("*", 6, 8),
        ]

    def test_the_end(self) -> None:
        """A `$` is behind the last octet; the piece before it is the last of its kind."""
        steps = trace("*b$", "/abab").steps
        assert [tuple(step) for step in steps] == [("*", 0, 4), ("b", 4, 5), ("$", 5, 5)]

    def test_as_far_as_it_goes(self) -> None:
        """For a URL that does not match, the trace has the pieces that were found."""
        assert [step.text for step in trace("/*a*b*c", "/xaxb").steps] == ["/", "*", "a", "*", "b"]
        assert [step.text for step in trace("/*a$", "/xax").steps] == ["/", "*", "a"]
        assert trace("/a", "/b").steps == ()
        assert trace("a", "/a").steps == ()

    def test_pieces_are_found_in_the_query_as_it_is_spelled_there(self) -> None:
        """A slash of the query is data (AMB-33), and the pattern requires it all the same."""
        found = trace("/*/b", "/?a=/b")
        assert found.path == "/?a=%2Fb"
        assert tuple(found.steps[-1]) == ("/b", 4, 8)
        assert trace("/*/b?c/$", "/x/b?c/").matches
        assert trace("/*b?c", "/?b?c").matches
        assert not trace("/*a*/b*/c", "/?a/b").matches

    @given(PATTERNS, URLS, st.sampled_from(PROFILES))
    def test_steps_cover_the_path(
        self, pattern: str | bytes, url: str | bytes, profile: Profile
    ) -> None:
        """Steps follow one another without a gap, and are the pattern where it matches."""
        found = trace(pattern, url, profile)
        at = 0
        for step in found.steps:
            assert step.start == at <= step.end
            at = step.end
        if found.matches:
            assert "".join(step.text for step in found.steps) == describe(pattern).pattern
            assert (found.code, found.reason) == ("", "")
        else:
            assert found.code
            assert found.reason

    @given(st.text("/aA*?$b", max_size=8), st.text("/aA?b", max_size=8))
    def test_reasons_hold(self, pattern: str, url: str) -> None:
        """The reason is true of the URL."""
        pattern = "/" + pattern
        found = trace(pattern, ORIGIN + "/" + url)
        path, code = found.path, found.code
        first, *pieces = pattern.removesuffix("$").split("*")
        if code == "case":
            assert trace(pattern.lower(), ORIGIN + path.lower()).matches
        elif code == "follows":
            rest = found.reason.partition(": ")[2].strip("'")
            assert pattern.endswith("$")
            assert rest
            assert path.endswith(rest)
            assert trace(pattern, ORIGIN + path.removesuffix(rest)).matches
        elif code == "no-query":
            assert "?" in pattern
            assert "?" not in path
        elif code == "not-at-beginning":
            assert trace("*" + first, ORIGIN + path).matches
            assert not trace(first + "*", ORIGIN + path).matches
        elif code == "begins-otherwise":
            assert not trace(first + "*", ORIGIN + path).matches
        elif code in ("order", "overlap"):
            assert any(trace(f"*{piece}*", ORIGIN + path).matches for piece in pieces if piece)
        elif code == "missing":
            piece = re.findall("'([^']*)'", found.reason)[0]
            assert piece in pieces

    @pytest.mark.parametrize(
        ("pattern", "url", "code", "reason"),
        [
            ("/%41", "/a", "case", "upper and lower case differ"),
            ("*a", "/*", "missing", "no 'a'"),  # the A of %2A is not a letter
            ("/abc", "/ac", "incomplete", "no 'b' before 'c'"),
            ("/abc", "/x", "begins-otherwise", "begins with '/x', not with '/abc'"),
            ("/ab", "/é", "begins-otherwise", "begins with '/%C3', not with '/ab'"),
            ("/a", "/é", "begins-otherwise", "begins with '/%C3', not with '/a'"),
            ("/a*bcd", "/abd", "missing", "no 'bcd' after '/a'"),
            ("/a*bc$", "/axc", "incomplete", "no 'b' before 'c'"),
            ("/a*bc$", "/axcx", "missing", "no 'bc' after '/a'"),
            ("/*a*bc", "/xaxb", "incomplete", "no 'c' after 'b'"),
            ("/*éb", "/b", "missing", "no 'éb'"),
            ("/*b$c*", "/b", "missing", "no 'b$c'"),
            ("/a/b*a/", "/a/b", "overlap", "the same 'a/' cannot count twice"),
            ("/*a/b", "/%41%2Fb", "missing", "no 'a/b'"),
            ("a", "/a", "never", "the pattern matches no URL at all"),
            (
                "/*3D",
                "/a=b",
                "inside-escape",
                "a '*' would end inside an escape, which counts as one character",
            ),
            (
                "/*3Dx",
                "/=x",
                "inside-escape",
                "a '*' would end inside an escape, which counts as one character",
            ),
            ("/*3D*a", "/=b", "missing", "no '3D'"),
            ("/*%3Da", "/=b", "incomplete", "no 'a' after '%3D'"),
            ("/*a%3D$", "/=", "incomplete", "no 'a' before '%3D'"),
        ],
    )
    def test_reasons(self, pattern: str, url: str, code: str, reason: str) -> None:
        """The reason states what is missing, and where."""
        found = trace(pattern, url)
        assert (found.code, found.reason) == (code, reason)

    def test_a_spelling_that_is_not_looked_through(self) -> None:
        """Profile google compares URLs as given."""
        assert trace("/é", "/é").matches
        found = trace("/é", "/é", "google")
        assert (found.code, found.reason) == (
            "spelling",
            "a URL is compared as it is spelled, with '/%C3%A9'",
        )


# --- Notes ----------------------------------------------------------------------------------------


class TestNotes:
    """Hints are given where a pattern gives reason to, and nowhere else."""

    @pytest.mark.parametrize("pattern", ["/", "/private/", "/a$", "/$", "/a/*/b/", "/*?*a"])
    def test_a_plain_pattern_has_few(self, pattern: str) -> None:
        """A pattern without surprises has few hints."""
        assert set(codes(pattern)) <= {"query-too", "question-mark"}

    @pytest.mark.parametrize(
        ("pattern", "code", "words"),
        [
            ("a", "start", "write '/a', or '*a' to match it anywhere."),
            ("?a", "start", "write '/*?a'."),
            ("%2fa", "start", "'%2F' is not a '/': write '/a'."),
            ("https://e.example/a", "start", "without scheme and host: write '/a'."),
            ("https://e.example", "start", "without scheme and host: write '/'."),
            ("www.e.example/a", "start", "without scheme and host: write '/a'."),
            ("Disallow: /a", "start", "pass only the value of the rule, '/a'."),
            ("", "no-pattern", "an empty 'Disallow:' allows all URLs."),
            ("/\x01", "control-character", "Parsers ignore a rule with"),
            ("/a/../b*c$", "dot-segments", "write '/b*c$'."),
            ("/a/.$", "dot-segments", "write '/a/$'."),
            ("/a/./?/../", "dot-segments", "write '/a/?/../'."),
            ("/a #b", "comment", "which leaves '/a'; write '/a %23b'."),
            (" /a", "space-at-end", "around a value is removed."),
            ("/a\nb", "line-end", "a rule ends at the end of its line"),
            ("/a$b", "dollar-inside", "the URL must have '$' or '%24' there."),
            ("/a$*", "dollar-inside", "'$' that is not the last character"),
            ("/.*", "no-expression", "'.*' matches a dot, then anything"),
            ("/[a-z]", "no-expression", "'[a-z]' is literal"),
            ("/(a|b)", "no-expression", "'(a|b)' is literal"),
            ("/a\\.b", "no-expression", "'\\.' is literal"),
            ("/^a", "no-expression", "'/^' is literal"),
            ("/a{2}", "no-expression", "'{2}' is literal"),
            ("/*?a=", "first-parameter", "add a rule for '/*&a='."),
            ("/s?a=1$", "first-parameter", "add a rule for '/s*&a=1$'."),
            ("/a?b", "question-mark", "it is not a wildcard."),
            ("/a**b", "stars", "each counts as a byte."),
            ("/a*", "last-star", "The '*' at the end does not change what matches"),
            ("/a*$", "last-star", "The '*$' at the end does not change what matches"),
            (
                "/a",
                "open-end",
                "https://example.com/a-x matches too; write '/a/' for the folder or '/a$' for",
            ),
            ("/*.php", "open-end", "https://example.com/x.phpx matches too; add '$'"),
            ("/*/a", "query-too", "the text after it may be in a query."),
            ("/a b", "space-inside", "The grammar has no white space in a pattern; write '%20'."),
            ("/é", "compared-as", "'/%C3%A9': a URL may use either spelling."),
            ("/a#b", "compared-as", "'/a%23b': a URL must use this spelling."),
            ("/%4", "percent", "compared as '%25'."),
            ("/a%2fb", "escaped-slash", "it does not separate folders."),
            ("/%2a", "escaped-sign", "'%2A' is a literal '*'."),
            ("/%24", "escaped-sign", "'%24' is a literal '$'."),
            ("/*.pdf$", "case", "'.PDF' needs another rule."),
            ("/Private/", "case", "in folders and in names."),
            ("/robots", "robots-txt", "always allowed"),
            ("/" + "a" * 8_000, "long-url", "at least 8,001 bytes"),
        ],
    )
    def test_hints(self, pattern: str, code: str, words: str) -> None:
        """Each hint names the problem, and the fix if there is one."""
        assert words in note(pattern, code)

    @pytest.mark.parametrize(
        ("pattern", "code"),
        [
            ("/a$", "dollar-inside"),
            ("/a.b", "no-expression"),
            ("/a/", "open-end"),
            ("/a*b", "open-end"),  # a piece in the middle of names
            ("/a?b", "open-end"),
            ("/a*", "open-end"),  # implied by the star
            ("/*", "robots-txt"),
            ("/*&a=", "query-too"),  # well known
            ("/%C3%A9", "case"),
            ("/%C3%A9", "compared-as"),
            ("/a?/../", "dot-segments"),
            ("/..a", "dot-segments"),
        ],
    )
    def test_no_hints(self, pattern: str, code: str) -> None:
        """Too many hints would be useless."""
        assert code not in codes(pattern)

    def test_profiles_differ(self) -> None:
        """A note is about what this profile does."""
        assert "allows all URLs that no other rule matches" in note("", "no-pattern", "google")
        assert "As an Allow, it also allows the folder '/d/$'" in note(
            "/d/index.html", "index-page", "google"
        )
        assert not trace("/d/index.html", "/d/", "google").matches  # nor is it the pattern's
        assert "index-page" not in codes("/d/index.html")
        assert "robots-txt" not in codes("/robots", "google")
        assert "must use this spelling" in note("/é", "compared-as", "google")
        assert "must have it unescaped" in note("/a b", "space-inside", "google")
        assert note("/%4", "percent", "google").endswith("is literal.")
        assert "have '$' there" in note("/a$b", "dollar-inside", "google")
        assert "dot-segments" not in codes("/a/../b", "google")
        assert "write '%20'" in note("/a b", "space-in-pattern", "strict")
        assert "such as '%FF'" in note(b"/\xff", "invalid-utf8", "strict")
        assert "16,663 bytes" in note("/" + "a" * 16_663, "long-line", "google")
        kept = STRICT.replace(keep_invalid_utf8=True)
        assert codes(b"/\xff b", kept) == ["space-in-pattern"]
        spaces = STRICT.replace(keep_spaces=True)
        assert codes(b"/\xff b", spaces) == ["invalid-utf8"]

    @given(PATTERNS, st.sampled_from(PROFILES))
    def test_each_once(self, pattern: str | bytes, profile: Profile) -> None:
        """No code is given twice, and every URL of a note matches."""
        found = describe(pattern, profile)
        assert len({hint.code for hint in found.notes}) == len(found.notes)
        for hint in found.notes:
            if hint.code == "open-end":
                url = hint.message.partition("so ")[2].partition(" matches")[0]
                assert trace(pattern, url, profile).matches


# --- Whatever a pattern holds ---------------------------------------------------------------------

HOSTILE = {
    "long": b"/" + b"a" * 500_000,
    "stars": b"/" + b"*" * 500_000,
    "10,000 stars": b"/" + b"*a/" * 10_000,
    "every octet": bytes(range(256)),
    "not UTF-8": b"/\xff\xfe*\x80$",
    "brackets": b"/" + b"[" * 100_000,
    "digits": b"/{" + b"1" * 100_000,
    "ending": b"/." + b"a1" * 50_000 + b"!",
    "dots": b"/" + b"../" * 50_000,
    "two spellings": b"/" + b"*a=/b?c&d" * 150,
    "dots that float": b"/" + b"*/../" * 300,
    "percent": b"/" + b"%" * 100_000,
}


class TestHostile:
    """Content never raises, and takes neither long nor much room."""

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    @pytest.mark.parametrize("name", HOSTILE)
    def test_an_answer_soon(self, name: str, profile: str) -> None:
        """Time and room are those of the pattern."""
        pattern = HOSTILE[name]
        found = describe(pattern, profile)  # a quadratic step would take minutes
        assert len(found.sentence) < 400
        assert sum(len(hint.message) for hint in found.notes) < 3_000
        shown = [*found.matches, *(miss.witness for miss in found.misses)]
        assert all(len(witness.path) <= 8_000 for witness in shown)
        assert not trace(pattern, "/x?y", profile).matches or name == "stars"
        assert len(json.dumps(found.as_dict())) < 12 * len(pattern) + 120_000

    def test_too_long_for_a_url(self) -> None:
        """Of what no URL is long enough for, none is shown, and it is not called empty."""
        found = describe(HOSTILE["long"])
        assert (found.empty, found.matches, found.misses) == (False, (), ())
        assert describe(HOSTILE["dots"]).empty is True

    def test_unproved_properties_are_not_stated(self) -> None:
        """Beyond the search, the first match may not be a shortest, and is marked so."""
        found = describe(HOSTILE["dots that float"])
        assert found.matches
        assert not found.shortest
        unlike = DEFAULT.replace(minimal_encoding=True)  # no path has a `:` there
        assert describe("/:" + "a" * 2_000, unlike).empty is None
        assert describe("/:", unlike).empty is True

    def test_a_search_that_gives_up(self) -> None:
        """Without a budget there is no guess."""
        undecided = Undecided(1)
        with (
            mock.patch("robotrules.analysis.pattern_examples.overlaps", return_value=undecided),
            mock.patch("robotrules.analysis.describe.includes", return_value=undecided),
        ):
            assert not describe("/*&a").shortest
            assert describe("/:", DEFAULT.replace(minimal_encoding=True)).empty is None
            assert describe("/*a").shortest  # by counting alone
            assert describe("*/").sentence != "Matches every URL."

    def test_misuse_is_an_error(self) -> None:
        """Invalid patterns and profiles are refused."""
        with pytest.raises(TypeError, match="a path pattern is str or bytes"):
            describe(1)  # type: ignore[arg-type]
        with pytest.raises(ProfileError, match="there is no profile"):
            describe("/", "none")


class TestValue:
    """A description is a value."""

    def test_it_goes_to_json(self) -> None:
        """All of it, as plain values."""
        found = describe(b"/\xff*$")
        plain = found.as_dict()
        assert json.loads(json.dumps(plain)) == plain
        assert list(plain) == list(Description._fields)
        assert (plain["pattern"], plain["form"], plain["octets"]) == ("/\\xff*$", "/%FF*$", 6)
        assert plain["profile"] == "default"
        assert list(plain["misses"][0]) == ["path", "url", "code", "reason"]
        assert list(trace("/", "/").as_dict()["steps"][0]) == ["text", "start", "end"]

    def test_str_and_octets_are_the_same(self) -> None:
        """Also where a lenient decoder smuggled octets into a str."""
        assert describe("/é") == describe("/é".encode())
        assert describe("/\udcff") == describe(b"/\xff")

    def test_the_same_in_every_process_and_engine(self) -> None:
        """The result does not depend on hashing, or on the engine."""
        program = (
            "import json\nfrom robotrules.analysis.describe import describe\n"
            "for p in ('/*/a$', '/*&a=*b', '/a/.', '/*/../', '/é*[a]', '/*?s='):\n"
            "    for name in ('default', 'google'): print(json.dumps(describe(p, name).as_dict()))"
        )
        printed = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "ROBOTRULES_NO_EXTENSIONS": pure, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
            ).stdout
            for pure, seed in (("1", "1"), ("0", "2"))
        }
        assert len(printed) == 1
