"""
Preset addition: the crawlers that a preset blocks, added to an existing robots.txt, with proof.

    from robotrules.operations.preset_addition import add_preset
    add_preset(octets, PRESETS["block-ai-training"]).body

Names that the file blocks already stay where they are. The user-agent lines of the others are
removed from their groups, because rules of several groups for one crawler would be merged, and one
group at the end blocks all of them. All other lines keep their bytes. Nothing is returned unless it
is proved, under every profile, that the crawlers of the preset may fetch nothing, and that nothing
changes for any other crawler. The module does no I/O.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis import compare, equivalent
from robotrules.analysis.crawlers import Crawler, crawlers, documented_crawlers, is_complete
from robotrules.analysis.group_edits import Groups
from robotrules.analysis.line_edits import Draft
from robotrules.errors import WriteError
from robotrules.linting.value_shapes import crawler_name
from robotrules.octets import visible
from robotrules.profile import LEAST_MAX_BYTES, PROFILES, Profile, Role
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.values import Record
from robotrules.write import NewRobotsTxt, write
from robotrules.write.presets import Preset
from robotrules.write.values import PLACEHOLDER

__all__ = ["PresetAddition", "ReplacedName", "add_preset"]

ADVICE = "add the group by hand, or write a policy with for-purpose (docs/write.md)"
BLOCK_ALL = b"User-agent: *\nDisallow: /\n"
# Names of crawlers that are no one's: a placeholder stands for the rest.
NOBODY = "_unnamed_"


class ReplacedName(NamedTuple):
    """A crawler that the file named, with rules that did not block it everywhere."""

    name: str
    lines: tuple[int, ...]
    """Its user-agent lines in the old file, which are removed."""
    removed_lines: tuple[int, ...] = ()
    """Other lines of its groups that are removed, because the groups named no other crawler."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "lines": list(self.lines),
            "removed_lines": list(self.removed_lines),
        }


class PresetAddition(NamedTuple):
    """A robots.txt with the crawlers of a preset, proved to change nothing else."""

    body: bytes
    added: tuple[str, ...]
    """The names of the new group."""
    kept: tuple[str, ...]
    """Names that the file blocked already."""
    replaced: tuple[ReplacedName, ...]
    """Names of the new group that the file had in other groups."""
    purposes: tuple[str, ...]
    """Purposes that are added."""
    is_ended: bool
    """Whether the file's last group had no rules, and is ended by `Disallow:` without a path."""
    profiles: tuple[str, ...]
    """The profiles for which it is proved."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, without the text."""
        return {
            "added": list(self.added),
            "kept": list(self.kept),
            "replaced": [replaced.as_dict() for replaced in self.replaced],
            "purposes": list(self.purposes),
            "is_ended": self.is_ended,
            "profiles": list(self.profiles),
        }


def add_preset(octets: bytes, preset: Preset) -> PresetAddition:
    """
    Return a robots.txt with the crawlers that a preset blocks, and with all else as it was.

    Raises `WriteError`, with the reason, if the preset is not about purposes, and if the result
    cannot be proved.
    """
    if not preset.purposes:
        raise WriteError(
            f"preset {preset.name} says what every crawler may do, so it would replace all rules "
            "of the file: write it as a new file, or use block-ai-training or block-ai-all"
        )
    robots = parse(octets)
    if robots.body != octets:
        raise WriteError(
            "the file is not UTF-8, or has more than 500 KiB, which crawlers may ignore: save it "
            "as UTF-8, and remove lines"
        )
    blocked = [crawler for crawler in KNOWN_CRAWLERS if preset.blocks(crawler)]
    lines = _named_lines(robots, blocked)
    files = [parse(octets, profile) for profile in PROFILES.values()]
    kept = tuple(
        crawler.written_as
        for crawler in blocked
        if crawler.written_as.lower() in lines and all(_is_blocked(crawler, one) for one in files)
    )
    added = tuple(dict.fromkeys(one.written_as for one in blocked if one.written_as not in kept))
    purposes = tuple(one for one in preset.purposes if not _is_purpose_blocked(one, robots))
    replaced: list[ReplacedName] = []
    body, is_ended = octets, False
    if added or purposes:
        wanted = {name.lower(): lines[name.lower()] for name in added if name.lower() in lines}
        body, replaced = _remove_names(robots, wanted)
        last = parse(body).groups[-1:]
        is_open = not any(one.role is Role.RULE for group in last for one in group.records)
        is_ended = bool(last) and is_open
        body = _append(body, preset.added_groups(added, purposes), is_ended)
        if len(body) > LEAST_MAX_BYTES:
            raise WriteError(
                "the file would have more than 500 KiB, and crawlers may ignore the rest: remove "
                "lines; robotrules simplify finds those that are not needed"
            )
        _prove(octets, body, blocked, preset)
    return PresetAddition(body, added, kept, tuple(replaced), purposes, is_ended, tuple(PROFILES))


# --- The edit -------------------------------------------------------------------------------------


def _named_lines(robots: RobotsTxt, blocked: Collection[KnownCrawler]) -> dict[str, list[Record]]:
    """Return the user-agent lines that name crawlers, by the name in lower case."""
    names = {crawler.written_as.lower() for crawler in blocked}
    found: dict[str, list[Record]] = {}
    for group in robots.groups:
        for start in group.starts:
            if (name := crawler_name(start)) in names:
                found.setdefault(name, []).append(start)
    return found


