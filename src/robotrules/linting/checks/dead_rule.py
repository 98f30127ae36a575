"""RR501: a rule that has no effect on any URL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.octets import to_octets
from robotrules.robotstxt.values import Rule

# A segment of one or two dots, possibly percent-encoded, that is complete: at the end of a pattern
# it may be the beginning of a longer name.
_DOTS = re.compile(r"^[^?]*/(?:\.|%2e){1,2}(?:/|\$$|\?)", re.IGNORECASE)
_DOT = re.compile("%2e", re.IGNORECASE)
# RFC 9309 §2.2.2 always allows it.
_ROBOTS_TXT = "/robots.txt$"


class DeadRule(Check):
    """
    What it finds:
        A rule that decides no URL for any crawler, because longer or equal rules decide all URLs
        that it matches, or because its pattern matches no URL. This is proved for all possible
        URLs, not tested on samples. A pattern with a `.` or `..` segment, such as `/a/../b`,
        matches no request: browsers and crawlers resolve these segments before they send a request.

    Why it matters:
        Readers of the file expect the rule to have an effect, and so, often, did its author. The
        longest pattern wins, whatever the order of the lines, and Allow wins between patterns of
        equal length. Where the rules that decide instead have the same effect, the level is `info`.

    Example:
            User-agent: *
            Disallow: /shop*
            Allow: /shop

    Instead:
        Remove the rule (`robotrules simplify` does), or make it longer than the rule that wins:

            User-agent: *
            Disallow: /shop*
            Allow: /shop/open
    """

    code = "RR501"
    slug = "dead-rule"
    level = "warning"
    message = "{rule} has no effect for any crawler: {why}. {advice}."
    reference = "RFC 9309 §2.2.2"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that are proved to decide no URL."""
        dotted = {rule.line: rule for rule in _find_dot_segments(context)}
        for _, rule in sorted(dotted.items()):
            yield self.about(
                context,
                rule,
                rule=quote(str(rule)),
                why="crawlers resolve '.' and '..' before they request a URL",
                advice="Write the resolved path",
                fix=_resolve_dot_segments(rule),
            )
        for line, dead in sorted(context.proofs.dead.items()):
            if line in dotted:
                continue
            covers = [rule for rule in dead.covers if rule.line != line]
            lines = ", ".join(str(rule.line) for rule in covers)
            alike = bool(covers) and all(rule.allow == dead.rule.allow for rule in covers)
            why = f"line {lines} decides every URL that this rule matches"
            advice = "Remove it" if alike else "Remove it, or write a longer pattern"
            if not covers:
                why, advice = (
                    "its pattern matches no URL",
                    "Correct the pattern, or remove the rule",
                )
                if dead.rule.form == _ROBOTS_TXT:
                    why, advice = "crawlers may always fetch /robots.txt", "Remove it"
            if len(covers) > 1:
                why = f"lines {lines} together decide every URL that this rule matches"
            yield self.about(
                context,
                dead.rule,
                # The rules that decide instead have the same effect.
                level="info" if alike else None,
                rule=quote(str(dead.rule)),
                why=why,
                advice=advice,
                related=[relate("decides these URLs", rule) for rule in covers],
            )


def _find_dot_segments(context: LintContext) -> Iterator[Rule]:
    """Yield rules with a dot segment: clients resolve it, so no request has one (AMB-46)."""
    body = context.robots.body
    if b"/." not in body and b"/%2" not in body:
        return
    for group in context.groups:
        for rule in group.rules:
            if _DOTS.search(rule.pattern):
                yield rule


def _resolve_dot_segments(rule: Rule) -> Fix | None:
    """Return the fix that writes the path that clients send; None where wildcards hide it."""
    path, mark, query = rule.pattern.partition("?")
    if "*" in path or "$" in path[:-1]:
        return None
    kept: list[str] = []
    plain = ""
    for part in path.removesuffix("$").split("/")[1:]:
        plain = _DOT.sub(".", part)
        if plain == "..":
            kept = kept[:-1]
        elif plain != ".":
            kept.append(part)
    # A directory ends with a slash (RFC 3986 §5.2.4).
    slash = "/" if kept and plain in (".", "..") else ""
    end = "$" if path.endswith("$") else ""
    resolved = f"/{'/'.join(kept)}{slash}{end}{mark}{query}"
    edit = Edit(rule.start, rule.end, to_octets(resolved))
    return Fix(f"Write {quote(resolved)}", (edit,), changes_verdicts=True)
