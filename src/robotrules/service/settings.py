"""
Settings: what the service listens on, who may use it, what it fetches, and its limits.

The defaults are safe: this machine only, checked Host fields, no other origin may read answers.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["CURRENT_LIMITS", "Limits", "ServiceSettings"]


class Limits(NamedTuple):
    """Limits of one worker process; requests beyond them get 413, 408, 429 or 503."""

    max_body: int = 8 * 1024 * 1024
    """Bytes of a request body; of a streamed one, bytes of a line."""
    max_urls: int = 10_000
    """URLs of one request that is not streamed."""
    body_timeout: float = 15.0
    """Seconds in which a body must arrive; a streamed one: between two chunks."""
    work_timeout: float = 10.0
    """Seconds after which the work for a request is ended."""
    max_connections: int = 2_000
    max_waiting: int = 64
    """Requests that wait for a process; further ones get 503."""


DEFAULT_LIMITS = Limits()
CURRENT_LIMITS: ContextVar[Limits] = ContextVar("CURRENT_LIMITS", default=DEFAULT_LIMITS)
"""The limits of the service that a verb runs for."""


class ServiceSettings(NamedTuple):
    """The settings of `robotrules serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    tokens: tuple[str, ...] = ()
    """Who sends one of these as a bearer token may use the API; empty: everyone."""
    public: bool = False
    """Whether the service may be used from other machines without a token."""
    allowed_hosts: tuple[str, ...] = ()
    """Names in the Host field beside the address that is listened on."""
    fetches: bool = True
    fetch_hosts: tuple[str, ...] = ()
    """The hosts that may be fetched from; empty: all public ones."""
    user_agent: str = ""
    store: str | None = None
    allow_private: tuple[str, ...] = ()
    profile: str = "default"
    workers: int = 1
    processes: int = 1
    """Processes of each worker that do the heavy work."""
    limits: Limits = Limits()
