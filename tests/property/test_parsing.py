"""Parsing accepts any octets and loses none: lines re-join, spans fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from fuzz.generator import Case
from fuzz.targets.pickles import check as check_pickles
from fuzz.targets.spans import check_spans
from fuzz.targets.total import check_lines_rejoin
from hypothesis import given
from hypothesis import strategies as st

from robotrules import Profile, RobotsTxt
from tests.property.strategies import bodies, cases, good_tokens, profiles, urls

Read = Callable[..., RobotsTxt]
octets = bodies | st.binary(max_size=200)


class TestParsing:
    """Every byte string is a robots.txt: crawlers MUST try to parse each line (§2.3.1.5)."""

    @given(body=octets, profile=profiles(), complete=st.booleans())
    def test_lines_rejoin(self, read: Read, body: bytes, profile: Profile, complete: bool) -> None:
        """The lines and their terminators are the body, octet for octet."""
        robots = read(body, profile, complete=complete)
        check_lines_rejoin(robots)
        if not body.startswith((b"\xff\xfe", b"\xfe\xff")):
            assert robots.body == body

    @given(body=octets, profile=profiles(), complete=st.booleans())
    def test_spans_fit(self, read: Read, body: bytes, profile: Profile, complete: bool) -> None:
        """Spans lie in the body, in their line and in order; columns count from the line."""
        check_spans(read(body, profile, complete=complete))

    @given(body=octets, profile=profiles(), token=good_tokens, url=urls() | st.binary())
    def test_every_check_has_a_verdict(
        self, read: Read, body: bytes, profile: Profile, token: str, url: bytes
    ) -> None:
        """Any file and any URL have a verdict and an explanation in JSON."""
        robots = read(body, profile)
        verdict = robots.check(url, token)
        explanation = robots.explain(url, token)
        assert explanation.verdict == verdict
        assert (explanation.winner is None) == (verdict.rule is None)
        assert json.loads(json.dumps(explanation.as_dict())) == explanation.as_dict()
        values: list[Any] = [*robots.notes, *robots.records, *robots.groups, *robots.lines, verdict]
        for value in values:
            json.dumps(value.as_dict()).encode("ascii")

    @given(case=cases(), profile=profiles())
    def test_explanations_agree_with_verdicts(
        self, read: Read, case: Case, profile: Profile
    ) -> None:
        """The winner is the verdict's rule; every match occurs once; losers are not better."""
        profile = profile.replace(any_product_token=True, leading_name=True)
        explanation = read(case.body, profile).explain(case.url, case.token)
        wins = [match for match in explanation.matches if match.outcome == "wins"]
        assert len(wins) == (explanation.verdict.rule is not None)
        if wins:
            assert explanation.matches[0] == wins[0]
            assert wins[0].rule == explanation.verdict.rule
        assert len({match.rule for match in explanation.matches}) == len(explanation.matches)

    @given(case=cases())
    def test_pickling(self, case: Case) -> None:
        """An unpickled file has the same lines, records, groups and verdicts."""
        check_pickles(case)

    @given(text=st.text(st.characters(codec=None), max_size=60), profile=profiles())
    def test_any_text(self, read: Read, text: str, profile: Profile) -> None:
        """Any str is a file, a URL and a product token, lone surrogates included."""
        robots = read(text, profile.replace(any_product_token=True, leading_name=True))
        check_lines_rejoin(robots)
        robots.rules_for("a").check(text)
        # A URL as a product token is refused in every profile (AMB-22).
        if not re.match(r"/|[A-Za-z][-+.A-Za-z0-9]*://", text):
            robots.check(text, text)
