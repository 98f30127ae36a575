"""What `usage_rules` hands on: places of notes, rules of a registry, URLs, states of a page."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from robotrules import tags
from robotrules.registries import parse_json
from robotrules.tags import DEFAULT, STRICT, Carrier, PageState, TagSource, html_page, usage_rules
from robotrules.tags.codes import note
from robotrules.tags.header import MAX_CACHED_LENGTH
from robotrules.tags.html import MIN_HTML_BYTES

NOINDEX = "<meta name=robots content=noindex>"
ENTRY = {"name": "shiny", "description": "Be shiny.", "reference": "here"}
SHINY = parse_json(json.dumps({"tag_rules": {"entries": [ENTRY]}}))


class TestNotes:
    """A note has its field, and the position in it."""

    def test_a_field_that_a_vendor_does_not_document(self) -> None:
        """The field is named, and whether it came over TLS."""
        found = usage_rules(
            headers={"Robots-Tag": "*;noindex"}, profile="google", url="https://e.example/"
        )
        source = TagSource(Carrier.ROBOTS_TAG, over_tls=True)
        assert found.notes == (note("field-not-documented", source),)

    def test_a_field_that_is_not_read(self) -> None:
        """With the option that prefers the new field (AMB-74)."""
        fields = {"Robots-Tag": "*;noindex", "X-Robots-Tag": "nofollow"}
        profile = DEFAULT.replace(prefer_robots_tag=True)
        found = usage_rules(headers=fields, profile=profile, url="http://e.example/")
        source = TagSource(Carrier.X_ROBOTS_TAG, over_tls=False)
        assert found.notes == (note("field-not-read", source),)

    def test_places_in_a_line(self) -> None:
        """The line, and the first and last octet."""
        lines = [("X-Robots-Tag", "noai"), ("X-Robots-Tag", "noindex nofollow")]
        found = usage_rules(headers=lines, url="https://e.example/")
        field = TagSource(Carrier.X_ROBOTS_TAG, over_tls=True)
        assert found.notes == (
            note("deprecated-field", field),
            note("space-separated", field._replace(line=2), 8, 16),
        )

    def test_lines_that_may_have_been_joined(self) -> None:
        """A mapping has a name once; pairs have lines apart (AMB-82)."""
        value = "otherbot: noindex, nofollow"
        joined = usage_rules(headers={"X-Robots-Tag": value})
        assert [one.code for one in joined.notes] == ["deprecated-field", "scope-may-be-wider"]
        apart = usage_rules(headers=[("X-Robots-Tag", value)])
        assert [one.code for one in apart.notes] == ["deprecated-field"]

    def test_those_of_fields_and_of_both_states_of_a_page(self) -> None:
        """All of them, in the order of the carriers."""
        found = usage_rules(headers={"X-Robots-Tag": "noai"}, html=NOINDEX, dom="<p>")
        assert [one.code for one in found.notes] == ["deprecated-field", "only-in-initial-html"]


@pytest.mark.parametrize(
    ("headers", "rules"),
    [
        ([("Robots-Tag", "shiny;noindex")], {"shiny", "noindex"}),
        ([("X-Robots-Tag", "a;shiny")], {"shiny"}),
        ([("X-Robots-Tag", "shiny")], {"shiny"}),
    ],
)
def test_rules_of_a_registry_in_fields(headers: object, rules: set[str]) -> None:
    """A name of a registry is a rule and no crawler, in both fields."""
    assert set(usage_rules(headers=headers, product_token="a", registries=SHINY).rules) == rules
    assert usage_rules(headers=headers, product_token="a").rules == {}


def test_rules_of_a_registry_in_elements() -> None:
    """They are in force, and show which elements are for another crawler."""
    page = "<meta name=robots content=shiny><meta name=otherbot content=shiny>"
    found = usage_rules(html=page, registries=SHINY)
    assert (found.rules, found.others) == ({"shiny": True}, ("otherbot",))
    found = usage_rules(html=page)
    assert (found.rules, found.others) == ({}, ())


def test_what_is_remembered_of_fields() -> None:
    """Short values come again and again; long ones must not fill the memory."""
    kept = tags._read_headers_cached.cache_info
    for new, old, is_kept in (
        ("", "x" * MAX_CACHED_LENGTH, True),
        ("", "x" * (MAX_CACHED_LENGTH + 1), False),
        ("x" * MAX_CACHED_LENGTH, "x", False),
        ("x" * (MAX_CACHED_LENGTH - 1), "x", True),
    ):
        before = kept().misses
        usage_rules(headers=[("Robots-Tag", new), ("X-Robots-Tag", old)], product_token="memory")
        assert kept().misses - before == is_kept


class TestSource:
    """The URL of a response shows whether it came over TLS, unless another is given."""

    @pytest.mark.parametrize(
        ("url", "over_tls"),
        [
            ("https://e.example/", True),
            ("HTTPS://e.example/", True),
            ("http://e.example/", False),
            ("Http://e.example/", False),
            ("https:/e.example/", None),
            ("ftp://e.example/", None),
        ],
    )
    def test_schemes(self, url: str, over_tls: bool | None) -> None:
        """In any case, text or octets, given or of the response."""
        response = SimpleNamespace(headers={}, url=url)
        assert usage_rules(headers=response).over_tls is over_tls
        assert usage_rules(headers={}, url=url).over_tls is over_tls
        assert usage_rules(headers={}, url=url.encode()).over_tls is over_tls
        assert usage_rules(headers={}, url=url.encode() + b"\xff").over_tls is over_tls

    def test_the_one_that_is_given_counts(self) -> None:
        """A cache may have answered."""
        response = SimpleNamespace(headers={}, url="http://e.example/")
        assert usage_rules(headers=response, url="https://e.example/").over_tls is True
        assert usage_rules(headers=response, url="").over_tls is None
        assert usage_rules(headers=SimpleNamespace(headers={})).over_tls is None


class TestPages:
    """Which pages are read, and how much of them."""

    def test_a_final_dom_alone(self) -> None:
        """It needs no initial HTML."""
        found = usage_rules(dom=NOINDEX)
        assert (found.rules, found.read) == ({"noindex": True}, ("dom",))

    def test_a_final_dom_of_other_media_types(self) -> None:
        """A viewer of PDF is a page, whatever the response was."""
        fields = {"Content-Type": "application/pdf"}
        found = usage_rules(headers=fields, html=NOINDEX, dom=NOINDEX)
        assert found.read == ("headers", "dom")
        assert [one.source.state for one in found.mentions] == [PageState.FINAL]

    def test_html_that_was_cut(self) -> None:
        """The rules of its head are known only if the head is complete."""
        found = usage_rules(html=NOINDEX, complete=False)
        assert (found.rules, found.may_follow) == ({"noindex": True}, None)
        assert usage_rules(html=NOINDEX + "<p>x<p>", complete=False).may_follow is True

    def test_html_that_was_not_read(self) -> None:
        """Where there may be a page, its rules are unknown."""
        lines = [("X-Robots-Tag", "noindex")]
        found = usage_rules(headers=lines, complete=False)
        assert [one.code for one in found.notes] == ["deprecated-field", "head-not-final"]
        assert (found.may_index, found.may_follow) == (False, None)
        found = usage_rules(headers=[*lines, ("Content-Type", "image/png")], complete=False)
        assert (found.may_index, found.may_follow) == (False, True)
        whole = usage_rules(html=NOINDEX + "<p>x<p>", complete=False)
        assert "head-not-final" not in [one.code for one in whole.notes]

    def test_the_charset_of_a_response(self) -> None:
        """It is that of the initial HTML; a browser writes its DOM as it likes."""
        fields = {"Content-Type": "text/html; charset=utf-16le"}
        page = html_page(NOINDEX.encode(), fields, final_dom=True)
        assert page is not None
        assert len(page.metas) == 1
        page = html_page(NOINDEX.encode(), fields)
        assert page is not None
        assert page.metas == ()

    def test_defaults(self) -> None:
        """All of a document is at hand, in its first state, for the default profile."""
        page = html_page(f"{NOINDEX}<noscript>{NOINDEX}</noscript><p>{NOINDEX}", {})
        assert page is not None
        assert [one.place for one in page.metas] == ["head", "noscript", "body"]
        assert (page.is_final, page.is_cut) == (True, False)
        assert html_page(NOINDEX, {"Content-Type": "text/plain"}) is None

    def test_the_limit_of_a_profile(self) -> None:
        """No more is looked at."""
        document = f"<style>{'x' * 2 * MIN_HTML_BYTES}</style>{NOINDEX}<p>"
        profile = STRICT.replace(max_html_bytes=MIN_HTML_BYTES)
        page = html_page(document, {}, profile)
        assert page is not None
        assert (page.read, page.metas) == (MIN_HTML_BYTES, ())
        assert (page.is_final, page.is_cut) == (False, True)

    def test_html_that_was_cut_is_not_final(self) -> None:
        """If the caller states it."""
        page = html_page(NOINDEX, {}, complete=False)
        assert page is not None
        assert (page.is_final, page.is_cut) == (False, True)


def test_what_was_read() -> None:
    """Only what was given, even if it is empty."""
    assert usage_rules().read == ()
    assert usage_rules(html="").read == ("html",)
    found = usage_rules(headers={"Cache-Control": "max-age=60"})
    assert (found.read, found.fields.get("cache-control")) == (("headers",), [b"max-age=60"])


class TestTimes:
    """Moments and intervals are kept for `freshness`."""

    def test_kept(self) -> None:
        """In UTC, and in seconds."""
        moment = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
        for interval in (60, timedelta(minutes=1)):
            found = usage_rules(received=moment, recrawl_interval=interval)
            assert found.received == datetime(2026, 1, 1, tzinfo=UTC)
            assert found.received.tzinfo is UTC
            assert found.recrawl_interval == 60.0
        nothing = usage_rules()
        assert (nothing.received, nothing.recrawl_interval) == (None, None)

    def test_misuse(self) -> None:
        """The error names the argument."""
        wrong: Any = "now"
        with pytest.raises(TypeError) as told:
            usage_rules(received=wrong)
        assert str(told.value) == "received is a datetime, not str"
        with pytest.raises(TypeError) as told:
            usage_rules(recrawl_interval=wrong)
        assert str(told.value) == (
            "recrawl_interval is a timedelta or a number of seconds, not str"
        )
