"""
robotrules: the Robots Exclusion Protocol, whole and right.

    >>> import robotrules
    >>> robots = robotrules.parse("User-agent: *\\nDisallow: /private/")
    >>> print(robots.check("https://example.com/private/x", "ExampleBot"))
    disallowed by line 2: Disallow: /private/

What a site asks of crawlers is a request and not a form of access authorization (RFC 9309 §1).
"""

from robotrules._engine import engine_name
from robotrules.errors import ProductTokenError, ProfileError, RobotrulesError
from robotrules.profile import DEFAULT, GOOGLE, STRICT, Extension, Profile, Role
from robotrules.robotstxt import RobotsTxt, normal_form, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_product_token, product_token
from robotrules.robotstxt.values import Group, Line, Note, Record, Rule
from robotrules.robotstxt.verdict import Because, Explanation, Match, Outcome, Reason, Verdict

__version__ = "0.1.0"

__all__ = [
    "DEFAULT",
    "GOOGLE",
    "STRICT",
    "Because",
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
    "RobotrulesError",
    "RobotsTxt",
    "Role",
    "Rule",
    "RuleSet",
    "Verdict",
    "__version__",
    "engine_name",
    "is_product_token",
    "normal_form",
    "parse",
    "product_token",
]
