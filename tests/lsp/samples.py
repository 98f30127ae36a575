"""Invented registries and lint notes for the tests of the language server."""

from __future__ import annotations

import json

from robotrules.linting.note import Edit, Fix, LintNote, Related
from robotrules.registries import parse_json
from robotrules.robotstxt import parse

DOCUMENTATION = "https://search.example/directives"
REGISTRY = json.dumps(
    {
        "purposes": {
            "entries": [
                {
                    "token": "EXAMPLE-PURPOSE-1",
                    "description": "Fetches for examples.",
                    "reference": "draft-illyes-rep-purpose §3",
                }
            ]
        },
        "applications": {
            "entries": [
                {
                    "identifier": "examplesearch",
                    "product_token": "ExampleBot",
                    "change_controller": "Example Inc.",
                }
            ]
        },
        "directives": {
            "entries": [
                {
                    "application": "examplesearch",
                    "name": "widgets",
                    "value_type": "Boolean",
                    "description": "Whether to show widgets.",
                    "documentation": DOCUMENTATION,
                    "status": "active",
                },
                {
                    "application": "examplesearch",
                    "name": "teaser",
                    "value_type": "Integer",
                    "description": "The size of a teaser.",
                    "documentation": DOCUMENTATION,
                    "status": "deprecated",
                },
            ]
        },
    }
)
REGISTRIES = parse_json(REGISTRY)


def note(
    body: str,
    about: str,
    *,
    code: str = "RR999",
    slug: str = "invented",
    level: str = "warning",
    new: str | None = None,
    unsafe: bool = False,
    related: str = "",
) -> LintNote:
    """Return a note about a part of a body; with *new*, its fix replaces that part."""
    octets = body.encode()
    start = octets.index(about.encode())
    end = start + len(about.encode())
    line = next(line for line in parse(octets).lines if line.start <= start <= line.end)
    fix = None if new is None else Fix("Write it", (Edit(start, end, new.encode()),), unsafe)
    others: tuple[Related, ...] = ()
    if related:
        at = octets.index(related.encode())
        others = (Related("see there", 1, 1, at, at + len(related.encode())),)
    column = start - line.start + 1
    return LintNote(
        code, slug, level, "It is invented.", line.number, column, column + end - start, start, end
    )._replace(fix=fix, related=others)
