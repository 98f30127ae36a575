"""
Serving: what a site sends to crawlers, from one policy.

    site = SitePolicy("policy.toml", staging=["staging.example.com"])

The robots.txt of each host, tag fields and Content-Usage by path, and counters of crawlers that
requested what they were asked not to. `robotrules.integrations` connects it to web frameworks. It
opens no socket.
"""

from robotrules.errors import PolicyError
from robotrules.serving.counters import CrawlerCounters, CrawlerCounts
from robotrules.serving.response_fields import ResponseFields
from robotrules.serving.robots_response import ROBOTS_PATH, RobotsResponse
from robotrules.serving.site_policy import SitePolicy, make_staging_robots

__all__ = [
    "ROBOTS_PATH",
    "CrawlerCounters",
    "CrawlerCounts",
    "PolicyError",
    "ResponseFields",
    "RobotsResponse",
    "SitePolicy",
    "make_staging_robots",
]
