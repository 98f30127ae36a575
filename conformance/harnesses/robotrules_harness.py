"""
The harness of robotrules: `python conformance/harnesses/robotrules_harness.py`.

Set `ROBOTRULES_NO_EXTENSIONS=1` to ask the pure engine. The tests call `answer` directly with an
engine of their choice, so that both ways of running the vectors ask the same questions. It knows
the public functions of robotrules and, for the tests, the private keyword that picks an engine.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Mapping
from typing import Any

import access_answers
import extension_answers
import protocol
import tag_answers

import robotrules


def answer(question: protocol.Question, engine: Any = None) -> protocol.Answer:
    """Answer every part of *question* that is asked."""
    with warnings.catch_warnings():
        # Some vectors ask with purposes under a profile that does not read them.
        warnings.simplefilter("ignore", robotrules.PurposeWarning)
        return _answer(question, engine)


def _answer(question: protocol.Question, engine: Any) -> protocol.Answer:
    profile = _profile(question["profile"], question["options"])
    body = protocol.body_of(question)
    robots = robotrules.parse(body, profile, complete=question["complete"], engine=engine)
    return {
        "checks": [_check(robots, check) for check in question["checks"]],
        "forms": [_form(form, profile, engine) for form in question["forms"]],
        "tokens": [robotrules.is_product_token(token) for token in question["tokens"]],
        "user_agents": [robotrules.product_token(header) for header in question["user_agents"]],
        "refused": [_is_refused(robots, refusal) for refusal in question["refused"]],
        "notes": [note.code for note in robots.notes] if question["notes"] else None,
        "records": [_record(record) for record in robots.records] if question["records"] else None,
        "groups": [_group(group) for group in robots.groups] if question["groups"] else None,
        **extension_answers.answers(question, robots),
        **tag_answers.answers(question, robots),
        **access_answers.answers(question, profile),
    }


def _profile(name: str, options: Mapping[str, Any]) -> robotrules.Profile:
    known = (robotrules.DEFAULT, robotrules.STRICT, robotrules.GOOGLE)
    profile = {profile.name: profile for profile in known}[name]
    return profile.replace(**{option: _frozen(value) for option, value in options.items()})


def _frozen(value: Any) -> Any:
    """Return a value of JSON as a profile holds it: tuples for lists."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _check(robots: robotrules.RobotsTxt, check: Mapping[str, Any]) -> protocol.Answer:
    """
    Answer one check, and hold the library to its word.

    The hot path, the batch and the verdict are three doors to one decision; where they differ
    there is no answer to give.
    """
    url, token, purposes = check["url"], check["product_token"], check["purposes"]
    verdict = robots.check(url, token, purposes)
    rules = robots.rules_for(token, purposes)
    doors = [rules.allows(url), *rules.allows_many([url, url]), bool(rules.check(url))]
    if purposes:
        doors.append(robots.explain(url, token, purposes).verdict.allowed)
    if any(door != verdict.allowed for door in doors):
        return {"errored": f"check says {verdict.allowed}, the other doors say {doors}"}
    return {"allowed": verdict.allowed, "line": verdict.line, "reason": str(verdict.reason)}


def _form(form: Mapping[str, Any], profile: robotrules.Profile, engine: Any) -> str:
    if engine is None:
        return robotrules.normalize_path(form["input"], pattern=form["pattern"], profile=profile)
    octets: bytes = engine.normal_form(form["input"], form["pattern"], profile.settings(engine))
    return octets.decode("utf-8")


def _is_refused(robots: robotrules.RobotsTxt, refusal: Mapping[str, Any]) -> bool:
    try:
        if "options" in refusal:
            robots.profile.replace(**refusal["options"])
        else:
            robots.check("/", refusal["product_token"])
    except robotrules.RobotrulesError:
        return True
    return False


def _record(record: robotrules.Record) -> protocol.Answer:
    value = {"base64": base64.b64encode(record.value).decode("ascii")}
    return {"key": record.key, "value": value, "line": record.line, "group": record.group}


def _group(group: robotrules.Group) -> protocol.Answer:
    lines = [rule.line for rule in group.rules]
    return {
        "user_agents": list(group.user_agents),
        "purposes": list(group.purposes),
        "rules": lines,
    }


class RobotrulesHarness:
    """Answers all profiles and all parts."""

    name = "robotrules"
    version = f"{robotrules.__version__} ({robotrules.engine_name()} engine)"
    language = "python"
    profiles = frozenset({"default", "strict", "google"})

    def run(self, question: protocol.Question) -> protocol.Answer:
        """Answer one vector."""
        return answer(question)


if __name__ == "__main__":
    protocol.serve(RobotrulesHarness())
