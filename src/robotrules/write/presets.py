"""
Presets: complete robots.txt files for common wishes, such as to block AI training.

    from robotrules.write import write
    from robotrules.write.presets import PRESETS
    print(write(PRESETS["block-ai-training"].robots()))

A preset is a decision about purposes; the names come from the dated list of well-known crawlers.
`Preset.blocks` is what it says about a crawler: a crawler with several purposes is blocked if one
of them is not allowed, because it cannot be asked to fetch for the others only. `verify` compares
that with the written text under every profile, with the parser and not with the code that wrote it.
The module does no I/O.

Sections: the presets · the file · verification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules.errors import WrongWitnessError
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.write import (
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    content_usage_record,
    disallow,
    write,
)

__all__ = ["PRESETS", "Preset"]

BLOCKED, ALLOWED = "May fetch nothing", "May fetch everything"
SKIPPED = "Parsers that do not know User-Agent-Purpose skip this group."
# URLs for which a written file is verified.
SAMPLES = ("/", "/a", "/a%2Fb/?q=1&r=%C3%A4", "/index.html")
IN_HOUSE = "in-house"


# --- The presets ----------------------------------------------------------------------------------


class Preset(NamedTuple):
    """A complete robots.txt by purposes of crawlers."""

    name: str
    summary: str
    """What it asks, in one sentence for a site owner."""
    allowed: frozenset[str]
    """The purposes of crawlers that may fetch everything."""
    use: tuple[tuple[str, bool], ...] = ()
    """Content-Usage preferences: what the content may be used for."""
    purposes: tuple[str, ...] = ()
    """Values for User-Agent-Purpose, which block crawlers that are not listed by name."""

    @property
    def allows_others(self) -> bool:
        """Whether crawlers that are not well known may fetch everything (the `*` group)."""
        return "data" in self.allowed

    def blocks(self, crawler: KnownCrawler) -> bool:
        """
        Return whether it asks a well-known crawler to fetch nothing.

        It does unless all purposes of the crawler are allowed. An in-house crawler with a
        fallback, such as Google-InspectionTool, gets the answer of that crawler: it tests what
        the other one may fetch.
        """
        if crawler.purposes == (IN_HOUSE,) and crawler.also:
            other = KNOWN_CRAWLERS.get(crawler.also[0])
            return self.blocks(other) if other else not self.allows_others
        return not self.allowed.issuperset(crawler.purposes)

    def robots(self) -> NewRobotsTxt:
        """Return the file; a mismatch with what `blocks` says is a bug and raises an error."""
        robots = NewRobotsTxt(self._groups(), comment=self._comment())
        verify(self, write(robots))
        return robots

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, with what it says about each crawler."""
        return {
            "name": self.name,
            "summary": self.summary,
            "checked": KNOWN_CRAWLERS.checked,
            "source": KNOWN_CRAWLERS.source,
            "others_allowed": self.allows_others,
            "crawlers": [
                {
                    "product_token": crawler.product_token,
                    "purposes": list(crawler.purposes),
                    "allowed": not self.blocks(crawler),
                    "status": crawler.status,
                    "obeys": crawler.obeys,
                }
                for crawler in KNOWN_CRAWLERS
            ],
        }

    # --- The file -----------------------------------------------------------------------------

    def _comment(self) -> str:
        lines = [
            f"{self.name}: {self.summary}",
            KNOWN_CRAWLERS.citation,
            f"Written by: robotrules write --preset {self.name}",
            "This is a request, not access control: a crawler can ignore it.",
        ]
        return "\n".join(lines)

    def _groups(self) -> Iterator[NewGroup]:
        """
        Yield blocked names, allowed names, purposes, and everyone else.

        Python's urllib.robotparser uses the first group with a name that is part of the crawler's
        name: blocked names come first, so that a parser of this kind errs on the strict side.
        """
        usage = [content_usage_record(dict(self.use))] if self.use else []
        for comment, names, is_blocked in (
            (BLOCKED, self._blocked_names(), True),
            (ALLOWED, self._allowed_names(), False),
        ):
            if names:
                yield self._group(names, (), usage, is_blocked, f"{comment}:")
        if self.purposes:
            yield self._group([], self.purposes, usage, True, SKIPPED)
        words = BLOCKED if not self.allows_others else ALLOWED
        yield self._group(["*"], (), usage, not self.allows_others, f"All others. {words}:")

    def _group(
        self,
        names: list[str],
        purposes: tuple[str, ...],
        usage: list[NewRecord],
        is_blocked: bool,
        comment: str,
    ) -> NewGroup:
        return NewGroup(names, purposes, [disallow("/")] if is_blocked else [], usage, comment)

    def _blocked_names(self) -> list[str]:
        """
        Return the names that need a group to be blocked.

        If everyone else is blocked, these are crawlers that ignore `*`, the names that they obey
        instead, and crawlers that would obey the group of an allowed one.
        """
        blocked = [crawler for crawler in KNOWN_CRAWLERS if self.blocks(crawler)]
        if not self.allows_others:
            needed = {
                name for one in blocked if one.ignores_star for name in (one.product_token, *one.also)
            }
            allowed = set(self._allowed_names())
            needed |= {one.product_token for one in blocked if allowed.intersection(one.also)}
            blocked = [one for one in blocked if one.product_token in needed]
        return _names(blocked)

    def _allowed_names(self) -> list[str]:
        """Return the names that need a group to be allowed."""
        allowed = [crawler for crawler in KNOWN_CRAWLERS if not self.blocks(crawler)]
        if self.allows_others:
            # They would obey the group of a blocked crawler.
            blocked = {one.product_token for one in KNOWN_CRAWLERS if self.blocks(one)}
            allowed = [one for one in allowed if blocked.intersection(one.also)]
        return _names(allowed)


