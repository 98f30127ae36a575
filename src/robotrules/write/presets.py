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

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from robotrules.errors import WriteError, WrongWitnessError
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
from robotrules.write.values import longer_names_first

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

    def robots(self, sitemaps: Iterable[str] = ()) -> NewRobotsTxt:
        """
        Return the file; a mismatch with what `blocks` says is a bug and raises an error.

        *sitemaps* are absolute URLs; others raise `WriteError`.
        """
        sitemaps = list(sitemaps)
        for url in sitemaps:
            if not url.startswith(("https://", "http://")):
                raise WriteError(
                    f"sitemap {url!r} is not an absolute URL: write one such as "
                    "https://example.com/sitemap.xml"
                )
        groups = tuple(self._groups())
        records = [NewRecord("Sitemap", url) for url in sitemaps]
        robots = NewRobotsTxt(groups, records, comment=self._comment(len(groups) > 1))
        verify(self, write(robots))
        return robots

    def added_groups(self, names: Iterable[str], purposes: Iterable[str]) -> NewRobotsTxt:
        """
        Return groups that block crawlers and purposes of this preset, for the end of another file.

        `operations.preset_addition` adds them, and proves what that changes.
        """
        usage, names, purposes = self._usage(), list(names), tuple(purposes)
        comment = "\n".join(
            (
                f"{self.name}, added to this file: these crawlers may fetch nothing.",
                KNOWN_CRAWLERS.citation,
                f"Written by: robotrules write --preset {self.name} --add-to FILE",
                "This is a request, not access control: a crawler can ignore it.",
            )
        )
        groups = [self._group(names, (), usage, True, comment)] if names else []
        if purposes:
            groups.append(self._group([], purposes, usage, True, SKIPPED))
        return NewRobotsTxt(groups)

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

    def _comment(self, has_names: bool) -> str:
        lines = [
            f"{self.name}: {self.summary}",
            *([KNOWN_CRAWLERS.citation] if has_names else []),
            f"Written by: robotrules write --preset {self.name}",
            "This is a request, not access control: a crawler can ignore it.",
        ]
        return "\n".join(lines)

    def _groups(self) -> Iterator[NewGroup]:
        """Yield blocked and allowed names, each before names that it contains; then the rest."""
        usage = self._usage()
        blocked, allowed = (self._named(is_blocked=value) for value in (True, False))
        named = [
            self._group(names, (), usage, is_blocked, f"{comment}:")
            for comment, names, is_blocked in ((BLOCKED, blocked, True), (ALLOWED, allowed, False))
            if names
        ]
        yield from longer_names_first(named)
        if self.purposes:
            yield self._group([], self.purposes, usage, True, SKIPPED)
        words = ALLOWED if self.allows_others else BLOCKED
        comment = f"All others. {words}:" if named else ""
        yield self._group(["*"], (), usage, not self.allows_others, comment)

    def _usage(self) -> list[NewRecord]:
        return [content_usage_record(dict(self.use))] if self.use else []

    def _group(
        self,
        names: list[str],
        purposes: tuple[str, ...],
        usage: list[NewRecord],
        is_blocked: bool,
        comment: str,
    ) -> NewGroup:
        return NewGroup(names, purposes, [disallow("/")] if is_blocked else [], usage, comment)

    def _named(self, *, is_blocked: bool) -> list[str]:
        """
        Return the names that need a group to be blocked, or to be allowed.

        If everyone else gets the other answer, these are all such crawlers. Otherwise they are
        those that ignore `*`, with the names that they obey instead; those that would obey a group
        with the other answer; and those whose name contains one of its names, because Protego and
        urllib.robotparser compare the beginning or a part of the crawler's name.
        """
        crawlers = [crawler for crawler in KNOWN_CRAWLERS if self.blocks(crawler) is is_blocked]
        if is_blocked is not self.allows_others:
            others = set(KNOWN_CRAWLERS).difference(crawlers)
            contrary = [other.written_as.lower() for other in others]
            needed: set[str] = set()
            for crawler in crawlers:
                names = [name.lower() for name in crawler.names]
                if crawler.ignores_star and is_blocked:
                    needed.update(names)
                elif any(name in contrary for name in names) or any(
                    name in names[0] for name in contrary
                ):
                    needed.add(names[0])
            crawlers = [one for one in crawlers if one.product_token.lower() in needed]
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
