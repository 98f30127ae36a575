"""The cached state of an origin, value by value: which fetch decides, its verdicts and JSON."""

from __future__ import annotations

import pytest

from robotrules import Reason
from robotrules.access import ACCESS_PROFILES, AccessState, Failure, Response
from robotrules.cache import (
    EffectivePolicy,
    Freshness,
    FreshnessReason,
    format_timestamp,
    freshness,
)
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.profile import DEFAULT, STRICT
from robotrules.robotstxt import parse
from robotrules.robotstxt.verdict import GroupMatch, Verdict
from tests.client.histories import DAY, SITE, START, History, file, refused, rules

A, ROBOTS = f"{SITE}/a", f"{SITE}/robots.txt"
NAME = DEFAULT.name


def having(
    *answers: Response | Failure, days: float = 0.0, profile: str = "default"
) -> OriginState:
    """Return the cached state after an answer a day, a number of days after the last one."""
    history = History(profile=profile)
    for day, answer in enumerate(answers):
        history.record_fetch(day, answer)
    entry = history._entries[SITE, "ExampleBot"][0]
    now = START + (len(answers) - 1 + days) * DAY
    fresh = freshness(entry, now, ACCESS_PROFILES[profile])
    body = parse(rules("/a"), DEFAULT)
    return make_origin_state(
        entry, fresh, body, profile=DEFAULT, source=StateSource.STORE, store_error="it is down"
    )


class TestVisits:
    """The fetch that decides."""

    def test_a_file(self) -> None:
        """The file that was found."""
        found = having(file("/a"))
        assert found.fetch_record is found.entry.last_success is not None
        assert (found.state, found.policy, found.reason) == (
            *(AccessState.SUCCESS, EffectivePolicy.RULES, "fresh"),
        )

    def test_a_failure_after_a_file(self) -> None:
        """The rules are unknown: the failure decides."""
        found = having(file("/a"), Response(503))
        assert found.fetch_record is found.entry.last_failure is not None
        assert (found.state, found.policy) == (AccessState.UNREACHABLE, EffectivePolicy.DISALLOW)

    def test_a_copy_after_a_failure(self) -> None:
        """Where the profile uses the copy, the fetch that found it decides."""
        found = having(file("/a"), Response(503), profile="stale")
        assert found.fetch_record is found.entry.last_success is not None
        assert (found.state, found.policy) == (AccessState.UNREACHABLE, EffectivePolicy.RULES)

    def test_a_failure_alone(self) -> None:
        """There is no other fetch."""
        found = having(refused())
        assert found.entry.last_success is None
        assert found.fetch_record is found.entry.last_failure is not None

    def test_an_answer_that_disallows(self) -> None:
        """A 403 that counts as Disallow is an answer, and not that there is none."""
        found = having(Response(403))
        careful = found._replace(policy=EffectivePolicy.DISALLOW)
        assert careful.fetch_record is found.entry.last_success
        assert careful.check(A, "ExampleBot").reason is Reason.RESTRICTED
        late = having(Response(403), Response(503))
        assert late._replace(reason=FreshnessReason.FRESH).fetch_record is late.entry.last_success

    def test_what_disallows_without_a_failure(self) -> None:
        """The last answer, even if it is no longer fresh."""
        found = having(Response(403))
        old = found._replace(policy=EffectivePolicy.DISALLOW, reason=FreshnessReason.STALE)
        assert found.entry.last_failure is None
        assert old.fetch_record is found.entry.last_success


class TestStates:
    """What came of asking."""

    def test_after_that_time_the_file_is_treated_as_missing(self) -> None:
        """RFC 9309 §2.3.1.4: after 30 days a client may take it that there is none."""
        found = having(Response(503))
        for because, decides, state in (
            (FreshnessReason.GAVE_UP, EffectivePolicy.ALLOW, AccessState.UNAVAILABLE),
            (FreshnessReason.GAVE_UP, EffectivePolicy.DISALLOW, AccessState.UNREACHABLE),
            (FreshnessReason.UNREACHABLE, EffectivePolicy.ALLOW, AccessState.UNREACHABLE),
            (FreshnessReason.FRESH, EffectivePolicy.ALLOW, AccessState.UNREACHABLE),
        ):
            assert found._replace(reason=because, policy=decides).state is state

    def test_a_fresh_answer(self) -> None:
        """Fresh is what was found."""
        assert having(Response(404)).state is AccessState.UNAVAILABLE
        assert (
            having(Response(404))._replace(reason=FreshnessReason.STALE).state
            is AccessState.UNREACHABLE
        )


