"""
Private places: nothing that a stranger names leads a transport into them (AMB-56).

What must not be reached listens on `127.0.0.2`; what may be is `127.0.0.1`, allowed by its address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import PUBLIC, AddressPolicy
from tests.client import fault_servers
from tests.client.transports.conftest import Carrier

Make = Callable[..., Carrier]
SECRET = "127.0.0.2"


@pytest.fixture
def site() -> Iterator[fault_servers.Site]:
    """What may be reached."""
    with fault_servers.serve(fault_servers.ok) as found:
        yield found


@pytest.fixture
def secret(site: fault_servers.Site) -> Iterator[fault_servers.Site]:
    """What must not be reached, on the same port."""
    with fault_servers.serve(fault_servers.ok, host=SECRET, port=site.port) as found:
        yield found
        assert found.connections == 0


def refused(answer: object) -> Failure:
    """Assert that an answer is a refusal to connect."""
    assert isinstance(answer, Failure), answer
    assert answer.reason is FailureReason.REFUSED, answer
    return answer


def test_a_name_that_leads_to_a_private_address(carrier: Make, secret: fault_servers.Site) -> None:
    to_secret = AddressPolicy(["127.0.0.1"], lambda host, port: [SECRET])
    found = refused(carrier(addresses=to_secret).send(secret.named("evil.example")))
    assert found.detail == (
        "evil.example is 127.0.0.2, which is loopback (RFC 1122); "
        "to allow it, pass allow_private=['evil.example']"
    )


def test_of_several_addresses_only_the_vetted_one(
    carrier: Make, site: fault_servers.Site, secret: fault_servers.Site
) -> None:
    mixed = AddressPolicy(["127.0.0.1"], lambda host, port: [SECRET, "127.0.0.1", "::1"])
    answer = carrier(addresses=mixed).send(site.named("mixed.example"))
    assert isinstance(answer, Response), answer
    assert answer.address == "127.0.0.1"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_changes_its_mind(carrier: Make, scheme: str) -> None:
    """DNS rebinding: the name is resolved once, and the connection goes to what was vetted."""
    tls = fault_servers.server_tls("fickle.example") if scheme == "https" else None
    with (
        fault_servers.serve(fault_servers.ok, tls=tls) as open_site,
        fault_servers.serve(
            fault_servers.ok, tls=tls, host=SECRET, port=open_site.port
        ) as secret_site,
    ):
        asked = []
        answers = chain([["127.0.0.1"]], repeat([SECRET]))

        def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            return next(answers)

        one = carrier(addresses=AddressPolicy(["127.0.0.1"], resolve))
        answer = one.send(open_site.named("fickle.example"))
        assert isinstance(answer, Response), answer
        assert answer.address == "127.0.0.1"
        assert asked == ["fickle.example"]
        # A new connection, a new answer of the resolver: it is vetted as the first was.
        refused(one.send(open_site.named("fickle.example")))
        assert len(asked) == 2
        assert secret_site.connections == 0


LITERALS = [
    "127.0.0.2",
    "[::1]",
    "[::ffff:127.0.0.2]",
    "[::ffff:7f00:2]",
    "[::127.0.0.2]",
    "[64:ff9b::127.0.0.2]",
    "[2002:7f00:2::]",
    "[fe80::1]",
    "169.254.169.254",
    "0.0.0.0",
    "[::]",
    "10.0.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "me:secret@127.0.0.2",
]


@pytest.mark.parametrize("host", LITERALS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_address_in_a_url(
    carrier: Make, secret: fault_servers.Site, scheme: str, host: str
) -> None:
    """A library may connect to it without asking a resolver."""
    found = refused(carrier(addresses=PUBLIC).send(f"{scheme}://{host}:{secret.port}/latest"))
    assert "allow_private" in found.detail
    assert "secret" not in found.detail


# Spellings of 127.0.0.2 and of other private addresses that some program reads as one. None is a
# host here: no name is looked up, and nothing is connected to.
SPELLINGS = [
    *("127.2", "127.0.2", "0x7f.0.0.2", "0x7f.2", "0X7F000002", "0177.0.0.2", "017700000002"),
    *("2130706434", "127.0.0.02", "127.0.0.0x2", "127.0.0.2.1", "127.0.0", "4294967298"),
    *("127.0.0.2%00", "127.0.0.2%0a", "127.0.0.2%20", "%31%32%37.2", "127%2e2", "0x7f%2e2"),
    *("[fe80::1%25eth0]", "[::1%25lo]", "[127.0.0.2]", "[::ffff:127.2]", "[::1", "::1"),
    *("\uff11\uff12\uff17.\uff12", "\u2460\u2461\u2466.\u2461", "127\u30022", "1\u00ad27.2"),
    *("127.0.0.2\\@example.com", "127.0.0.2\t", "-127.2", "0x.2", "0x7f.0x2", "1.0x"),
    *("xn--localhost-", "localhost%00", "local host"),
]


@pytest.mark.parametrize("host", SPELLINGS)
def test_an_address_that_is_spelled_oddly(
    carrier: Make, secret: fault_servers.Site, host: str
) -> None:
    """It is not a valid host: programs differ about its meaning, so it is not requested."""
    asked: list[str] = []

    def resolve(name: str, port: int) -> list[str]:
        asked.append(name)
        return [SECRET]

    one = carrier(addresses=AddressPolicy(resolve=resolve))
    answer = one.send(f"http://{host}:{secret.port}/")
    assert answer == Failure(FailureReason.PROTOCOL, "no http or https URL with a host")
    assert asked == []


# Spellings that are addresses, once they are in normal form.
NORMALISED = [
    *("127.0.0.2.", "%31%32%37.0.0.2", "127%2e0%2e0%2e2", "\uff11\uff12\uff17.0.0.2"),
    *("127\u30020\uff0e0\uff612", "\u2460\u2461\u2466.0.0.\u2461", "1\u00ad27.0.0.2"),
    *("[0:0:0:0:0:0:0:1]", "[::FFFF:127.0.0.2]", "[0000::0001]", "[64:FF9B::7F00:2]"),
    *("me@127.0.0.2", "example.com@127.0.0.2", "\U0001d7cf\U0001d7d0\U0001d7d5.0.0.2"),
]


@pytest.mark.parametrize("host", NORMALISED)
def test_an_address_in_another_form(carrier: Make, secret: fault_servers.Site, host: str) -> None:
    refused(carrier(addresses=PUBLIC).send(f"http://{host}:{secret.port}/"))


# Names as only browsers have them: the name goes to the resolver, and what it gives is vetted.
NAMES = {
    "foo-.example.com": "foo-.example.com",
    "-foo.example.com": "-foo.example.com",
    "i\u2764.ws": "xn--i-7iq.ws",
    "-127.0.0.2-": "-127.0.0.2-",
    "127.0.0.2-": "127.0.0.2-",
    "\u2764127.0.0.2\u2764": "xn--127-3r6a.0.0.xn--2-7iq",
    "localhost-": "localhost-",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3": "localhost",
}


@pytest.mark.parametrize("host", NAMES)
def test_a_name_as_browsers_have_it(
    carrier: Make, site: fault_servers.Site, secret: fault_servers.Site, host: str
) -> None:
    asked: list[str] = []

    def to(address: str) -> AddressPolicy:
        def resolve(name: str, port: int) -> list[str]:
            asked.append(name)
            return [address]

        return AddressPolicy(["127.0.0.1"], resolve)

    refused(carrier(addresses=to(SECRET)).send(f"http://{host}:{site.port}/"))
    refused(carrier(addresses=to(f"[::ffff:{SECRET}]")).send(f"http://{host}:{site.port}/"))
    answer = carrier(addresses=to("127.0.0.1")).send(f"http://{host}:{site.port}/")
    assert isinstance(answer, Response), answer
    assert asked == [NAMES[host]] * 3
    assert f"host: {NAMES[host]}:{site.port}".encode() in site.heads[0].lower()


def test_a_name_with_a_hyphen_at_its_end_over_tls(carrier: Make) -> None:
    with fault_servers.serve(
        fault_servers.ok, tls=fault_servers.server_tls("other.example")
    ) as site:
        answer = carrier(verify=False).send(site.named("foo-.example.com"))
        assert isinstance(answer, Response), answer


def test_brackets_from_a_resolver(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        to_site = AddressPolicy(["127.0.0.1"], lambda host, port: ["[::ffff:127.0.0.1]"])
        answer = carrier(addresses=to_site).send(site.named("one.example"))
        assert isinstance(answer, Response), answer
        assert answer.address == "127.0.0.1"


def test_the_system_knows_this_machine_by_name(carrier: Make, site: fault_servers.Site) -> None:
    answer = carrier(addresses=PUBLIC).send(site.named("localhost"))
    refused(answer)
    assert site.connections == 0
    assert isinstance(
        carrier(addresses=AddressPolicy(["localhost"])).send(site.named("localhost")), Response
    )


def test_where_a_redirect_leads_is_vetted_too(carrier: Make, secret: fault_servers.Site) -> None:
    """A transport follows nothing, and vets the next request like the first."""
    location = f"Location: http://{SECRET}:{secret.port}/"
    with fault_servers.serve(
        fault_servers.says(fault_servers.message(b"", location, status="301 Moved"))
    ) as redirecting:
        one = carrier(addresses=AddressPolicy(["127.0.0.1"]))
        answer = one.send(redirecting.url)
        assert isinstance(answer, Response)
        assert answer.status == 301
        refused(one.send(Request(f"http://{SECRET}:{secret.port}/")))


# --- The environment ------------------------------------------------------------------------------


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without proxies."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_proxies_of_the_environment_are_not_used(
    carrier: Make, site: fault_servers.Site, no_proxies: pytest.MonkeyPatch
) -> None:
    with fault_servers.serve(fault_servers.proxies) as proxy:
        no_proxies.setenv("http_proxy", proxy.url)
        no_proxies.setenv("all_proxy", proxy.url)
        answer = carrier().send(site.named("far.example"))
        assert isinstance(answer, Response)
        assert answer.body == fault_servers.ROBOTS
        assert proxy.connections == 0


def test_a_configured_proxy_is_used(carrier: Make, no_proxies: pytest.MonkeyPatch) -> None:
    """It is the user's, so it may be anywhere; an address in a URL is vetted all the same."""
    with fault_servers.serve(fault_servers.proxies) as proxy:
        no_proxies.setenv("http_proxy", proxy.url.replace("//", "//me:hush@"))
        one = carrier(trust_env=True, addresses=PUBLIC)
        answer = one.send("http://far.example/robots.txt")
        assert isinstance(answer, Response), answer
        assert answer.body == b"# from the proxy\n"
        assert answer.address is None
        assert proxy.heads[0].startswith(b"GET http://far.example/robots.txt HTTP/1.1\r\n")
        assert b"proxy-authorization: basic" in proxy.heads[0].lower()
        refused(one.send("http://127.0.0.1/"))
        assert proxy.connections == 1


