"""
Registries of tag rules, purposes, applications and app directives.

They are data: the files of the package, and files of users that are merged over them. Registration
is never a condition for use (APP-1.1-01); a registry has facts about a name. It does not read
robots.txt files.
"""

from robotrules.registries.entries import (
    STATUSES,
    VALUE_TYPES,
    Application,
    DirectiveEntry,
    Purpose,
    TagRule,
)
from robotrules.registries.loader import SHIPPED, load_registries, parse_csv, parse_json
from robotrules.registries.registry import Registries, Registry

__all__ = [
    "SHIPPED",
    "STATUSES",
    "VALUE_TYPES",
    "Application",
    "DirectiveEntry",
    "Purpose",
    "Registries",
    "Registry",
    "TagRule",
    "load_registries",
    "parse_csv",
    "parse_json",
]
