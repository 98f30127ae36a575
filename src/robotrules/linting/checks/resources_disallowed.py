"""RR513: style sheets or scripts that crawlers who render pages are asked not to fetch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.robotstxt.values import Rule

RENDERS = "Googlebot"
# Directories of which the name says that style sheets or scripts are in them.
STYLES = frozenset(("css", "style", "styles", "stylesheet", "stylesheets"))
DIRECTORIES = STYLES | frozenset(
    (
        *("asset", "assets", "dist", "javascript", "javascripts", "js", "static", "themes"),
        *("wp-includes", "_next", "_nuxt"),
    )
)
_FILES = re.compile(r"(?:.*/)?\*\.(css|js)(?:\$|\*|\?\*?)?")

# What Shopify writes into every shop's file: scripts that count visits, and draw nothing.
NOT_RENDERED = "/cdn/wpm/"


class ResourcesDisallowed(Check):
    """
    What it finds:
        A rule by which Googlebot may not fetch style sheets or scripts, as file endings such as
        `/*.css$` or directories such as `/wp-includes/` say. Exceptions by Allow are counted.

    Why it matters:
        Google renders a page before it looks at it, as a browser would, and other crawlers do too.
        What it is asked not to fetch is missing then: a page without its style sheets and scripts
        may be empty, or look as if it were not made for phones. Old templates for robots.txt have
        such rules from a time when crawlers read the HTML alone.

    Example:
            User-agent: *
            Disallow: /search
            Disallow: /*.css$

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR513"
    slug = "resources-disallowed"
    level = "info"
    message = "{rule} blocks {what} for Googlebot, which then renders pages without them."
    reference = "RFC 9309 §2.2.2; Google: Fix search-related JavaScript problems"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that decide about a style sheet or a script."""
        rules = context.robots.rules_for(RENDERS)
        if not rules or not rules.allows(f"{ORIGIN}/"):
            return  # it renders nothing at all
        for number in context.robots.select_groups(RENDERS).indices:
            for rule in context.groups[number].rules:
                for what, path in () if rule.allow else _resources(rule):
                    verdict = rules.check(ORIGIN + path)
                    if not verdict.allowed and verdict.rule and verdict.rule.line == rule.line:
                        url = ORIGIN + path
                        yield self.about(context, rule, rule=quote(str(rule)), what=what, url=url)
                        break


def _resources(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield style sheets and scripts that a rule spells out, with what each of them is."""
    form = rule.form
    if form.startswith(NOT_RENDERED):
        return
    dotted = ".css" in form or ".js" in form
    if dotted and (found := _FILES.fullmatch(form)):
        what = "style sheets" if found[1] == "css" else "scripts"
        path = form.rstrip("*").removesuffix("$")
        yield what, path.replace("*", "/site" if path[:1] == "*" else "site")
    elif form[:1] == "/" and form.endswith(("/", "/*")):
        inside = form.rstrip("*")
        name = inside[:-1].rpartition("/")[2].lower()
        inside = inside.replace("*", "x")
        if name in DIRECTORIES - STYLES:
            yield "scripts", f"{inside}site.js"
        if name in DIRECTORIES:
            yield "style sheets", f"{inside}site.css"
