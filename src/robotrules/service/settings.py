"""
Settings: what the service listens on, who may use it, what it fetches, and its limits.

The defaults are safe: this machine only, checked Host fields, no other origin may read answers.
"""

from __future__ import annotations

import ipaddress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "CURRENT_LIMITS",
    "SHORTEST_TOKEN",
    "Limits",
    "ServiceSettings",
    "is_loopback",
    "read_tokens",
]

MIB = 1024 * 1024
# 16 random bytes in base64 are 22 characters; 16 characters are still too many to guess.
SHORTEST_TOKEN = 16


class Limits(NamedTuple):
    """Limits of one worker process; requests beyond them get 408, 413, 429, 431 or 503."""

    max_body: int = 8 * MIB
    """Bytes of a request body; of a streamed one, bytes of a line."""
    max_bodies: int = 256 * MIB
    """Bytes of all request bodies that are in memory at the same time."""
    max_urls: int = 10_000
    """URLs of one request that is not streamed."""
    header_timeout: float = 10.0
    """Seconds in which the header of a request must arrive."""
    body_timeout: float = 15.0
    """Seconds in which a body must arrive; a streamed one: between two chunks."""
    send_timeout: float = 30.0
    """Seconds for which a client may read nothing of its response."""
    idle_timeout: int = 5
    """Seconds for which a connection stays open after a response."""
    work_timeout: float = 10.0
    """Seconds after which the work for a request is ended."""
    queue_timeout: float = 5.0
    """Seconds for which a request waits for a process."""
    max_waiting: int = 64
    """Requests that wait for a process; further ones get 503."""
    work_memory: int = 1024 * MIB
    """Bytes of memory of a process that does the heavy work, where the system can limit it."""
    work_requests: int = 1_000
    """Requests after which such a process is replaced."""
    fetch_timeout: float = 20.0
    """Seconds for one fetch of a robots.txt or a page, including redirects."""
    max_fetches: int = 256
    """Origins that are fetched from at a time; four requests may wait for each."""
    max_connections: int = 2_000
    max_header: int = 64 * 1024
    """Bytes of the header of a request."""
    rate: float = 0.0
    """Requests per second of one client address; 0: not limited."""
    burst: int = 50
    """Requests that a client may send at once before `rate` applies."""
    unready_seconds: float = 0.0
    """Seconds after SIGTERM in which requests are still accepted, while /readyz says 503."""
    stop_timeout: float = 15.0
    """Seconds in which running requests must end after that."""


DEFAULT_LIMITS = Limits()
CURRENT_LIMITS: ContextVar[Limits] = ContextVar("CURRENT_LIMITS", default=DEFAULT_LIMITS)
"""The limits of the service that a verb runs for."""

# What one address may do where everybody may use the service.
PUBLIC_RATE = 10.0


class ServiceSettings(NamedTuple):
    """The settings of `robotrules serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    tokens: tuple[str, ...] = ()
    """Who sends one of these as a bearer token may use the API; empty: everyone."""
    token_file: str | None = None
    """Where the tokens are read from, and read again at SIGHUP."""
    public: bool = False
    """Whether the service may be used from other machines without a token."""
    allowed_hosts: tuple[str, ...] = ()
    """Names in the Host field beside the address that is listened on."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses whose X-Forwarded-For field names the client."""
    fetches: bool = True
    fetch_hosts: tuple[str, ...] = ()
    """The hosts that may be fetched from; empty: all public ones."""
    user_agent: str = ""
    store: str | None = None
    allow_private: tuple[str, ...] = ()
    profile: str = "default"
    workers: int = 1
    processes: int = 2
    """Processes of each worker that do the heavy work."""
    log_format: str = "text"
    """`text` or `json`."""
    access_log: bool = True
    limits: Limits = Limits()


def is_loopback(host: str) -> bool:
    """Tell whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def read_tokens(path: str | Path) -> tuple[str, ...]:
    """
    Return the tokens of a file: one a line; empty lines and lines with '#' first are comments.

    A file without tokens, or with one that is too short or not visible ASCII, raises ValueError.
    The messages contain line numbers and no tokens.
    """
    tokens: list[str] = []
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        token = line.strip()
        if not token or token.startswith(b"#"):
            continue
        if not all(0x21 <= octet <= 0x7E for octet in token):
            raise ValueError(f"line {number}: a token is visible ASCII characters without spaces")
        if len(token) < SHORTEST_TOKEN:
            raise ValueError(
                f"line {number}: the token is shorter than {SHORTEST_TOKEN} characters; make one "
                'with: python -c "import secrets; print(secrets.token_urlsafe())"'
            )
        tokens.append(token.decode())
    if not tokens:
        raise ValueError("the file has no tokens: write one a line")
    return tuple(tokens)