def _remove_names(
    robots: RobotsTxt, named: dict[str, list[Record]]
) -> tuple[bytes, list[ReplacedName]]:
    """Return the file without user-agent lines, and without groups that name no one else."""
    groups, draft = Groups([robots]), Draft(robots)
    starts = {start.line for lines in named.values() for start in lines}
    rest: dict[int, tuple[int, ...]] = {}
    for group in robots.groups:
        own = [start.line for start in group.starts]
        if starts.issuperset(own):
            removed = groups.lines(group)
            rest |= dict.fromkeys(own, tuple(line for line in removed if line not in own))
            draft.remove(sorted(removed, reverse=True))
        else:
            draft.remove([line for line in own if line in starts])
    replaced = []
    for lines in named.values():
        known = KNOWN_CRAWLERS.get(crawler_name(lines[0]))
        name = known.product_token if known else crawler_name(lines[0])
        numbers = tuple(start.line for start in lines)
        others = sorted({line for number in numbers for line in rest.get(number, ())})
        replaced.append(ReplacedName(name, numbers, tuple(others)))
    return draft.render()[0], replaced


def _append(body: bytes, robots: NewRobotsTxt, is_open: bool) -> bytes:
    """
    Return a file with groups at its end, after an empty line, with its line ends.

    Only a rule ends a list of user-agent lines: a last group that is open, because it has none,
    gets one without effect.
    """
    end = b"\r\n" if 2 * body.count(b"\r\n") > body.count(b"\n") else b"\n"
    added = write(robots).encode("ascii").replace(b"\n", end)
    if not body.strip():
        return body + added
    ending = b"Disallow:" + end if is_open else b""
    return body.rstrip(b"\r\n") + end + ending + end + added


# --- The proof ------------------------------------------------------------------------------------


def _prove(old: bytes, new: bytes, blocked: Sequence[KnownCrawler], preset: Preset) -> None:
    for profile in PROFILES.values():
        was, now = parse(old, profile), parse(new, profile)
        for crawler in blocked:
            if not _is_blocked(crawler, now):
                raise WriteError(
                    f"{crawler.product_token} could not be proved to be blocked under profile "
                    f"{profile.name}: {ADVICE}"
                )
        for purpose in preset.purposes:
            if not _is_purpose_blocked(purpose, now):
                raise WriteError(
                    f"the file has other rules for the purpose {purpose} (User-Agent-Purpose): "
                    "remove that line, and try again"
                )
        _prove_others(was, now, _exempt_names(was, blocked, preset), preset)


def _prove_others(was: RobotsTxt, now: RobotsTxt, names: set[str], preset: Preset) -> None:
    """Raise an error unless nothing changes for all crawlers but those of the preset."""
    for list_crawlers, literal in ((crawlers, True), (documented_crawlers, False)):
        others = [
            crawler
            for crawler in list_crawlers(was, now)
            if crawler.product_token.lower() not in names
            if set(preset.purposes).isdisjoint(one.lower() for one in crawler.purposes)
        ]
        found = compare(was, now, only=others, literal=literal)
        if found.equal and is_complete(was, now):
            continue
        changing = [change for change in found.changes if not change.difference.equal]
        whom = [crawler for change in changing for crawler in change.crawlers] or [
            crawler for statement in found.statements for crawler in statement.crawlers
        ]
        raise WriteError(_explain(whom))


def _explain(whom: Sequence[Crawler]) -> str:
    names = ", ".join(visible(crawler.name) for crawler in whom[:3]) or "other crawlers"
    return (
        f"it could not be proved that nothing changes for {names}, because of how the groups of "
        f"the file are written; robotrules lint shows what may be wrong, or {ADVICE}"
    )


def _exempt_names(was: RobotsTxt, blocked: Sequence[KnownCrawler], preset: Preset) -> set[str]:
    """
    Return the names, in lower case, for which rules may change.

    Parsers that follow the grammar read the beginning of a name such as AI2Bot; if the file has
    that as a name, it is someone else's. Google's parser reads a purpose as a name.
    """
    names = {PLACEHOLDER.lower(), *preset.purposes}
    names |= {name.lower() for one in blocked for name in (one.product_token, one.written_as)}
    named = {crawler_name(start) for group in was.groups for start in group.starts}
    return names | ({one.read_as.lower() for one in blocked} - named)


def _is_blocked(crawler: KnownCrawler, robots: RobotsTxt) -> bool:
    names = crawler.names
    if not robots.profile.literal_tokens:
        names = CrawlerNames(
            filter(None, (crawler.read_as, *crawler.also)), ignores_star=crawler.ignores_star
        )
    return _blocks_all(robots.rules_for(names), robots.profile)


def _is_purpose_blocked(purpose: str, robots: RobotsTxt) -> bool:
    """Return whether a group for a purpose blocks; true if the profile reads no purposes."""
    if not robots.profile.reads_purposes():
        return True
    return purpose in _purposes(robots) and _blocks_all(
        robots.rules_for(NOBODY, [purpose]), robots.profile
    )


def _purposes(robots: RobotsTxt) -> Iterator[str]:
    for record in robots.records:
        if record.key == "user-agent-purpose":
            yield record.value.decode("ascii", "replace").strip().lower()


def _blocks_all(rules: RuleSet, profile: Profile) -> bool:
    return equivalent(rules, parse(BLOCK_ALL, profile).rules_for(NOBODY)).equal is True
