"""RR513: blocked style sheets or scripts that crawlers need to render pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Rule

RENDERS = "Googlebot"
# Names of directories that hold style sheets or scripts.
STYLES = frozenset(("css", "style", "styles", "stylesheet", "stylesheets"))
DIRECTORIES = STYLES | frozenset(
    (
        *("asset", "assets", "dist", "javascript", "javascripts", "js", "static", "themes"),
        *("wp-includes", "_next", "_nuxt"),
    )
)
_FILES = re.compile(r"(?:.*/)?\*\.(css|js)(?:\$|\*|\?\*?)?")

# Shopify writes this path into every shop's file: analytics scripts that do not affect rendering.
NOT_RENDERED = "/cdn/wpm/"


class ResourcesDisallowed(Check):
    """
    What it finds:
        A rule that blocks style sheets or scripts for Googlebot, by file extension such as
        `/*.css$` or by directory such as `/wp-includes/`. Exceptions by Allow are respected.

    Why it matters:
        Google renders pages like a browser before it evaluates them, and so do other crawlers.
        Without its style sheets and scripts, a page may look empty or unsuitable for phones. Old
        robots.txt templates have such rules from a time when crawlers read only the HTML.

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
    message = (
        "{rule} blocks {what} for Googlebot, which then renders pages without them. Allow them."
    )
    reference = "RFC 9309 §2.2.2; Google: Fix search-related JavaScript problems"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that block a style sheet or a script."""
        rules = context.robots.rules_for(RENDERS)
        if not rules or not rules.allows(f"{ORIGIN}/"):
            return  # the home page is blocked, so nothing is rendered
        for number in choose_groups(context.robots, RENDERS).indices:
            for rule in context.groups[number].rules:
                for what, path in () if rule.allow else _find_resources(rule):
                    verdict = rules.check(ORIGIN + path)
                    if not verdict.allowed and verdict.rule and verdict.rule.line == rule.line:
                        url = ORIGIN + path
                        yield self.about(context, rule, rule=quote(str(rule)), what=what, url=url)
                        break


def _find_resources(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield paths of style sheets and scripts that a rule spells out, each with its kind."""
    form = rule.form
    if form.startswith(NOT_RENDERED):
        return
    dotted = ".css" in form or ".js" in form
    if dotted and (match := _FILES.fullmatch(form)):
        what = "style sheets" if match[1] == "css" else "scripts"
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
