"""Patterns as automata, real paths, and paths that are sought: plain cases, on both engines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from robotrules import DEFAULT, GOOGLE, Profile
from robotrules._engine import pure
from robotrules._engine.pure_path_dfa import Universe
from robotrules._engine.pure_pattern_dfa import DEAD, MARK, MATCHED, Machine, failure
from robotrules._engine.pure_rules import Pattern, compared

MINIMAL = DEFAULT.replace(minimal_encoding=True)


def machine(value: str, profile: Profile = DEFAULT) -> Machine:
    """Return the automaton of a pattern."""
    return Machine(Pattern(value.encode(), profile.settings(pure)))


def units(path: str, profile: Profile = DEFAULT) -> bytes:
    """Return a path as it is compared."""
    return compared(path.encode(), profile.settings(pure))


def read(automaton: Machine, path: str) -> int:
    """Return the state behind a path."""
    state, queried = automaton.start(), False
    for octet in units(path)[1:]:
        if state in (DEAD, MATCHED):
            break
        state = automaton.step(state, octet, queried)
        queried = queried or octet == MARK
    return state


class TestUniverse:
    """Only strings that the URL's normal form can give are paths (§2.2.2, AMB-33)."""

    @staticmethod
    def is_path(path: str, as_given: bool = False, *, units: bool = False) -> bool:
        """Walk a string through the automaton."""
        universe, place = Universe(as_given, units), Universe.START
        if not path.startswith("/"):
            return False
        for octet in path.encode("latin-1")[1:]:
            following = [to for octets, to in universe.classes[place] if octet in octets]
            if not following:
                return False
            (place,) = following
        return universe.to_go[place] == 0

    @pytest.mark.parametrize(
        "path", ["/", "//", "/a.b", "/a/", "/...", "/.a", "/?", "/?a=b&c", "/%2F", "/?%3F.", "/?.."]
    )
    def test_real(self, path: str) -> None:
        """What is its own normal form is a path."""
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
        """Delimiters of the other part, escapes of what needs none, and dot segments are not."""
        assert not self.is_path(path)

    def test_as_given(self) -> None:
        """Compared as given, a path has any octet but NUL and `#`."""
        assert all(self.is_path(path, True) for path in ("/.", "/%", "/=", "/\xe9", "/?/?", "/*"))
        assert not any(self.is_path(path, True) for path in ("/#", "/\0", "", "a"))

    def test_units(self) -> None:
        """The digits of an escape are other octets than the same digits (AMB-43)."""
        escape = units("/%3D").decode("latin-1")
        assert escape != "/%3D"
        assert self.is_path(escape, units=True)
        assert self.is_path(escape + "3D", units=True)
        assert not self.is_path("/%3D", units=True)
        assert not self.is_path(escape, units=False)


class TestMachine:
    """A pattern is a small automaton (§2.2.3)."""

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
        """It says what the matcher says, octet by octet."""
        automaton = machine(value)
        state = read(automaton, path)
        assert (state == MATCHED or (state != DEAD and automaton.accepts(state))) is matches
        assert automaton.matches(units(path)) is matches

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
            ("/*=?=", "/%3D?=", True),  # crosses over with its own `?`
            ("/*=?=", "/%3D?%3D", False),
            ("/*=?=", "/?=%3F=", True),
            ("/*?a?b", "/?a%3Fa%3Fb", True),  # what did not cross may begin anew
            ("/*?aa?aab", "/?aa%3Faa%3Faab", True),
            ("/*?", "/a?", True),
            ("/*?$", "/a?", True),
            ("/*?$", "/a?b", False),
            ("/*?$", "/?%3F", True),
        ],
    )
    def test_two_spellings(self, value: str, path: str, matches: bool) -> None:
        """A piece behind a `*` is spelled as the part asks in which it starts (AMB-33)."""
        self.test_matching(value, path, matches)

    def test_to_go(self) -> None:
        """How far a match is away at least: an escape is three octets, a `?` and `=` are two."""
        assert machine("/abc").to_go(machine("/abc").start()) == 3
        assert machine("/*=").to_go(machine("/*=").start()) == 2
        assert machine("/*a*bc").to_go(read(machine("/*a*bc"), "/xa")) == 2

    def test_symbols(self) -> None:
        """Octets that no state asks about are one octet."""
        automaton = machine("/*aab")
        assert automaton.symbols(read(automaton, "/aa")) == set(b"ab")
        assert automaton.symbols(read(automaton, "/")) == set(b"a")
        assert machine("/xy").symbols(machine("/xy").start()) == set(b"x")

    def test_failures_are_short(self) -> None:
        """However a piece repeats itself, a failure takes few steps."""
        fall = failure(b"a" * 1000 + b"b")
        assert fall[999] == 0
        assert fall[1000] == 999
        assert failure(b"abacab") == [0, 0, 0, 1, 0, 0, 2]