class TestVerdicts:
    """The reason is how the file was got, where no rules decide."""

    @pytest.mark.parametrize(
        ("found", "verdict"),
        [
            (having(file("/a")), parse(rules("/a")).check(A, "ExampleBot")),
            (having(Response(404)), Verdict(True, Reason.UNAVAILABLE, None, NAME)),
            (having(Response(503)), Verdict(False, Reason.UNREACHABLE, None, NAME)),
            (having(file("/a"), Response(503)), Verdict(False, Reason.UNREACHABLE, None, NAME)),
            (
                having(Response(403))._replace(policy=EffectivePolicy.DISALLOW, robots=parse(b"")),
                Verdict(False, Reason.RESTRICTED, None, NAME),
            ),
        ],
        ids=["rules", "unavailable", "unreachable", "unreachable-now", "restricted"],
    )
    def test_each_method(self, found: OriginState, verdict: Verdict) -> None:
        """One URL, many, and how it came to that."""
        assert found.check(A, "ExampleBot") == verdict
        assert found.check_many([A, ROBOTS, A], "ExampleBot")[::2] == [verdict, verdict]
        assert found.check_many([A, ROBOTS], "ExampleBot")[1].reason is Reason.IMPLICIT
        explained = found.explain(A, "ExampleBot")
        assert explained.verdict == verdict
        assert explained.access is found
        assert (explained.url, explained.product_token) == (A, "ExampleBot")

    def test_no_lines_where_no_rules_decide(self) -> None:
        """The substitute file has no lines that could be reported."""
        explained = having(Response(503)).explain(A, "ExampleBot", ("P",))
        assert (explained.matched_tokens, explained.matched_purposes) == ((), ())
        assert (explained.groups, explained.matches, explained.notes) == ((), (), ())
        assert (explained.matched_by, explained.purposes) == (GroupMatch.NONE, ("P",))
        ruled = having(file("/a")).explain(A, "ExampleBot")
        assert (ruled.matched_by, len(ruled.groups), len(ruled.matches)) == (GroupMatch.STAR, 1, 1)

    def test_purposes(self) -> None:
        """They are handed on, each way."""
        found = having(file("/a"))
        found = found._replace(robots=parse(b"User-agent-purpose: P\nDisallow: /a\n"))
        for purposes, allowed in ((("P",), False), ((), True)):
            assert found.check(A, "ExampleBot", purposes).allowed is allowed
            assert found.check_many([A], "ExampleBot", purposes)[0].allowed is allowed
            assert found.explain(A, "ExampleBot", purposes).verdict.allowed is allowed


class TestMaking:
    """The file of the cached state gives the reason of its verdict."""

    def test_substitutes(self) -> None:
        """Where no rules decide, a file with the same effect is used in their place."""
        entry = having(file("/a")).entry
        body = parse(rules("/a"), DEFAULT)
        for decides, given, stands in (
            (EffectivePolicy.RULES, body, rules("/a")),
            (EffectivePolicy.ALLOW, body, b""),
            (EffectivePolicy.DISALLOW, body, b"User-agent: *\nDisallow: /\n"),
            (EffectivePolicy.NOTHING, None, b"User-agent: *\nDisallow: /\n"),
        ):
            fresh = Freshness(decides, START + 9, False, False, FreshnessReason.FRESH)
            made = make_origin_state(entry, fresh, given, profile=STRICT, source=StateSource.MEMORY)
            assert made.robots.body == stands
            assert made.robots.profile == (DEFAULT if made.robots is body else STRICT)
            assert (made.origin, made.entry, made.policy) == (SITE, entry, decides)
            assert (made.until, made.reason, made.source) == (
                START + 9,
                "fresh",
                StateSource.MEMORY,
            )
            assert made.store_error is None

    def test_as_dict(self) -> None:
        """Every key."""
        found = having(file("/a"), Response(503))
        assert found.fetch_record is not None
        assert found.as_dict() == {
            "origin": SITE,
            "state": "unreachable",
            "policy": "disallow",
            "reason": "unreachable",
            "until": format_timestamp(START + DAY + 60),
            "source": "store",
            "fetch_record": found.fetch_record.as_dict(),
            "failing_since": format_timestamp(START + DAY),
            "failures": 1,
            "store_error": "it is down",
        }
        found = having(file("/a"))
        assert found.as_dict() | {"fetch_record": None} == {
            "origin": SITE,
            "state": "success",
            "policy": "rules",
            "reason": "fresh",
            "until": format_timestamp(START + DAY),
            "source": "store",
            "fetch_record": None,
            "failing_since": None,
            "failures": 0,
            "store_error": "it is down",
        }
