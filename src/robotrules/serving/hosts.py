"""
Hosts: which policy a Host header selects.

A pattern is a host, or `*.` and a host for all names below it. Patterns and headers are compared in
normal form: lower case, A-labels, without port and trailing dot. The header comes from the client:
it selects among the configured values, is never part of a response, and only a bounded number of
results is remembered. It does not resolve names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

from robotrules.errors import PolicyError, RobotrulesError
from robotrules.http.origins import origin_of

T = TypeVar("T")

# A name has at most 253 characters (RFC 1035 §2.3.4); more leave room for a port.
LONGEST_HOST = 300
# Sites have few names; other headers are made up.
REMEMBERED_HOSTS = 1024
_SCHEME = "http://"


def normalize_host(host: str) -> str | None:
    """Return a host in normal form, without its port; None if *host* is not one."""
    if len(host) > LONGEST_HOST:
        return None
    origin = origin_of(f"{_SCHEME}{host}")
    # A path, a query or userinfo is not part of a host.
    if origin is None or any(mark in host for mark in "/?#@"):
        return None
    name = origin.removeprefix(_SCHEME)
    before, colon, port = name.rpartition(":")
    return before if colon and port.isdigit() else name


def _parse_pattern(pattern: object, setting: str) -> tuple[bool, str]:
    """Return whether a pattern is for all names below a host, and the host in normal form."""
    if not isinstance(pattern, str):
        raise PolicyError(f"{setting}: a host is a str, not {pattern!r:.60}")
    host = normalize_host(pattern.removeprefix("*."))
    if host is None or "*" in host:
        raise PolicyError(
            f"{setting}: {pattern!r} is not a host: write a name such as "
            "'shop.example.com', or '*.example.com' for all names below it"
        )
    return pattern.startswith("*."), host


def _names_above(host: str) -> Iterator[str]:
    """Yield the names that a host is below, the longest first."""
    _, dot, above = host.partition(".")
    while dot:
        yield above
        _, dot, above = above.partition(".")


class HostTable(Generic[T]):
    """Values by host pattern: an exact host, else the longest `*.` pattern, else a default."""

    def __init__(self, entries: Iterable[tuple[str, T]], default: T, setting: str) -> None:
        """Make it from patterns with values; *setting* is for error messages."""
        self._exact: dict[str, T] = {}
        self._below: dict[str, T] = {}
        self.default = default
        for pattern, value in entries:
            below, host = _parse_pattern(pattern, setting)
            table = self._below if below else self._exact
            if host in table:
                raise PolicyError(f"{setting}: {pattern!r} is there twice: remove one")
            table[host] = value
        # The cache belongs to the table, not to the class: values differ.
        self._find = lru_cache(REMEMBERED_HOSTS)(self._search)

    def find(self, header: str) -> T:
        """Return the value for a Host header. Never raises, whatever the header is."""
        if len(header) > LONGEST_HOST:
            return self.default
        return self._find(header)

    def covering_pattern(self, pattern: str, setting: str) -> str | None:
        """
        Return the longest `*.` pattern here that covers a pattern of another table.

        None if no pattern covers it, or if it is listed here itself.
        """
        below, host = _parse_pattern(pattern, setting)
        if host in (self._below if below else self._exact):
            return None
        return next((f"*.{above}" for above in _names_above(host) if above in self._below), None)

    def _search(self, header: str) -> T:
        try:
            host = normalize_host(header)
        except RobotrulesError:  # an international name, and the idna library is not installed
            return self.default
        if host is None:
            return self.default
        if host in self._exact:
            return self._exact[host]
        for above in _names_above(host):
            if above in self._below:
                return self._below[above]
        return self.default
