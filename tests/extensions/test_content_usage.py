"""Content-Usage: the vocabulary (vocab-07), the field and the robots.txt rule (attach-05)."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import DEFAULT, RobotsTxt, Role
from robotrules.extensions.content_usage import (
    CATEGORIES,
    EXTENSION,
    Preference,
    Preferences,
    Statement,
    StatementSource,
    combine_preferences,
    content_usage_field,
    notes,
    preferences,
    preferences_for,
)
from robotrules.robotstxt.values import Note

Read = Callable[..., RobotsTxt]

ALLOWED, DISALLOWED, UNKNOWN = Preference.ALLOWED, Preference.DISALLOWED, Preference.UNKNOWN

# The worked example of attach-05 §3.4: its data without its text.
WORKED = """\
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


def train_ai(robots: RobotsTxt, url: str, token: str = "AnyBot") -> str:
    """Return the preference about AI training, or N/A, as the draft's table has it."""
    found = preferences_for(robots, token).for_url(url)
    return str(found.get("train-ai")) if found.applicable else "N/A"


def codes(robots: RobotsTxt) -> list[tuple[str, str]]:
    """Return the notes of a file: codes, and the octets they point at."""
    return [(one.code, robots.body[one.start : one.end].decode("latin-1")) for one in notes(robots)]


def statement(text: str) -> Statement:
    """Return a statement that came in a field."""
    return content_usage_field(text)


# --- The vocabulary -------------------------------------------------------------------------------


class TestVocabulary:
    """A Dictionary gives each category one of three preferences (vocab §3, §6)."""

    def test_the_labels(self) -> None:
        """The vocabulary has two labels (§6.1)."""
        assert CATEGORIES == ("train-ai", "search")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("train-ai=y", ALLOWED),
            ("train-ai=n", DISALLOWED),
            ("train-ai=Y", UNKNOWN),
            ("train-ai=N", UNKNOWN),
            ('train-ai="n"', UNKNOWN),
            ("train-ai", UNKNOWN),
            ("train-ai=?0", UNKNOWN),
            ("train-ai=yes", UNKNOWN),
            ("train-ai=0", UNKNOWN),
            ("train-ai=(n)", UNKNOWN),
            ("train-ai=:bg==:", UNKNOWN),
            ('train-ai=%"n"', UNKNOWN),
            ("train-ai=@0", UNKNOWN),
            ("", UNKNOWN),
            ("search=n", UNKNOWN),
        ],
    )
    def test_two_tokens(self, text: str, expected: Preference) -> None:
        """The Token y allows, the Token n disallows, all else is unknown and no error (§6.5)."""
        assert statement(text).get("train-ai") is expected
        assert statement(text).error is None

    @pytest.mark.parametrize("label", ["bots", "ai", "genai", "train-genai", "ai-output", "foo"])
    def test_unknown_labels_are_ignored(self, label: str) -> None:
        """An unknown label, older ones included, does not disturb the others (§6.4)."""
        found = statement(f"{label}=n, train-ai=n")
        assert dict(found.values) == {"train-ai": DISALLOWED, "search": UNKNOWN}

    @pytest.mark.parametrize("text", ["train-ai=n;x=1", "train-ai=n;y", "train-ai=n; x=y;z"])
    def test_unknown_parameters_are_ignored(self, text: str) -> None:
        """Parameters have no meaning (§6.4)."""
        assert statement(text).get("train-ai") is DISALLOWED

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("train-ai=n, train-ai=y", ALLOWED),
            ("train-ai=y, train-ai=n", DISALLOWED),
            ("train-ai=y, train-ai", UNKNOWN),
            ("train-ai;allow=n, train-ai=y", ALLOWED),
        ],
    )
    def test_the_last_of_a_key_counts(self, text: str, expected: Preference) -> None:
        """Of a repeated key only the last value counts, with its parameters (§6.5.1)."""
        assert statement(text).get("train-ai") is expected

    @pytest.mark.parametrize(
        "text",
        [
            "Train-AI=n",
            "train-ai=n,",
            "train-ai=n, SEARCH=n",
            'train-ai;has;parameters="?";',  # vocab-07 §6.5.2 thinks otherwise (AMB-110)
            "train-ai = n",
            "train-ai=n search=n",
            "train-ai=",
            "=n",
            "train-ai=n;X",
            "search=\u00e9, train-ai=n",
        ],
    )
    def test_invalid_values_are_unknown(self, text: str) -> None:
        """An invalid Dictionary is unknown as a whole, with a reason (§6.5.1, AMB-67)."""
        found = statement(text)
        assert dict(found.values) == dict.fromkeys(CATEGORIES, UNKNOWN)
        assert found.error

    def test_a_category_that_does_not_exist(self) -> None:
        """A category that the vocabulary lacks is misuse, not an unknown preference."""
        with pytest.raises(
            ValueError, match=r"unknown category 'train_ai': .* has train-ai, search"
        ):
            statement("train-ai=n").get("train_ai")


