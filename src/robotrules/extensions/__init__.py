"""
Records beyond User-agent, Allow and Disallow: one file each, its declaration and its typed reader.

The parser keeps every record with its span and group (RFC 9309 §2.2.4) and knows no more of these
than their role. Readers take a parsed file and give values; a value they cannot use is a note and
never hides the line beside it. None of them changes a verdict.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robotrules.profile import Extension
    from robotrules.registries import Registries
    from robotrules.robotstxt import RobotsTxt
    from robotrules.robotstxt.values import Note

if TYPE_CHECKING:
    # Every record that is declared here. Only a START or RULE record has to be in a profile.
    ALL: tuple[Extension, ...]

_READERS = (
    "purpose",
    "app_directives",
    "content_usage",
    "content_signal",
    "sitemap",
    "crawl_delay",
    "request_rate",
    "visit_time",
    "clean_param",
    "host",
    "record_support",
)


def _readers() -> list[ModuleType]:
    """Return the modules, imported when somebody asks for all of them."""
    return [import_module(f"robotrules.extensions.{name}") for name in _READERS]


def __getattr__(name: str) -> Any:
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: list[Extension] = []
    for reader in _readers():
        found += getattr(reader, "EXTENSIONS", None) or [reader.EXTENSION]
    globals()["ALL"] = declared = tuple(found)
    return declared


def vet(robots: object) -> None:
    """Refuse what is no parsed file: every reader wants one."""
    from robotrules.robotstxt import RobotsTxt

    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"robots is a RobotsTxt, not {name}: pass robotrules.parse(body)")


def notes(robots: RobotsTxt, registries: Registries | None = None) -> tuple[Note, ...]:
    """Return what all readers say about a file, in its order; the parser's notes are its own."""
    if registries is None:
        from robotrules.registries import SHIPPED as registries
    found = [note for reader in _readers() for note in reader.notes(robots, registries)]
    return tuple(sorted(found, key=lambda note: (note.start, note.end, note.code)))
