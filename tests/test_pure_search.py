"""Pattern DFAs, the path DFA, and the search for witnesses: plain cases, on both engines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from robotrules import DEFAULT, GOOGLE, Profile
from robotrules._engine import pure
from robotrules._engine.pure_path_dfa import PathDfa
from robotrules._engine.pure_pattern_dfa import (
    DEAD,
    MATCHED,
    QUERY_MARK,
    PatternDfa,
    failure_function,
)
from robotrules._engine.pure_rules import Pattern, to_compared

MINIMAL = DEFAULT.replace(minimal_encoding=True)


def pattern_dfa(value: str, profile: Profile = DEFAULT) -> PatternDfa:
    """Return the DFA of a pattern."""
    return PatternDfa(Pattern(value.encode(), profile.settings(pure)))


def units(path: str, profile: Profile = DEFAULT) -> bytes:
    """Return a path in the compared form."""
    return to_compared(path.encode(), profile.settings(pure))


def read(dfa: PatternDfa, path: str) -> int:
    """Return the state after a path."""
    state, in_query = dfa.start(), False
    for octet in units(path)[1:]:
        if state in (DEAD, MATCHED):
            break
        state = dfa.step(state, octet, in_query)
        in_query = in_query or octet == QUERY_MARK
    return state


class TestPathDfa:
    """Only normal forms of the paths of URLs are accepted (§2.2.2, AMB-33)."""

    @staticmethod
    def is_path(path: str, as_given: bool = False, *, units: bool = False) -> bool:
        """Return whether the DFA accepts a string."""
        path_dfa, place = PathDfa(as_given, units), PathDfa.START
        if not path.startswith("/"):
            return False
        for octet in path.encode("latin-1")[1:]:
            following = [to for octets, to in path_dfa.classes[place] if octet in octets]
            if not following:
                return False
            (place,) = following
        return path_dfa.min_remaining[place] == 0

    @pytest.mark.parametrize(
        "path", ["/", "//", "/a.b", "/a/", "/...", "/.a", "/?", "/?a=b&c", "/%2F", "/?%3F.", "/?.."]
    )
    def test_real(self, path: str) -> None:
        """A path in normal form is accepted."""
        assert pure.normal_form(f"https://e.example{path}", False, DEFAULT.settings(pure)) == (
            path.encode()
        )
        assert self.is_path(path)

    @pytest.mark.parametrize(
        "path",
        [
            *("", "a", "/=", "/&", "/a b", "/\xe9", "/#", "/?/", "/??", "/*", "/$"),
            *("/%", "/%2", "/%2f", "/%41", "/%2E", "/%GG", "/?%7e"),
            *("/.", "/..", "/a/.", "/a/../b", "/./", "/.?", "/a/..?b"),
        ],
    )
    def test_unreal(self, path: str) -> None:
        """Delimiters of the other part, needless escapes and dot segments are not accepted."""
        assert not self.is_path(path)

    def test_as_given(self) -> None:
        """As given, a path has any octet except NUL and `#`."""
        assert all(self.is_path(path, True) for path in ("/.", "/%", "/=", "/\xe9", "/?/?", "/*"))
        assert not any(self.is_path(path, True) for path in ("/#", "/\0", "", "a"))

    def test_units(self) -> None:
        """The digits of an escape differ from the same raw octets (AMB-43)."""
        escape = units("/%3D").decode("latin-1")
        assert escape != "/%3D"
        assert self.is_path(escape, units=True)
        assert self.is_path(escape + "3D", units=True)
        assert not self.is_path("/%3D", units=True)
        assert not self.is_path(escape, units=False)


class TestPatternDfa:
    """The DFA of a pattern (§2.2.3)."""

    @pytest.mark.parametrize(
        ("value", "path", "matches"),
        [
            ("/fish", "/fishheads", True),
            ("/fish", "/fis", False),
            ("/fish", "/fash", False),
            ("/", "/", True),
            ("*", "/", True),
            ("", "/", True),
            ("/$", "/", True),
            ("/$", "/a", False),
            ("/a$", "/a", True),
            ("/a$", "/", False),
            ("/*$", "/a", True),
            ("*/a", "/a", True),
            ("/*a*b", "/ab", True),
            ("/*a*b", "/ba", False),
            ("/*aab", "/aaab", True),
            ("/*abab", "/aababab", True),
            ("/*ab$", "/abab", True),
            ("/*ab$", "/aba", False),
            ("/a*a$", "/a", False),
            ("/a*a$", "/aa", True),
            ("/*.php$", "/x.php.php", True),
        ],
    )
    def test_matching(self, value: str, path: str, matches: bool) -> None:
        """The DFA accepts what the matcher matches."""
        dfa = pattern_dfa(value)
        state = read(dfa, path)
        assert (state == MATCHED or (state != DEAD and dfa.accepts(state))) is matches
        assert dfa.matches(units(path)) is matches

    @pytest.mark.parametrize(
        ("value", "path", "matches"),
        [
            ("/*3D", "/%3D", False),
            ("/*3D", "/%3D3D", True),
            ("/*%3D", "/%3D", True),
            ("/*D$", "/%3D", False),
            ("/*D$", "/%3DD", True),
            ("/*8*9", "/%E3%89", False),
            ("/%E3", "/%E3%89", True),
            ("/*=3D", "/?=3D", True),
            ("/*=3D", "/?%3D", False),
        ],
    )
    def test_escapes_are_units(self, value: str, path: str, matches: bool) -> None:
        """A `*` never ends inside an escape (AMB-43)."""
        self.test_matching(value, path, matches)

    @pytest.mark.parametrize(
        ("value", "path", "matches"),
        [
            ("/*=", "/%3D", True),  # data in the path
            ("/*=", "/?=", True),  # a delimiter in the query
            ("/*=", "/?%3D", False),
            ("/*/x", "/a/x", True),
            ("/*/x", "/?a%2Fx", True),
            ("/*a?b", "/a?b", True),
            ("/*a?b", "/?a%3Fb", True),
            ("/*=?=", "/%3D?=", True),  # extends into the query with its `?`
            ("/*=?=", "/%3D?%3D", False),
            ("/*=?=", "/?=%3F=", True),
            ("/*?a?b", "/?a%3Fa%3Fb", True),  # a failed match may start again in the query
            ("/*?aa?aab", "/?aa%3Faa%3Faab", True),
            ("/*?", "/a?", True),
            ("/*?$", "/a?", True),
            ("/*?$", "/a?b", False),
            ("/*?$", "/?%3F", True),
        ],
    )
    def test_two_forms(self, value: str, path: str, matches: bool) -> None:
        """A piece after a `*` has the normal form of the part in which it starts (AMB-33)."""
        self.test_matching(value, path, matches)

    def test_min_remaining(self) -> None:
        """A lower bound for the octets up to a match: an escape has three, `?` and `=` two."""
        assert pattern_dfa("/abc").min_remaining(pattern_dfa("/abc").start()) == 3
        assert pattern_dfa("/*=").min_remaining(pattern_dfa("/*=").start()) == 2
        assert pattern_dfa("/*a*bc").min_remaining(read(pattern_dfa("/*a*bc"), "/xa")) == 2

    def test_distinguished(self) -> None:
        """Octets that a state does not distinguish are equivalent."""
        dfa = pattern_dfa("/*aab")
        assert dfa.distinguished(read(dfa, "/aa")) == set(b"ab")
        assert dfa.distinguished(read(dfa, "/")) == set(b"a")
        assert pattern_dfa("/xy").distinguished(pattern_dfa("/xy").start()) == set(b"x")

    def test_failures_are_short(self) -> None:
        """A chain of failures is short, even if a piece repeats itself."""
        failure = failure_function(b"a" * 1000 + b"b")
        assert failure[999] == 0
        assert failure[1000] == 999
        assert failure_function(b"abacab") == [0, 0, 0, 1, 0, 0, 2]


def languages(engine: ModuleType, *values: str, profile: Profile = DEFAULT) -> Any:
    """Return compiled patterns."""
    return engine.Languages(profile.settings(engine), [(value.encode(), True) for value in values])


def clause(found: Any, form: str, accepts: bool) -> int:
    """Return the clause of a pattern."""
    forms = [entry[1] for entry in found.entries()]
    return forms.index(form.encode()) << 1 | accepts


def matching(found: Any, *forms: str) -> list[tuple[list[int], bool]]:
    """Return decision lists that accept what all of some patterns match."""
    return [([clause(found, form, True)], False) for form in forms]


class TestEntries:
    """Patterns are in order of precedence, without those that can never match."""

    def test_order(self, engine: ModuleType) -> None:
        """Specificity, then allow, then the order of the file; `/robots.txt` first."""
        rules = [(b"/b", False), (b"/a", True), (b"/long", False), (b"/c", False), (b"/b*", True)]
        found = engine.Languages(DEFAULT.settings(engine), rules).entries()
        assert found == [
            (-2, b"/robots.txt$", 1),
            (2, b"/long", 0),
            (4, b"/b*", 1),
            (1, b"/a", 1),
            (0, b"/b", 0),
            (3, b"/c", 0),
        ]

    def test_left_out(self, engine: ModuleType) -> None:
        """Empty, without a `/` or `*` at the start, with a control character: not an entry."""
        rules = [(b"", False), (b"a", True), (b"/\x01", True), (b"*", True)]
        found = engine.Languages(DEFAULT.settings(engine), rules).entries()
        assert [rule for rule, _, _ in found] == [-2, 3]

    def test_profiles(self, engine: ModuleType) -> None:
        """An index page has two entries; an empty rule matches with zero octets."""
        profile = GOOGLE.replace(index_page=True, empty_rules_match=True, match_robots_txt=True)
        rules = [(b"", False), (b"/d/index.html", True)]
        found = engine.Languages(profile.settings(engine), rules).entries()
        assert found == [(1, b"/d/index.html", 1), (1, b"/d/$", 1), (0, b"", 3)]

    def test_first_match(self, engine: ModuleType) -> None:
        """The first of some entries that matches a path, or -1."""
        found = languages(engine, "/a", "/ab", "/b")
        at = [clause(found, form, False) >> 1 for form in ("/b", "/a", "/ab")]
        assert found.first_match(at, b"/abc") == at[1]
        assert found.first_match(at[::-1], b"/abc") == at[2]
        assert found.first_match(at, b"/c") == -1
        assert found.first_match([], b"/a") == -1


class TestFindWitness:
    """A shortest path that all decision lists accept, or the proof that none exists."""

    @pytest.mark.parametrize(
        ("values", "path"),
        [
            (["/"], b"/"),
            (["/a"], b"/a"),
            (["/a", "/*b"], b"/ab"),
            (["/*ab", "/*bc$"], b"/abc"),
            (["/*="], b"/?="),
            (["/*%2F"], b"/%2F"),
            (["/a$", "/ab"], None),
            (["/a", "/b"], None),
            (["/a/../b"], None),
            (["/a/..?"], None),
            (["/a/..."], b"/a/..."),
            (["/%41"], b"/A"),
        ],
    )
    def test_what_all_match(
        self, engine: ModuleType, values: list[str], path: bytes | None
    ) -> None:
        """A witness is a shortest common path of the patterns, and the path of a URL."""
        found = engine.Languages(DEFAULT.settings(engine), [(v.encode(), True) for v in values])
        by_rule = {rule: at for at, (rule, _, _) in enumerate(found.entries())}
        lists = [([by_rule[number] << 1 | 1], False) for number in range(len(values))]
        decided, witness, states, rejecting = found.find_witness(lists, 1000)
        assert (decided, witness) == (True, path)
        assert rejecting == [[] for _ in values]
        assert states <= 300

    def test_unreal_patterns(self, engine: ModuleType) -> None:
        """Under minimal encoding a pattern may hold octets that no path has."""
        found = languages(engine, "/:", "/=", profile=MINIMAL)
        assert found.find_witness(matching(found, "/:"), 1000)[:2] == (True, None)
        assert found.find_witness(matching(found, "/="), 1000)[:2] == (True, None)

    def test_precedence(self, engine: ModuleType) -> None:
        """The first clause that matches decides; then the default."""
        found = languages(engine, "/a", "/ab")
        accept, reject = clause(found, "/a", True), clause(found, "/ab", False)
        assert found.find_witness([([reject, accept], False)], 1000)[1] == b"/a"
        longer = matching(found, "/ab")
        assert found.find_witness([([reject, accept], False), *longer], 1000)[1] is None
        assert found.find_witness([([accept, reject], False), *longer], 1000)[1] == b"/ab"
        assert found.find_witness([([reject], True)], 1000)[1] == b"/"
        assert found.find_witness([([], True)], 1000)[1] == b"/"
        assert found.find_witness([([], False)], 1000)[1] is None
        assert found.find_witness([], 1000)[1] == b"/"

    def test_rejecting_entries(self, engine: ModuleType) -> None:
        """Entries that rejected a path are reported; others are not."""
        found = languages(engine, "/a*", "/a", "/b", "/a*x")
        rejections = [clause(found, form, False) for form in ("/b", "/a*x", "/a")]
        decided, path, _, rejecting = found.find_witness(
            [([*rejections, clause(found, "/a*", True)], False)], 1000
        )
        assert (decided, path) == (True, None)
        assert rejecting == [[rejections[2] >> 1]]

    @pytest.mark.parametrize("shortest", [True, False])
    def test_max_states(self, engine: ModuleType, shortest: bool) -> None:
        """At *max_states* the search stops without a decision."""
        found = languages(engine, "/abcdefgh", "/*x*y*z")
        lists = matching(found, "/abcdefgh", "/*x*y*z")
        decided, path, states, _ = found.find_witness(lists, 1000, None, shortest)
        assert decided
        assert path == b"/abcdefghxyz"
        for max_states in (0, 1, 5, states - 1):
            assert found.find_witness(lists, max_states, None, shortest)[:2] == (False, None)
        assert found.find_witness(lists, states, None, shortest)[:2] == (True, path)
        assert found.find_witness(lists, 10**30, None, shortest)[:2] == (True, path)

    def test_shorter_than(self, engine: ModuleType) -> None:
        """Only paths with fewer octets are returned."""
        found = languages(engine, "/abc")
        lists = matching(found, "/abc")
        assert found.find_witness(lists, 100, 5)[:2] == (True, b"/abc")
        for octets in (4, 1, 0):
            assert found.find_witness(lists, 100, octets)[:2] == (True, None)

    def test_a_clause_out_of_range(self, engine: ModuleType) -> None:
        """Misuse is an error."""
        with pytest.raises(IndexError):
            languages(engine, "/a").find_witness([([99], False)], 100)

    def test_many_branches(self, engine: ModuleType) -> None:
        """Each accepting clause is a separate branch: states do not multiply."""
        values = [f"/*a{number}*b{number}" for number in range(60)]
        found = languages(engine, *values)
        others = [clause(found, value, True) for value in values[1:]]
        lists = [*matching(found, values[0]), (others, False)]
        decided, path, states, _ = found.find_witness(lists, 100_000, None, False)
        assert decided
        assert path is not None
        assert states < 100
        decided, path, _, _ = found.find_witness(lists, 100_000)
        assert decided
        assert len(path) == len("/a0a1b0b1")

    def test_long_patterns(self, engine: ModuleType) -> None:
        """A pattern may fill a file: the search stops at *max_states*, and soon."""
        found = languages(engine, "/*" + "a" * 20_000 + "b", "/" + "*a" * 20_000)
        forms = [entry[1] for entry in found.entries()]
        for at in range(1, 3):
            decided, path, states, _ = found.find_witness([([at << 1 | 1], False)], 1_000)
            assert (decided, path, states) == (False, None, 1_000), forms[at][:9]
