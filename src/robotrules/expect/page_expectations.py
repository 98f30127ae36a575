"""
Expectations other than verdicts: tags of a page, preferences, app directives, records of the file.

Each is evaluated with the reader of its records, and a failure shows the lines that apply. If a
robots.txt disallows a page, crawlers do not read its tags (AMB-119): then they are unknown, and no
expectation of them passes. The module does no I/O.
"""

from __future__ import annotations

from typing import Any

from robotrules.expect.report_lines import record_lines, truncate, verdict_lines
from robotrules.expect.values import Carriers, ExpectationResult, Question, ReportLine, shown_value
from robotrules.extensions.app_directives import directives_for
from robotrules.extensions.sitemap import sitemaps
from robotrules.extensions.vocabulary import Preference, Statement
from robotrules.guide import Guidance, TagsSeen, guidance
from robotrules.http.structured_fields import to_plain_value
from robotrules.octets import visible
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Record
from robotrules.tags.known_rules import Value, read_text
from robotrules.tags.rules import UsageRules, format_rule

MAX_SHOWN = 5
_NO_PAGE = "name a page or headers; a live page is fetched only if its robots.txt allows that"


def _url_at(question: Question, origin: str | None) -> str | None:
    url = question.url
    return origin + url if url is not None and origin is not None and url[0] == "/" else url


