"""
The laws of tag rules: carriers never raise, never contradict each other, and only ever add.

Fields and pages are drawn so that most are broken in some way and many are almost right. What a
law says of one carrier it says of all.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotrules.tags import DEFAULT, GOOGLE, STRICT, TAG_PROFILES, TagProfile, Value, usage_rules
from robotrules.tags.known import KNOWN, Kind, stricter
from robotrules.write import meta_elements, robots_tag, robots_tag_fields

# The rules that lift others by design: Google's for embedded pages (XRT-14).
LOOSENS = "indexifembedded"
TOKENS = ("ExampleBot", "OtherBot", "*", "a", "_b-", "MJ12bot", "googlebot")
# Profiles whose departures can only add; the others say in their switches what they take away.
ADDING = (DEFAULT, STRICT, DEFAULT.replace(scope_both=True), TAG_PROFILES["apple"], GOOGLE)

names = st.sampled_from([*KNOWN, "none", "shiny", "NoIndex", "x"])
values = st.sampled_from(
    [
        *("", ":20", ": 0", ":-1", ":large", ":none", ":x", "=20", "=?0", "=@1", ':"a, b"'),
        *(";noindex", ": Wed, 03 Dec 2025 13:09:53 GMT", ": 2020-09-21"),
    ]
)
words = st.builds(str.__add__, names, values)
scopes = st.sampled_from(
    ["", "ExampleBot: ", "otherbot:", "*;", "ExampleBot;", "a ", '"_b-";', "(a b);"]
)
joints = st.sampled_from([", ", ",", ";", " ", ", ,", "\t,", '"', "("])
pieces = st.builds("{}{}{}".format, scopes, words, joints)
texts = st.lists(pieces, max_size=5).map("".join) | st.text(max_size=12)
lines = texts.map(
    lambda text: text.encode("latin-1", "replace").replace(b"\n", b"").replace(b"\r", b"")
)
fields = st.tuples(st.sampled_from(["Robots-Tag", "X-Robots-Tag", "x-robots-tag"]), lines)
metas = st.builds(
    '<meta name="{}" content="{}">'.format,
    st.sampled_from(["robots", "ROBOTS", "ExampleBot", "otherbot", "robot", "description"]),
    texts.map(lambda text: text.replace('"', "&quot;")),
)
tags = st.sampled_from(
    ["<title>", "</title>", "<p>", "</head>", "<noscript>", "</noscript>", "<!--", "<svg>"]
)
pages = st.lists(metas | tags | st.text(max_size=5), max_size=6).map("".join)


def restrictions(rules: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in rules.items() if name != LOOSENS}


def at_least(more: dict[str, Value], less: dict[str, Value]) -> bool:
    """Tell whether nothing of *less* is missing or weaker in *more*."""
    return all(
        name in more and stricter(more[name], value) == more[name] for name, value in less.items()
    )


class TestUnion:
    """MUST apply the union of all restrictive rules (§3.1.1, §3.1.2, §4): RTG-3.1.1-06 to -10."""

    @given(
        st.lists(fields, max_size=4),
        fields,
        st.integers(0, 4),
        st.sampled_from(ADDING),
        st.sampled_from(TOKENS),
    )
    # Each of these once lost a rule.
    @example([("Robots-Tag", b"a;noindex")], ("Robots-Tag", b"bad one"), 0, DEFAULT, "a")
    @example([("Robots-Tag", b"a: noindex")], ("Robots-Tag", b"*;nosnippet"), 1, DEFAULT, "a")
    @example([("Robots-Tag", b'noindex:20"')], ("Robots-Tag", b'"_b-";noindex, '), 1, DEFAULT, "a")
    @example(
        [("Robots-Tag", b'a;x="'), ("Robots-Tag", b"*;noindex")],
        ("Robots-Tag", b"b;y, " * 7000),
        2,
        DEFAULT,
        "a",
    )
    @example(
        [("Robots-Tag", b'"'), ("Robots-Tag", b"*;noindex")], ("Robots-Tag", b'"'), 2, DEFAULT, "a"
    )
    @settings(max_examples=500, deadline=None)
    def test_a_field_line_more_is_no_restriction_less(
        self,
        before: list[tuple[str, bytes]],
        one: tuple[str, bytes],
        at: int,
        profile: TagProfile,
        token: str,
    ) -> None:
        """
        Wherever a line is added, what held without it holds.

        In profile strict one broken line voids its whole field (RFC 9651 §4.2): there the law is
        for lines of different names.
        """
        if profile.salvage is False:
            before = [(name, line) for name, line in before if name.lower() != one[0].lower()]
        after = [*before[:at], one, *before[at:]]
        less = usage_rules(headers=before, product_token=token, profile=profile).rules
        more = usage_rules(headers=after, product_token=token, profile=profile).rules
        assert at_least(restrictions(more), restrictions(less))

    @given(
        st.lists(fields, max_size=2), pages, pages, st.sampled_from(ADDING), st.sampled_from(TOKENS)
    )
    def test_a_carrier_more_is_no_restriction_less(
        self, headers: list[tuple[str, bytes]], html: str, dom: str, profile: TagProfile, token: str
    ) -> None:
        """All carriers together say what each of them says alone, and nothing else."""
        together = usage_rules(
            headers=headers, html=html, dom=dom, product_token=token, profile=profile
        )
        alone = [
            usage_rules(headers=headers, product_token=token, profile=profile),
            usage_rules(html=html, product_token=token, profile=profile),
            usage_rules(dom=dom, product_token=token, profile=profile),
        ]
        for one in alone:
            assert at_least(restrictions(together.rules), restrictions(one.rules))
        named = {name for one in alone for name in one.rules}
        assert set(restrictions(together.rules)) <= named

    @given(st.lists(fields, max_size=3), pages, st.sampled_from(TOKENS))
    def test_everyone_is_part_of_each(
        self, headers: list[tuple[str, bytes]], html: str, token: str
    ) -> None:
        """What holds for everyone holds for each crawler, named or not (RTG-3.1.1-10)."""
        everyone = usage_rules(headers=headers, html=html)
        one = usage_rules(headers=headers, html=html, product_token=token)
        assert at_least(restrictions(one.rules), restrictions(everyone.rules))

    @given(st.lists(fields, max_size=3), pages, st.sampled_from(TOKENS))
    def test_tolerance_only_adds(
        self, headers: list[tuple[str, bytes]], html: str, token: str
    ) -> None:
        """What profile strict finds, profile default finds too (AMB-66 to AMB-72)."""
        strict = usage_rules(headers=headers, html=html, product_token=token, profile="strict")
        default = usage_rules(headers=headers, html=html, product_token=token)
        assert at_least(restrictions(default.rules), restrictions(strict.rules))


class TestTotal:
    """Content never raises, and every answer can be explained and written as JSON."""

    @given(
        st.lists(
            st.tuples(st.sampled_from(["Robots-Tag", "X-Robots-Tag"]), st.binary(max_size=40))
        ),
        st.binary(max_size=80) | pages,
        st.sampled_from(list(TAG_PROFILES)),
    )
    def test_any_octets(
        self, headers: list[tuple[str, bytes]], html: bytes | str, profile: str
    ) -> None:
        found = usage_rules(headers=headers, html=html, product_token="a", profile=profile)
        json.dumps(found.as_dict())
        for name, value in found.values:
            assert found.because(name)
            assert value is not None
        for one in found.mentions:
            assert 0 <= one.start <= one.end


rules = st.dictionaries(
    st.sampled_from([one.name for one in KNOWN.values() if one.kind is not Kind.PERMITS]),
    st.none(),
    max_size=4,
)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC, microsecond=0)
)


@st.composite
def said(draw: st.DrawFn) -> dict[str, dict[str, Value]]:
    """Draw what a site may want to say."""
    everyone: dict[str, dict[str, Value]] = {}
    for token in draw(st.lists(st.sampled_from(TOKENS), max_size=3, unique=True)):
        everyone[token] = {}
        for name in draw(rules):
            kind = KNOWN[name].kind
            everyone[token][name] = (
                draw(st.integers(1, 10**9))
                if kind is Kind.NUMBER
                else draw(st.sampled_from(["none", "standard", "large"]))
                if kind is Kind.PREVIEW
                else draw(moments)
                if kind is Kind.DATE
                else True
            )
    return everyone


class TestRoundTrip:
    """What is written is read back as it was meant, from each carrier and in each grammar."""

    @given(said(), st.sampled_from(TOKENS))
    def test_every_carrier_says_the_same(
        self, wanted: dict[str, dict[str, Value]], token: str
    ) -> None:
        expected: dict[str, Value] = {}
        for name, value in (*wanted.get("*", {}).items(), *wanted.get(token, {}).items()):
            expected[name] = stricter(expected[name], value) if name in expected else value
        if "noindex" not in expected:
            expected.pop(LOOSENS, None)
        new = usage_rules(
            headers=[("Robots-Tag", robots_tag(wanted))], product_token=token, profile="strict"
        )
        assert new.rules == expected
        both = robots_tag_fields(wanted, legacy=True)
        assert usage_rules(headers=both, product_token=token).rules == expected
        old = [(name, value) for name, value in both if name == "X-Robots-Tag"]
        assert usage_rules(headers=old, product_token=token).rules == expected
        html = f"<!doctype html><head>{meta_elements(wanted)}</head><p>x"
        assert usage_rules(html=html, product_token=token).rules == expected
