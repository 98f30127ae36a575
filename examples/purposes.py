"""User-Agent-Purpose: which group a crawler obeys, by its name, its purposes, or neither."""

from pathlib import Path

import robotrules

robots = robotrules.parse(Path(__file__).with_name("purposes.txt").read_bytes())

for token, purposes in (
    ("ExampleBot", ["EXAMPLE-TRAINING"]),
    ("OtherBot", ["EXAMPLE-TRAINING"]),
    ("OtherBot", ["EXAMPLE-SEARCH"]),
    ("OtherBot", []),
):
    told = robots.explain("https://example.com/papers/1", token, purposes)
    names = ", ".join(purposes) or "none"
    print(f"{token}, purposes {names}: {told.verdict}; groups by {told.matched_by}")

# A crawler says in its header what it is, and what it is for.
header = "OtherBot/1.0 (EXAMPLE-TRAINING; +https://example.com/bot)"
for note in robotrules.crawler_notes(header, "OtherBot", ["EXAMPLE-SEARCH"]):
    print(f"{note.level}: {note.message}")