def _guidance(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> Guidance:
    url = carriers.url or _url_at(question, origin)
    return guidance(
        url or "/",
        question.crawler,
        # Without a URL it is unknown which rules apply, so only the page counts.
        robots=None if url is None else robots,
        headers=carriers.headers,
        html=carriers.html,
        purposes=question.about.purposes,
    )


# --- Tags -----------------------------------------------------------------------------------------


def evaluate_tags(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Evaluate the tag rules that a page should have, should not have, or should have only."""
    guided = _guidance(question, robots, carriers, origin)
    value, key = question.value, question.key
    names = value if key == "only-tags" else (value,)
    expected = ("no " if key == "no-tags" else "") + (", ".join(names) or "no tag rule")
    expected += " and no other" if key == "only-tags" and names else ""
    if guided.usage is None:
        return _unread(question, robots, guided, expected)
    usage = guided.usage
    found = visible(str(usage))
    lines = _mention_lines(usage)
    missing = [name for name in names if not _in_force(usage, name)]
    if key == "no-tags":
        passed, fix = bool(missing), f"remove {value} from the page or its headers"
    elif key == "only-tags":
        more = [name for name, _ in usage.values if not _is_expected(name, names)]
        passed = not missing and not more
        fix = _suggest_fix(missing, more)
    else:
        passed, fix = not missing, _suggest_fix(missing, [])
    return ExpectationResult(
        question, passed, expected, found, "" if passed else fix, () if passed else lines
    )


def _suggest_fix(missing: list[str], more: list[str]) -> str:
    parts = [f"add {', '.join(missing)} to a robots meta element or X-Robots-Tag"] * bool(missing)
    parts += [f"remove {', '.join(more)}, or expect it"] * bool(more)
    return "; ".join(parts)


def _unread(
    question: Question, robots: RobotsTxt, guided: Guidance, expected: str
) -> ExpectationResult:
    """Return the failure for a page whose tags were not read."""
    if guided.tags is not TagsSeen.NOT_CRAWLED:
        return ExpectationResult(
            question, False, expected, "no part of the page was read", _NO_PAGE
        )
    explained = robots.explain(guided.url, question.crawler, question.about.purposes)
    verdict = visible(str(explained.verdict))
    found = f"unknown: the page is {verdict}, so crawlers do not read its tags"
    fix = "a crawler must fetch a page to see its tags: allow it, or expect it to be disallowed"
    lines = verdict_lines(robots, explained)
    return ExpectationResult(question, False, expected, found, fix, lines, explained)


def _in_force(usage: UsageRules, expected: str) -> bool:
    name, colon, text = expected.partition(": ")
    if not colon:
        return usage.get(name) is not None
    wanted: Value | None = read_text(name, text).value
    if name == "max-snippet" and wanted == 0:
        return usage.may_snippet is False  # XRT-08
    return usage.get(name) == wanted


def _is_expected(name: str, expected: tuple[str, ...]) -> bool:
    """Return whether a rule in force is one of those that are expected, with any value."""
    names = {rule.partition(": ")[0] for rule in expected}
    return name in names or (name == "nosnippet" and "max-snippet: 0" in expected)


def _mention_lines(usage: UsageRules) -> tuple[ReportLine, ...]:
    lines = []
    for name, value in usage.values[: 2 * MAX_SHOWN]:
        for mention in usage.mentions_of(name)[:MAX_SHOWN]:
            where = truncate(visible(f"{mention.source}: {mention.text}"))
            lines.append(ReportLine(f"          {format_rule(name, value)}: {where}"))
    return tuple(lines)


# --- Preferences and app directives ---------------------------------------------------------------


def evaluate_preferences(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Evaluate the preference that should be stated for a URL."""
    category, wanted = question.value
    stated = _guidance(question, robots, carriers, origin).preferences
    found, statements = stated.get(category), stated.statements_for(category)
    expected, passed = f"{category} {wanted}", str(found) == wanted
    lines: tuple[ReportLine, ...] = ()
    fix = ""
    if not passed:
        letter = {"allowed": "y", "disallowed": "n"}.get(wanted)
        fix = f"add Content-Usage: {category}={letter} for this path" if letter else "remove it"
        if not stated.applicable:
            fix = "no preferences apply to a disallowed URL: allow it first"
        elif found is Preference.UNKNOWN and any(one.path for one in stated.statements):
            fix += "; a longer path replaces shorter ones, so repeat all preferences (AMB-113)"
        for statement in (statements or stated.statements)[:MAX_SHOWN]:
            lines += _statement_lines(robots, statement)
    text = f"{category} {found}" + ("" if stated.applicable else " (not applicable: disallowed)")
    return ExpectationResult(question, passed, expected, text, fix, lines)


def _statement_lines(robots: RobotsTxt, statement: Statement) -> tuple[ReportLine, ...]:
    if statement.record is None:
        return (ReportLine(f"          {statement.source}: {truncate(visible(statement.text))}"),)
    return record_lines(robots, statement.record, "this statement applies here")


def evaluate_directives(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Evaluate the app directives that should apply to a URL."""
    url = _url_at(question, origin) or "/"
    token = question.crawler or None
    directives = directives_for(
        robots, question.about.application or "", product_token=token
    ).for_url(url)
    absent = question.key == "no-app-directives"
    name = question.value if absent else question.value[0]
    found = next((one for one in directives.directives if one.name == name), None)
    expected = f"no {name}" if absent else f"{name} {shown_value(question.value[1])}"
    if found is None:
        if absent:
            return ExpectationResult(question, True, expected, "no such directive")
        fix = f"add it: App-Directives: {directives.application};{name}=… in the group for '*'"
        others = ", ".join(one.name for one in directives.directives[:MAX_SHOWN])
        text = f"only {visible(others)}" if others else "no directives"
        return ExpectationResult(question, False, expected, text, fix)
    passed = not absent and _is_same_value(found.value, question.value[1])
    lines = () if passed else record_lines(robots, found.record, "this record applies here")
    fix = "" if passed else f"correct line {found.record.line}"
    text = f"{name} {visible(shown_value(to_plain_value(found.value)))} by line {found.record.line}"
    return ExpectationResult(question, passed, expected, text, fix, lines)


def _is_same_value(found: Any, wanted: Any) -> bool:
    """Return whether a value equals that in TOML: true is not 1, and a Token is a text."""
    found = str(found) if isinstance(to_plain_value(found), str) else found
    return isinstance(found, bool) is isinstance(wanted, bool) and bool(found == wanted)


# --- Records of the file --------------------------------------------------------------------------


def evaluate_records(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Evaluate the records that the file should have, or not have."""
    if question.key == "sitemaps":
        return _sitemaps(question, robots, origin)
    name, colon, value = question.value.partition(":")
    key, value = name.strip().lower(), value.strip()
    found = [r for r in robots.records if r.key == key and (not colon or r.text == value)]
    wanted = question.key == "records"
    expected = visible(question.value) if wanted else f"no {visible(question.value)}"
    if found and wanted:
        return ExpectationResult(question, True, expected, f"line {found[0].line}")
    if not found and not wanted:
        return ExpectationResult(question, True, expected, "no such record")
    if found:
        lines = record_lines(robots, found[0], "this is one")
        return ExpectationResult(
            question, False, expected, f"line {found[0].line}", "remove it, or expect it", lines
        )
    same = [record for record in robots.records if record.key == key]
    lines = _other_records(robots, same)
    text = f"no such record; {len(same):,} of that name" if same else "no record of that name"
    return ExpectationResult(
        question, False, expected, text, "add it, or correct the expectation", lines
    )


def _other_records(robots: RobotsTxt, records: list[Record]) -> tuple[ReportLine, ...]:
    lines: tuple[ReportLine, ...] = ()
    for record in records[:MAX_SHOWN]:
        lines += record_lines(robots, record, "has another value")
    return lines


def _sitemaps(question: Question, robots: RobotsTxt, origin: str | None) -> ExpectationResult:
    base = None if origin is None else f"{origin}/robots.txt"
    listed = sitemaps(robots, base)
    present, wanted = [sitemap.url for sitemap in listed], question.value
    missing = [url for url in wanted if url not in present]
    more = [sitemap for sitemap in listed if sitemap.url not in wanted]
    expected = ", ".join(map(visible, wanted)) or "none"
    found = truncate(", ".join(map(visible, present)), 400) or "none"
    if not missing and not more:
        return ExpectationResult(question, True, expected, found)
    parts = [f"add Sitemap: {visible(url)}" for url in missing[:MAX_SHOWN]]
    parts += [f"remove line {sitemap.line}, or expect it" for sitemap in more[:MAX_SHOWN]]
    lines = tuple(
        line
        for sitemap in more[:MAX_SHOWN]
        for line in record_lines(robots, sitemap.record, "also listed")
    )
    return ExpectationResult(question, False, expected, found, "; ".join(parts), lines)
