"""Registries and notes that tests of the language server share; all of it is made up."""

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
    slug: str = "made-up",
    level: str = "warning",
    new: str | None = None,
    loud: bool = False,
    related: str = "",
) -> LintNote:
    """Return a note about a part of a body; with *new*, a fix that writes that instead."""
    octets = body.encode()
    start = octets.index(about.encode())
    end = start + len(about.encode())
    line = next(one for one in parse(octets).lines if one.start <= start <= one.end)
    fix = None if new is None else Fix("Write it", (Edit(start, end, new.encode()),), loud)
    others: tuple[Related, ...] = ()
    if related:
        at = octets.index(related.encode())
        others = (Related("see there", 1, 1, at, at + len(related.encode())),)
    column = start - line.start + 1
    return LintNote(
        code, slug, level, "It is made up.", line.number, column, column + end - start, start, end
    )._replace(fix=fix, related=others)
