"""Usage rules: the union over all carriers, the resulting values, and the source of each."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

import robotrules
from robotrules import tags
from robotrules.registries import parse_json
from robotrules.tags import (
    DEFAULT,
    Carrier,
    Page,
    PageState,
    RuleStatus,
    UsageRules,
    read_page,
    usage_rules,
)
from robotrules.tags.codes import CODES
from robotrules.tags.known_rules import KNOWN, ValueKind, stricter
from robotrules.tags.rules import MAX_MENTIONS

HTML = '<!doctype html><head><meta name="{}" content="{}"></head><p>text'


def page(content: str, name: str = "robots") -> str:
    return HTML.format(name, content)


def rules_of(content: str, token: str = "ExampleBot", **more: Any) -> dict[str, Any]:
    """Return the rules in force of one robots meta element."""
    return usage_rules(html=page(content), product_token=token, **more).rules


def codes(found: UsageRules) -> list[str]:
    return [one.code for one in found.notes]


# --- The union ------------------------------------------------------------------------------------


def test_all_carriers_are_united() -> None:
    """Both fields, the initial HTML and the final DOM (RTG-3.1.2-09, RTG-4-05, AMB-74, AMB-75)."""
    found = usage_rules(
        headers=[("Robots-Tag", "*;nosnippet, ExampleBot;noarchive"), ("X-Robots-Tag", "nofollow")],
        html=page("noindex"),
        dom=page("notranslate"),
        product_token="examplebot",
    )
    assert list(found.rules) == ["nosnippet", "noarchive", "nofollow", "noindex", "notranslate"]
    assert found.read == ("headers", "html", "dom")
    assert [one.source.carrier for one in found.mentions] == [
        Carrier.ROBOTS_TAG,
        Carrier.ROBOTS_TAG,
        Carrier.X_ROBOTS_TAG,
        Carrier.META,
        Carrier.META,
    ]


def test_a_specific_element_does_not_lift_a_rule() -> None:
    """RTG-3.1.2-07: `index` for one crawler beside `noindex` for all."""
    html = '<meta name=robots content=noindex><meta name=examplebot content="index, all">'
    found = usage_rules(html=html, product_token="ExampleBot")
    assert found.rules == {"noindex": True}
    assert [one.standing for one in found.mentions] == ["in-force", "no-effect", "no-effect"]


def test_rules_of_others_are_reported_and_not_obeyed() -> None:
    """Rules for another crawler are not in force, and are in `others`."""
    found = usage_rules(
        headers={"Robots-Tag": "OtherBot;noindex"},
        html='<meta name=googlebot content="nofollow"><meta name=description content="a, b">',
        product_token="ExampleBot",
    )
    assert found.rules == {}
    assert found.others == ("otherbot", "googlebot")
    assert usage_rules(headers={"Robots-Tag": "OtherBot;noindex"}).rules == {}


def test_several_tokens_unite() -> None:
    """A crawler with several names is meant by any of them."""
    fields = {"Robots-Tag": "a;noindex, b;nosnippet, c;nofollow"}
    found = usage_rules(headers=fields, product_token=["B", "a", "A"])
    assert found.product_tokens == ("b", "a")
    assert set(found.rules) == {"noindex", "nosnippet"}


def test_prefer_robots_tag() -> None:
    """AMB-74: an option reads the new field alone where it is there."""
    fields = [("X-Robots-Tag", "noindex"), ("Robots-Tag", "*;nosnippet")]
    assert set(usage_rules(headers=fields).rules) == {"noindex", "nosnippet"}
    found = usage_rules(headers=fields, profile=DEFAULT.replace(prefer_robots_tag=True))
    assert set(found.rules) == {"nosnippet"}
    assert "field-not-read" in codes(found)


# --- Values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("NOINDEX , nosnippet", {"noindex": True, "nosnippet": True}),
        ("all,none", {"noindex": True, "nofollow": True}),
        ("max-snippet:0", {"nosnippet": True}),
        ("max-snippet:-1", {}),
        ("max-snippet:abc", {}),
        ("max-snippet:50, max-snippet: 20", {"max-snippet": 20}),
        ("max-snippet:-1, max-snippet: 20", {"max-snippet": 20}),
        ("max-image-preview:LARGE", {"max-image-preview": "large"}),
        ("max-image-preview:huge", {}),
        ("max-image-preview:large,max-image-preview:none", {"max-image-preview": "none"}),
        ("max-video-preview:0", {"max-video-preview": 0}),
        ("max-video-preview:0, max-video-preview:7", {"max-video-preview": 0}),
        ("max-video-preview:-1", {}),
        ("indexifembedded", {}),
        ("noindex,indexifembedded", {"noindex": True, "indexifembedded": True}),
        ("noai, noimageai, noml", {"noai": True, "noimageai": True, "noml": True}),
        ("index,follow,archive,snippet,all", {}),
        ("", {}),
    ],
)
def test_what_is_in_force(content: str, expected: dict[str, Any]) -> None:
    """XRT-06 to XRT-11, XRT-14, XRT-15, XRT-20, AMB-84 to AMB-86."""
    assert rules_of(content) == expected


def test_the_earliest_date_counts() -> None:
    """AMB-84."""
    content = "unavailable_after: 2030-01-02, unavailable_after: 1 Jan 2030 00:00 GMT"
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    found = usage_rules(html=page(content))
    assert found.unavailable_after == moment
    assert found.may_index_at(moment)
    assert not found.may_index_at(moment + timedelta(seconds=1))
    assert found.may_index


def test_properties_of_rules() -> None:
    """The properties that a program uses, for all rules and for none."""
    nothing = usage_rules(headers={})
    assert nothing.may_index
    assert nothing.may_snippet
    assert nothing.may_follow
    assert nothing.may_archive
    assert nothing.may_translate
    assert nothing.may_index_images
    assert nothing.may_index_embedded
    assert (nothing.max_snippet, nothing.max_image_preview, nothing.max_video_preview) == (
        None,
        None,
        None,
    )
    everything = usage_rules(
        html=page("none, nosnippet, noarchive, notranslate, noimageindex, max-snippet:5")
    )
    assert not everything.may_index
    assert not everything.may_snippet
    assert not everything.may_follow
    assert not everything.may_archive
    assert not everything.may_translate
    assert not everything.may_index_images
    assert not everything.may_index_embedded
    assert everything.max_snippet == 0
    assert not usage_rules(html=page("nocache")).may_archive
    assert usage_rules(html=page("noindex, indexifembedded")).may_index_embedded
    assert usage_rules(html=page("max-snippet:5")).max_snippet == 5
    assert usage_rules(html=page("max-video-preview:5")).max_video_preview == 5
    assert usage_rules(html=page("max-image-preview:none")).max_image_preview == "none"


def test_of_two_values_the_stricter_one() -> None:
    """`stricter` does not depend on the order."""
    early, late = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    cases: list[tuple[Any, Any, Any]] = [
        (True, True, True),
        (5, 7, 5),
        (-1, 7, 7),
        (0, -1, 0),
        (-1, -1, -1),
        ("none", "large", "none"),
        ("standard", "large", "standard"),
        (early, late, early),
    ]
    for one, other, expected in cases:
        assert stricter(one, other) == stricter(other, one) == expected


# --- Names and places -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("robots", True),
        ("ROBOTS", True),
        (" robots\t", True),
        ("examplebot", True),
        ("ExampleBot ", True),
        ("robot", False),
        ("robots, examplebot", False),
        ("otherbot", False),
        ("ro\u017fts", False),
        ("*", False),
    ],
)
def test_names_of_elements(name: str, counts: bool) -> None:
    """ASCII letters without case, whitespace trimmed, no lists (AMB-90)."""
    found = usage_rules(html=page("noindex", name), product_token="ExampleBot")
    assert bool(found.rules) == counts


def test_only_the_head_counts() -> None:
    """AMB-87: elsewhere it is a note; profile google counts it."""
    html = "<head></head><body><meta name=robots content=noindex>"
    found = usage_rules(html=html)
    assert found.rules == {}
    assert codes(found) == ["meta-outside-head"]
    assert usage_rules(html=html, profile="google").rules == {"noindex": True}


def test_noscript_counts_in_the_initial_html_alone() -> None:
    """AMB-88."""
    html = "<head><noscript><meta name=robots content=noindex></noscript></head><p>x"
    found = usage_rules(html=html)
    assert found.rules == {"noindex": True}
    assert codes(found) == ["only-without-scripting"]
    assert usage_rules(dom=html).rules == {}


@pytest.mark.parametrize(
    "element",
    [
        '<meta http-equiv="X-Robots-Tag" content="noindex">',
        '<meta http-equiv="Robots-Tag" content="*;noindex">',
        '<meta property="robots" content="noindex">',
        '<meta itemprop=" Robots " content="noindex">',
    ],
)
def test_what_only_looks_like_a_carrier(element: str) -> None:
    """AMB-91: no effect, and a note."""
    found = usage_rules(html=f"<head>{element}</head><p>x")
    assert found.rules == {}
    assert codes(found) == ["not-a-carrier"]


def test_states_of_a_page_are_labelled() -> None:
    """AMB-94: a rule that only one state has is noted; removal lifts no rule (RTG-4-04)."""
    found = usage_rules(html=page("noindex, nofollow"), dom=page("nofollow, nosnippet"))
    assert set(found.rules) == {"noindex", "nofollow", "nosnippet"}
    assert codes(found) == ["only-in-final-dom", "only-in-initial-html"]
    assert [one.source.state for one in found.mentions_of("noindex")] == [PageState.INITIAL]
    assert [one.source.state for one in found.mentions_of("nosnippet")] == [PageState.FINAL]


def test_other_media_types_have_no_elements() -> None:
    """AMB-92: a field applies to any resource (RTG-3.1-01), an element only to HTML."""
    fields = {"Content-Type": "application/pdf", "Robots-Tag": "*;noindex"}
    found = usage_rules(headers=fields, html=page("nosnippet"))
    assert found.rules == {"noindex": True}
    assert codes(found) == ["not-html"]
    assert found.read == ("headers",)
    for media in ("text/html; charset=utf-8", "Application/XHTML+XML", "nonsense", ""):
        assert usage_rules(headers={"Content-Type": media}, html=page("noindex")).rules


def test_the_charset_of_the_response_counts() -> None:
    html = "<head><meta name=robots content=noindex></head>".encode("utf-16-le")
    assert usage_rules(headers={"Content-Type": "text/html;charset=utf-16le"}, html=html).rules
    quoted = usage_rules(headers={"content-type": 'text/html; charset="UTF-16LE"'}, html=html)
    assert quoted.rules


# --- Sources --------------------------------------------------------------------------------------


def test_each_rule_has_its_sources() -> None:
    """Field and line, or element and state; and whether it came over TLS (RTG-4-02)."""
    found = usage_rules(
        headers=[("Robots-Tag", "a;noindex"), ("robots-tag", "*;nosnippet, *;noindex")],
        html='<meta charset=utf-8><meta name=robots content="nosnippet">',
        product_token="a",
        url="https://example.com/",
    )
    first, second = found.mentions_of("noindex")
    assert (first.source.line, first.token, first.start, first.end) == (1, "a", 0, 9)
    assert (second.source.line, second.token, second.start, second.end) == (2, "*", 13, 22)
    field, element = (one.source for one in found.mentions_of("nosnippet"))
    assert str(field) == "Robots-Tag line 2"
    assert str(element) == "meta element 2"
    assert element.state is PageState.INITIAL
    assert found.over_tls is field.over_tls is element.over_tls is True
    assert found.mentions_of("nofollow") == ()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://e.example/", True),
        (b"HTTPS://e.example/", True),
        ("http://e.example/", False),
        ("/path", None),
        (None, None),
    ],
)
def test_over_tls(url: str | bytes | None, expected: bool | None) -> None:
    assert usage_rules(headers={}, url=url).over_tls is expected


def test_unknown_rules_are_kept_for_inspection() -> None:
    """AMB-78: kept, named, without effect; a registry makes them known."""
    found = usage_rules(headers={"Robots-Tag": "*;shiny;noindex, *;shiny"})
    assert found.rules == {"noindex": True}
    assert found.unknown == ("shiny",)
    assert codes(found) == ["unknown-rule"]
    entry = {"name": "shiny", "description": "Be shiny.", "reference": "here"}
    known = parse_json(json.dumps({"tag_rules": {"entries": [entry]}}))
    registered = usage_rules(headers={"Robots-Tag": "*;shiny, shiny"}, registries=known)
    assert registered.rules == {"shiny": True}
    assert registered.unknown == ()


def test_a_page_that_repeats_a_rule_very_often() -> None:
    """All of it counts, and some of the mentions are kept; each rule in force has one."""
    element = "<meta name=robots content='{}'>"
    html = element.format("noindex") * (MAX_MENTIONS + 500) + element.format("nosnippet") * 2
    found = usage_rules(html=html)
    assert set(found.rules) == {"noindex", "nosnippet"}
    assert len(found.mentions) == MAX_MENTIONS + 1
    assert len(found.mentions_of("nosnippet")) == 1


def test_a_long_content_is_cut_at_a_comma() -> None:
    """§4 wants a limit; what is cut is not used, as in a field."""
    found = usage_rules(html=page("noindex," + "x" * 20_000 + ",nosnippet"))
    assert found.rules == {"noindex": True}
    assert "field-cut" in codes(found)


# --- Vendors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "content", "expected"),
    [
        ("google", "noarchive, nocache, nositelinkssearchbox", set()),
        ("default", "noarchive, nocache", {"noarchive", "nocache"}),
        ("bing", "noarchive, nocache", {"nocache"}),
        ("bing", "noarchive", {"noarchive"}),
        ("apple", "none", {"noindex", "nofollow", "nosnippet"}),
        ("yandex", "all, noindex", set()),
        ("yandex", "index, none", {"nofollow"}),
        ("yandex", "archive, noarchive, nosnippet", {"nosnippet"}),
        ("default", "all, noindex", {"noindex"}),
    ],
)
def test_vendors_read_differently(profile: str, content: str, expected: set[str]) -> None:
    """XRT-16, VEN-05, VEN-08, VEN-09."""
    found = usage_rules(html=page(content), profile=profile)
    assert set(found.rules) == expected
    in_force = {one.name for one in found.mentions if one.standing is RuleStatus.IN_FORCE}
    assert in_force == expected


@pytest.mark.parametrize(
    ("name", "token", "counts"),
    [
        ("googlebot", "googlebot", True),
        ("googlebot-news", "Googlebot-News", True),
        ("robots", "anybody", True),
        ("robot", "googlebot", True),
        ("examplebot", "examplebot", False),
    ],
)
def test_google_reads_three_names(name: str, token: str, counts: bool) -> None:
    """XRT-17, and `robot` (AMB-90)."""
    html = f"<body><meta name={name} content=noindex>"
    assert bool(usage_rules(html=html, product_token=token, profile="google").rules) == counts


# --- The value ------------------------------------------------------------------------------------


def test_as_json_and_back_from_a_pickle() -> None:
    """It is plain data: JSON, pickles, equality."""
    found = usage_rules(
        headers={"Robots-Tag": "*;noindex;unavailable_after=@1735689600;x"},
        html=page("max-snippet:20"),
        received=datetime(2026, 1, 1, tzinfo=UTC),
    )
    shown = json.loads(json.dumps(found.as_dict()))
    assert shown["rules"] == {
        "noindex": True,
        "unavailable_after": "2025-01-01T00:00:00Z",
        "max-snippet": 20,
    }
    assert shown["decided_by"] == {"noindex": [0], "unavailable_after": [1], "max-snippet": [3]}
    assert shown["unknown"] == ["x"]
    assert pickle.loads(pickle.dumps(found)) == found
    assert str(found) == "noindex, unavailable_after: 2025-01-01T00:00:00Z, max-snippet: 20"
    assert str(usage_rules(headers={})) == "no tag rule in force"


def test_a_page_that_was_read_before() -> None:
    """A `Page` can be parsed once and used for many crawlers."""
    read = read_page(page("noindex", "examplebot"))
    assert isinstance(read, Page)
    assert usage_rules(html=read, product_token="ExampleBot").rules
    assert not usage_rules(html=read, product_token="OtherBot").rules


@pytest.mark.parametrize("wrong", [5, None, [5], ["a", 5], b"a", b"", {"a": 1}])
def test_a_product_token_is_text(wrong: Any) -> None:
    with pytest.raises(TypeError) as told:
        usage_rules(headers={}, product_token=wrong)
    assert str(told.value) == (
        f"product_token is a str such as 'ExampleBot', or a list of them; not {wrong!r}"
    )


@pytest.mark.parametrize("wrong", ["", " ", [], ["a", ""]])
def test_an_empty_product_token_is_refused(wrong: Any) -> None:
    with pytest.raises(robotrules.ProductTokenError) as told:
        usage_rules(headers={}, product_token=wrong)
    assert str(told.value) == "product_token is empty: pass a name such as 'ExampleBot', or '*'"


# --- The table and the page ----------------------------------------------------------------------


def test_the_table_of_known_rules() -> None:
    """Two rules are registered (RTG-5.2-02); the others are practice, each with its reference."""
    draft = {one.name for one in KNOWN.values() if "repext" in one.reference}
    registered = {entry.name for entry in robotrules.registries.SHIPPED.tag_rules}
    assert draft == registered == {"noindex", "nosnippet"}
    assert all(one.words and one.reference for one in KNOWN.values())
    assert {one.kind for one in KNOWN.values()} == set(ValueKind)


def test_the_page_names_every_code_switch_and_rule() -> None:
    """`docs/tags.md` is complete."""
    text = (Path(__file__).parents[2] / "docs" / "tags.md").read_text(encoding="utf-8")
    fields = [name for name in DEFAULT._asdict() if name != "name"]
    for name in (*CODES, *KNOWN, *fields, *tags.TAG_PROFILES):
        assert f"`{name}`" in text, name


# --- What people hand over ------------------------------------------------------------------------


def test_a_response_whose_url_raises() -> None:
    """A `url` property that raises is ignored, and `over_tls` is None."""

    class Response:
        headers: ClassVar = {"Robots-Tag": "*;noindex"}
        content = page("nosnippet").encode()

        @property
        def url(self) -> str:
            raise RuntimeError("the request instance has not been set")

    found = usage_rules(headers=Response(), html=Response())  # type: ignore[arg-type]
    assert set(found.rules) == {"noindex", "nosnippet"}
    assert found.over_tls is None


def test_text_that_is_not_a_header_block() -> None:
    """`*;noindex` alone is a value and not a field; the note states that."""
    for text in ("*;noindex", b"noindex"):
        found = usage_rules(headers=text)
        assert found.rules == {}
        assert codes(found) == ["no-field-line"]
    assert codes(usage_rules(headers=" ")) == []


@pytest.mark.parametrize("name", ["no-index", "nofolow", "no_snippet", "nofollow;"])
def test_a_rule_similar_to_a_known_one(name: str) -> None:
    """It has no effect, and the note names the similar known rule."""
    found = usage_rules(headers=[("X-Robots-Tag", name)])
    assert found.rules == {}
    assert "misspelt-rule" in codes(found)


def test_vendors_do_not_read_the_new_name() -> None:
    fields = {"Robots-Tag": "*;noindex", "X-Robots-Tag": "nofollow"}
    found = usage_rules(headers=fields, profile="google", product_token="googlebot")
    assert found.rules == {"nofollow": True}
    assert "field-not-documented" in codes(found)


def test_a_user_agent_is_not_a_product_token() -> None:
    """No rule can name it; the note contains a fix."""
    for token in ("ExampleBot/1.0", "Mozilla/5.0 (compatible; ExampleBot/0.1)"):
        found = usage_rules(headers={"Robots-Tag": "ExampleBot;noindex"}, product_token=token)
        assert codes(found)[0] == "odd-product-token"


def test_a_moment_has_a_zone() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        usage_rules(headers={}).may_index_at(datetime(2026, 1, 1))


def test_an_empty_robots_tag() -> None:
    """AMB-74: with the option on, a line without a value is not a Robots-Tag."""
    profile = DEFAULT.replace(prefer_robots_tag=True)
    fields = [("Robots-Tag", ""), ("X-Robots-Tag", "noindex")]
    assert usage_rules(headers=fields, profile=profile).rules == {"noindex": True}


def test_a_parsed_page_is_html_only_with_html_headers() -> None:
    read = read_page(page("noindex"))
    found = usage_rules(headers={"Content-Type": "application/pdf"}, html=read)
    assert found.rules == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nRobots-Tag: *;noindex\r\n\r\n",
        b"\xef\xbb\xbfRobots-Tag: *;noindex",
        b"HTTP/1.1 200 OK\rRobots-Tag: *;noindex\r\r",
    ],
)
def test_raw_headers_as_they_are_found(raw: bytes) -> None:
    """A 1xx before, a byte order mark, and ends of lines that are CR alone."""
    assert usage_rules(headers=raw).rules == {"noindex": True}


def test_hostile_pages_are_cut_with_a_note() -> None:
    """Endless names, endless attributes of html: what was found before counts."""
    for part in ("<html a{}=1>", "<meta a{}=1>", "</x{}>", "<x{}></x{}>"):
        body = "".join(part.format(n, n) for n in range(20_000))
        found = usage_rules(html=f"<meta name=robots content=noindex><template>{body}")
        assert found.rules == {"noindex": True}
        assert codes(found) == ["page-too-complex"]
    words = page("a," * 8_000) * 40
    assert "field-cut" in codes(usage_rules(html=words.replace("<p>text", "")))


def test_display_strings_have_no_escapes() -> None:
    """RFC 9651 §3.3.8: a backslash is a character there, so the quote after it ends the value."""
    for profile in ("strict", "default"):
        found = usage_rules(headers=[("Robots-Tag", 'a;x=%"\\", *;noindex')], profile=profile)
        assert found.rules == {"noindex": True}


def test_a_broken_line_after_a_string_over_two_lines() -> None:
    """Rules before the failure of the whole count too."""
    lines = [("Robots-Tag", '*;noindex;x="'), ("Robots-Tag", '"')]
    assert usage_rules(headers=lines).rules == {"noindex": True}
    assert usage_rules(headers=[*lines, ("Robots-Tag", "!")]).rules == {"noindex": True}


def test_runs_of_spaces_and_slashes_cost_what_they_are() -> None:
    """A tag of two million spaces, texts parted by comments in a table: cut, and not for long."""
    for html in ("<a" + "/" * 2_000_000, "<a" + " " * 2_000_000 + ">"):
        assert usage_rules(html=html).rules == {}
    for part in ("a<!---->", "a<input type=hidden>"):
        found = usage_rules(html="<body><table>" + part * 20_000, profile="google")
        assert "page-too-complex" in codes(found)


class TestUnread:
    """Where a carrier was not read to its end, what no rule forbids is unknown."""

    CUT = "<!--" + "x" * (2 * 1024 * 1024) + "-->"

    @pytest.mark.parametrize(
        ("rule", "names"),
        [
            ("noindex", ("may_index", "may_index_embedded", "may_index_images")),
            ("nosnippet", ("may_snippet",)),
            ("nofollow", ("may_follow",)),
            ("noarchive", ("may_archive",)),
            ("nocache", ("may_archive",)),
            ("notranslate", ("may_translate",)),
            ("noimageindex", ("may_index_images",)),
        ],
    )
    def test_every_property(self, rule: str, names: tuple[str, ...]) -> None:
        """False where a rule forbids, None in the other respects, True where all was read."""
        every = [name for name in dir(UsageRules) if name.startswith("may_")]
        every.remove("may_index_at")
        meta = f"<meta name=robots content={rule}>"
        for page, open_ in ((meta + self.CUT, None), (f"{meta}<p>", True)):
            found = usage_rules(html=page)
            assert found.complete is (open_ is True)
            expected = {name: False if name in names else open_ for name in every}
            assert {name: getattr(found, name) for name in every} == expected

    def test_at_a_moment(self) -> None:
        """A moment that has passed is known to have passed."""
        meta = "<meta name=robots content='unavailable_after: 2020-01-01'>"
        found = usage_rules(html=meta + self.CUT)
        assert found.may_index_at(datetime(2021, 1, 1, tzinfo=UTC)) is False
        assert found.may_index_at(datetime(2019, 1, 1, tzinfo=UTC)) is None
        whole = usage_rules(html=meta)
        assert whole.may_index_at(datetime(2019, 1, 1, tzinfo=UTC)) is True
        with pytest.raises(ValueError, match="moment has no zone"):
            whole.may_index_at(datetime(2019, 1, 1))

    def test_no_excerpt_at_all(self) -> None:
        """A number is read as usual; no excerpt is not a number."""
        found = usage_rules(html="<meta name=robots content=nosnippet>" + self.CUT)
        assert (found.may_snippet, found.max_snippet) == (False, 0)
        assert usage_rules(html=self.CUT).max_snippet is None
        limited = usage_rules(html="<meta name=robots content=max-snippet:5>" + self.CUT)
        assert (limited.may_snippet, limited.max_snippet) == (None, 5)


class TestNoLimit:
    """`-1` means that there is no limit: it is a value, and not a restriction (XRT-08, XRT-10)."""

    @pytest.mark.parametrize("name", ["max-snippet", "max-video-preview"])
    @pytest.mark.parametrize(
        "carrier",
        [("Robots-Tag", "*;{}=-1"), ("X-Robots-Tag", "{}:-1"), ("X-Robots-Tag", "{}: -1")],
    )
    def test_every_carrier(self, name: str, carrier: tuple[str, str]) -> None:
        found = usage_rules(headers=[(carrier[0], carrier[1].format(name))])
        [one] = found.mentions
        assert (one.name, one.value, one.standing) == (name, -1, RuleStatus.NO_EFFECT)
        assert (found.rules, found.max_snippet, found.max_video_preview) == ({}, None, None)
        assert "bad-value" not in codes(found)

    def test_a_limit_beside_it(self) -> None:
        """Whichever comes first, the limit counts."""
        for first, second in (("-1", "20"), ("20", "-1")):
            lines = [
                ("Robots-Tag", f"*;max-snippet={first}"),
                ("Robots-Tag", f"*;max-snippet={second}"),
            ]
            assert usage_rules(headers=lines).max_snippet == 20
        below = usage_rules(headers=[("Robots-Tag", "*;max-snippet=-2")])
        assert "bad-value" in codes(below)


class TestUnknownLimits:
    """A rule whose name starts with `max-` is not a crawler (XRT-05)."""

    @pytest.mark.parametrize("name", ["max-audio-preview", "max-", "MAX-x"])
    @pytest.mark.parametrize("value", ["large", "none", "20", "noindex"])
    def test_rules_after_it_are_for_all_crawlers(self, name: str, value: str) -> None:
        found = usage_rules(headers=[("X-Robots-Tag", f"{name}: {value}, noindex")])
        assert found.rules == {"noindex": True}
        assert found.others == ()
        assert found.unknown == (name.lower(),)


def test_all_of_it_as_plain_values() -> None:
    """Every field by its name: this is what JSON has, and what other programs read."""
    rules = usage_rules(
        headers=[
            ("Robots-Tag", "*;noindex;max-image-preview=none, b;nofollow, *;shiny"),
            ("X-Robots-Tag", "max-video-preview: 3, unavailable_after: 2020-01-01"),
            ("Cache-Control", "max-age=60"),
        ],
        product_token="a",
        url="https://e.example/",
        received=datetime(2026, 1, 1, tzinfo=UTC),
    )
    field = {"carrier": "Robots-Tag", "line": 1, "element": None, "state": None, "over_tls": True}
    old = field | {"carrier": "X-Robots-Tag"}
    first = {"standing": "in-force", "token": "*", "source": field, "start": 0, "end": 32}
    after = "2020-01-01T23:59:59Z"
    preview = {"rule": "max-image-preview", "value": "none", "text": "max-image-preview=none"}
    video = {"rule": "max-video-preview", "value": 3, "text": "max-video-preview: 3"}
    moment = {"rule": "unavailable_after", "value": after, "text": "unavailable_after: 2020-01-01"}
    told = rules.as_dict()
    notes = told.pop("notes")
    assert [one["code"] for one in notes] == ["deprecated-field", "unknown-rule"]
    assert notes[1] == {
        "code": "unknown-rule",
        "level": "info",
        "message": CODES["unknown-rule"][1],
        "source": field,
        "start": 46,
        "end": 53,
    }
    assert told == {
        "product_tokens": ["a"],
        "read": ["headers"],
        "over_tls": True,
        "rules": {
            "noindex": True,
            "max-image-preview": "none",
            "max-video-preview": 3,
            "unavailable_after": after,
        },
        "may_index": False,
        "may_index_embedded": False,
        "may_snippet": True,
        "may_follow": True,
        "may_archive": True,
        "max_snippet": None,
        "max_image_preview": "none",
        "max_video_preview": 3,
        "unavailable_after": after,
        "decided_by": {
            "noindex": [0],
            "max-image-preview": [1],
            "max-video-preview": [3],
            "unavailable_after": [4],
        },
        "unknown": ["shiny"],
        "others": ["b"],
        "mentions": [
            {"rule": "noindex", "value": True, "text": "noindex", **first},
            {**preview, **first},
            {"rule": "shiny", "value": True, "text": "shiny", **first}
            | {"standing": "unknown", "start": 46, "end": 53},
            {**video, **first, "source": old, "end": 20},
            {**moment, **first, "source": old, "start": 22, "end": 51},
        ],
        "freshness": rules.freshness.as_dict(),
    }
    assert str(rules) == (
        f"noindex, max-image-preview: none, max-video-preview: 3, unavailable_after: {after}"
    )
