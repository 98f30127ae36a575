"""Who may use the service: hosts, origins, tokens, media types and rates, before a body is read."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from robotrules.service.app import Service
from robotrules.service.guard import CLIENTS_KEPT, Guard, RateTable
from robotrules.service.problems import Problem
from robotrules.service.settings import Limits, ServiceSettings, read_tokens
from tests.service.running import QUESTION

TOKEN, OTHER_TOKEN = "a-token-of-the-tests", "another-token-of-tests"
PUBLIC = ServiceSettings(host="0.0.0.0", public=True)


def status(settings: ServiceSettings, path: str = "/v1/explain", **headers: str) -> int:
    """Return the status of a question, or of a path, with these header fields."""
    client = TestClient(Service(settings), base_url="http://127.0.0.1:8080")
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if path == "/v1/explain":
        return client.post(path, json=QUESTION, headers=fields).status_code
    return client.get(path, headers=fields).status_code


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8080", 200),
        ("127.0.0.1", 200),
        ("localhost:9999", 200),
        ("LOCALHOST.", 200),
        ("[::1]:8080", 200),
        ("attacker.example", 421),
        ("attacker.example:8080", 421),
        ("127.0.0.1.attacker.example", 421),
        ("localhost.attacker.example", 421),
        ("attacker.example@localhost", 421),
        ("localhost:80x", 421),
        ("[::1", 421),
        ("[::1]x", 421),
        ("10.0.0.1", 421),
        ("", 421),
    ],
)
def test_a_host_field_names_this_machine(host: str, expected: int) -> None:
    """Another name is a page that was made to point here (DNS rebinding)."""
    assert status(ServiceSettings(), host=host) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("robots.internal", 200),
        ("Robots.Internal:80", 200),
        ("10.0.0.1", 200),
        ("[fe80::1]", 200),
        ("other.internal", 421),
    ],
)
def test_a_wildcard_address_has_every_address_and_allowed_names(host: str, expected: int) -> None:
    """Rebinding needs a name; addresses are harmless where all addresses are listened on."""
    settings = PUBLIC._replace(allowed_hosts=("robots.internal",))
    assert status(settings, host=host) == expected


def test_two_host_fields_are_refused() -> None:
    """A proxy and the service might believe different ones."""
    fields = [(b"host", b"localhost"), (b"host", b"attacker.example")]
    scope: dict[str, Any] = {"path": "/v1/check", "method": "GET", "headers": fields}
    with pytest.raises(Problem, match="two Host fields"):
        Guard(ServiceSettings()).check({**scope, "client": None})


def test_probes_need_no_host() -> None:
    """An orchestrator sends the address of a container."""
    assert status(ServiceSettings(), "/healthz", host="10.1.2.3:8080") == 200
    assert status(ServiceSettings(), "/readyz", host="10.1.2.3:8080") == 200
    assert status(ServiceSettings(), "/metrics", host="10.1.2.3:8080") == 421


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:8080", 200),
        ("http://127.0.0.1:8081", 403),
        ("https://attacker.example", 403),
        ("http://attacker.example#127.0.0.1:8080", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_of_other_origins_are_refused(origin: str, expected: int) -> None:
    """Its own page is on the same origin; a page elsewhere may not even send."""
    assert status(ServiceSettings(), origin=origin) == expected


def test_names_of_allowed_hosts_are_case_insensitive() -> None:
    """In the Origin field as in the Host field."""
    settings = ServiceSettings(allowed_hosts=("Robots.Example",))
    for name in ("robots.example", "ROBOTS.example"):
        assert status(settings, host=name, origin=f"https://{name}") == 200
        assert status(settings, origin=f"https://{name}:8443") == 200
    assert status(settings, origin="https://other.example") == 403


@pytest.mark.parametrize(
    ("site", "expected"),
    [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403), ("x", 403)],
)
def test_browsers_say_which_site_asks(site: str, expected: int) -> None:
    """GET requests of images and frames have no Origin field, but Sec-Fetch-Site."""
    assert status(ServiceSettings(), "/v1/crawlers", sec_fetch_site=site) == expected
    assert status(ServiceSettings(), "/v1/problems", sec_fetch_site=site) == 200  # open to links


def test_no_answer_allows_other_origins() -> None:
    """There is no CORS field, also not in the answer to a preflight request."""
    client = TestClient(Service(ServiceSettings()), base_url="http://127.0.0.1:8080")
    preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    answers = [
        client.options("/v1/explain", headers=preflight),
        client.options("/v1/explain"),
        client.post("/v1/explain", json=QUESTION),
    ]
    assert [answer.status_code for answer in answers] == [403, 405, 200]
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/x-ndjson", 200),
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ],
)
def test_a_body_is_json(media_type: str, expected: int) -> None:
    """The media types that a page may send elsewhere without asking first are refused."""
    assert status(ServiceSettings(), content_type=media_type) == expected


# --- Tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {OTHER_TOKEN} ", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer", 401),
        ("", 401),
    ],
)
def test_one_of_several_tokens(authorization: str, expected: int) -> None:
    """Any of the tokens is enough, and nothing less."""
    settings = ServiceSettings(tokens=(TOKEN, OTHER_TOKEN))
    assert status(settings, authorization=authorization) == expected


def test_what_needs_a_token() -> None:
    """All but probes and descriptions; an unknown path does not tell that it is one."""
    settings = ServiceSettings(tokens=(TOKEN,))
    statuses = {
        path: status(settings, path)
        for path in ("/healthz", "/readyz", "/v1/problems", "/metrics", "/v1/crawlers", "/nothing")
    }
    assert statuses == {
        **dict.fromkeys(("/healthz", "/readyz", "/v1/problems"), 200),
        **dict.fromkeys(("/metrics", "/v1/crawlers", "/nothing"), 401),
    }
    assert status(settings, "/metrics", authorization=f"Bearer {TOKEN}") == 200


def test_every_token_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the function that takes the same time for all values, and also after one was right."""
    import hmac

    compared: list[tuple[bytes, bytes]] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append((left, right))
        return left == right

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert status(ServiceSettings(tokens=(TOKEN, OTHER_TOKEN)), authorization="Bearer x") == 401
    tokens = (TOKEN, OTHER_TOKEN)
    assert status(ServiceSettings(tokens=tokens), authorization=f"Bearer {TOKEN}") == 200
    assert len(compared) == 4
    assert {len(value) for pair in compared for value in pair} == {32}


