"""App-Directives: the directives of a site for the features of one application."""

import json
from pathlib import Path

import robotrules
from robotrules import extensions, registries

robots = robotrules.parse(Path(__file__).with_name("app-directives.txt").read_bytes())

# A registry is optional: it adds product tokens and value types.
WIDGETS = {
    "application": "examplesearch",
    "name": "widgets",
    "value_type": "Boolean",
    "description": "Whether pages appear in Widgets.",
    "documentation": "https://search.example/docs/widgets",
    "status": "active",
}
QUOTE = WIDGETS | {"application": "exampleassistant", "name": "quote", "value_type": "Integer"}
OWNER = {"change_controller": "Example Inc."}
APPLICATIONS = [
    OWNER | {"identifier": "examplesearch", "product_token": "ExampleSearch"},
    OWNER | {"identifier": "exampleassistant"},
    OWNER | {"identifier": "examplemaps", "product_token": "ExampleMaps"},
]
known = registries.parse_json(
    json.dumps({"applications": APPLICATIONS, "directives": [WIDGETS, QUOTE]})
)

# Compile once for an application, then look up many URLs in one call.
URLS = ["https://example.com/", "https://example.com/press/2026"]
for application in ("examplesearch", "exampleassistant", "examplemaps"):
    directives = robotrules.directives_for(robots, application, registries=known)
    print(f"{application}, groups by {directives.matched_by}")
    for url, found in zip(URLS, directives.for_urls(URLS), strict=True):
        print(f"  {url}")
        for item in found.directives:
            print(f"    {item} ({item.type}, {item.status}), line {item.record.line}")
        for item in found.not_applied:
            print(f"    not applied: {item} ({item.type}, {item.status}), line {item.record.line}")

# An application reads a value, with a default for sites that do not state one.
found = robotrules.app_directives(robots, URLS[0], "examplesearch", registries=known)
print(f"widgets on the front page: {found.get('widgets', True)}")

# The file also has a preference for all applications. Which of them wins in a conflict depends on
# the meaning of the directive, so the library does not decide it: the answer has both.
lines = [record.line for record in found.content_usage]
print(f"{', '.join(found.overrides)} stands beside Content-Usage of line {lines[0]}")

# Notes for the site owner.
for note in extensions.notes(robots, known):
    if note.level != "info":
        print(f"line {note.line}: {note.code}. {note.message}")
