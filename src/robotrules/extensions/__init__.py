"""
Records beyond User-agent, Allow and Disallow: one file each, its declaration and its typed reader.

The parser keeps every record with its span and group (RFC 9309 §2.2.4) and knows no more of these
than their role. Readers take a parsed file and give values; a value they cannot use is a note and
never hides the line beside it. None of them changes a verdict.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from robotrules.profile import USER_AGENT_PURPOSE, Extension

if TYPE_CHECKING:
    from robotrules.registries import Registries
    from robotrules.robotstxt import RobotsTxt
    from robotrules.robotstxt.values import Note

# Every record that has a reader here. Only a START or RULE record has to be in a profile.
ALL = (
    USER_AGENT_PURPOSE,
    Extension("App-Directives", ("App-Directive",), reference="draft-nottingham-plan-b §2"),
    Extension("Content-Usage", reference="draft-ietf-aipref-attach-05 §3"),
    Extension("Content-Signal", reference="contentsignals.org"),
    Extension("Sitemap", ("site-map",), scope="file", reference="sitemaps.org"),
    Extension("Crawl-delay", reference="no document; Bing, Yandex until 2018"),
    Extension("Request-rate", reference="Conner 1996"),
    Extension("Visit-time", reference="Conner 1996"),
    Extension("Clean-param", scope="file", reference="Yandex"),
    Extension("Host", scope="file", reference="Yandex until 2018"),
)
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
    "unsupported",
)


def notes(robots: RobotsTxt, registries: Registries | None = None) -> tuple[Note, ...]:
    """Return what all readers say about a file, in its order; the parser's notes are its own."""
    if registries is None:
        from robotrules.registries import SHIPPED as registries
    readers = [import_module(f"robotrules.extensions.{name}") for name in _READERS]
    found = [note for reader in readers for note in reader.notes(robots, registries)]
    return tuple(sorted(found, key=lambda note: (note.start, note.end, note.code)))
