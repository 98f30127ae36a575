"""
What is expected beside verdicts: tags of a page, preferences, app directives, records of the file.

Each is asked of the reader that has it, and what was found is told with where it stands. Where a
robots.txt asks a crawler to leave a page alone, nobody reads the tags of that page (AMB-119): then
they are unknown, and no expectation of them passes. It does no I/O.
"""

from __future__ import annotations

from typing import Any

from robotrules.expect.report_lines import shortened, told_record, told_verdict
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

MOST = 5
_NO_PAGE = "name a page or headers; a live page is fetched only if its own robots.txt allows that"


def _address(question: Question, origin: str | None) -> str | None:
    url = question.url
    return origin + url if url is not None and origin is not None and url[0] == "/" else url


def _guided(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> Guidance:
    url = carriers.url or _address(question, origin)
    return guidance(
        url or "/",
        question.crawler,
        # Without a URL nobody knows which rules count, so the page speaks for itself.
        robots=None if url is None else robots,
        headers=carriers.headers,
        html=carriers.html,
        purposes=question.about.purposes,
    )


# --- Tags -----------------------------------------------------------------------------------------


def of_tags(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Judge what a page should say, should not say, or should say and nothing else."""
    guided = _guided(question, robots, carriers, origin)
    value, key = question.value, question.key
    names = value if key == "only-tags" else (value,)
    expected = ("no " if key == "no-tags" else "") + (", ".join(names) or "no tag rule")
    expected += " and no other" if key == "only-tags" and names else ""
    if guided.usage is None:
        return _unread(question, robots, guided, expected)
    usage = guided.usage
    found = visible(str(usage))
    told = _mentioned(usage)
    missing = [name for name in names if not _in_force(usage, name)]
    if key == "no-tags":
        passed, cure = bool(missing), f"take {value} out where it is said"
    elif key == "only-tags":
        more = [name for name, _ in usage.values if not _named(name, names)]
        passed = not missing and not more
        cure = _cure(missing, more)
    else:
        passed, cure = not missing, _cure(missing, [])
    return ExpectationResult(
        question, passed, expected, found, "" if passed else cure, () if passed else told
    )


def _cure(missing: list[str], more: list[str]) -> str:
    parts = [f"say {', '.join(missing)} in a robots meta element or in X-Robots-Tag"] * bool(
        missing
    )
    parts += [f"take out {', '.join(more)}, or expect it"] * bool(more)
    return "; ".join(parts)


def _unread(
    question: Question, robots: RobotsTxt, guided: Guidance, expected: str
) -> ExpectationResult:
    """Return the failure of a page whose tags nobody reads."""
    if guided.tags is not TagsSeen.NOT_CRAWLED:
        return ExpectationResult(
            question, False, expected, "nothing of the page was read", _NO_PAGE
        )
    explained = robots.explain(guided.url, question.crawler, question.about.purposes)
    found = f"unknown: the page is {visible(str(explained.verdict))}, so nobody reads its tags"
    cure = "a crawler has to fetch a page to see its tags: allow it, or expect it to be disallowed"
    told = told_verdict(robots, explained)
    return ExpectationResult(question, False, expected, found, cure, told, explained)


def _in_force(usage: UsageRules, expected: str) -> bool:
    name, colon, text = expected.partition(": ")
    if not colon:
        return usage.get(name) is not None
    wanted: Value | None = read_text(name, text).value
    if name == "max-snippet" and wanted == 0:
        return usage.may_snippet is False  # XRT-08
    return usage.get(name) == wanted


def _named(name: str, expected: tuple[str, ...]) -> bool:
    """Tell whether a rule in force is one of those that are expected, with any value or its own."""
    firsts = {one.partition(": ")[0] for one in expected}
    return name in firsts or (name == "nosnippet" and "max-snippet: 0" in expected)


def _mentioned(usage: UsageRules) -> tuple[ReportLine, ...]:
    told = []
    for name, value in usage.values[: 2 * MOST]:
        for one in usage.mentions_of(name)[:MOST]:
            where = shortened(visible(f"{one.source}: {one.text}"))
            told.append(ReportLine(f"          {format_rule(name, value)}: {where}"))
    return tuple(told)


# --- Preferences and app directives ---------------------------------------------------------------


def of_preferences(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Judge what should be stated about the use of what is found at a URL."""
    category, wanted = question.value
    stated = _guided(question, robots, carriers, origin).preferences
    found, because = stated.get(category), stated.statements_for(category)
    expected, passed = f"{category} {wanted}", str(found) == wanted
    told: tuple[ReportLine, ...] = ()
    cure = ""
    if not passed:
        letter = {"allowed": "y", "disallowed": "n"}.get(wanted)
        cure = f"say Content-Usage: {category}={letter} for this path" if letter else "take it out"
        if not stated.applicable:
            cure = "the URL is disallowed, and then nothing is stated about it: allow it first"
        elif found is Preference.UNKNOWN and any(one.path for one in stated.statements):
            cure += "; a longer path takes over whole, so repeat there what should hold (AMB-113)"
        for one in (because or stated.statements)[:MOST]:
            told += _stated(robots, one)
    words = f"{category} {found}" + ("" if stated.applicable else " (not applicable: disallowed)")
    return ExpectationResult(question, passed, expected, words, cure, told)


def _stated(robots: RobotsTxt, statement: Statement) -> tuple[ReportLine, ...]:
    if statement.record is None:
        return (ReportLine(f"          {statement.source}: {shortened(visible(statement.text))}"),)
    return told_record(robots, statement.record, "this statement counts here")


def of_directives(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Judge what should be said to an application about a URL."""
    url = _address(question, origin) or "/"
    token = question.crawler or None
    said = directives_for(robots, question.about.application or "", product_token=token).for_url(
        url
    )
    absent = question.key == "no-app-directives"
    name = question.value if absent else question.value[0]
    found = next((one for one in said.directives if one.name == name), None)
    expected = f"no {name}" if absent else f"{name} {shown_value(question.value[1])}"
    if found is None:
        if absent:
            return ExpectationResult(question, True, expected, "nothing is said")
        cure = f"add it: App-Directives: {said.application};{name}=… in the group for '*'"
        others = ", ".join(one.name for one in said.directives[:MOST]) or "nothing"
        return ExpectationResult(question, False, expected, f"{visible(others)} is said", cure)
    passed = not absent and _same(found.value, question.value[1])
    told = () if passed else told_record(robots, found.record, "this record counts here")
    cure = "" if passed else f"correct line {found.record.line}"
    words = (
        f"{name} {visible(shown_value(to_plain_value(found.value)))} by line {found.record.line}"
    )
    return ExpectationResult(question, passed, expected, words, cure, told)


def _same(found: Any, wanted: Any) -> bool:
    """Tell whether a value is the one that TOML says: true is not 1, and a Token is a text."""
    found = str(found) if isinstance(to_plain_value(found), str) else found
    return isinstance(found, bool) is isinstance(wanted, bool) and bool(found == wanted)


# --- Records of the file --------------------------------------------------------------------------


def of_file(
    question: Question, robots: RobotsTxt, carriers: Carriers, origin: str | None
) -> ExpectationResult:
    """Judge what the file should list, have, or not have."""
    if question.key == "sitemaps":
        return _sitemaps(question, robots, origin)
    name, colon, value = question.value.partition(":")
    key, value = name.strip().lower(), value.strip()
    found = [one for one in robots.records if one.key == key and (not colon or one.text == value)]
    wanted = question.key == "records"
    expected = visible(question.value) if wanted else f"no {visible(question.value)}"
    if found and wanted:
        return ExpectationResult(question, True, expected, f"line {found[0].line}")
    if not found and not wanted:
        return ExpectationResult(question, True, expected, "no such record")
    if found:
        told = told_record(robots, found[0], "this is one")
        return ExpectationResult(
            question, False, expected, f"line {found[0].line}", "take it out, or expect it", told
        )
    same = [one for one in robots.records if one.key == key]
    told = _records(robots, same)
    words = f"no such record; {len(same):,} of that name" if same else "no record of that name"
    return ExpectationResult(
        question, False, expected, words, "add it, or correct what is expected", told
    )


def _records(robots: RobotsTxt, records: list[Record]) -> tuple[ReportLine, ...]:
    told: tuple[ReportLine, ...] = ()
    for record in records[:MOST]:
        told += told_record(robots, record, "says something else")
    return told


def _sitemaps(question: Question, robots: RobotsTxt, origin: str | None) -> ExpectationResult:
    base = None if origin is None else f"{origin}/robots.txt"
    listed = sitemaps(robots, base)
    there, wanted = [one.url for one in listed], question.value
    missing = [url for url in wanted if url not in there]
    more = [one for one in listed if one.url not in wanted]
    expected = ", ".join(map(visible, wanted)) or "none"
    found = shortened(", ".join(map(visible, there)), 400) or "none"
    if not missing and not more:
        return ExpectationResult(question, True, expected, found)
    parts = [f"add Sitemap: {visible(url)}" for url in missing[:MOST]]
    parts += [f"take out line {one.line}, or expect it" for one in more[:MOST]]
    told = tuple(
        part for one in more[:MOST] for part in told_record(robots, one.record, "also listed")
    )
    return ExpectationResult(question, False, expected, found, "; ".join(parts), told)