def languages(engine: ModuleType, *values: str, profile: Profile = DEFAULT) -> Any:
    """Return patterns to be asked about."""
    return engine.Languages(profile.settings(engine), [(value.encode(), True) for value in values])


def clause(found: Any, form: str, yes: bool) -> int:
    """Return the rung of a pattern."""
    forms = [entry[1] for entry in found.entries()]
    return forms.index(form.encode()) << 1 | yes


def matching(found: Any, *forms: str) -> list[tuple[list[int], bool]]:
    """Return ladders that ask for what all of some patterns match."""
    return [([clause(found, form, True)], False) for form in forms]


class TestEntries:
    """Patterns stand in the order of precedence; those that cannot match are left out."""

    def test_order(self, engine: ModuleType) -> None:
        """Most octets first, then allow, then the order of the file; `/robots.txt` above all."""
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
        """No pattern: empty, without a `/` or `*` at the start, with a control character."""
        rules = [(b"", False), (b"a", True), (b"/\x01", True), (b"*", True)]
        found = engine.Languages(DEFAULT.settings(engine), rules).entries()
        assert [rule for rule, _, _ in found] == [-2, 3]

    def test_profiles(self, engine: ModuleType) -> None:
        """An index page stands for its directory; an empty rule matches with no octets."""
        profile = GOOGLE.replace(index_page=True, empty_rules_match=True, match_robots_txt=True)
        rules = [(b"", False), (b"/d/index.html", True)]
        found = engine.Languages(profile.settings(engine), rules).entries()
        assert found == [(1, b"/d/index.html", 1), (1, b"/d/$", 1), (0, b"", 3)]

    def test_decider(self, engine: ModuleType) -> None:
        """The first of some entries that matches a path decides; -1 if none does."""
        found = languages(engine, "/a", "/ab", "/b")
        at = [clause(found, form, False) >> 1 for form in ("/b", "/a", "/ab")]
        assert found.decider(at, b"/abc") == at[1]
        assert found.decider(at[::-1], b"/abc") == at[2]
        assert found.decider(at, b"/c") == -1
        assert found.decider([], b"/a") == -1


