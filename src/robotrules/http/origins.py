"""
Origins: the scheme and authority that one robots.txt governs (RFC 9309 §2.3; AMB-62).

Two URLs have the same origin if scheme, host and port are equal after normalisation: the host in
lower case, international names as A-labels, without default port, userinfo and one trailing dot
(RFC 3986 §6.2.2, §6.2.3). All hosts that browsers open are accepted, including names that IDNA 2008
and RFC 1123 reject but the DNS contains, such as `foo-.example` and `i❤.ws` (WHATWG URL §3.5). A
text that is not clearly an `http` or `https` URL with a host has no origin: a client that guessed
could fetch the robots.txt of one server and crawl another. Names are not resolved.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

from robotrules._engine.url_type import url_type_error
from robotrules.errors import MissingExtraError

_PORTS = {"http": "80", "https": "443"}
# RFC 3986 §3.2. A backslash, a space or a control character is not part of an authority: programs
# disagree about where such a host ends.
_URL = re.compile(
    # ASCII letters only: without case, a "ſ" would be an "s".
    r"(?P<origin>(?P<scheme>[hH][tT][tT][pP][sS]?)://(?:[^/?#@\\\s\x00-\x20]*@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^/?#@:\\\[\]\s\x00-\x20]+)(?::(?P<port>[0-9]*))?)(?=[/?#]|\Z)"
)
# A decoded host: letters, digits, and hyphens and underscores in any position, since the DNS allows
# them and sites use them.
_HOST = re.compile(r"[-a-z0-9_]+(?:\.[-a-z0-9_]+)*")
# Punycode of pure ASCII: no valid label has this form, and a program that decodes it obtains
# another host (UTS #46 §4).
_ASCII_A_LABEL = re.compile(r"(?:^|\.)xn--(?:[^.]*-)?(?:\.|\Z)")
_JOINERS = "\u200c\u200d"
# The last label of a name is never a number (RFC 1123 §2.1); the last label of an address is.
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
# RFC 1035 §2.3.4.
_MAX_HOST_LENGTH, _MAX_LABEL_LENGTH = 253, 63


def origin_of(url: str | bytes) -> str | None:
    """Return the origin of *url*, such as `https://example.com`; None if it has none."""
    text = url.decode("utf-8", "surrogateescape") if isinstance(url, bytes) else url
    if not isinstance(text, str):
        raise url_type_error(url)
    return split_origin(text)[0]


def split_origin(url: str) -> tuple[str | None, int]:
    """Return the origin of *url* (or None), and the offset where scheme and authority end."""
    match = _URL.match(url)
    if not match:
        return None, 0
    _, scheme, host, port = match.groups()
    # Percent-encoding takes three characters per byte, and a port can have leading zeros.
    if len(host) > 4 * _MAX_HOST_LENGTH or len(port or "") > 32:
        return None, match.end(1)
    return _normalize(scheme, host, port), match.end(1)


def parse_origin(text: str) -> str | None:
    """
    Return the origin of a URL or of a bare host; None if *text* is neither.

    `example.com` means `https://example.com`, as in lists of hosts. A mail address or a URL of
    another scheme is not a host.
    """
    origin = origin_of(text)
    if origin is None and isinstance(text, str) and "://" not in text:
        host = re.split("[/?#]", text.strip(), maxsplit=1)[0]
        origin = None if "@" in host else origin_of(f"https://{text.strip()}")
    return origin


def authority_end(url: str) -> int:
    """Return the offset where scheme and authority end; 0 if there is no origin."""
    match = _URL.match(url)
    return match.end("origin") if match else 0


def robots_url(origin: str) -> str:
    """Return the URL of the robots.txt of an origin (REP-2.3-01, -02, -05)."""
    return f"{origin}/robots.txt"


@lru_cache(maxsize=4096)
def _normalize(scheme: str, host: str, port: str | None) -> str | None:
    scheme = scheme.lower()
    name = _normalize_ipv6(host) if host[0] == "[" else _normalize_name(host)
    if name is None:
        return None
    if not port:
        return f"{scheme}://{name}"
    port = port.lstrip("0")
    if not 1 <= len(port) <= 5 or int(port) > 65535:
        return None
    return f"{scheme}://{name}" + (f":{port}" if port != _PORTS[scheme] else "")


def _normalize_ipv6(host: str) -> str | None:
    try:
        return f"[{IPv6Address(host[1:-1]).compressed}]"
    except AddressValueError:
        return None


def _normalize_name(host: str) -> str | None:
    """Return a registered name or an IPv4 address in normal form; None if it is neither."""
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode("utf-8")
        except UnicodeError:
            return None
    if not host.isascii():
        a_labels = _to_a_labels(host)
        if a_labels is None:
            return None
        host = a_labels
    host = host.lower().removesuffix(".")
    if len(host) > _MAX_HOST_LENGTH or not _HOST.fullmatch(host) or _ASCII_A_LABEL.search(host):
        return None
    *_, last = labels = host.split(".")
    if max(map(len, labels)) > _MAX_LABEL_LENGTH:
        return None
    if not _NUMBER.match(last):
        return host
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return None  # such as `0x7f.1`: programs disagree about its meaning


def _to_a_labels(host: str) -> str | None:
    """
    Return the A-labels of an international name (UTS #46 §4, as browsers process it).

    CheckHyphens and UseSTD3ASCIIRules are off, CheckBidi and CheckJoiners are on. Validity follows
    the UTS #46 table: IDNA 2008 excludes symbols that registered names use.
    """
    try:
        import idna
    except ImportError:
        raise MissingExtraError(
            f"{host!r} is an international name and the idna library is not installed: "
            "pip install 'robotrules[http]'"
        ) from None
    labels = []
    try:
        for label in idna.uts46_remap(host, std3_rules=False).split("."):
            if label.isascii():
                labels.append(label)
                continue
            if len(label) > _MAX_LABEL_LENGTH or label.startswith("xn--"):
                return None
            idna.check_initial_combiner(label)
            idna.check_bidi(label)
            for position, letter in enumerate(label):
                if letter in _JOINERS and not idna.valid_contextj(label, position):
                    return None
            labels.append("xn--" + label.encode("punycode").decode("ascii"))
    except (idna.IDNAError, ValueError):
        return None
    return ".".join(labels)
