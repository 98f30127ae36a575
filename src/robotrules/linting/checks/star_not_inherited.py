"""RR418: a group for a named crawler that has none, or not all, of the rules for everyone."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.crawlers import EVERYONE_ELSE
from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, listed, quote
from robotrules.linting.exact import Kind
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject
from robotrules.robotstxt.values import Rule

# The share of what everyone is asked that a group repeats if the rest was forgotten.
REPEATED = 0.5


class StarNotInherited(Check):
    """
    What it finds:
        A group that names a crawler and asks something of its own of it, while none of what the
        group for everyone disallows is repeated there; or most of it is, and some was forgotten.

    Why it matters:
        A crawler that is named obeys its own group alone: the group of `*` is for those that no
        group names. What is asked of everyone is not asked of this crawler, unless it is repeated.
        That surprises many people, and some files mean it: then there is nothing to do.

    Example:
            User-agent: *
            Disallow: /private/

            User-agent: ExampleBot
            Disallow: /images/

    Instead:
            User-agent: *
            Disallow: /private/

            User-agent: ExampleBot
            Disallow: /private/
            Disallow: /images/
    """

    code = "RR418"
    slug = "star-not-inherited"
    level = "info"
    message = "{why}: line {line} ({rule}) is not for {names}, unless it is repeated here."
    reference = "RFC 9309 §2.2.1"

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield groups in which nothing that everyone is asked is repeated, or not all of it."""
        star = next((kind for kind in subject.kinds if _is_star(kind)), None)
        asked = _disallows(star) if star else {}
        # A file that asks everyone to leave names those that it welcomes.
        if star is None or not asked or "/" in asked:
            return
        for kind in subject.kinds:
            own = _disallows(kind)
            if kind is star or not own or "/" in own:
                continue
            repeated = len(own.keys() & asked.keys())
            # Who repeats a few rules chose them; who repeats most of them forgot the others.
            if 0 < repeated < len(asked) * REPEATED:
                continue
            forgotten = (rule for form, rule in asked.items() if form not in own)
            shown = next((rule for rule in forgotten if _allows(kind, rule)), None)
            if shown is None:
                continue
            why = "Named crawlers obey their own group alone"
            if repeated:
                why += f", and this one repeats {repeated} of {len(asked)} patterns for everyone"
            start = subject.groups[kind.groups[0]].starts[0]
            yield self.about(
                subject,
                start,
                url=ORIGIN + shown.form.replace("*", "").removesuffix("$"),
                why=why,
                names=listed(kind.names),
                line=shown.line,
                rule=quote(str(shown)),
            )


def _is_star(kind: Kind) -> bool:
    return any(c.product_token == EVERYONE_ELSE and not c.purposes for c in kind.crawlers)


def _disallows(kind: Kind) -> dict[str, Rule]:
    """Return what a kind of crawlers is asked to leave, by pattern."""
    return {rule.form: rule for rule in kind.written if not rule.allow and rule.form}


def _allows(kind: Kind, rule: Rule) -> bool:
    path = rule.form.replace("*", "").removesuffix("$")
    return path.startswith("/") and kind.rules.allows(ORIGIN + path)
