"""
Origins: what one robots.txt governs, and where that file is (RFC 9309 §2.3; AMB-62).

`conformance/vectors/origins/` has the cases of the decision. Tested here are the functions, misuse,
and foreign names: what an HTTP library would connect to is the origin we name.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from robotrules import MissingExtraError
from robotrules.http import origins
from robotrules.http.origins import authority_end, origin_of, parse_origin, robots_url


def test_octets_and_text() -> None:
    """A URL is text or its octets; octets that are not text are an invalid host."""

    assert origin_of(b"https://e.example/\xff") == origin_of("https://e.example/x")
    assert origin_of("https://bücher.example".encode()) == "https://xn--bcher-kva.example"
    assert origin_of(b"https://\xff.example/") is None


def test_surrogates_make_no_host() -> None:
    """Characters that a lenient decoder put into a host are invalid."""

    assert origin_of("https://\udcff.example/") is None
    assert origin_of("https://e.example/\udcff") == "https://e.example"


@pytest.mark.parametrize("url", [None, 5, ["https://e.example"], object()])
def test_misuse(url: Any) -> None:
    """An invalid URL raises an error."""

    with pytest.raises(TypeError, match="str or bytes"):
        origin_of(url)


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://e.example/x", "https://e.example"),
        ("HTTPS://u@E.example:443?x", "HTTPS://u@E.example:443"),
        ("https://[2001:db8::1]:8#x", "https://[2001:db8::1]:8"),
        ("https://e.example", "https://e.example"),
        ("https://e.example:", "https://e.example:"),
        ("ftp://e.example/x", ""),
        ("https://e.example\\x", ""),
        ("", ""),
    ],
)
def test_authority_as_written(url: str, written: str) -> None:
    """Where scheme and authority end, whatever their spelling."""

    assert url[: authority_end(url)] == written


def test_robots_url() -> None:
    """One file for an origin."""

    assert robots_url("https://e.example:8443") == "https://e.example:8443/robots.txt"


@pytest.mark.parametrize(
    "host",
    [
        "\u0301a.example",  # begins with an accent
        "a\u200d.example",  # an invisible joiner
        "\u05d0a.example",  # right to left and left to right in one label
        "é" * 70 + ".example",  # longer than a label may be
        "xn--é.example",
        "a\u200cb.example",  # a joiner where nothing joins
        "\ue000.example",  # for private use
        "\ufffd.example",
        "é\uff0fx.example",  # a slash in another width
        "é\uff20x.example",
        "é b.example",
        "\u00ad.example",  # nothing is left of the label
    ],
)
def test_no_international_names(host: str) -> None:
    """What IDNA refuses has no origin."""

    assert origin_of(f"https://{host}/") is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("foo-.example.com", "foo-.example.com"),
        ("-foo.example.com", "-foo.example.com"),
        ("i❤.ws", "xn--i-7iq.ws"),
        ("i❤\ufe0f.ws", "xn--i-7iq.ws"),
        ("a☃b.example", "xn--ab-fsx.example"),
        ("ab--c\u0301.example", "xn--ab---ota.example"),
        ("é_b.example", "xn--_b-9ia.example"),
    ],
)
def test_names_that_only_browsers_accept(host: str, origin: str) -> None:
    """Strict IDNA and RFC 1123 refuse them, and they exist (WHATWG URL §3.5)."""

    assert origin_of(f"https://{host}/") == f"https://{origin}"


@pytest.mark.parametrize("host", ["xn--", "xn--a-.example", "xn--localhost-", "e.XN--E-"])
def test_no_punycode_of_ascii(host: str) -> None:
    """A label that a decoder turns into `localhost` is invalid."""

    assert origin_of(f"https://{host}/") is None


@pytest.mark.parametrize("port", ["0", "00", "000000", "65536", "065536"])
def test_no_port(port: str) -> None:
    """A port that no server can have makes no origin, however it is written."""

    assert origin_of(f"https://e.example:{port}/") is None


def test_full_width_letters_are_letters() -> None:
    """Names are mapped as browsers map them (UTS #46)."""

    assert origin_of("https://\uff45.\uff45xample/") == "https://e.example"
    assert origin_of("https://ß.example") == "https://xn--zca.example"
    assert origin_of("https://e.example\u3002/") == "https://e.example"


def test_international_name_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library an international name raises with the fix, and no other name does."""

    origins._normalize.cache_clear()
    monkeypatch.setitem(sys.modules, "idna", None)  # importing it fails

    assert origin_of("https://a.example/é") == "https://a.example"
    assert origin_of("https://xn--bcher-kva.example/") == "https://xn--bcher-kva.example"
    with pytest.raises(MissingExtraError, match=r"pip install 'robotrules\[http\]'"):
        origin_of("https://bücher.example/")


@pytest.mark.parametrize(
    "host",
    ["::ffff:192.0.2.1", "::FFFF:C000:201", "0:0:0:0:0:ffff:192.0.2.1"],
)
def test_mapped_addresses_have_one_spelling(host: str) -> None:
    """An IPv4 address in an IPv6 one is written in one way."""

    assert origin_of(f"http://[{host}]/") == origin_of("http://[::ffff:c000:201]")


@pytest.mark.parametrize(
    "host", ["1.2.3", "1.2.3.4.5", "1.2.3.04", "a.1", "0x10", "1", "a.0x", "\u0661.\u0662"]
)
def test_no_other_numbers(host: str) -> None:
    """The last label of a name is not a number: programs differ about the meaning."""

    assert origin_of(f"https://{host}/") is None


def test_full_width_numbers_are_numbers() -> None:
    """An address is one in any width, as browsers have it."""

    assert origin_of("https://\uff11.\uff12.\uff13.\uff14/") == "https://1.2.3.4"


def test_a_number_may_begin_a_name() -> None:
    """Other labels may be numbers."""

    assert origin_of("https://1.2.example/") == "https://1.2.example"
    assert origin_of("https://0x7f.example/") == "https://0x7f.example"
    assert origin_of("https://360.cn") == "https://360.cn"


def test_a_url_that_is_too_long_has_no_origin() -> None:
    """A host of thousands of octets, or a port of as many digits, is remembered nowhere."""
    for url in (f"https://{'a' * 2000}/", f"https://a.example:{'0' * 100}80/"):
        assert origin_of(url) is None
    assert origin_of(f"https://{'u' * 2000}@a.example/") == "https://a.example"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("example.com", "https://example.com"),
        (" EXAMPLE.com\n", "https://example.com"),
        ("example.com:8080/a", "https://example.com:8080"),
        ("localhost", "https://localhost"),
        ("[::1]:80", "https://[::1]:80"),
        ("http://example.com/x", "http://example.com"),
        (b"http://example.com/x", "http://example.com"),
        ("example.com?x=a@b", "https://example.com"),
        ("me@example.com", None),
        ("mailto:me@example.com", None),
        ("ftp://example.com", None),
        ("//example.com", None),
        ("/robots.txt", None),
        ("example.com,", None),
        ("two words", None),
        (b"example.com", None),
        ("", None),
    ],
)
def test_what_people_write_in_lists(text: str, origin: str | None) -> None:
    """A host alone is its https origin; what may be something else is none."""
    assert parse_origin(text) == origin
