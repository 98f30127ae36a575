"""
Records beyond User-agent, Allow and Disallow: a module for each, with declaration and typed reader.

The parser keeps every record with its span and group (RFC 9309 §2.2.4) and knows only the role of
these. Readers take a parsed file and return values; an unusable value gives a note and does not
affect other lines. None of them changes a verdict.
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
    """Import and return the reader modules."""
    return [import_module(f"robotrules.extensions.{name}") for name in _READERS]


def __getattr__(name: str) -> Any:
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    extensions: list[Extension] = []
    for reader in _readers():
        extensions += getattr(reader, "EXTENSIONS", None) or [reader.EXTENSION]
    globals()["ALL"] = declared = tuple(extensions)
    return declared


def require_robots_txt(robots: object) -> None:
    """Raise TypeError if the argument of a reader is not a parsed file."""
    from robotrules.robotstxt import RobotsTxt

    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"robots must be a RobotsTxt, not {name}: pass robotrules.parse(body)")


def notes(robots: RobotsTxt, registries: Registries | None = None) -> tuple[Note, ...]:
    """Return the notes of all readers on a file, in its order; without those of the parser."""
    if registries is None:
        from robotrules.registries import SHIPPED as registries
    all_notes = [note for reader in _readers() for note in reader.notes(robots, registries)]
    return tuple(sorted(all_notes, key=lambda note: (note.start, note.end, note.code)))
