"""Content-Signal: read leniently, and never taken for Content-Usage unasked (AMB-116)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import RobotsTxt
from robotrules.extensions.content_signal import (
    ContentSignals,
    content_signals,
    notes,
    to_content_usage,
)
from robotrules.extensions.content_usage import Preference, content_usage_field, preferences_for

Read = Callable[..., RobotsTxt]


def values(robots: RobotsTxt, url: str = "/", token: str = "AnyBot") -> dict[str, str]:
    """Return every key with its value."""
    return content_signals(robots, url, token).values()


def codes(robots: RobotsTxt) -> list[tuple[str, str]]:
    """Return the notes of a file: codes, and the octets they point at."""
    return [(one.code, robots.body[one.start : one.end].decode("latin-1")) for one in notes(robots)]


class TestReading:
    """A comma list of key=value pairs in a group (REC-content-signal-01, -02)."""

    @pytest.mark.parametrize(
        "line",
        [
            "Content-Signal: search=yes, ai-input=no, ai-train=no",
            "content-signal: search=yes,ai-input=no,ai-train=no",
            " CONTENT-SIGNAL : SEARCH=Yes ,Ai-Input=NO, ai-train = no  # why",
            "Content-signal: ,search=yes,, ,\tai-input=no, ai-train=no,",
        ],
    )
    def test_how_it_may_be_written(self, read: Read, line: str) -> None:
        """Case and whitespace do not matter, nor does a comma too many."""
        robots = read(f"User-agent: *\n{line}\nAllow: /")
        assert values(robots) == {"search": "yes", "ai-input": "no", "ai-train": "no"}
        assert codes(robots) == []

    def test_what_is_missing_is_not_signalled(self, read: Read) -> None:
        """A signal that is not there neither grants nor restricts."""
        found = content_signals(read("User-agent: *\nContent-signal: ai-train=no"), "/", "a")
        assert (found.get("ai-train"), found.get("AI-Train"), found.get("search")) == (
            "no",
            "no",
            None,
        )

    def test_path_and_unknown_keys(self, read: Read) -> None:
        """A path may be first; unknown keys are kept, without a note."""
        robots = read("User-agent: *\nContent-Signal: /blog/ ai-train=no, use=Reference")
        assert values(robots, "/blog/1") == {"ai-train": "no", "use": "reference"}
        assert values(robots, "/") == {}
        assert content_signals(robots, "/blog/1", "a").signals[0].path == "/blog/"
        assert codes(robots) == []

    def test_the_longest_path_counts(self, read: Read) -> None:
        """Records with a path count before those without, the longest first."""
        body = "User-agent: *\nContent-Signal: search=yes, ai-train=no\n"
        robots = read(body + "Content-Signal: /a search=no\nContent-Signal: /ab ai-train=yes")
        assert values(robots, "/") == {"search": "yes", "ai-train": "no"}
        assert values(robots, "/a") == {"search": "no"}
        assert values(robots, "/abc") == {"ai-train": "yes"}

    def test_groups(self, read: Read) -> None:
        """Its group is the one whose rules a crawler obeys, by name, purpose or star."""
        body = "User-agent: a\nContent-Signal: search=no\nAllow: /\nUser-agent: *\n"
        body += "Content-Signal: search=yes\nAllow: /\nUser-agent-purpose: P\n"
        robots = read(body + "Content-Signal: ai-train=no")
        assert values(robots, token="A") == {"search": "no"}
        assert values(robots, token="b") == {"search": "yes"}
        assert content_signals(robots, "/", "b", ["p"]).values() == {"ai-train": "no"}

    @pytest.mark.parametrize(
        ("written", "counts"),
        [
            ("yes, ai-train=no", "no"),
            ("no, ai-train=yes", "no"),
            ("yes, ai-train=maybe", "yes"),
            ("maybe, ai-train=yes", "yes"),
            ("maybe, ai-train=perhaps", "perhaps"),
        ],
    )
    def test_several_values(self, read: Read, written: str, counts: str) -> None:
        """`no` counts before `yes`, both before others; in one record or in several."""
        one = read(f"User-agent: *\nContent-Signal: ai-train={written}")
        line = f"ai-train={written}".replace(", ", "\nContent-Signal: ")
        several = read(f"User-agent: *\nContent-Signal: {line}")
        assert values(one) == values(several) == {"ai-train": counts}

    def test_no_effect_on_verdicts(self, read: Read) -> None:
        """A signal does not change verdicts or preferences."""
        robots = read("User-agent: *\nContent-Signal: ai-train=no, search=no\nAllow: /")
        assert robots.check("/", "a")
        found = preferences_for(robots, "a").for_url("/")
        assert {value for _, value in found.values} == {Preference.UNKNOWN}

    def test_as_dict(self, read: Read) -> None:
        """It is plain values."""
        robots = read("User-agent: *\nContent-Signal: /a ai-train=no, x")
        answer = json.loads(json.dumps(content_signals(robots, "/a", "b").as_dict()))
        assert answer["values"] == {"ai-train": "no"}
        assert answer["signals"] == [{"key": "ai-train", "value": "no", "line": 2, "path": "/a"}]
        assert [one["code"] for one in answer["notes"]] == ["bad-signal"]

    def test_misuse(self) -> None:
        """An argument that is not a RobotsTxt raises an error."""
        with pytest.raises(TypeError, match=r"pass robotrules.parse\(body\)"):
            content_signals("User-agent: *", "/", "a")  # type: ignore[arg-type]


class TestMapping:
    """On request signals become a Content-Usage statement (REC-content-signal-03)."""

    @pytest.mark.parametrize(
        ("signals", "statement"),
        [
            ({"ai-train": "no"}, "train-ai=n"),
            ({"ai-train": "yes"}, "train-ai=y"),
            ({"search": "yes", "AI-Train": "NO"}, "train-ai=n, search=y"),
            ({"ai-input": "no"}, ""),
            ({"use": "reference", "train-ai": "no"}, ""),
            ({"ai-train": "n", "search": "maybe"}, ""),
            ({}, ""),
        ],
    )
    def test_counterparts(self, signals: dict[str, str], statement: str) -> None:
        """ai-train and search have one, ai-input has none; yes and no alone are translated."""
        assert to_content_usage(signals) == statement
        assert content_usage_field(statement).error is None

    def test_of_a_file(self, read: Read) -> None:
        """What was read maps as it is."""
        robots = read("User-agent: *\nContent-Signal: search=yes,ai-train=no,use=reference")
        assert to_content_usage(content_signals(robots, "/", "a")) == "train-ai=n, search=y"

    def test_misuse(self) -> None:
        """Text is not signals."""
        with pytest.raises(TypeError, match=r"a dict such as \{'ai-train': 'no'\}"):
            to_content_usage("ai-train=no")  # type: ignore[arg-type]


class TestNotes:
    """An unusable value has a note with a span, and does not hide others."""

    @pytest.mark.parametrize(
        ("value", "code", "marked"),
        [
            ("ai-train", "bad-signal", "ai-train"),
            ("search=yes,  ai-train: no ", "bad-signal", "ai-train: no"),
            ("=no, search=yes", "bad-signal", "=no"),
            ("/a search=, ai-train=no", "bad-signal", "search="),
            ("search=yes, ai-train=maybe", "odd-signal", "ai-train=maybe"),
            ("", "empty-statement", ""),
            ("/a", "empty-statement", "/a"),
            ("/\x01 search=yes", "unusable-path", "/\x01"),
        ],
    )
    def test_codes(self, read: Read, value: str, code: str, marked: str) -> None:
        """Each is one note, which points at what it is about."""
        robots = read(f"User-agent: *\nContent-Signal: {value}\n")
        assert codes(robots) == [(code, marked)]
        assert content_signals(robots, "/", "a").notes == tuple(notes(robots))

    def test_outside_of_groups(self, read: Read) -> None:
        """Before the first user-agent line a record applies to no crawler."""
        robots = read("Content-Signal: ai-train=no\nUser-agent: *\nAllow: /")
        assert codes(robots) == [("record-outside-group", "ai-train=no")]
        assert values(robots) == {}

    def test_good_ones_beside_bad_ones(self, read: Read) -> None:
        """A bad part costs itself; a record without a good part hides no wider one."""
        robots = read("User-agent: *\nContent-Signal: x, ai-train=no\nContent-Signal: /a search")
        assert values(robots, "/a") == {"ai-train": "no"}

    @given(st.binary(max_size=40))
    def test_any_octets(self, read: Read, value: bytes) -> None:
        """Any octets are a value: notes lie within the file, and the mapping always parses."""
        robots = read(b"User-agent: *\nContent-Signal: " + value)
        for one in notes(robots):
            assert 0 <= one.start <= one.end <= len(robots.body)
            assert one.message
        found = content_signals(robots, "/", "a")
        assert isinstance(found, ContentSignals)
        json.dumps(found.as_dict())
        assert content_usage_field(to_content_usage(found)).error is None
