"""
Write docs/crawlers.md from the registry of well-known crawlers, so that the page cannot drift.

    python scripts/crawlers_page.py            write the page
    python scripts/crawlers_page.py --check    exit 1 if the page on disk differs

It reads the registry; it does not verify that the entries are up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler

PAGE = Path(__file__).parent.parent / "docs" / "crawlers.md"
OPENING = """# Well-known crawlers

<!-- made by scripts/crawlers_page.py from registries/data/crawlers.json: do not edit -->

{count} names that appear in robots.txt files and in server logs, by the main purpose of the
crawler. {source} Checked {checked}.

*Obeys* is what the operator states; we did not measure it. *Then* lists the groups that a crawler
obeys if no group names it, before the `*` group; *no `*`* means that the crawler ignores the `*`
group, so that only a group that names it applies. A **control** does not fetch anything: it states
how content that other crawlers fetched may be used. The rules of a robots.txt are a request to
crawlers and not access control: they do not keep out a crawler that ignores them.

```python
from robotrules.registries.crawlers import KNOWN_CRAWLERS

print(KNOWN_CRAWLERS.get("gptbot").operator)                # OpenAI
print(KNOWN_CRAWLERS.get("Applebot").also)                  # ('Googlebot',)
print(KNOWN_CRAWLERS.get("AdsBot-Google").ignores_star)     # True
print(KNOWN_CRAWLERS.get("MJ12bot").read_as)                # MJ
print(KNOWN_CRAWLERS.closest("Googelbot").product_token)    # Googlebot
print(len(KNOWN_CRAWLERS.with_purposes(["archive"])))       # 4
```

[`robotrules crawlers`](cli/crawlers.md) filters this list, compares it with another one, and writes
it as rules for a web server. [Presets](cli/write.md#presets) are complete robots.txt files by
purpose. A crawler with several purposes is blocked if one of them is unwanted, because it cannot be
asked to fetch for the others only.

The commands choose groups by this registry ([check](cli/check.md#which-groups-count)), and
[`robotrules matrix`](cli/matrix.md) shows the rules of a robots.txt for all of them. The library
compares only the name that is passed; pass all names of a crawler to choose groups as it does:

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
HOST_NAMES = """
## Host names of their addresses

The domains in which the host names of a crawler's addresses end, as its operator documents them.
`robotrules logs --verify` compares them; see [Verifying crawlers](verifying-crawlers.md).

| domains | crawlers |
|---|---|
"""
NAMES = """
## Names outside the grammar

RFC 9309 §2.2.1 allows letters, `_` and `-` in a product token. A parser that follows the grammar
reads only the beginning of any other name, so the group may apply to another crawler or to none.
Profile `default` compares these names as written; see [Profiles](profiles.md) for the others.

| name | is read as |
|---|---|
"""


def escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


def render_row(crawler: KnownCrawler) -> str:
    name = f"`{crawler.product_token}`"
    if crawler.is_control:
        name += " **control**"
    if crawler.status != "active":
        name += f" ({crawler.status})"
    also = ", ".join(f"`{token}`" for token in crawler.also)
    if crawler.ignores_star:
        also = f"{also}, no `*`".lstrip(", ")
    operator = escape_cell(crawler.operator)
    if crawler.documentation:
        operator = f"[{operator}]({crawler.documentation})"
    others = ", ".join(crawler.purposes[1:])
    cells = (name, operator, crawler.obeys, also, others, escape_cell(crawler.remarks))
    return f"| {' | '.join(cells)} |"


def render_page() -> str:
    known = list(KNOWN_CRAWLERS)
    opening = OPENING.format(
        count=len(known), source=KNOWN_CRAWLERS.source, checked=KNOWN_CRAWLERS.checked
    )
    parts = [opening]
    for purpose, sentence in CRAWLER_PURPOSES.items():
        lines = [render_row(crawler) for crawler in known if crawler.purposes[0] == purpose]
        parts.append(f"\n## {purpose}\n\n{sentence}\n\n")
        parts.append("| product token | operator | obeys | then | also for | remarks |\n")
        parts.append("|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n")
    parts.append(HOST_NAMES)
    by_domains: dict[tuple[str, ...], list[str]] = {}
    for crawler in known:
        if crawler.reverse_dns:
            by_domains.setdefault(crawler.reverse_dns, []).append(f"`{crawler.product_token}`")
    for domains, names in by_domains.items():
        shown = ", ".join(f"`{domain}`" for domain in domains)
        parts.append(f"| {shown} | {', '.join(names)} |\n")
    invalid = [crawler for crawler in known if not crawler.is_valid]
    parts.append(NAMES)
    for crawler in invalid:
        read = f"`{crawler.read_as}`" if crawler.read_as else "nothing: no crawler obeys the group"
        parts.append(f"| `{crawler.product_token}` | {read} |\n")
    return "".join(parts)


def main() -> int:
    text = render_page()
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.name} is out of date: run python scripts/crawlers_page.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
