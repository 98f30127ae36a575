"""
Fetching: one robots.txt for a drop-in whose original fetches, by `robotrules.Client`.

The originals of the drop-ins deny everything after a 401 or 403, and fail after too many redirects.
RFC 9309 permits both (§2.3.1.2, §2.3.1.3), so the access profile here does the same. Nothing is
kept between two calls: each opens a client with a store in memory and closes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from robotrules.access import ACCESS_PROFILES
from robotrules.cache import FetchRecord
from robotrules.client.origin_state import OriginState
from robotrules.client.ssrf import ALLOW_OPTION
from robotrules.client.sync import Client
from robotrules.compat.user_agents import crawler_name

# Sent if the caller does not set another one.
USER_AGENT = f"robotrules/{sys.modules['robotrules'].__version__}"

_ACCESS = ACCESS_PROFILES["default"].replace(
    name="compat", deny_on_401_403=True, redirect_failure_unreachable=True
)


def open_client(
    user_agent: str = USER_AGENT,
    *,
    allow_private: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> Client:
    """Open a client with the policy of the drop-ins; it raises on values that cannot be sent."""
    return Client(
        user_agent,
        # Of a browser's header it is `Mozilla`: the originals send any header.
        product_token=crawler_name(user_agent),
        access=_ACCESS,
        store="memory:",
        allow_private=allow_private,
        headers=headers or {},
        timeout=timeout,
    )


def fetch_state(
    url: str,
    *,
    user_agent: str = USER_AGENT,
    allow_private: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> OriginState | None:
    """Fetch the robots.txt of the origin of *url*; None: it is not an http or https URL."""
    with open_client(
        user_agent, allow_private=allow_private, headers=headers, timeout=timeout
    ) as client:
        return client.lookup(url)


def describe_failure(record: FetchRecord, owner: str) -> str:
    """
    Return why a file could not be read; *owner* is the class that has `allow_private`.

    The client's text on a refused private address names an argument of `robotrules.Client`, which
    the drop-ins do not have.
    """
    detail = record.detail.replace(ALLOW_OPTION, f"set {owner}.allow_private = ")
    return f"{record.url}: {detail}"
