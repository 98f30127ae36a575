"""
Access: the flow from a request to a result, as values (RFC 9309 §2.3.1; AMB-50 to AMB-57).

`conformance/vectors/access/` has what each answer means. Here are the values themselves, limits,
misuse, and what a driver can rely on.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import robotrules
from robotrules import MissingExtraError, ProfileError
from robotrules.access import (
    ACCESS_PROFILES,
    MAX_URL_LENGTH,
    AccessResult,
    AccessState,
    CachedCopy,
    Failure,
    FailureReason,
    Hop,
    Request,
    Response,
    access,
    classify_status,
    parse_location,
    resolve_location,
)
from robotrules.access.values import SLACK
from robotrules.http import origins
from robotrules.profile import LEAST_MAX_BYTES
from robotrules.tags import read_fields

ORIGIN = "https://e.example"
ROBOTS = f"{ORIGIN}/robots.txt"
DEFAULT = ACCESS_PROFILES["default"]
FILE = b"User-agent: *\nDisallow: /x\n"


def get(*answers: Response | Failure, **given: Any) -> tuple[AccessResult, list[Request]]:
    """Drive the flow with these answers; return its result and its requests."""
    flow = access(ORIGIN, **given)
    asked = [next(flow)]
    for answer in answers:
        try:
            asked.append(flow.send(answer))
        except StopIteration as end:
            return end.value, asked
    raise AssertionError(f"it wants more: {asked[-1]}")


def to(location: str | bytes, status: int = 302) -> Response:
    """Return a redirect."""
    return Response(status, [("Location", location)])


# --- The flow -------------------------------------------------------------------------------------


def test_result_has_all_that_is_known() -> None:
    """The server, the answer, and how it was fetched: everything that evidence needs."""

    fields = [("ETag", b'"a"'), ("Content-Type", b"text/plain")]
    result, asked = get(to("/r.txt", 301), Response(200, fields, FILE, address="192.0.2.1"))

    assert [request.url for request in asked] == [ROBOTS, f"{ORIGIN}/r.txt"]
    assert result == AccessResult(
        origin=ORIGIN,
        state=AccessState.SUCCESS,
        status=200,
        failure_reason=None,
        detail="",
        url=f"{ORIGIN}/r.txt",
        hops=(Hop(ROBOTS, 301, "/r.txt"),),
        fields=read_fields(fields),
        body=FILE,
        complete=True,
        revalidated=False,
        address="192.0.2.1",
    )
    told = json.loads(json.dumps(result.as_dict()))
    assert told["hops"] == [{"url": ROBOTS, "status": 301, "location": "/r.txt"}]
    assert (told["state"], told["failure_reason"], told["octets"]) == ("success", None, len(FILE))
    assert {"name": "etag", "value": '"a"'} in told["fields"]


def test_results_as_plain_values() -> None:
    """Every field by its name, and nothing that JSON does not have."""

    found, _ = get(Response(200, [("X", "1")], FILE, False, "192.0.2.1"))
    lost, _ = get(Response(403), profile=DEFAULT.replace(deny_on_401_403=True))

    assert found.as_dict() == {
        "origin": ORIGIN,
        "state": "success",
        "status": 200,
        "failure_reason": None,
        "detail": "",
        "url": ROBOTS,
        "hops": [],
        "fields": [{"name": "x", "value": "1"}],
        "octets": len(FILE),
        "complete": False,
        "revalidated": False,
        "address": "192.0.2.1",
        "restricted": False,
    }
    assert lost.as_dict() == {
        "origin": ORIGIN,
        "state": "unavailable",
        "status": 403,
        "failure_reason": "status",
        "detail": "status 403",
        "url": ROBOTS,
        "hops": [],
        "fields": [],
        "octets": 0,
        "complete": True,
        "revalidated": False,
        "address": None,
        "restricted": True,
    }
    assert type(found.as_dict()["state"]) is type(lost.as_dict()["failure_reason"]) is str


def test_failure_has_its_detail() -> None:
    """The transport's description of a failure is kept for people."""

    result, _ = get(Failure(FailureReason.DNS, "e.example has no address"))

    assert (result.status, result.detail) == (None, "e.example has no address")
    assert (result.fields.lines, result.address, result.body) == ((), None, b"")
    assert result.as_dict()["failure_reason"] == "dns"


