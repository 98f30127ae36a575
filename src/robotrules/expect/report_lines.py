"""
Report lines that explain a verdict: groups, the deciding rule, and the other rules that match.

Carets mark the same octets as in `robotrules explain`. The content of a file
is untrusted: control characters are escaped. The module does not know what was expected.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.expect.values import ReportLine
from robotrules.octets import visible
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Record
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Match, Outcome

MAX_SHOWN = 5
MAX_WIDTH = 120
OUTCOMES = {
    Outcome.WINS: "decides, as the longest match",
    Outcome.FEWER_OCTETS: "loses: shorter",
    Outcome.ALLOW_WINS_TIE: "loses: same length, but Allow wins a tie",
    Outcome.LATER_LINE: "repeats the rule on a later line",
    Outcome.NOT_CONSULTED: "not consulted",
}


def truncate(text: str, width: int = MAX_WIDTH) -> str:
    """Return text, truncated to *width* characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def format_line_range(first: int, last: int) -> str:
    """Return `line 3`, or `lines 3-5`."""
    return f"line {first}" if last <= first else f"lines {first}-{last}"


def verdict_lines(robots: RobotsTxt, found: Explanation) -> tuple[ReportLine, ...]:
    """Return lines that explain a verdict."""
    lines = [ReportLine(f"groups    {describe_groups(found)}")]
    for match in found.matches[: MAX_SHOWN + 1]:
        lines += _match_lines(match, robots.body)
    if (more := len(found.matches) - MAX_SHOWN - 1) > 0:
        lines.append(ReportLine(f"          and {more:,} more that lose"))
    return tuple(lines)


def record_lines(robots: RobotsTxt, record: Record, remark: str) -> tuple[ReportLine, ...]:
    """Return the line of a record with its value marked, and a remark about it."""
    where = record.line, record.start, record.end
    return tuple(_marked_line(robots.body, *where, remark, ""))


def describe_groups(found: Explanation) -> str:
    """Return which groups a crawler obeys, and why."""
    name = visible(found.product_token)
    where = ", ".join(format_line_range(*group.lines) for group in found.groups[:MAX_SHOWN])
    if len(found.groups) > MAX_SHOWN:
        where += f" and {len(found.groups) - MAX_SHOWN:,} more"
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
        f"{where}: none names {name}, so the group{several} for '*' appl{'y' if several else 'ies'}"
    )


def _match_lines(match: Match, body: bytes) -> Iterator[ReportLine]:
    rule = match.rule
    length = f"{rule.octets:,} byte{'' if rule.octets == 1 else 's'}"
    remark = f"{OUTCOMES[match.outcome]} ({length})"
    style = "" if match.outcome is not Outcome.WINS else "allowed" if rule.allow else "disallowed"
    yield from _marked_line(body, rule.line, rule.start, rule.end, remark, style)


def _marked_line(
    body: bytes, number: int, start: int, end: int, remark: str, style: str
) -> Iterator[ReportLine]:
    """Yield a line of the file, and below it carets under a part of it."""
    # Only this line is extracted: a file may have very many.
    first = max(body.rfind(b"\n", 0, start), body.rfind(b"\r", 0, start)) + 1
    ends = (at for at in (body.find(b"\n", end), body.find(b"\r", end)) if at >= 0)
    before, marked = visible(body[first:start]), visible(body[start:end])
    after = visible(body[end : min(ends, default=len(body))])
    yield ReportLine(f"{number:6} | {truncate(before + marked + after)}", style)
    if len(before) < MAX_WIDTH:
        carets = "^" * min(max(len(marked), 1), MAX_WIDTH - len(before))
        yield ReportLine(f"       | {' ' * len(before)}{carets}", style)
    yield ReportLine(f"       | {remark}", style)
