"""RR501: a rule that decides no URL at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Rule, octets_of

# A segment of one or two dots, which may be escaped, with something after it: at the end of a
# pattern it may be the beginning of another one.
_DOTS = re.compile(r"^[^?]*/(?:\.|%2e){1,2}(?:/|\$$|\?)", re.IGNORECASE)
_DOT = re.compile("%2e", re.IGNORECASE)
# What RFC 9309 §2.2.2 allows whatever the rules say.
_ROBOTS_TXT = "/robots.txt$"


class DeadRule(Check):
    """
    What it finds:
        A rule that decides no URL for any crawler, because longer or equal rules decide all that it
        matches, or because its pattern matches no URL. This is proved for all URLs there are, and
        not tried on samples. A pattern with a `.` or `..` for a directory, such as `/a/../b`, is
        one that no request has: browsers and crawlers resolve these before they ask.

    Why it matters:
        Whoever reads the file believes that the rule does something. Often it was meant to: the
        longest pattern wins, whatever the order of the lines, and of equal ones Allow does. Where
        the rules that decide in its place say the same, the note is for information only.

    Example:
            User-agent: *
            Disallow: /shop*
            Allow: /shop

    Instead:
        Take the rule out (`robotrules simplify` does), or make it longer than the rule that wins:

            User-agent: *
            Disallow: /shop*
            Allow: /shop/open
    """

    code = "RR501"
    slug = "dead-rule"
    level = "warning"
    message = "{rule} decides no URL: {why}."
    reference = "RFC 9309 §2.2.2"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that are proved to decide nothing."""
        unsent = {rule.line: rule for rule in _unsent(context)}
        for _, rule in sorted(unsent.items()):
            fix, why = _resolved(rule), "no request has such a path"
            yield self.about(context, rule, rule=quote(str(rule)), why=why, fix=fix)
        for line, dead in sorted(context.proofs.dead.items()):
            if line in unsent:
                continue
            covers = [rule for rule in dead.covers if rule.line != line]
            lines = ", ".join(str(rule.line) for rule in covers)
            why = f"line {lines} decides first"
            if not covers:
                why = "its pattern matches none"
                if dead.rule.form == _ROBOTS_TXT:
                    why = "crawlers may always fetch /robots.txt"
            if len(covers) > 1:
                why = f"lines {lines} together decide first"
            alike = bool(covers) and all(rule.allow == dead.rule.allow for rule in covers)
            yield self.about(
                context,
                dead.rule,
                # What decides in its place says the same: nothing is lost but clarity.
                level="info" if alike else None,
                rule=quote(str(dead.rule)),
                why=why,
                related=[relate("decides first", rule) for rule in covers],
            )


def _unsent(context: LintContext) -> Iterator[Rule]:
    """Yield rules with a dot segment: clients resolve it, so no request has one (AMB-46)."""
    body = context.robots.body
    if b"/." not in body and b"/%2" not in body:
        return
    for group in context.groups:
        for rule in group.rules:
            if _DOTS.search(rule.pattern):
                yield rule


def _resolved(rule: Rule) -> Fix | None:
    """Return the fix that writes the path which clients send; None where wildcards hide it."""
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
    sent = f"/{'/'.join(kept)}{slash}{end}{mark}{query}"
    edit = Edit(rule.start, rule.end, octets_of(sent))
    return Fix(f"Write {quote(sent)}", (edit,), changes_verdicts=True)