def test_metrics_of_a_public_service_are_for_its_machine() -> None:
    """Without tokens, other machines may use the service, and may not see its counters."""
    fields = [(b"host", b"10.0.0.1")]

    def allowed(client: str, *more: tuple[bytes, bytes]) -> bool:
        scope = {"path": "/metrics", "method": "GET", "headers": [*fields, *more]}
        try:
            Guard(PUBLIC).check({**scope, "client": (client, 1)})
        except Problem as problem:
            return problem.slug != "not-found"
        return True

    assert allowed("127.0.0.1")
    assert not allowed("10.0.0.2")
    assert not allowed("127.0.0.1", (b"x-forwarded-for", b"10.0.0.2"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tokens"),
        ("# comment\n\n", "no tokens"),
        ("short\n", "line 1: the token is shorter"),
        (f"{TOKEN}\nwith space in the token\n", "line 2: a token is visible ASCII"),
        (f"{TOKEN}ü\n", "line 1: a token is visible ASCII"),
    ],
)
def test_token_files_that_are_refused(tmp_path: Any, text: str, message: str) -> None:
    """The message says where; it has no token."""
    path = tmp_path / "tokens"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as raised:
        read_tokens(path)
    assert TOKEN not in str(raised.value)


def test_token_files(tmp_path: Any) -> None:
    """One token a line, with comments."""
    path = tmp_path / "tokens"
    path.write_bytes(f"# fleet\r\n{TOKEN}\r\n\r\n  {OTHER_TOKEN}\n".encode())
    assert read_tokens(path) == (TOKEN, OTHER_TOKEN)


# --- Rates ----------------------------------------------------------------------------------------


def test_a_client_that_sends_too_much_waits() -> None:
    """A burst, then the rate; another client is not affected."""
    now = 0.0
    table = RateTable(2, 3, clock=lambda: now)
    for _ in range(3):
        table.check(("192.0.2.1", 1))
    with pytest.raises(Problem) as raised:
        table.check(("192.0.2.1", 2))
    assert (raised.value.slug, raised.value.headers) == ("too-many-requests", {"Retry-After": "1"})
    table.check(("192.0.2.2", 1))
    now = 0.5
    table.check(("192.0.2.1", 3))
    with pytest.raises(Problem):
        table.check(("192.0.2.1", 3))
    now = 1_000.0
    for _ in range(3):
        table.check(("192.0.2.1", 3))
    with pytest.raises(Problem):
        table.check(("192.0.2.1", 3))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
    ],
)
def test_a_client_is_a_network_in_ipv6(one: str, other: str, same: bool) -> None:
    """Who has an IPv6 address has 2 to the power of 64 of them."""
    table = RateTable(1, 1, clock=lambda: 0.0)
    table.check((one, 1))
    if same:
        with pytest.raises(Problem):
            table.check((other, 1))
    else:
        table.check((other, 1))


def test_the_table_of_clients_is_bounded() -> None:
    """The latest clients are remembered."""
    table = RateTable(1, 1, clock=lambda: 0.0)
    for number in range(CLIENTS_KEPT + 50):
        table.check((f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 1))
    assert len(table) == CLIENTS_KEPT
    table.check(("10.0.0.0", 1))  # forgotten


def test_only_a_public_service_limits_rates() -> None:
    """A fleet behind one address is not slowed down, unless its operator says so."""
    assert Guard(ServiceSettings()).rates is None
    assert Guard(PUBLIC).rates is not None
    settings = ServiceSettings(limits=Limits(rate=1, burst=2))
    client = TestClient(Service(settings), base_url="http://127.0.0.1:8080")
    answers = [client.post("/v1/explain", json=QUESTION) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert answers[2].headers["retry-after"] == "1"
    assert client.get("/healthz").status_code == 200
