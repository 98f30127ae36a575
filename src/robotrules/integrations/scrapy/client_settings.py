"""
Client settings: the client that the settings of a crawler describe, and the crawler's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from robotrules.client.aio import AsyncClient
from robotrules.errors import ConfigError, CrawlerError, ProfileError
from robotrules.integrations.scrapy.crawl_warnings import warn_of_user_agent
from robotrules.integrations.scrapy.setting_values import (
    name_culprit,
    read_client_options,
    read_seconds,
    vet_names,
)
from robotrules.profile import find_profile
from robotrules.robotstxt.tokens import product_token

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from robotrules.client.metrics import AsyncOnFetch


class SpiderNames(NamedTuple):
    """What a crawler sends, and whose rules it follows."""

    sent: str
    """The User-Agent of requests that have none of their own."""
    named: str
    """ROBOTSTXT_USER_AGENT, or what is sent."""
    token: str | None
    """The product token in it, which selects the rules; None: it has none."""


def read_names(crawler: Crawler) -> SpiderNames:
    """Return the names that the settings of a crawler and its spider have."""
    sent = _sent_user_agent(crawler)
    named = crawler.settings["ROBOTSTXT_USER_AGENT"] or sent
    return SpiderNames(sent, named, product_token(named))


def open_client(crawler: Crawler, on_fetch: AsyncOnFetch) -> AsyncClient:
    """Return the client that the settings describe, with the name that the spider sends."""
    settings = crawler.settings
    vet_names(settings)
    sent, named, token = read_names(crawler)
    if token is None:
        which = "ROBOTSTXT_USER_AGENT" if settings["ROBOTSTXT_USER_AGENT"] else "USER_AGENT"
        raise CrawlerError(
            f"no product token in {which} = {named!r}, so the crawler has no name to find its "
            "rules by (RFC 9309 §2.2.1): set USER_AGENT = 'ExampleBot/1.0 "
            "(+https://example.com/bot)' with your crawler's name"
        )
    profile = settings.get("ROBOTRULES_PROFILE", "default")
    try:
        find_profile(profile)
    except ProfileError as error:
        raise ConfigError(f"ROBOTRULES_PROFILE: {error}") from None
    client_options = read_client_options(settings)
    options = {
        "store": settings.get("ROBOTRULES_STORE"),
        "profile": profile,
        "allow_private": settings.getlist("ROBOTRULES_ALLOW_PRIVATE"),
        "proxy": settings.get("ROBOTRULES_PROXY"),
        "timeout": read_seconds(settings, "ROBOTRULES_TIMEOUT", 30.0),
        # The interval without a Crawl-delay is DOWNLOAD_DELAY.
        "min_delay": 0.0,
        **client_options,
    }
    try:
        client = AsyncClient(
            # robots.txt is requested under the name whose rules apply.
            sent if token.lower() in sent.lower() else named,
            product_token=token,
            on_fetch=on_fetch,
            **options,
        )
    except CrawlerError:  # of USER_AGENT
        raise
    except (TypeError, ValueError) as error:
        raise name_culprit(error, client_options) from error
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