class TestField:
    """The Content-Usage field: lines are one Dictionary (attach §2, RFC 9651 §4.2)."""

    def test_lines_are_joined(self) -> None:
        """Several lines are one value, in order, str or bytes."""
        found = content_usage_field(["train-ai=n", b"search=y "])
        assert found.values == (("train-ai", DISALLOWED), ("search", ALLOWED))
        assert (found.source, found.text) == (StatementSource.FIELD, "train-ai=n, search=y")
        assert (found.record, found.line, found.path) == (None, None, None)

    def test_a_later_line_replaces_a_key(self) -> None:
        """Lines of one field do not combine as statements do: the last value of a key counts."""
        assert content_usage_field(["train-ai=n", "train-ai=y"]).get("train-ai") is ALLOWED

    def test_one_invalid_line_voids_the_field(self) -> None:
        """No line is kept: an empty line between others is a failure of all (SF-4.2-01)."""
        for lines in (["train-ai=n", ""], ["train-ai=n", "", "search=n"], ["train-ai=n", "X"]):
            found = content_usage_field(lines)
            assert found.error
            assert found.get("train-ai") is UNKNOWN

    def test_no_lines(self) -> None:
        """A field without lines has no preference, and is not a failure."""
        assert content_usage_field([]) == content_usage_field("")._replace(text="")
        assert content_usage_field([]).error is None

    def test_limits(self) -> None:
        """1,024 members are read (RFC 9651 §3.2); more than that is an error."""
        members = [f"k{number}" for number in range(1023)]
        assert content_usage_field([*members, "train-ai=n"]).get("train-ai") is DISALLOWED
        found = content_usage_field([*members, "one-more", "train-ai=n"])
        assert found.get("train-ai") is UNKNOWN
        assert found.error == "more than 1,024 members"

    @pytest.mark.parametrize("lines", [None, 1, [1], {"train-ai": "n"}, [None]])
    def test_misuse(self, lines: object) -> None:
        """What is neither text nor lines of it is the caller's error."""
        with pytest.raises(TypeError, match="'train-ai=n', or a list of its lines"):
            content_usage_field(lines)  # type: ignore[arg-type]

    @given(st.binary(max_size=60) | st.text(max_size=60))
    def test_content_never_raises(self, text: bytes | str) -> None:
        """Any octets are a field: read, or unknown with a reason."""
        found = content_usage_field(text)
        assert [category for category, _ in found.values] == list(CATEGORIES)
        assert found.error is None or set(dict(found.values).values()) == {UNKNOWN}
        json.dumps(found.as_dict())


VALUES = st.sampled_from(["", "train-ai=y", "train-ai=n", "search=y, train-ai=n", "search=n", "X"])


class TestCombining:
    """Several statements combine for each category alone (vocab §5.1)."""

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ("y", "n", DISALLOWED),
            ("n", "y", DISALLOWED),
            ("y", "y", ALLOWED),
            ("y", "x", ALLOWED),
            ("x", "n", DISALLOWED),
            ("x", "x", UNKNOWN),
        ],
    )
    def test_disallow_then_allow_then_unknown(
        self, first: str, second: str, expected: Preference
    ) -> None:
        """Any that disallows decides, else any that allows, else it is unknown."""
        statements = [statement(f"train-ai={first}"), statement(f"train-ai={second}")]
        assert combine_preferences(statements)["train-ai"] is expected

    def test_no_statement(self) -> None:
        """Without a statement all is unknown (§3)."""
        assert combine_preferences([]) == {"train-ai": UNKNOWN, "search": UNKNOWN}

    @given(st.lists(VALUES, max_size=5))
    def test_order_and_repetition_do_not_matter(self, texts: list[str]) -> None:
        """Combining is a union: in any order, with any statement twice, the same."""
        statements = [statement(text) for text in texts]
        combined = combine_preferences(statements)
        assert combine_preferences(reversed(statements)) == combined
        assert combine_preferences(statements + statements[:1]) == combined

    @given(st.lists(VALUES, max_size=4), VALUES)
    def test_one_more_never_loosens_a_disallow(self, texts: list[str], more: str) -> None:
        """What is disallowed stays so whatever else is stated."""
        statements = [statement(text) for text in texts]
        with_more = combine_preferences([*statements, statement(more)])
        for category, value in combine_preferences(statements).items():
            assert value is not DISALLOWED or with_more[category] is DISALLOWED
            assert value is not ALLOWED or with_more[category] is not UNKNOWN


