"""
Scrapy 2.12 and later: robots.txt by RFC 9309, with one setting.

    ADDONS = {"robotrules.integrations.scrapy.Addon": 0}

`Addon` replaces Scrapy's middleware for robots.txt with `RobotsTxtMiddleware`, which has a client
of robotrules. `SentUserAgentMiddleware` has requests checked again whose User-Agent another
middleware has set. `DropNoindexMiddleware` drops items of pages that ask not to be indexed.
`RobotParser` is the smaller step: it changes how Scrapy's own middleware reads a file, but not when
it fetches one.
"""

from __future__ import annotations

from robotrules.errors import MissingExtraError

try:
    import scrapy as _scrapy
except ImportError:
    raise MissingExtraError("scrapy is not installed: pip install 'robotrules[scrapy]'") from None

if _scrapy.version_info < (2, 12):
    raise MissingExtraError(
        f"Scrapy {_scrapy.__version__} is too old, 2.12 is needed: pip install 'robotrules[scrapy]'"
    )

from robotrules.integrations.scrapy.addon import Addon
from robotrules.integrations.scrapy.drop_noindex import DropNoindexMiddleware
from robotrules.integrations.scrapy.middleware import RobotsTxtMiddleware
from robotrules.integrations.scrapy.parser import RobotParser
from robotrules.integrations.scrapy.request_check import RequestDisallowed
from robotrules.integrations.scrapy.response_rules import ResponseRules
from robotrules.integrations.scrapy.sent_user_agent import SentUserAgentMiddleware

__all__ = [
    "Addon",
    "DropNoindexMiddleware",
    "RequestDisallowed",
    "ResponseRules",
    "RobotParser",
    "RobotsTxtMiddleware",
    "SentUserAgentMiddleware",
]
