"""
robotrules: the Robots Exclusion Protocol, complete and spec-conformant.

    >>> import robotrules
    >>> robots = robotrules.parse("User-agent: *\\nDisallow: /private/")
    >>> print(robots.check("https://example.com/private/x", "ExampleBot"))
    disallowed by line 2: Disallow: /private/

What a site asks of crawlers is a request and not a form of access authorization (RFC 9309 §1).
"""

import typing as _typing

from robotrules._engine import engine_name
from robotrules.errors import (
    CheckError,
    ConfigError,
    CrawlerError,
    DisallowedError,
    ExpectationError,
    MissingExtraError,
    ProductTokenError,
    ProfileError,
    PurposeWarning,
    RegistryError,
    RobotrulesError,
    SavedResponseError,
    StoreError,
    TableError,
    WriteError,
)
from robotrules.profile import DEFAULT, GOOGLE, STRICT, Extension, Profile, Role
from robotrules.robotstxt import RobotsTxt, normalize_path, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.selection import GroupChoice
from robotrules.robotstxt.tokens import is_product_token, product_token
from robotrules.robotstxt.values import Group, GroupStructure, Line, Note, Record, Rule
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Match, Outcome, Reason, Verdict

if _typing.TYPE_CHECKING:
    from robotrules.client.aio import AsyncClient
    from robotrules.client.sync import Client
    from robotrules.extensions.app_directives import (
        AppDirective,
        AppDirectives,
        DirectiveSet,
        Registration,
        app_directives,
        directives_for,
    )
    from robotrules.extensions.clean_param import CleanParams, clean_params, clean_url
    from robotrules.extensions.content_signal import (
        ContentSignals,
        content_signals,
        to_content_usage,
    )
    from robotrules.extensions.content_usage import (
        Preference,
        Preferences,
        PreferenceSet,
        Statement,
        combine_preferences,
        content_usage_field,
        preferences,
        preferences_for,
    )
    from robotrules.extensions.crawl_delay import CrawlDelay, crawl_delay
    from robotrules.extensions.host import PreferredHost, preferred_host
    from robotrules.extensions.purpose import crawler_notes
    from robotrules.extensions.record_support import OtherRecord, unused_records
    from robotrules.extensions.request_rate import RequestRate, request_rates
    from robotrules.extensions.sitemap import Sitemap, sitemaps
    from robotrules.extensions.visit_time import TimeWindow, VisitTime, visit_times
    from robotrules.guide import Guidance, guidance
    from robotrules.linting import LintNote, lint, lint_page
    from robotrules.registries import Registries, Registry
    from robotrules.registries.crawlers import KnownCrawler, crawler
    from robotrules.tags import UsageRules, usage_rules

__version__ = "0.1.0"

__all__ = [
    "DEFAULT",
    "GOOGLE",
    "STRICT",
    "AppDirective",
    "AppDirectives",
    "AsyncClient",
    "CheckError",
    "CleanParams",
    "Client",
    "ConfigError",
    "ContentSignals",
    "CrawlDelay",
    "CrawlerError",
    "DirectiveSet",
    "DisallowedError",
    "ExpectationError",
    "Explanation",
    "Extension",
    "Group",
    "GroupChoice",
    "GroupMatch",
    "GroupStructure",
    "Guidance",
    "KnownCrawler",
    "Line",
    "LintNote",
    "Match",
    "MissingExtraError",
    "Note",
    "OtherRecord",
    "Outcome",
    "Preference",
    "PreferenceSet",
    "Preferences",
    "PreferredHost",
    "ProductTokenError",
    "Profile",
    "ProfileError",
    "PurposeWarning",
    "Reason",
    "Record",
    "Registration",
    "Registries",
    "Registry",
    "RegistryError",
    "RequestRate",
    "RobotrulesError",
    "RobotsTxt",
    "Role",
    "Rule",
    "RuleSet",
    "SavedResponseError",
    "Sitemap",
    "Statement",
    "StoreError",
    "TableError",
    "TimeWindow",
    "UsageRules",
    "Verdict",
    "VisitTime",
    "WriteError",
    "__version__",
    "app_directives",
    "clean_params",
    "clean_url",
    "combine_preferences",
    "content_signals",
    "content_usage_field",
    "crawl_delay",
    "crawler",
    "crawler_notes",
    "directives_for",
    "engine_name",
    "guidance",
    "is_product_token",
    "lint",
    "lint_page",
    "normalize_path",
    "parse",
    "preferences",
    "preferences_for",
    "preferred_host",
    "product_token",
    "request_rates",
    "sitemaps",
    "to_content_usage",
    "unused_records",
    "usage_rules",
    "visit_times",
]

# Names that most programs do not need, with the module each is in: imported on first access, so
# that `import robotrules` stays fast.
_LAZY = {
    "AppDirective": "extensions.app_directives",
    "AppDirectives": "extensions.app_directives",
    "AsyncClient": "client.aio",
    "CleanParams": "extensions.clean_param",
    "Client": "client.sync",
    "ContentSignals": "extensions.content_signal",
    "CrawlDelay": "extensions.crawl_delay",
    "DirectiveSet": "extensions.app_directives",
    "Guidance": "guide",
    "KnownCrawler": "registries.crawlers",
    "LintNote": "linting",
    "OtherRecord": "extensions.record_support",
    "Preference": "extensions.content_usage",
    "PreferenceSet": "extensions.content_usage",
    "Preferences": "extensions.content_usage",
    "PreferredHost": "extensions.host",
    "Registration": "extensions.app_directives",
    "Registries": "registries",
    "Registry": "registries",
    "RequestRate": "extensions.request_rate",
    "Sitemap": "extensions.sitemap",
    "Statement": "extensions.content_usage",
    "TimeWindow": "extensions.visit_time",
    "UsageRules": "tags",
    "VisitTime": "extensions.visit_time",
    "app_directives": "extensions.app_directives",
    "clean_params": "extensions.clean_param",
    "clean_url": "extensions.clean_param",
    "combine_preferences": "extensions.content_usage",
    "content_signals": "extensions.content_signal",
    "content_usage_field": "extensions.content_usage",
    "crawl_delay": "extensions.crawl_delay",
    "crawler": "registries.crawlers",
    "crawler_notes": "extensions.purpose",
    "directives_for": "extensions.app_directives",
    "guidance": "guide",
    "lint": "linting",
    "lint_page": "linting",
    "preferences": "extensions.content_usage",
    "preferences_for": "extensions.content_usage",
    "preferred_host": "extensions.host",
    "request_rates": "extensions.request_rate",
    "sitemaps": "extensions.sitemap",
    "to_content_usage": "extensions.content_signal",
    "unused_records": "extensions.record_support",
    "usage_rules": "tags",
    "visit_times": "extensions.visit_time",
}


_MODULES = (
    *("access", "analysis", "cache", "client", "config", "expect", "extensions", "formatting"),
    *("http", "linting", "matrix", "registries", "tags", "write"),
)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"robotrules.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'robotrules' has no attribute {name!r}")
    value = getattr(import_module(f"robotrules.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
