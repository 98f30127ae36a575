"""
Origins: the scheme and authority that one robots.txt governs (RFC 9309 §2.3; AMB-62).

Two URLs have one origin when scheme, host and port are the same: the host in lower case, an
international name as its A-label, the default port, userinfo and one dot at the end left out
(RFC 3986 §6.2.2, §6.2.3). Hosts are those that browsers open: names that IDNA 2008 and RFC 1123
refuse, and that the DNS has, such as `foo-.example` and `i❤.ws`, are hosts too (WHATWG URL §3.5).
What is not clearly an `http` or `https` URL with a host has no origin: a client that guessed would
ask one server and obey another. It resolves no names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

from robotrules._engine.url_type import url_type_error
from robotrules.errors import MissingExtraError

_PORTS = {"http": "80", "https": "443"}
# RFC 3986 §3.2. A backslash, a space or a control character belongs to no authority: programs
# differ about where such a host ends.
_URL = re.compile(
    r"(?P<origin>(?P<scheme>https?)://(?:[^/?#@\\\s\x00-\x20]*@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^/?#@:\\\[\]\s\x00-\x20]+)(?::(?P<port>[0-9]*))?)(?=[/?#]|\Z)",
    re.IGNORECASE,
)
# What is left of a host once it is decoded: letters, digits, and hyphens and underscores anywhere,
# since the DNS carries them and sites have them.
_HOST = re.compile(r"[-a-z0-9_]+(?:\.[-a-z0-9_]+)*")
# Punycode of ASCII alone: no name has a label like it, and a program that decodes it gets another
# host (UTS #46 §4).
_ASCII_A_LABEL = re.compile(r"(?:^|\.)xn--(?:[^.]*-)?(?:\.|\Z)")
_JOINERS = "\u200c\u200d"
# The last label of a name is never a number (RFC 1123 §2.1); that of an address is.
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
# RFC 1035 §2.3.4.
_LONGEST_HOST, _LONGEST_LABEL = 253, 63


def origin_of(url: str | bytes) -> str | None:
    """Return the origin of *url*, such as `https://example.com`, or None if it has none."""
    text = url.decode("utf-8", "surrogateescape") if isinstance(url, bytes) else url
    if not isinstance(text, str):
        raise url_type_error(url)
    return split_origin(text)[0]


def split_origin(url: str) -> tuple[str | None, int]:
    """Return the origin of *url*, or None, and where scheme and authority end as written."""
    found = _URL.match(url)
    if not found:
        return None, 0
    _, scheme, host, port = found.groups()
    # Each octet of a name may be written with three, and a port with zeros in front.
    if len(host) > 4 * _LONGEST_HOST or len(port or "") > 32:
        return None, found.end(1)
    return _normal(scheme, host, port), found.end(1)


def parse_origin(text: str) -> str | None:
    """
    Return the origin that somebody means by a URL or by a host alone; None: it is neither.

    `example.com` is `https://example.com`, as people write it in lists. An address of mail or
    another scheme is no host.
    """
    found = origin_of(text)
    if found is None and isinstance(text, str) and "://" not in text:
        host = re.split("[/?#]", text.strip(), maxsplit=1)[0]
        found = None if "@" in host else origin_of(f"https://{text.strip()}")
    return found


def authority_end(url: str) -> int:
    """Return where scheme and authority end as written; 0: there is no origin."""
    found = _URL.match(url)
    return found.end("origin") if found else 0


def robots_url(origin: str) -> str:
    """Return the URL of the robots.txt that governs an origin (REP-2.3-01, -02, -05)."""
    return f"{origin}/robots.txt"


@lru_cache(maxsize=4096)
def _normal(scheme: str, host: str, port: str | None) -> str | None:
    scheme = scheme.lower()
    name = _address(host) if host[0] == "[" else _name(host)
    if name is None:
        return None
    if not port:
        return f"{scheme}://{name}"
    port = port.lstrip("0")
    if not 1 <= len(port) <= 5 or int(port) > 65535:
        return None
    return f"{scheme}://{name}" + (f":{port}" if port != _PORTS[scheme] else "")


def _address(host: str) -> str | None:
    try:
        return f"[{IPv6Address(host[1:-1]).compressed}]"
    except AddressValueError:
        return None


def _name(host: str) -> str | None:
    """Return a registered name or an IPv4 address in normal form; None: it can be neither."""
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode("utf-8")
        except UnicodeError:
            return None
    if not host.isascii():
        found = _a_labels(host)
        if found is None:
            return None
        host = found
    host = host.lower().removesuffix(".")
    if len(host) > _LONGEST_HOST or not _HOST.fullmatch(host) or _ASCII_A_LABEL.search(host):
        return None
    *_, last = labels = host.split(".")
    if max(map(len, labels)) > _LONGEST_LABEL:
        return None
    if not _NUMBER.match(last):
        return host
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return None  # `0x7f.1` and its like: programs differ about what they mean


def _a_labels(host: str) -> str | None:
    """
    Return the A-labels of an international name (UTS #46 §4, as browsers process it).

    CheckHyphens and UseSTD3ASCIIRules are off, CheckBidi and CheckJoiners on, and what is valid is
    for the table of UTS #46 to say: IDNA 2008 has no symbols, and sites have.
    """
    try:
        import idna
    except ImportError:
        raise MissingExtraError(
            f"{host!r} is an international name, and the library for them is not installed: "
            "pip install 'robotrules[http]'"
        ) from None
    labels = []
    try:
        for label in idna.uts46_remap(host, std3_rules=False).split("."):
            if label.isascii():
                labels.append(label)
                continue
            if len(label) > _LONGEST_LABEL or label.startswith("xn--"):
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
