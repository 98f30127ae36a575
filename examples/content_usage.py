"""Content-Usage: the preferences of a site about the use of its content, with their sources."""

from pathlib import Path

import robotrules

robots = robotrules.parse(Path(__file__).with_name("content-usage.txt").read_bytes())

# Compile once for a crawler, then look up many URLs in one call.
preferences = robotrules.preferences_for(robots, "AnyBot")
urls = ["/", "/papers/1", "/papers/open/1", "/drafts/1"]
for url, found in zip(urls, preferences.for_urls(urls), strict=True):
    if not found.applicable:
        print(f"{url}: not to be crawled, so there is no preference")
        continue
    lines = [statement.line for statement in found.statements_for("train-ai")]
    print(f"{url}: train-ai is {found.get('train-ai')}, by line {lines[0]}")

# The response has a field too. The stricter statement wins, and each keeps its source.
found = robotrules.preferences("/papers/open/1", "AnyBot", robots=robots, field="train-ai=n")
because = ", ".join(str(statement.source) for statement in found.statements_for("train-ai"))
print(f"with the field: train-ai is {found.get('train-ai')}, by the {because}")

# The file states nothing for this crawler: its operator decides. An agreement overrides all
# statements.
found = robotrules.preferences("/", "ExampleBot", robots=robots)
print(f"ExampleBot: {found.get('train-ai')}, or {found.decide('train-ai', 'disallowed')}")
found = robotrules.preferences("/", "ExampleBot", robots=robots, agreement={"train-ai": "allowed"})
print(f"ExampleBot: {found.get('train-ai')}, by {found.statements_for('train-ai')[0].source}")

# Content-Signal is another record. It changes preferences only if the caller converts it.
signals = robotrules.content_signals(robots, "/", "AnyBot")
print(f"signals: {signals.values()}; as Content-Usage: {robotrules.to_content_usage(signals)}")

for note in preferences.notes:
    print(f"line {note.line}: {note.level} {note.code}")
