"""
robotrules: the Robots Exclusion Protocol, whole and right.

    >>> import robotrules
    >>> robots = robotrules.parse("User-agent: *\\nDisallow: /private/")
    >>> print(robots.check("https://example.com/private/x", "ExampleBot"))
    disallowed by line 2: Disallow: /private/

What a site asks of crawlers is a request and not a form of access authorization (RFC 9309 §1).
"""

from typing import TYPE_CHECKING, Any

from robotrules._engine import engine_name
from robotrules.errors import (
    CrawlerError,
    ProductTokenError,
    ProfileError,
    RegistryError,
    RobotrulesError,
    WriteError,
)
from robotrules.profile import DEFAULT, GOOGLE, STRICT, Extension, Profile, Role
from robotrules.robotstxt import RobotsTxt, normal_form, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_product_token, product_token
from robotrules.robotstxt.values import Group, Line, Note, Record, Rule
from robotrules.robotstxt.verdict import Because, Explanation, Match, Outcome, Reason, Verdict

if TYPE_CHECKING:
    from robotrules.extensions.purpose import crawler_notes

__version__ = "0.1.0"

__all__ = [
    "DEFAULT",
    "GOOGLE",
    "STRICT",
    "Because",
    "CrawlerError",
    "Explanation",
    "Extension",
    "Group",
    "Line",
    "Match",
    "Note",
    "Outcome",
    "ProductTokenError",
    "Profile",
    "ProfileError",
    "Reason",
    "Record",
    "RegistryError",
    "RobotrulesError",
    "RobotsTxt",
    "Role",
    "Rule",
    "RuleSet",
    "Verdict",
    "WriteError",
    "__version__",
    "crawler_notes",
    "engine_name",
    "is_product_token",
    "normal_form",
    "parse",
    "product_token",
]

# Where the names are that most programs do not need: imported when one is asked for, so that
# `import robotrules` costs what deciding costs.
_LATER = {
    "crawler_notes": "extensions.purpose",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'robotrules' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"robotrules.{_LATER[name]}"), name)
    globals()[name] = value
    return value