def test_status_of_a_failure_after_redirects() -> None:
    """A failure has no status, whatever the redirects before it had."""

    result, _ = get(to("https://b.example/"), Failure(FailureReason.TLS))

    assert (result.status, result.url) == (None, "https://b.example/")
    assert result.hops == (Hop(ROBOTS, 302, "https://b.example/"),)


def test_hops_of_lost_redirects() -> None:
    """The redirect that was not followed is among the hops; its target was not requested."""

    result, asked = get(*(to(f"/{number}") for number in range(6)))

    assert [hop.location for hop in result.hops] == [f"/{number}" for number in range(6)]
    assert result.url == asked[-1].url == f"{ORIGIN}/4"
    assert (result.failure_reason, result.detail) == (FailureReason.REDIRECTS, "more than 5")


def test_loop_is_seen() -> None:
    """A URL that comes again, however it is spelled, ends the flow and is named."""

    result, asked = get(to("/a"), to("HTTPS://u@E.example.:443/robots.txt#top"))

    assert (result.state, result.failure_reason) == (AccessState.UNAVAILABLE, FailureReason.LOOP)
    assert result.detail == f"back to {ROBOTS}"
    assert len(asked) == 2
    long = f"{ORIGIN}/{'a' * 300}"
    result, _ = get(to(long), to(long))
    assert result.detail == f"back to {long[:200]}"


def test_limit_is_handed_on() -> None:
    """Every request has a limit in octets; by default, the number that a parser reads."""

    _, asked = get(to("/a"), to("/b"), Response(200), limit=5)
    _, usual = get(Response(200))

    assert [request.limit for request in asked] == [5, 5, 5]
    assert usual[0].limit == LEAST_MAX_BYTES + SLACK
    assert usual[0].timeout is None


@pytest.mark.parametrize("complete", [True, False])
def test_cut_file_is_read_as_cut(complete: bool) -> None:
    """A body that was cut at the limit loses its last line, and one that was not does not."""

    body = b"User-agent: *\nDisallow: /x"
    result, _ = get(Response(200, body=body, complete=complete))

    assert result.complete is complete
    assert result.robots().check(f"{ORIGIN}/x", "a").allowed is not complete


@pytest.mark.parametrize(
    ("answer", "url", "allowed"),
    [
        (Response(404), "/x", True),
        (Response(503), "/x", False),
        (Response(503), "/robots.txt", True),
        (Failure(FailureReason.TIMEOUT), "/", False),
        (Response(200, body=FILE), "/x", False),
        (Response(200, body=FILE), "/y", True),
        (Response(204, body=FILE), "/x", True),
    ],
)
def test_robots_has_the_same_effect(answer: Response | Failure, url: str, allowed: bool) -> None:
    """Without a file there is one with the same effect."""

    result, _ = get(answer)

    assert result.robots().check(ORIGIN + url, "a").allowed is allowed


@pytest.mark.parametrize("status", [204, 205])
def test_answer_without_content(status: int) -> None:
    """A 204 or 205 is an empty file, whatever a server sends after its fields."""

    result, _ = get(Response(status, body=FILE))

    assert (result.state, result.body) == (AccessState.SUCCESS, b"")


@pytest.mark.parametrize("status", [401, 403])
def test_robots_of_a_restricted_site(status: int) -> None:
    """With deny_on_401_403 a driver without a cache gets complete disallow too."""

    profile = DEFAULT.replace(deny_on_401_403=True)
    result, _ = get(Response(status), profile=profile)

    assert (result.state, result.restricted) == (AccessState.UNAVAILABLE, True)
    assert not result.robots().check(f"{ORIGIN}/x", "a")
    assert not get(Response(status))[0].restricted
    for other in (402, 404):
        missing, _ = get(Response(other), profile=profile)
        assert not missing.restricted
        assert missing.robots().check(f"{ORIGIN}/x", "a")


