"""
Properties of tag rules: carriers never raise, never contradict each other, and only add rules.

Most of the drawn fields and pages are broken in some way, and many are almost valid. A property of
one carrier holds for all.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import inf
from operator import le

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from robotrules.tags import (
    DEFAULT,
    GOOGLE,
    STRICT,
    TAG_PROFILES,
    Fields,
    TagProfile,
    UsageRules,
    Value,
    read_fields,
    read_robots_tag,
    usage_rules,
)
from robotrules.tags.header import without_tolerance
from robotrules.tags.known_rules import KNOWN, ValueKind, stricter
from robotrules.write import meta_elements, robots_tag, robots_tag_fields

# The rules that lift others by design: Google's for embedded pages (XRT-14).
LOOSENS = "indexifembedded"
TOKENS = ("ExampleBot", "OtherBot", "*", "a", "_b-", "MJ12bot", "googlebot")
# Profiles whose switches can only add rules; the switches of the others also remove some.
ADDING = (DEFAULT, STRICT, DEFAULT.replace(scope_both=True), TAG_PROFILES["apple"], GOOGLE)

# The vendors' profiles, reading Robots-Tag in addition to X-Robots-Tag.
BING, YANDEX = (TAG_PROFILES[name].replace(x_robots_tag_only=False) for name in ("bing", "yandex"))
EVERY_FIELD = (DEFAULT, DEFAULT.replace(scope_both=True, body_metas=True), BING, YANDEX)
NOINDEX = '<meta name="robots" content="noindex">'
JOINED = ("X-Robots-Tag", b"OtherBot: noarchive, indexifembedded")

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


def includes(more: dict[str, Value], less: dict[str, Value]) -> bool:
    """Return whether no rule of *less* is missing or weaker in *more*."""
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
    # Regressions: each of these lost a rule.
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
    def test_adding_a_field_line_keeps_restrictions(
        self,
        before: list[tuple[str, bytes]],
        one: tuple[str, bytes],
        at: int,
        profile: TagProfile,
        token: str,
    ) -> None:
        """
        Rules still apply when a line is added anywhere.

        In profile strict one broken line invalidates its whole field (RFC 9651 §4.2): there the
        property is for lines of different names.
        """
        if profile.recover_malformed is False:
            before = [(name, line) for name, line in before if name.lower() != one[0].lower()]
        after = [*before[:at], one, *before[at:]]
        less = usage_rules(headers=before, product_token=token, profile=profile).rules
        more = usage_rules(headers=after, product_token=token, profile=profile).rules
        assert includes(restrictions(more), restrictions(less))

    @given(
        st.lists(fields, max_size=2), pages, pages, st.sampled_from(ADDING), st.sampled_from(TOKENS)
    )
    def test_adding_a_carrier_keeps_restrictions(
        self, headers: list[tuple[str, bytes]], html: str, dom: str, profile: TagProfile, token: str
    ) -> None:
        """All carriers together have the rules of each alone, and no others."""
        together = usage_rules(
            headers=headers, html=html, dom=dom, product_token=token, profile=profile
        )
        alone = [
            usage_rules(headers=headers, product_token=token, profile=profile),
            usage_rules(html=html, product_token=token, profile=profile),
            usage_rules(dom=dom, product_token=token, profile=profile),
        ]
        for single in alone:
            assert includes(restrictions(together.rules), restrictions(single.rules))
        names = {name for single in alone for name in single.rules}
        assert set(restrictions(together.rules)) <= names

    @given(st.lists(fields, max_size=3), pages, st.sampled_from(TOKENS))
    def test_rules_for_all_crawlers_apply_to_each(
        self, headers: list[tuple[str, bytes]], html: str, token: str
    ) -> None:
        """Rules for all crawlers apply to each crawler, named or not (RTG-3.1.1-10)."""
        everyone = usage_rules(headers=headers, html=html)
        one = usage_rules(headers=headers, html=html, product_token=token)
        assert includes(restrictions(one.rules), restrictions(everyone.rules))

    @given(st.lists(fields, max_size=3), pages, st.sampled_from(TOKENS))
    def test_tolerance_only_adds(
        self, headers: list[tuple[str, bytes]], html: str, token: str
    ) -> None:
        """Profile default finds all rules that profile strict finds (AMB-66 to AMB-72)."""
        strict = usage_rules(headers=headers, html=html, product_token=token, profile="strict")
        default = usage_rules(headers=headers, html=html, product_token=token)
        assert includes(restrictions(default.rules), restrictions(strict.rules))


# Previews, the most restrictive first; None means no limit or unknown.
PREVIEWS = ("none", "standard", None, "large")


def laxity(found: UsageRules) -> tuple[float, ...]:
    """Return how much the rules permit, in each respect."""
    may = (
        *(found.may_index, found.may_index_embedded, found.may_index_images, found.may_snippet),
        *(found.may_follow, found.may_archive, found.may_translate),
    )
    after = found.unavailable_after
    limits = (found.max_snippet, found.max_video_preview, after.timestamp() if after else None)
    return (
        *((False, None, True).index(one) for one in may),
        *(inf if one is None else one for one in limits),
        PREVIEWS.index(found.max_image_preview),
        -sum(name in found.rules for name in ("noarchive", "noai", "noimageai", "noml")),
    )


def is_as_strict(found: UsageRules, other: UsageRules) -> bool:
    """Return whether rules permit no more than others in any respect."""
    return all(map(le, laxity(found), laxity(other)))


class TestRecovery:
    """Rules that are recovered from a broken carrier may restrict, never permit (AMB-67)."""

    @given(
        st.sampled_from(EVERY_FIELD),
        st.lists(fields, max_size=3),
        st.booleans(),
        pages,
        st.sampled_from(TOKENS),
    )
    @example(DEFAULT, [("Robots-Tag", b"*;indexifembedded, (")], True, NOINDEX, "a")
    @example(DEFAULT, [("Robots-Tag", b"*;IndexIfEmbedded")], True, NOINDEX, "a")
    @example(DEFAULT, [("Robots-Tag", b"*;indexifembedded"), ("Robots-Tag", b"")], 1, NOINDEX, "a")
    @example(DEFAULT, [("Robots-Tag", b"noindex;indexifembedded")], True, NOINDEX, "a")
    @example(DEFAULT, [("Robots-Tag", b"*;max-image-preview=large, (")], True, "", "a")
    @example(DEFAULT, [("X-Robots-Tag", b"indexifembedded x")], True, NOINDEX, "a")
    @example(DEFAULT, [("X-Robots-Tag", b"*;indexifembedded, (")], True, NOINDEX, "a")
    @example(DEFAULT.replace(scope_both=True), [JOINED], False, NOINDEX, "a")
    @example(BING, [("Robots-Tag", b"*;nocache, ("), ("X-Robots-Tag", b"noarchive")], True, "", "a")
    @example(YANDEX, [], True, '<meta name="robots" content="index x">' + NOINDEX, "a")
    @settings(max_examples=500, deadline=None)
    def test_tolerance_does_not_permit_more(
        self,
        profile: TagProfile,
        headers: list[tuple[str, bytes]],
        apart: bool,
        html: str,
        token: str,
    ) -> None:
        """A profile permits no more with its tolerances than without them."""
        given = Fields(read_fields(headers).lines, apart)
        plain = without_tolerance(profile)
        found = usage_rules(headers=given, html=html, product_token=token, profile=profile)
        strict = usage_rules(headers=given, html=html, product_token=token, profile=plain)
        assert is_as_strict(found, strict)

    @given(lines, st.lists(lines, max_size=2), pages, st.sampled_from(TOKENS))
    @example(b"*;indexifembedded, (", [], NOINDEX, "a")
    @settings(max_examples=500, deadline=None)
    def test_an_invalid_field_permits_no_use(
        self, broken: bytes, others: list[bytes], html: str, token: str
    ) -> None:
        """A Robots-Tag field that RFC 9651 ignores gives no permission."""
        assume(read_robots_tag(broken, "strict").error is not None)
        old = [("X-Robots-Tag", line) for line in others]
        both = [("Robots-Tag", broken), *old]
        found = usage_rules(headers=both, html=html, product_token=token)
        without = usage_rules(headers=old, html=html, product_token=token)
        assert is_as_strict(found, without)

    def test_valid_carriers_permit(self) -> None:
        """The same rule in a valid field permits, so the properties above are not vacuous."""
        field = [("Robots-Tag", "*;indexifembedded")]
        found = usage_rules(headers=field, html=NOINDEX)
        assert (found.may_index, found.may_index_embedded) == (False, True)
        large = usage_rules(headers=[("Robots-Tag", "*;max-image-preview=large")])
        assert large.max_image_preview == "large"
        lifted = usage_rules(headers=[("X-Robots-Tag", "nocache, noarchive")], profile=BING)
        assert lifted.rules == {"nocache": True}


class TestAnyContent:
    """Content never raises, and every result has sources and can be written as JSON."""

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
            assert found.mentions_of(name)
            assert value is not None
        for one in found.mentions:
            assert 0 <= one.start <= one.end


rules = st.dictionaries(
    st.sampled_from([one.name for one in KNOWN.values() if one.kind is not ValueKind.PERMITS]),
    st.none(),
    max_size=4,
)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC, microsecond=0)
)


@st.composite
def tag_rules(draw: st.DrawFn) -> dict[str, dict[str, Value]]:
    """Draw rules that a site may publish."""
    everyone: dict[str, dict[str, Value]] = {}
    for token in draw(st.lists(st.sampled_from(TOKENS), max_size=3, unique=True)):
        everyone[token] = {}
        for name in draw(rules):
            kind = KNOWN[name].kind
            everyone[token][name] = (
                draw(st.integers(1, 10**9))
                if kind is ValueKind.NUMBER
                else draw(st.sampled_from(["none", "standard", "large"]))
                if kind is ValueKind.PREVIEW
                else draw(moments)
                if kind is ValueKind.DATE
                else True
            )
    return everyone


class TestRoundTrip:
    """Written rules are read back unchanged, from each carrier and in each grammar."""

    @given(tag_rules(), st.sampled_from(TOKENS))
    def test_all_carriers_agree(self, wanted: dict[str, dict[str, Value]], token: str) -> None:
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
