"""
Why a verdict is what it is, in lines that people read: groups, the rule that decides, the losers.

The words are those of `robotrules explain`, and the caret stands under the same octets. What a file
holds is hostile: no control character of it is left. It does not know what was expected.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.expect.values import ReportLine
from robotrules.octets import visible
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Record
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Match, Outcome

MOST = 5
LONGEST = 120
OUTCOMES = {
    Outcome.WINS: "decides, with the most octets",
    Outcome.FEWER_OCTETS: "loses: fewer octets",
    Outcome.ALLOW_WINS_TIE: "loses: as many octets, but allow wins a tie",
    Outcome.LATER_LINE: "says the same on a later line",
    Outcome.NOT_CONSULTED: "not consulted",
}


def shortened(text: str, room: int = LONGEST) -> str:
    """Return text, cut at its end where it is longer than *room*."""
    return text if len(text) <= room else text[: room - 1] + "…"


def between(first: int, last: int) -> str:
    """Return `line 3`, or `lines 3-5`."""
    return f"line {first}" if last <= first else f"lines {first}-{last}"


def told_verdict(robots: RobotsTxt, found: Explanation) -> tuple[ReportLine, ...]:
    """Tell how a verdict was reached."""
    told = [ReportLine(f"groups    {why_groups(found)}")]
    for match in found.matches[: MOST + 1]:
        told += _match(match, robots.body)
    if (more := len(found.matches) - MOST - 1) > 0:
        told.append(ReportLine(f"          and {more:,} more that lose"))
    return tuple(told)


def told_record(robots: RobotsTxt, record: Record, words: str) -> tuple[ReportLine, ...]:
    """Show a record where it stands, its value marked, and say something about it."""
    where = record.line, record.start, record.end
    return tuple(_marked(robots.body, *where, words, ""))


def why_groups(found: Explanation) -> str:
    """Say which groups a crawler obeys, and why these."""
    name = visible(found.product_token)
    where = ", ".join(between(*group.lines) for group in found.groups[:MOST])
    if len(found.groups) > MOST:
        where += f" and {len(found.groups) - MOST:,} more"
    several = "s" if len(found.groups) > 1 else ""
    if found.matched_by is GroupMatch.TOKEN:
        named = " or ".join(map(visible, found.matched_tokens))
        return f"{where}: the group{several} that name{'' if several else 's'} {named}"
    if found.matched_by is GroupMatch.PURPOSE:
        named = " or ".join(map(visible, found.matched_purposes))
        return (
            f"{where}: none names {name}, and {'these name' if several else 'this names'} {named}"
        )
    if found.matched_by is GroupMatch.NONE:
        return "none is for '*'" if name == "*" else f"none names {name}, and none is for '*'"
    if found.product_token == "*":
        return f"{where}: the group{several} for '*'"
    return (
        f"{where}: none names {name}, so the group{several} for '*' count{'' if several else 's'}"
    )


def _match(match: Match, body: bytes) -> Iterator[ReportLine]:
    rule = match.rule
    octets = f"{rule.octets:,} octet{'' if rule.octets == 1 else 's'}"
    words = f"{OUTCOMES[match.outcome]} ({octets})"
    style = "" if match.outcome is not Outcome.WINS else "allowed" if rule.allow else "disallowed"
    yield from _marked(body, rule.line, rule.start, rule.end, words, style)


def _marked(
    body: bytes, number: int, start: int, end: int, words: str, style: str
) -> Iterator[ReportLine]:
    """Yield a line of the file, and below it carets under a part of it."""
    # The one line that is wanted is cut out here: a file may have very many.
    first = max(body.rfind(b"\n", 0, start), body.rfind(b"\r", 0, start)) + 1
    ends = (at for at in (body.find(b"\n", end), body.find(b"\r", end)) if at >= 0)
    before, marked = visible(body[first:start]), visible(body[start:end])
    after = visible(body[end : min(ends, default=len(body))])
    yield ReportLine(f"{number:6} | {shortened(before + marked + after)}", style)
    if len(before) < LONGEST:
        carets = "^" * min(max(len(marked), 1), LONGEST - len(before))
        yield ReportLine(f"       | {' ' * len(before)}{carets}", style)
    yield ReportLine(f"       | {words}", style)