def test_robots_takes_a_profile() -> None:
    """The caller chooses how to parse."""

    result, _ = get(Response(200, body=b"User-agent: *\nDissallow: /x\n"))

    assert not result.robots().check(f"{ORIGIN}/x", "a")
    assert result.robots("strict").check(f"{ORIGIN}/x", "a")
    for answer in (Response(200), Response(404), Response(503)):
        assert get(answer)[0].robots("strict").profile is robotrules.STRICT


@pytest.mark.parametrize(
    "headers", [[("LOCATION", "/r")], {"location": "/r"}, b"Location: /r\r\n\r\n", None]
)
def test_headers_as_libraries_have_them(headers: object) -> None:
    """Fields come as pairs, as a mapping, or as raw octets."""

    flow = access(ORIGIN)
    next(flow)
    if headers is None:
        with pytest.raises(StopIteration):
            flow.send(Response(302, headers))
        return

    assert flow.send(Response(302, headers)).url == f"{ORIGIN}/r"


def test_wants_body() -> None:
    """A transport need not read what is of no use."""

    request = Request(ROBOTS)

    wanted = [status for status in range(100, 700) if request.wants_body(status)]
    assert wanted == [*range(200, 204), *range(206, 300)]


@pytest.mark.parametrize("origin", ["", "e.example", "ftp://e.example", "/robots.txt"])
def test_no_origin(origin: str) -> None:
    """An invalid origin is misuse, and raises before any request."""

    with pytest.raises(ValueError, match="is not an origin: pass one such as"):
        access(origin)


def test_no_profile() -> None:
    """So is a profile that does not exist."""

    with pytest.raises(ProfileError) as refused:
        access(ORIGIN, profile="bing")
    names = "default, strict, google, stale"
    words = f"unknown access profile 'bing': use {names}, or pass an AccessProfile"
    assert str(refused.value) == words


def test_any_url_names_its_origin() -> None:
    """A URL is accepted in place of its origin."""

    assert next(access("HTTP://E.example:80/a?b")).url == "http://e.example/robots.txt"


# --- Where a Location leads -----------------------------------------------------------------------