def _names(crawlers: list[KnownCrawler]) -> list[str]:
    return list(dict.fromkeys(crawler.written_as for crawler in crawlers))


_ALL = frozenset(CRAWLER_PURPOSES)
_NO_AI = _ALL - {"ai-training", "ai-search"}

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "block-ai-training",
            "AI-training crawlers may fetch nothing; all others everything.",
            _ALL - {"ai-training"},
            (("train-ai", False),),
            ("ai-training",),
        ),
        Preset(
            "block-ai-all",
            "crawlers for AI training and AI answers may fetch nothing; all others everything.",
            _NO_AI,
            (("train-ai", False),),
            ("ai-training", "ai-search"),
        ),
        Preset(
            "search-only",
            "search engines may fetch everything; all others nothing.",
            frozenset(("search",)),
            (("train-ai", False), ("search", True)),
        ),
        Preset("allow-all", "every crawler may fetch everything.", _ALL),
        Preset(
            "block-all",
            "no crawler may fetch anything.",
            frozenset(),
            (("train-ai", False), ("search", False)),
        ),
        Preset(
            "archive-only",
            "web archives may fetch everything; all others nothing.",
            frozenset(("archive",)),
            (("train-ai", False), ("search", False)),
        ),
    )
}


# --- Verification ---------------------------------------------------------------------------------


def verify(preset: Preset, text: str) -> None:
    """
    Compare a written file with what a preset says, for every well-known crawler and profile.

    A difference is a bug in robotrules and raises `WrongWitnessError`. Parsers that follow the
    grammar read the beginning of a name such as AI2Bot, and its crawler must ask with that too.
    They read nothing of a name that starts with a digit: its crawler obeys the `*` group, and may
    be blocked although the preset allows it. The other way round is never accepted.
    """
    for profile in PROFILES.values():
        robots = parse(text, profile)
        _require(preset, "*", profile.name, robots.rules_for("*"), preset.allows_others)
        for crawler in KNOWN_CRAWLERS:
            names, expected = crawler.names, not preset.blocks(crawler)
            if not profile.literal_tokens:
                names = CrawlerNames(
                    filter(None, (crawler.read_as, *crawler.also)),
                    ignores_star=crawler.ignores_star,
                )
                expected = expected and (bool(crawler.read_as) or preset.allows_others)
            _require(preset, crawler.product_token, profile.name, robots.rules_for(names), expected)


def _require(preset: Preset, name: str, profile: str, rules: RuleSet, expected: bool) -> None:
    for path in SAMPLES:
        if rules.allows(path) is not expected:
            words = "allowed" if expected else "blocked"
            raise WrongWitnessError(
                f"preset {preset.name}: {name} is not {words} for {path} under profile {profile}: "
                "please report this"
            )
