"""
Writes docs/crawlers.md from the list of well-known crawlers, so that the page cannot drift.

    python scripts/crawlers_page.py            write the page
    python scripts/crawlers_page.py --check    exit 1 if the page on disk differs

It reads the list; it does not know whether what stands there is still so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler

PAGE = Path(__file__).parent.parent / "docs" / "crawlers.md"
OPENING = """# Well-known crawlers

<!-- made by scripts/crawlers_page.py from registries/data/crawlers.json: do not edit -->

{count} names that site owners meet in robots.txt files and in logs, by what their crawlers are
mainly for. {source} Checked {checked}.

*Obeys* is what the operator says, and no measurement of ours. *Then* names the groups that a
crawler obeys where none names it, before that for everyone; *no `*`* means that it ignores that
one, so that only a group that names it counts. A **control** fetches nothing: it says
what may be done with what other crawlers fetched. What stands in robots.txt is a request to
crawlers, and not access control: whoever does not ask is not kept out.

```python
from robotrules.registries.crawlers import KNOWN_CRAWLERS

print(KNOWN_CRAWLERS.get("gptbot").operator)                # OpenAI
print(KNOWN_CRAWLERS.get("Applebot").also)                  # ('Googlebot',)
print(KNOWN_CRAWLERS.get("AdsBot-Google").ignores_star)     # True
print(KNOWN_CRAWLERS.get("MJ12bot").read_as)                # MJ
print(KNOWN_CRAWLERS.closest("Googelbot").product_token)    # Googlebot
```

The commands choose groups by this registry ([check](cli/check.md#which-groups-count)), and
[`robotrules matrix`](cli/matrix.md) shows what a robots.txt says to all of them. The library
compares the name that it is given, and no other; pass the names to ask as the crawler reads a file:

```python
import robotrules

body = "User-agent: *\\nDisallow: /\\n\\nUser-agent: Googlebot\\nDisallow: /search"
robots = robotrules.parse(body)
news = robotrules.crawler("Googlebot-News")
print(tuple(news.names))                                    # ('Googlebot-News', 'Googlebot')
print(robots.check("/", "Googlebot-News").allowed)          # False
print(robots.check("/", news.names).allowed)                # True
print(robotrules.crawler("ExampleBot"))                     # None
```
"""
NAMES = """
## Names outside the grammar

RFC 9309 §2.2.1 knows letters, `_` and `-` in a product token. Of other names a parser that keeps to
the grammar reads the beginning only, and a group may then be for somebody else, or for nobody.
Profile `default` compares them as they are written; [Profiles](profiles.md) has the others.

| name | is read as |
|---|---|
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def line(crawler: KnownCrawler) -> str:
    name = f"`{crawler.product_token}`"
    if crawler.is_control:
        name += " **control**"
    if crawler.status != "active":
        name += f" ({crawler.status})"
    also = ", ".join(f"`{token}`" for token in crawler.also)
    if crawler.ignores_star:
        also = f"{also}, no `*`".lstrip(", ")
    operator = cell(crawler.operator)
    if crawler.documentation:
        operator = f"[{operator}]({crawler.documentation})"
    others = ", ".join(crawler.purposes[1:])
    cells = (name, operator, crawler.obeys, also, others, cell(crawler.remarks))
    return f"| {' | '.join(cells)} |"


def page() -> str:
    known = list(KNOWN_CRAWLERS)
    opening = OPENING.format(
        count=len(known), source=KNOWN_CRAWLERS.source, checked=KNOWN_CRAWLERS.checked
    )
    parts = [opening]
    for purpose, sentence in CRAWLER_PURPOSES.items():
        lines = [line(crawler) for crawler in known if crawler.purposes[0] == purpose]
        parts.append(f"\n## {purpose}\n\n{sentence}\n\n")
        parts.append("| product token | operator | obeys | then | also for | remarks |\n")
        parts.append("|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n")
    odd = [crawler for crawler in known if not crawler.is_valid]
    parts.append(NAMES)
    for crawler in odd:
        read = f"`{crawler.read_as}`" if crawler.read_as else "nothing: it is for nobody"
        parts.append(f"| `{crawler.product_token}` | {read} |\n")
    return "".join(parts)


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.name} is not what the list says: run python scripts/crawlers_page.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