def test_longest_location() -> None:
    """A Location of more octets than any URL has is a trap."""

    fits = "/" + "a" * (MAX_URL_LENGTH - 1)

    assert resolve_location(ROBOTS, fits) == ORIGIN + fits
    assert resolve_location(ROBOTS, f"{fits}a") is None
    for more in ("a", "aaa"):
        result, _ = get(to(fits + more))
        assert result.failure_reason is FailureReason.LOCATION
        # One octet more than fits is kept: enough to see that it was too long.
        assert result.hops[0].location == f"{fits}a"
    # What octets become counts, so that no request is longer than that.
    assert (
        get(to(b"/" + b"\xff" * (MAX_URL_LENGTH // 3 + 1)))[0].failure_reason
        is FailureReason.LOCATION
    )


def test_first_location_counts() -> None:
    """Of two the first: a proxy that adds one does not decide."""

    fields = read_fields([("Location", "/a"), ("Location", "/b")])

    assert parse_location(fields) == "/a"
    assert parse_location(read_fields([])) == ""


@pytest.mark.parametrize(
    ("location", "shown"),
    [(b"/\xc3\xa9 \x7f", "/%C3%A9%20%7F"), (b'/a%zz|"<>', '/a%zz|"<>'), (b"\t/a\t", "/a")],
)
def test_location_is_printable(location: bytes, shown: str) -> None:
    """What a URL cannot hold is percent-encoded, and what it holds already stays."""

    assert parse_location(read_fields([("Location", location)])) == shown


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https:r.txt", None),
        ("https:/r.txt", None),
        ("https:///r.txt", None),
        ("HTTP://B.example", "http://b.example/"),
        ("https://b.example#a", "https://b.example/"),
        ("https://b.example/a?b#c?d", "https://b.example/a?b"),
        ("#a", ROBOTS),
        (".", f"{ORIGIN}/"),
        ("//", None),
        ("//[::1", None),
        ("///r.txt", None),
        ("\\r.txt", f"{ORIGIN}/\\r.txt"),
    ],
)
def test_targets(location: str, target: str | None) -> None:
    """A Location is resolved according to RFC 3986, and names a host or is invalid."""

    assert resolve_location(ROBOTS, location) == target


def test_target_with_another_authority() -> None:
    """A Location without a scheme has the scheme of the URL that redirects, port or no port."""

    assert (
        resolve_location("http://e.example:8080/robots.txt", "//b.example/r")
        == "http://b.example/r"
    )


def test_international_target_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer this client cannot read does not allow crawling: unreachable, with the fix."""

    origins._normalize.cache_clear()
    monkeypatch.setitem(sys.modules, "idna", None)  # importing it fails

    result, _ = get(to("https://bücher.example/".encode()))

    assert (result.state, result.failure_reason) == (
        AccessState.UNREACHABLE,
        FailureReason.LOCATION,
    )
    assert "pip install" in result.detail
    with pytest.raises(MissingExtraError):
        access("https://bücher.example")


# --- Validators -----------------------------------------------------------------------------------


def test_renewed_result() -> None:
    """A 304 gives the stored body with the fields of both, and is marked as such."""

    stored = CachedCopy(ROBOTS, FILE, read_fields([("ETag", '"a"'), ("X", "1")]), complete=False)
    result, _ = get(Response(304, [("X", "2")], b"ignored", address="192.0.2.1"), cached=stored)

    assert (result.state, result.status, result.revalidated) == (AccessState.SUCCESS, 304, True)
    assert (result.detail, result.url, result.hops) == ("", ROBOTS, ())
    assert (result.body, result.complete, result.address) == (FILE, False, "192.0.2.1")
    assert result.fields.lines == (("etag", b'"a"'), ("x", b"2"))
    assert result.failure_reason is None


def test_200_to_conditions() -> None:
    """The file changed: what came is the file, also if its tag is that of the stored one."""

    stored = CachedCopy(ROBOTS, FILE, read_fields([("ETag", '"a"')]))
    for tag in ('"a"', '"b"'):
        result, asked = get(Response(200, [("ETag", tag)], b"new"), cached=stored)
        assert (result.status, result.body, result.revalidated) == (200, b"new", False)
        assert [request.headers for request in asked] == [(("If-None-Match", '"a"'),)]


def test_304_without_conditions() -> None:
    """The stored file was not requested, so nothing is known about it."""

    for stored in (
        CachedCopy(ROBOTS, FILE, read_fields([("X", "1")])),
        CachedCopy(f"{ORIGIN}/r.txt", FILE, read_fields([("ETag", '"a"')])),
    ):
        result, asked = get(Response(304), cached=stored)
        assert asked[0].headers == ()
        assert (result.state, result.revalidated) == (AccessState.UNREACHABLE, False)


def test_date_of_a_stored_file() -> None:
    """A Last-Modified is sent back if the file came later; without a Date, `received` decides."""

    date = "Thu, 01 Jan 2026 00:00:00 GMT"
    stored = CachedCopy(
        ROBOTS, FILE, read_fields([("Last-Modified", date)]), received=1_767_225_600.0
    )

    assert next(access(ORIGIN, cached=stored)).headers == (("If-Modified-Since", date),)
    unknown = stored._replace(received=None)
    assert next(access(ORIGIN, cached=unknown)).headers == ()


def test_profile_without_validators() -> None:
    """It fetches the file again instead of asking whether it changed."""

    stored = CachedCopy(ROBOTS, FILE, read_fields([("ETag", '"a"')]))
    asks = {
        name: next(access(ORIGIN, profile=name, cached=stored)).headers for name in ACCESS_PROFILES
    }

    assert {name for name, headers in asks.items() if not headers} == {"google"}


def test_304_about_another_file() -> None:
    """It updates nothing: the same URL is requested without conditions, once."""

    stored = CachedCopy(ROBOTS, FILE, read_fields([("ETag", '"a"')]))
    another = Response(304, [("ETag", '"b"')])
    result, asked = get(another, Response(200, [("ETag", '"b"')], b"new"), cached=stored)

    assert [request.headers for request in asked] == [(("If-None-Match", '"a"'),), ()]
    assert [request.url for request in asked] == [ROBOTS, ROBOTS]
    assert (result.body, result.revalidated, result.hops) == (b"new", False, ())
    lost, _ = get(another, another, cached=stored)
    assert (lost.state, lost.failure_reason) == (AccessState.UNREACHABLE, FailureReason.LOCATION)


@pytest.mark.parametrize("tags", [["*"], ["a"], [""], ['"a"', '"b"']])
def test_304_without_a_usable_tag(tags: list[str]) -> None:
    """It may be about any file: the same URL is requested without conditions."""

    stored = CachedCopy(ROBOTS, FILE, read_fields([("ETag", '"a"')]))
    unclear = Response(304, [("ETag", tag) for tag in tags])
    result, asked = get(unclear, Response(200, [("ETag", '"b"')], b"new"), cached=stored)

    assert [request.headers for request in asked] == [(("If-None-Match", '"a"'),), ()]
    assert (result.body, result.revalidated) == (b"new", False)


# --- Statuses -------------------------------------------------------------------------------------


def test_every_status_means_something() -> None:
    """The classes of a final status, all of them at once."""

    states = {status: classify_status(status, DEFAULT) for status in range(1000)}

    assert {status for status in states if states[status] is AccessState.SUCCESS} == {
        status for status in range(200, 300) if status != 206
    }
    assert {status for status in states if states[status] is AccessState.UNAVAILABLE} == {
        status for status in range(400, 500) if status not in (408, 421, 425, 429)
    }


def test_every_4xx_of_strict() -> None:
    """§2.3.1.3 as written: 400 to 499 is unavailable, 408, 421, 425 and 429 included (AMB-52)."""

    states = {classify_status(status, ACCESS_PROFILES["strict"]) for status in range(400, 500)}

    assert states == {AccessState.UNAVAILABLE}


@pytest.mark.parametrize(
    ("status", "state", "trouble"),
    [
        (299, AccessState.SUCCESS, None),
        (300, AccessState.UNREACHABLE, FailureReason.LOCATION),
        (399, AccessState.UNREACHABLE, FailureReason.LOCATION),
        (400, AccessState.UNAVAILABLE, FailureReason.STATUS),
    ],
)
def test_statuses_beside_redirects(
    status: int, state: AccessState, trouble: FailureReason | None
) -> None:
    """Statuses from 300 to 399 are redirects, and their neighbours are final."""

    result, _ = get(Response(status))

    assert (result.state, result.failure_reason) == (state, trouble)


BROKEN = [
    (Response(301), "301 without a usable Location"),
    (to(""), "302 without a usable Location"),
    (to("ftp://e.example/robots.txt", 307), "307 without a usable Location"),
    (to("https:///r.txt", 308), "308 without a usable Location"),
    (to("//[::1", 303), "303 without a usable Location"),
    (Response(304), "304 to a request without conditions"),
    *((to("/r.txt", status), f"{status} is not followed") for status in (300, 305, 306, 399)),
]


@pytest.mark.parametrize(("answer", "detail"), BROKEN)
@pytest.mark.parametrize("name", ACCESS_PROFILES)
def test_broken_redirects(answer: Response, detail: str, name: str) -> None:
    """They do not describe the rules; only profile google treats them as no file (AMB-54)."""

    result, asked = get(answer, profile=name)

    state = AccessState.UNAVAILABLE if name == "google" else AccessState.UNREACHABLE
    assert (result.state, result.failure_reason, result.detail) == (
        state,
        FailureReason.LOCATION,
        detail,
    )
    assert result.robots().check(f"{ORIGIN}/x", "a").allowed is (name == "google")
    assert len(asked) == len(result.hops) == 1


def test_cautious_client_and_broken_redirects() -> None:
    """To a cautious client they are unreachable in any case."""

    shy = ACCESS_PROFILES["google"].replace(redirect_failure_unreachable=True)

    assert get(Response(301), profile=shy)[0].state is AccessState.UNREACHABLE


# --- Words ----------------------------------------------------------------------------------------


def test_every_failure_has_a_sentence() -> None:
    """A code for programs, a sentence for people."""

    sentences = {trouble.sentence for trouble in FailureReason}

    assert len(sentences) == len(FailureReason)
    assert str(FailureReason.REFUSED) == "refused-address"