class TestSeek:
    """A shortest path to which all ladders say yes, or the proof that there is none."""

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
        """Of all paths that some patterns match none is shorter; what no URL has is not found."""
        found = engine.Languages(DEFAULT.settings(engine), [(v.encode(), True) for v in values])
        by_rule = {rule: at for at, (rule, _, _) in enumerate(found.entries())}
        asked = [([by_rule[number] << 1 | 1], False) for number in range(len(values))]
        decided, seen, states, heard = found.seek(asked, 1000)
        assert (decided, seen) == (True, path)
        assert heard == [[] for _ in values]
        assert states <= 300

    def test_unreal_patterns(self, engine: ModuleType) -> None:
        """Under least encoding a pattern may ask for octets that no path has."""
        found = languages(engine, "/:", "/=", profile=MINIMAL)
        assert found.seek(matching(found, "/:"), 1000)[:2] == (True, None)
        assert found.seek(matching(found, "/="), 1000)[:2] == (True, None)

    def test_precedence(self, engine: ModuleType) -> None:
        """The first rung that matches has the word; below the last is the foot."""
        found = languages(engine, "/a", "/ab")
        yes, no = clause(found, "/a", True), clause(found, "/ab", False)
        assert found.seek([([no, yes], False)], 1000)[1] == b"/a"
        longer = matching(found, "/ab")
        assert found.seek([([no, yes], False), *longer], 1000)[1] is None
        assert found.seek([([yes, no], False), *longer], 1000)[1] == b"/ab"
        assert found.seek([([no], True)], 1000)[1] == b"/"
        assert found.seek([([], True)], 1000)[1] == b"/"
        assert found.seek([([], False)], 1000)[1] is None
        assert found.seek([], 1000)[1] == b"/"

    def test_who_said_no(self, engine: ModuleType) -> None:
        """Those who said no are the reasons of a proof; those that were not heard are not."""
        found = languages(engine, "/a*", "/a", "/b", "/a*x")
        noes = [clause(found, form, False) for form in ("/b", "/a*x", "/a")]
        decided, path, _, heard = found.seek([([*noes, clause(found, "/a*", True)], False)], 1000)
        assert (decided, path) == (True, None)
        assert heard == [[noes[2] >> 1]]

    @pytest.mark.parametrize("shortest", [True, False])
    def test_budget(self, engine: ModuleType, shortest: bool) -> None:
        """Past the budget nothing is decided, and nothing is claimed."""
        found = languages(engine, "/abcdefgh", "/*x*y*z")
        asked = matching(found, "/abcdefgh", "/*x*y*z")
        decided, path, states, _ = found.seek(asked, 1000, None, shortest)
        assert decided
        assert path == b"/abcdefghxyz"
        for budget in (0, 1, 5, states - 1):
            assert found.seek(asked, budget, None, shortest)[:2] == (False, None)
        assert found.seek(asked, states, None, shortest)[:2] == (True, path)
        assert found.seek(asked, 10**30, None, shortest)[:2] == (True, path)

    def test_shorter_than(self, engine: ModuleType) -> None:
        """Only paths of less octets count."""
        found = languages(engine, "/abc")
        asked = matching(found, "/abc")
        assert found.seek(asked, 100, 5)[:2] == (True, b"/abc")
        for octets in (4, 1, 0):
            assert found.seek(asked, 100, octets)[:2] == (True, None)

    def test_a_rung_of_no_entry(self, engine: ModuleType) -> None:
        """Misuse is an error."""
        with pytest.raises(IndexError):
            languages(engine, "/a").seek([([99], False)], 100)

    def test_many_ways(self, engine: ModuleType) -> None:
        """Of many patterns that would do each is walked alone: sets of them do not multiply."""
        values = [f"/*a{number}*b{number}" for number in range(60)]
        found = languages(engine, *values)
        others = [clause(found, value, True) for value in values[1:]]
        asked = [*matching(found, values[0]), (others, False)]
        decided, path, states, _ = found.seek(asked, 100_000, None, False)
        assert decided
        assert path is not None
        assert states < 100
        decided, path, _, _ = found.seek(asked, 100_000)
        assert decided
        assert len(path) == len("/a0a1b0b1")

    def test_long_patterns(self, engine: ModuleType) -> None:
        """A pattern may fill a file: what is sought is found, or not decided, and soon."""
        found = languages(engine, "/*" + "a" * 20_000 + "b", "/" + "*a" * 20_000)
        forms = [entry[1] for entry in found.entries()]
        for at in range(1, 3):
            decided, path, states, _ = found.seek([([at << 1 | 1], False)], 1_000)
            assert (decided, path, states) == (False, None, 1_000), forms[at][:9]