def test_a_host_may_be_kept_from_the_proxy(
    carrier: Make, site: fault_servers.Site, no_proxies: pytest.MonkeyPatch
) -> None:
    with fault_servers.serve(fault_servers.proxies) as proxy:
        no_proxies.setenv("http_proxy", proxy.url)
        no_proxies.setenv("no_proxy", "near.example")
        answer = carrier(trust_env=True).send(site.named("near.example"))
        assert isinstance(answer, Response)
        assert answer.body == fault_servers.ROBOTS
        assert proxy.connections == 0


def test_tls_goes_through_a_proxy(carrier: Make, no_proxies: pytest.MonkeyPatch) -> None:
    with (
        fault_servers.serve(fault_servers.proxies) as proxy,
        fault_servers.serve(fault_servers.ok, tls=fault_servers.server_tls("far.example")) as far,
    ):
        no_proxies.setenv("https_proxy", proxy.url)
        answer = carrier(trust_env=True, addresses=PUBLIC).send(far.named("far.example"))
        assert isinstance(answer, Response), answer
        assert answer.body == fault_servers.ROBOTS
        assert proxy.heads[0].startswith(b"CONNECT far.example:")


def test_a_proxy_that_does_not_connect(carrier: Make, no_proxies: pytest.MonkeyPatch) -> None:
    forbids = fault_servers.says(fault_servers.message(b"", status="403 Forbidden"))
    with fault_servers.serve(forbids) as proxy, fault_servers.closed_port() as closed:
        for url in (proxy.url, closed):
            no_proxies.setenv("https_proxy", url.replace("//", "//me:hush@"))
            answer = carrier(trust_env=True).send("https://far.example/")
            assert isinstance(answer, Failure)
            assert answer.reason is FailureReason.CONNECT, answer
            assert "hush" not in answer.detail


def test_a_proxy_of_another_kind_raises_with_the_fix(
    carrier: Make, no_proxies: pytest.MonkeyPatch
) -> None:
    no_proxies.setenv("https_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(ValueError, match="leave trust_env off"):
        carrier(trust_env=True).send("https://far.example/")
    no_proxies.setenv("https_proxy", "127.0.0.1:1")
    answer = carrier(trust_env=True).send("https://far.example/")
    assert isinstance(answer, Failure)
    assert answer.reason is FailureReason.CONNECT
