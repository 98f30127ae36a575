"""
The questions about extensions, tags and access: of each part, what is asked and what is kept back.

A part is a list of items; an item of a vector holds both what is asked and what is expected, and
this table says which is which. The first expected field must be answered; others that an
implementation leaves out are not judged. Of `notes` those that a vector states must be among the
answer's, and those in `absent_notes` must not. An item may hold lists of items of its own, such as
the moments of a timeline. It does not know what any field means: `README.md` says that, and
`schema/vector.schema.json` says what it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Part(NamedTuple):
    """One part that is asked item by item."""

    asked: tuple[str, ...]
    expected: tuple[str, ...]
    inner: Mapping[str, Part] = MappingProxyType({})
    """Lists within an item, each with its own fields."""


# What was fetched: lines of fields, or a mapping whose values may be several lines; a page.
_RESPONSE = ("headers", "headers_joined", "html", "dom")
# Which reading of RFC 9309 §2.3.1 and §2.4.
_ACCESS = ("access_profile", "access_options")
_VERDICT = ("allowed", "line", "reason")

EXTENSION_PARTS: dict[str, Part] = {
    "app_directives": Part(
        ("url", "application", "product_token"),
        ("directives", "lines", "registration", "not_applied", "overrides", "codes"),
    ),
    "content_usage": Part(
        ("url", "product_token", "purposes", "field", "agreement", "default"),
        ("preferences", "applicable", "decided", "lines", "sources"),
    ),
    "structured": Part(("kind", "input"), ("failure", "value")),
    "sitemaps": Part(("url",), ("sitemaps", "lines")),
    "crawl_delays": Part(("product_token", "purposes", "star"), ("seconds", "line")),
    "request_rates": Part(("product_token", "purposes"), ("rates",)),
    "visit_times": Part(("product_token", "purposes"), ("windows",)),
    "clean_urls": Part(("url",), ("clean",)),
    "content_signals": Part(
        ("url", "product_token", "purposes"), ("signals", "lines", "content_usage")
    ),
    "registry": Part(("json", "csv"), ("accepted", "names")),
    "shipped": Part(("registry",), ("names", "fields", "references", "procedures")),
    "crawler": Part(("user_agent", "product_token", "purposes"), ("refused", "codes")),
    # Tags
    "usage": Part(
        (*_RESPONSE, "product_token", "url", "tag_profile", "tag_options", "received"),
        (
            "rules",
            *("unknown", "others", "may_index", "may_snippet", "may_follow", "may_archive"),
            *("may_index_embedded", "max_snippet", "sources", "over_tls", "fresh_until"),
            *("notes", "absent_notes"),
        ),
    ),
    "robots_tag": Part(("lines", "tag_profile", "tag_options"), ("failure", "said")),
    "freshness": Part(
        ("headers", "received", "recrawl_interval", "shared"),
        ("lifetime", "because", "age", "fresh_until", "must_validate", "may_store"),
    ),
    "updated": Part(("stored", "status", "newer"), ("rules", "lines")),
    "tdm": Part(
        ("url", "tdmrep", "headers", "metas"),
        ("reserved", "policy", "carrier", "notes", "absent_notes"),
    ),
    "guidance": Part(
        (*_RESPONSE, "url", "product_token", "purposes", "application", "tdmrep"),
        (
            *("tags", "may_crawl", "may_index", "may_snippet", "rules", "unseen"),
            *("preferences", "directives", "reserved", "notes", "absent_notes"),
        ),
    ),
    "written": Part(("tag_rules", "legacy"), ("refused", "fields", "meta")),
    "snippets": Part(("html",), ("texts",)),
    "tag_refused": Part(("tag_options",), ("refused",)),
    # Access and cache
    "origins": Part(("url",), ("origin", "robots_url")),
    "access": Part(
        (*_ACCESS, "origin", "copy", "answers"),
        ("state", "status", "trouble", "renewed", "requests", "conditions"),
        {"checks": Part(("url", "product_token"), _VERDICT)},
    ),
    "timelines": Part(
        (*_ACCESS, "background"),
        (),
        {
            "moments": Part(
                ("at", "url", "product_token", "answers", "restart"),
                (*_VERDICT, "requests", "urls", "conditions", "until"),
            ),
            "evidence": Part(("at", "url", "product_token"), (*_VERDICT, "preferences")),
        },
    ),
    "access_refused": Part(("access_options",), ("refused",)),
}
# The parts that are about fetching: what only a client can answer.
ACCESS_PARTS = ("origins", "access", "timelines", "access_refused")
# Asked fields that hold octets, by their shape; in a question they are base64. `nested`: an object
# or a list of objects, whose own fields may hold some.
OCTETS = {
    **dict.fromkeys(("input", "html", "tdmrep", "body"), "one"),
    "lines": "list",
    **dict.fromkeys(("answers", "copy", "moments"), "nested"),
    **dict.fromkeys(("headers", "stored", "newer"), "pairs"),
    "headers_joined": "mapping",
}
# Asked with yes or no, and answered with one value that is compared whole.
EXTENSION_VALUES = ("host", "unused_records")


def asked_of(part: Part, items: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of a part without what is expected."""
    return [
        {field: item[field] for field in part.asked if field in item}
        | {name: asked_of(inner, item[name]) for name, inner in part.inner.items() if name in item}
        for item in items
    ]


def asks_about_notes(data: Mapping[str, Any]) -> bool:
    """Return whether a vector wants to know what the readers of extensions note."""
    return "extension_notes" in data or "absent_extension_notes" in data
