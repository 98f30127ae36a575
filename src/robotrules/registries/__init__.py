"""
Registries: which tag rules, purposes, applications and app directives somebody has registered.

They are data: files of the package, and files of users that are laid over them. Nothing depends on
being registered (APP-1.1-01); a registry tells what is known of a name. It does not know any
robots.txt.
"""

from robotrules.registries.entries import (
    STATUSES,
    VALUE_TYPES,
    Application,
    DirectiveEntry,
    Purpose,
    TagRule,
)
from robotrules.registries.loader import load_registries, parse_csv, parse_json
from robotrules.registries.registry import Registries, Registry
from robotrules.registries.shipped import SHIPPED

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