# --- The rule in a robots.txt ---------------------------------------------------------------------


class TestRule:
    """A Content-Usage rule is a path, or none, and a statement (attach §3)."""

    def test_the_worked_example(self, read: Read) -> None:
        """What attach-05 §3.4 gives as its table."""
        robots = read(WORKED)
        assert train_ai(robots, "/test") == "disallowed"
        assert train_ai(robots, "/never/test") == "N/A"
        assert train_ai(robots, "/ai-ok/test") == "allowed"
        assert train_ai(robots, "/test", "ExampleBot") == "allowed"
        assert train_ai(robots, "/never/test", "ExampleBot") == "allowed"

    @pytest.mark.parametrize(
        "line",
        [
            "Content-Usage: train-ai=n",
            " content-usage : train-ai=n # c",
            "\tCONTENT-USAGE\t:\ttrain-ai=n\t",
            "Content-Usage:train-ai=n#search=y",
            "Content-Usage: / train-ai=n",
            "Content-Usage: /a\ttrain-ai=n",
            "Content-Usage: /a \t train-ai=n, search=y",
            "Content-Usage: /%61 train-ai=n",
            "Content-Usage: /*b$ train-ai=n",
        ],
    )
    def test_whitespace_and_comments(self, read: Read, line: str) -> None:
        """Whitespace around name and colon is ignored; the value ends at its line or `#` (§3.2)."""
        for end in ("\n", "\r", "\r\n", ""):
            assert train_ai(read(f"User-agent: *\n{line}{end}"), "/ab") == "disallowed"

    def test_only_a_slash_starts_a_path(self, read: Read) -> None:
        """`*` starts a key, so `*x train-ai=n` is a broken Dictionary without path (AMB-112)."""
        robots = read("User-agent: *\nContent-Usage: *x train-ai=n\nContent-Usage: *x, train-ai=y")
        assert train_ai(robots, "/x") == "allowed"

    def test_a_statement_is_octets(self, read: Read) -> None:
        """An octet outside ASCII fails to parse, in a path it does not (§3.2)."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n;x=é\nContent-Usage: /é train-ai=y")
        assert train_ai(robots, "/a") == "unknown"
        assert train_ai(robots, "/%C3%A9") == "allowed"

    def test_longest_path_in_octets(self, read: Read) -> None:
        """The most octets of the encoded path decide: `/ツ` has ten (§3.1)."""
        robots = read(
            "User-agent: *\nContent-Usage: /ツ train-ai=n\nContent-Usage: /*x* train-ai=y"
        )
        assert train_ai(robots, "/ツx") == "disallowed"
        assert train_ai(robots, "/x") == "allowed"

    def test_identical_paths_combine(self, read: Read) -> None:
        """Statements for the same path all apply, and the stricter counts (§3.1)."""
        robots = read("User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n")
        found = preferences_for(robots, "x").for_url("/a")
        assert found.get("train-ai") is DISALLOWED
        assert [one.line for one in found.statements] == [2, 3]
        assert [one.line for one in found.statements_for("train-ai")] == [3]

    def test_ties_combine(self, read: Read) -> None:
        """Other patterns with as many octets, or another spelling of one, count together."""
        body = (
            "User-agent: *\nContent-Usage: /a* train-ai=y\nContent-Usage: /*b search=n\n"
            "Content-Usage: /%61* train-ai=n\nContent-Usage: train-ai=y, search=y"
        )
        found = preferences_for(read(body), "x").for_url("/ab")
        assert found.values == (("train-ai", DISALLOWED), ("search", DISALLOWED))
        assert [one.line for one in found.statements] == [2, 3, 4]
        assert found == preferences_for(read(body), "x").for_urls(["/ab"])[0]

    def test_no_inheritance(self, read: Read) -> None:
        """A longer path replaces shorter ones, for each category (AMB-113)."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /x/ search=n")
        found = preferences_for(robots, "a").for_url("/x/1")
        assert dict(found.values) == {"train-ai": UNKNOWN, "search": DISALLOWED}

    @pytest.mark.parametrize("broken", ["", "train-ai=n,", "Train-AI=y", "é", "train-ai=", "=y"])
    def test_an_invalid_statement_is_not_a_rule(self, read: Read, broken: str) -> None:
        """A typo does not disable a wider preference (AMB-111)."""
        body = f"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a/ {broken}\nAllow: /"
        robots = read(body)
        assert train_ai(robots, "/a/1") == "disallowed"
        assert len(preferences_for(robots, "x")) == 1
        assert [one.level for one in preferences_for(robots, "x").notes] == ["error"]

    def test_unknown_labels_are_a_rule(self, read: Read) -> None:
        """A statement that parses is a rule, even if the vocabulary has none of its labels."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a/ foo=n")
        assert train_ai(robots, "/a/1") == "unknown"

    def test_disallowed_has_no_preference(self, read: Read) -> None:
        """What may not be crawled has no preference, and what may be by a longer rule has one."""
        body = "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /n/\nAllow: /n/y\nUser-agent: b"
        robots = read(body)
        assert train_ai(robots, "/n/") == "N/A"
        assert train_ai(robots, "/n/y") == "disallowed"
        found = preferences_for(robots, "x").for_url("/n/")
        assert (found.statements, set(dict(found.values).values())) == ((), {UNKNOWN})

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_order_has_no_meaning(self, read: Read, order: tuple[int, ...]) -> None:
        """Rules may be in any order, also among allow and disallow (§3.1)."""
        lines = ["Allow: /", "Disallow: /n/", "Content-Usage: train-ai=n"]
        lines.append("Content-Usage: /ok/ train-ai=y")
        robots = read("\n".join(["User-agent: *", *(lines[at] for at in order)]))
        found = [train_ai(robots, url) for url in ("/", "/n/", "/ok/")]
        assert found == ["disallowed", "N/A", "allowed"]

    def test_group_choice(self, read: Read) -> None:
        """A crawler with a separate group does not use the preferences of the star (§3.1)."""
        robots = read("User-agent: a\nAllow: /\nUser-agent: *\nContent-Usage: train-ai=n")
        assert train_ai(robots, "/", "a") == "unknown"
        assert train_ai(robots, "/", "b") == "disallowed"

    def test_groups_are_merged(self, read: Read) -> None:
        """Groups for the same crawler are one group here too."""
        body = "User-agent: a\nContent-Usage: train-ai=n\nAllow: /\nUser-agent: b\nAllow: /\n"
        robots = read(body + "User-agent: A\nContent-Usage: search=n")
        found = preferences_for(robots, "a").for_url("/")
        assert dict(found.values) == {"train-ai": DISALLOWED, "search": DISALLOWED}

    def test_purposes_choose_groups(self, read: Read) -> None:
        """A group chosen by purpose has its preferences."""
        body = "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nContent-Usage: train-ai=n\nDisallow: /n"
        robots = read(body)
        made = preferences_for(robots, "a", ["example-purpose-1"])
        assert made.for_url("/").get("train-ai") is DISALLOWED
        assert not made.for_url("/n").applicable
        assert train_ai(robots, "/n", "a") == "unknown"

    def test_it_uses_the_groups_of_its_document(self, read: Read) -> None:
        """A user-agent line after it opens a group for it, but not for verdicts (AMB-29)."""
        body = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /p"
        robots = read(body)
        assert not robots.check("/p", "a")
        assert not robots.check("/p", "b")
        assert train_ai(robots, "/", "a") == "disallowed"
        assert train_ai(robots, "/", "b") == "unknown"
        assert not preferences_for(robots, "a").for_url("/p").applicable
        # A profile may make it a rule for verdicts too.
        closing = DEFAULT.with_extensions(EXTENSION._replace(role=Role.RULE))
        robots = read(body, closing)
        assert robots.check("/p", "a")
        assert train_ai(robots, "/", "b") == "unknown"

    def test_no_inheritance_between_its_groups(self, read: Read) -> None:
        """A statement for the names before does not affect those after (AMB-29, AMB-113)."""
        body = "User-agent: a\nContent-Usage: train-ai=n\n{}Content-Usage: /n search=y\n"
        codes = [
            [found.code for found in notes(read(body.format(between)))]
            for between in ("User-agent: b\n", "")
        ]
        assert codes == [[], ["not-inherited"]]

    def test_no_effect_on_verdicts(self, read: Read) -> None:
        """A preference does not affect crawling."""
        robots = read(WORKED)
        without = read("\n".join(line for line in WORKED.split("\n") if "Usage" not in line))
        for url in ("/", "/never/", "/ai-ok/"):
            assert robots.check(url, "a").allowed == without.check(url, "a").allowed

    def test_past_the_parsing_limit(self, read: Read) -> None:
        """The limit of 500 KiB is not raised (attach §4)."""
        body = b"User-agent: *\nContent-Usage: train-ai=n\n" + b"#" * 512_000
        robots = read(body + b"\nContent-Usage: /a train-ai=y")
        assert train_ai(robots, "/a") == "disallowed"

    def test_later_edits_do_not_act_backwards(self, read: Read) -> None:
        """What was found at the fetch is a value; another file is another answer (attach §3.3)."""
        before = preferences_for(read("User-agent: *\nContent-Usage: train-ai=y"), "a").for_url("/")
        kept = pickle.loads(pickle.dumps(before))
        after = preferences_for(read("User-agent: *\nContent-Usage: train-ai=n"), "a").for_url("/")
        assert (kept, kept.get("train-ai")) == (before, ALLOWED)
        assert after.get("train-ai") is DISALLOWED


# --- All together ---------------------------------------------------------------------------------


class TestTogether:
    """robots.txt, field and agreement, each with its source."""

    def test_field_and_robots(self, read: Read) -> None:
        """They combine, and the stricter counts whichever it is (AMB-114)."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n, search=y")
        found = preferences("/", "a", robots=robots, field=["train-ai=y", "search=n"])
        assert dict(found.values) == {"train-ai": DISALLOWED, "search": DISALLOWED}
        assert [one.source for one in found.statements] == ["robots.txt", "field"]
        assert [one.line for one in found.statements_for("train-ai")] == [2]
        assert [one.source for one in found.statements_for("search")] == [StatementSource.FIELD]

    def test_field_alone(self) -> None:
        """Without a robots.txt only the field counts."""
        found = preferences("https://e.example/", "a", field="train-ai=n")
        assert dict(found.values) == {"train-ai": DISALLOWED, "search": UNKNOWN}
        assert preferences("/", "a").statements == ()

    def test_an_invalid_field_has_no_effect(self, read: Read) -> None:
        """An invalid field affects only itself; it is still reported."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n")
        found = preferences("/", "a", robots=robots, field="train-ai=y,")
        assert found.get("train-ai") is DISALLOWED
        assert "trailing comma" in (found.statements[1].error or "")

    def test_a_field_of_a_disallowed_url(self, read: Read) -> None:
        """The robots.txt does not apply there; a field that came with content still does."""
        robots = read("User-agent: *\nContent-Usage: train-ai=y\nDisallow: /")
        found = preferences("/", "a", robots=robots, field="train-ai=n")
        assert (found.applicable, found.get("train-ai")) == (False, DISALLOWED)

    def test_an_agreement_overrides(self, read: Read) -> None:
        """An agreement decides where it has a value, and is recorded (vocab §5.2)."""
        robots = read("User-agent: *\nContent-Usage: train-ai=n, search=n")
        found = preferences("/", "a", robots=robots, agreement={"train-ai": "allowed"})
        assert dict(found.values) == {"train-ai": ALLOWED, "search": DISALLOWED}
        assert [one.source for one in found.statements_for("train-ai")] == [
            StatementSource.AGREEMENT
        ]
        assert [one.line for one in found.statements_for("search")] == [2]
        assert found.statements[0].get("train-ai") is DISALLOWED
        nothing = preferences("/", "a", robots=robots, agreement={"train-ai": UNKNOWN})
        assert nothing.get("train-ai") is DISALLOWED

    def test_decide(self) -> None:
        """No default is prescribed; the caller may have one for what is unknown (vocab §5)."""
        found = preferences("/", "a", field="train-ai=n")
        assert found.decide("search") is UNKNOWN
        assert found.decide("search", ALLOWED) is ALLOWED
        assert found.decide("search", default=DISALLOWED) is DISALLOWED
        assert found.decide("train-ai", ALLOWED) is DISALLOWED

    def test_as_dict(self, read: Read) -> None:
        """It is plain values, with what decided by position."""
        robots = read("User-agent: *\nContent-Usage: /a train-ai=n;x")
        found = preferences("/a", "a", robots=robots, field="train-ai=n")
        answer = json.loads(json.dumps(found.as_dict()))
        assert answer["preferences"] == {"train-ai": "disallowed", "search": "unknown"}
        assert answer["decided_by"] == {"train-ai": [0, 1], "search": []}
        assert answer["statements"][0] == {
            "source": "robots.txt",
            "line": 2,
            "path": "/a",
            "text": "train-ai=n;x",
            "preferences": {"train-ai": "disallowed", "search": "unknown"},
            "error": None,
        }
        assert (answer["applicable"], answer["notes"]) == (True, [])

    def test_misuse(self, read: Read) -> None:
        """Wrong arguments raise an error with a fix."""
        robots = read("")
        found = preferences("/", "a")
        with pytest.raises(TypeError, match=r"pass robotrules.parse\(body\)"):
            preferences("/", "a", robots="User-agent: *")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="train-ai is 'y': use one of 'allowed'"):
            preferences("/", "a", agreement={"train-ai": "y"})
        with pytest.raises(ValueError, match="unknown category 'ai'"):
            preferences("/", "a", agreement={"ai": "allowed"})
        with pytest.raises(TypeError, match="an agreement must map categories"):
            preferences("/", "a", agreement="train-ai=y")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="default is 'no'"):
            found.decide("search", "no")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"pass \[url\]"):
            preferences_for(robots, "a").for_urls("/a")
        with pytest.raises(robotrules.ProductTokenError):
            preferences_for(robots, "")


class TestMany:
    """A batch of URLs gives the same as single calls."""

    def test_answers_are_shared(self, read: Read) -> None:
        """URLs with the same statements have one answer object."""
        made = preferences_for(read(WORKED), "a")
        found = made.for_urls(["/1", "/2", "/ai-ok/1", "/never/1", "/never/2"])
        assert found[0] is found[1]
        assert found[3] is found[4]
        assert [one.applicable for one in found] == [True, True, True, False, False]
        assert made.for_urls([]) == []
        assert made.for_urls(url for url in ("/1",)) == [found[0]]

    @given(
        st.lists(
            st.sampled_from(
                [
                    "Content-Usage: train-ai=n",
                    "Content-Usage: / search=y",
                    "Content-Usage: /a* train-ai=y",
                    "Content-Usage: /*b search=n",
                    "Content-Usage: /ab train-ai=n, search=y",
                    "Content-Usage: /a$ train-ai=",
                    "Disallow: /b",
                    "Allow: /bb",
                    "Disallow: /*c",
                ]
            ),
            max_size=7,
        ),
        st.lists(st.text("abc/", max_size=4).map(lambda path: f"/{path}"), max_size=6),
    )
    def test_many_is_one_by_one(self, read: Read, lines: list[str], urls: list[str]) -> None:
        """`at_many` answers as `at` does, on /robots.txt too, with rules in any order."""
        robots = read("\n".join(["User-agent: *", *lines]))
        backwards = read("\n".join(["User-agent: *", *reversed(lines)]))
        made, other = preferences_for(robots, "x"), preferences_for(backwards, "x")
        urls = [*urls, "/robots.txt"]
        found = made.for_urls(urls)
        assert found == [made.for_url(url) for url in urls]
        for one, url in zip(found, urls, strict=True):
            same = other.for_url(url)
            assert (one.applicable, one.values) == (same.applicable, same.values)
            assert one.applicable == robots.check(url, "x").allowed

    def test_it_is_a_value(self, read: Read) -> None:
        """A set can be pickled, has a length and a repr."""
        made = preferences_for(read(WORKED), "a")
        again = pickle.loads(pickle.dumps(made))
        assert again.for_url("/ai-ok/") == made.for_url("/ai-ok/")
        assert (len(made), bool(preferences_for(read(""), "a"))) == (2, True)
        assert repr(made) == "<PreferenceSet: 2 rules>"


# --- Notes ----------------------------------------------------------------------------------------


class TestNotes:
    """Odd Content-Usage records have a note with a span, and never raise."""

    @pytest.mark.parametrize(
        ("value", "code", "marked"),
        [
            ("train-ai=n,", "bad-structure", "train-ai=n,"),
            ("/a Train-AI=n", "bad-structure", "Train-AI=n"),
            ("train-ai=n/x search=Y z", "bad-structure", "train-ai=n/x search=Y z"),
            ("", "empty-statement", ""),
            ("/a", "empty-statement", "/a"),
            ("*.pdf$ train-ai=n", "unusable-path", "*.pdf$"),
            ("https://e.example/a train-ai=n", "unusable-path", "https://e.example/a"),
            ("/\x01 train-ai=n", "unusable-path", "/\x01"),
            ("ai=n, train-ai=n", "unknown-label", "ai"),
            ("/a x=1, train-ai=y, search=n", "unknown-label", "x"),
            ("train-ai=no", "unknown-value", "train-ai"),
            ('/a search=n,  search="n", train-ai=n', "unknown-value", "search"),
        ],
    )
    def test_codes(self, read: Read, value: str, code: str, marked: str) -> None:
        """Each is one note, which points at what it is about."""
        robots = read(f"User-agent: *\nContent-Usage: {value}\n")
        assert codes(robots) == [(code, marked)]
        assert preferences_for(robots, "a").notes == tuple(notes(robots))
        assert preferences_for(robots, "a").for_url("/").notes == tuple(notes(robots))

    def test_outside_of_groups(self, read: Read) -> None:
        """Before the first user-agent line a record applies to no crawler (AMB-31)."""
        robots = read("Content-Usage: train-ai=n\nUser-agent: *\nAllow: /")
        assert codes(robots) == [("record-outside-group", "train-ai=n")]
        assert train_ai(robots, "/") == "unknown"
        assert preferences_for(robots, "a").notes == ()

    def test_not_inherited(self, read: Read) -> None:
        """A path that hides what the rest of its group states is worth a warning (AMB-113)."""
        every = "User-agent: *\nContent-Usage: train-ai=n\n"
        assert codes(read(every + "Content-Usage: /x/ search=n")) == [
            ("not-inherited", "/x/ search=n")
        ]
        both = "Content-Usage: /x/ search=n\nContent-Usage: /x/ train-ai=y"
        assert codes(read(every + both)) == []
        assert codes(read(every + "Allow: /\nUser-agent: b\nContent-Usage: /x/ search=n")) == []

    def test_too_large(self, read: Read) -> None:
        """More members than are read make a record no rule."""
        members = ",".join(f"k{number}" for number in range(1025))
        robots = read(f"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a {members}")
        assert [code for code, _ in codes(robots)] == ["too-large"]
        assert train_ai(robots, "/a") == "disallowed"

    def test_good_lines_beside_bad_ones(self, read: Read) -> None:
        """A bad record never hides a good one."""
        robots = read("User-agent: *\nContent-Usage: =\nContent-Usage: train-ai=n\nContent-Usage:")
        assert train_ai(robots, "/") == "disallowed"
        assert codes(robots) == [("bad-structure", "="), ("empty-statement", "")]

    def test_a_clean_file(self, read: Read) -> None:
        """A clean file has no notes."""
        assert list(notes(read(WORKED))) == []

    @given(st.binary(max_size=40))
    def test_any_octets(self, read: Read, value: bytes) -> None:
        """Any octets are a value: notes lie within the file, and every question has an answer."""
        robots = read(b"User-agent: *\nContent-Usage: " + value)
        for one in notes(robots):
            assert isinstance(one, Note)
            assert 0 <= one.start <= one.end <= len(robots.body)
            assert one.message
        found = preferences_for(robots, "a").for_url("/")
        assert isinstance(found, Preferences)
        json.dumps(found.as_dict())

    def test_a_hostile_line(self, read: Read) -> None:
        """A line as long as a file, of many odd labels, costs no more than reading it twice."""
        line = ", ".join(f"k{number}=1;{'p' * 300}" for number in range(1000))
        robots = read(f"User-agent: *\nContent-Usage: {line}")
        assert len(list(notes(robots))) == 1000


@pytest.mark.parametrize("statement", ['foo=n;x="a, foo"', 'foo=n;x="a\\", foo"'])
def test_a_label_inside_a_string(read: Read, statement: str) -> None:
    """A note points at the label, also if its letters occur elsewhere."""
    robots = read(f"User-agent: *\nContent-Usage: {statement}")
    (found,) = notes(robots)
    assert (found.code, robots.body[found.start : found.end]) == ("unknown-label", b"foo")
    assert found.start == robots.body.index(b"foo")
