"""App-Directives: what a site says to one application, by its name, about its features."""

import json
from pathlib import Path

import robotrules
from robotrules import extensions, registries

robots = robotrules.parse(Path(__file__).with_name("app-directives.txt").read_bytes())

# Who is registered, and for what. Nothing depends on it: a registry knows product tokens and types.
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

# Compiled once for an application, asked about many URLs at once.
URLS = ["https://example.com/", "https://example.com/press/2026"]
for application in ("examplesearch", "exampleassistant", "examplemaps"):
    told = robotrules.directives_for(robots, application, registries=known)
    print(f"{application}, groups by {told.matched_by}")
    for url, found in zip(URLS, told.for_urls(URLS), strict=True):
        print(f"  {url}")
        for one in found.directives:
            print(f"    {one} ({one.type}, {one.status}), line {one.record.line}")
        for one in found.not_applied:
            print(f"    not applied: {one} ({one.type}, {one.status}), line {one.record.line}")

# What an application does: ask for a value, and have a default where the site says nothing.
found = robotrules.app_directives(robots, URLS[0], "examplesearch", registries=known)
print(f"widgets on the front page: {found.get('widgets', True)}")

# Beside it stands a preference for everybody. Which of them counts in a conflict depends on what
# the directive means, so nobody decides that here: the answer shows both.
lines = [record.line for record in found.content_usage]
print(f"{', '.join(found.overrides)} stands beside Content-Usage of line {lines[0]}")

# What a site owner should look at.
for note in extensions.notes(robots, known):
    if note.level != "info":
        print(f"line {note.line}: {note.code}. {note.message}")
