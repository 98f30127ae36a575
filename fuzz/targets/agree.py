"""The native and the pure engine agree on lines, records, groups, notes, selection and verdicts."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import robotrules
from fuzz.generator import Case
from fuzz.targets.total import ENGINES
from robotrules import Profile
from robotrules.robotstxt.internals import get_document


def check(case: Case) -> None:
    """Compare the results of both engines."""
    profile = case.profile()
    snapshots = [snapshot(case, engine, profile) for engine in ENGINES]
    for name, seen in snapshots[0].items():
        assert seen == snapshots[-1][name], f"{name}: {seen!r} != {snapshots[-1][name]!r}"


def snapshot(case: Case, engine: ModuleType, profile: Profile) -> dict[str, Any]:
    """Return all results of an engine for a case, by name, as plain values."""
    robots = robotrules.parse(case.body, profile, complete=case.complete, engine=engine)
    settings, document = profile.settings(engine), get_document(robots)
    token = case.token.encode("utf-8", "surrogateescape")
    chosen = document.select(b"user-agent", token) or document.select(b"user-agent", b"*")
    everything = engine.Matcher(document, range(document.group_count()))
    results: dict[str, Any] = {
        "body": document.body,
        "complete": document.complete,
        "lines": document.lines(),
        "records": [tuple(record) for record in document.records()],
        "record": document.record(len(document.records())),
        "groups": document.group_count(),
        "notes": document.notes(),
        "select": chosen,
        "select star": document.select(b"user-agent", b"*"),
        "select purpose": document.select(b"purpose", token),
        "rules": document.rules(chosen),
        "form": engine.normal_form(case.url, False, settings),
    }
    for name, matcher in (("chosen", engine.Matcher(document, chosen)), ("all", everything)):
        urls = [case.url] * 70  # enough to build an index
        usable = matcher.count_usable()
        results |= {
            f"{name} len": usable,
            f"{name} decide": matcher.decide(case.url),
            f"{name} allows": matcher.allows(case.url),
            f"{name} best": matcher.tied(case.url),
            f"{name} matches": matcher.find_matches(case.url),
            f"{name} many": matcher.decide_many(urls if usable > 64 else urls[:2])[:2],
            f"{name} allows many": matcher.allows_many(urls[:2]),
        }
    if case.is_askable(robots.profile):
        results["explain"] = robots.explain(case.url, case.token).as_dict()
        results["check"] = robots.check(case.url, case.token)
    return results
