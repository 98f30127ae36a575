"""
Client settings: the client that the settings of a crawler describe.

A wrong setting stops the crawl with an error that names it: a crawl that starts without what its
settings say would not obey what its user thinks it obeys. The settings of the middlewares are
listed in docs/integrations/scrapy.md.
"""

from __future__ import annotations

import difflib
import inspect
import math
from typing import TYPE_CHECKING, Any

from robotrules.client.aio import AsyncClient
from robotrules.client.ssrf import ALLOW_OPTION
from robotrules.errors import ConfigError, CrawlerError
from robotrules.integrations.scrapy.crawl_warnings import warn_of_user_agent
from robotrules.robotstxt.tokens import product_token

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from robotrules.client.metrics import AsyncOnFetch

SETTINGS = (
    "ROBOTRULES_ALLOW_PRIVATE",
    "ROBOTRULES_CLIENT_OPTIONS",
    "ROBOTRULES_DROP_NOINDEX",
    "ROBOTRULES_MAX_DELAY",
    "ROBOTRULES_PROFILE",
    "ROBOTRULES_PROXY",
    "ROBOTRULES_STORE",
    "ROBOTRULES_TIMEOUT",
)
# Arguments of the client that other settings of Scrapy describe, or the middleware itself.
_SET_ELSEWHERE = {"user_agent": "USER_AGENT", "product_token": "ROBOTSTXT_USER_AGENT"}


def vet_names(settings: BaseSettings) -> None:
    """Raise a ConfigError for a setting whose name begins like ours and is not one of ours."""
    for name in settings:
        if str(name).startswith("ROBOTRULES_") and name not in SETTINGS:
            raise ConfigError(f"unknown setting {name}: {_find_fix(str(name))}")


def _find_fix(name: str) -> str:
    option = name.removeprefix("ROBOTRULES_").lower()
    if option in _client_arguments():
        return f"set ROBOTRULES_CLIENT_OPTIONS = {{{option!r}: ...}}"
    similar = difflib.get_close_matches(name, SETTINGS, 1)
    return f"did you mean {similar[0]}?" if similar else f"use one of {', '.join(SETTINGS)}"


def _client_arguments() -> set[str]:
    return set(inspect.signature(AsyncClient).parameters) - {"on_fetch"}


def name_setting(detail: str) -> str:
    """Return a detail of the client with the name of the setting in place of the argument."""
    return detail.replace(ALLOW_OPTION, "set ROBOTRULES_ALLOW_PRIVATE = ")


def read_seconds(settings: BaseSettings, name: str, default: float) -> float:
    """Return a setting in seconds."""
    value = settings.get(name, default)
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not seconds >= 0 or isinstance(value, bool):
        raise ConfigError(f"{name} = {value!r:.80}: set a number of seconds, such as {default:g}")
    return seconds


def read_client_options(settings: BaseSettings) -> dict[str, Any]:
    """Return ROBOTRULES_CLIENT_OPTIONS: further arguments of `robotrules.AsyncClient`."""
    name = "ROBOTRULES_CLIENT_OPTIONS"
    try:
        options = dict(settings.getdict(name))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} = {settings[name]!r:.80}: set a dict, such as {{'connections': 10}}"
        ) from None
    known = _client_arguments()
    for option in options:
        if option in _SET_ELSEWHERE:
            raise ConfigError(f"{name} has {option!r}: set {_SET_ELSEWHERE[option]} instead")
        if option not in known:
            allowed = ", ".join(sorted(known - set(_SET_ELSEWHERE)))
            raise ConfigError(f"{name} has the unknown option {option!r}: use {allowed}")
    return options


def open_client(crawler: Crawler, on_fetch: AsyncOnFetch) -> AsyncClient:
    """Return the client that the settings describe, with the name that the spider sends."""
    settings = crawler.settings
    vet_names(settings)
    sent = _sent_user_agent(crawler)
    named = settings["ROBOTSTXT_USER_AGENT"] or sent
    token = product_token(named)
    if token is None:
        which = "ROBOTSTXT_USER_AGENT" if settings["ROBOTSTXT_USER_AGENT"] else "USER_AGENT"
        raise CrawlerError(
            f"no product token in {which} = {named!r}, so the crawler has no name to find its "
            "rules by (RFC 9309 §2.2.1): set USER_AGENT = 'ExampleBot/1.0 "
            "(+https://example.com/bot)' with your crawler's name"
        )
    options = {
        "store": settings.get("ROBOTRULES_STORE"),
        "profile": settings.get("ROBOTRULES_PROFILE", "default"),
        "allow_private": settings.getlist("ROBOTRULES_ALLOW_PRIVATE"),
        "proxy": settings.get("ROBOTRULES_PROXY"),
        "timeout": read_seconds(settings, "ROBOTRULES_TIMEOUT", 30.0),
        # The interval without a Crawl-delay is DOWNLOAD_DELAY.
        "min_delay": 0.0,
        **read_client_options(settings),
    }
    client = AsyncClient(
        # robots.txt is requested under the name whose rules apply.
        sent if token.lower() in sent.lower() else named,
        product_token=token,
        on_fetch=on_fetch,
        **options,
    )
    warn_of_user_agent(client, sent)
    return client


def _sent_user_agent(crawler: Crawler) -> str:
    """Return the User-Agent of requests that have none of their own."""
    settings = crawler.settings
    # Scrapy sets these fields before it sets USER_AGENT.
    for name, value in settings.getdict("DEFAULT_REQUEST_HEADERS").items():
        if str(name).lower() == "user-agent" and value:
            return str(value)
    # The attribute of a spider is deprecated, but as long as it works it is what is sent.
    return str(getattr(crawler.spider, "user_agent", None) or settings["USER_AGENT"] or "")
