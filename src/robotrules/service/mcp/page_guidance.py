"""
The guidance of a page for an agent: each answer with its sources, and unknown where half is unread.

A reason has up to three parts: words of this program (`reason`), the place of a statement
(`source`), and the words of the site (`quote`). Only the last are text of the site.

An agent may pass the header fields without the HTML, or the HTML without the header fields. What
was not read may restrict further, so an answer that permits is then unknown; one that restricts
stays, because restrictions are united and cannot be lifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.access import FailureReason
from robotrules.extensions.vocabulary import Preference, Statement, StatementSource
from robotrules.guide import Guidance, TagsSeen
from robotrules.http.media_types import is_html
from robotrules.robotstxt.verdict import Reason
from robotrules.tags import UsageRules
from robotrules.tags.known_rules import to_json_value
from robotrules.tags.tdm import FIELD, META

__all__ = ["GUIDANCE_SITE_TEXT", "page_values"]

GUIDANCE_SITE_TEXT = (
    "answers[].because[].quote",
    "verdict.rule",
    *(f"{part}.{name}" for part in ("usage", "unseen") for name in ("mentions", "unknown")),
    *("usage.others", "unseen.others"),
    "preferences.statements",
    "reservation.policy",
    "access.failure",
)
MAX_SOURCES = 5
_SUBJECTS = {"noindex": "index", "nosnippet": "snippet", "nofollow": "follow links"}
_RESERVATION_SOURCES = {FIELD: "tdm-reservation field", META: "tdm-reservation meta element"}
_NO_FILE = (Reason.UNREACHABLE, Reason.RESTRICTED)


def page_values(
    found: Guidance, *, access: dict[str, Any] | None = None, not_fetched: str | None = None
) -> dict[str, Any]:
    """
    Return guidance as values, with `answers`.

    *access* states how the robots.txt was fetched, *not_fetched* why this server has no page.
    """
    is_refused = access is not None and access["failure_reason"] == FailureReason.REFUSED
    unread = _find_unread(found, is_refused, not_fetched)
    values = found.as_dict()
    if unread is not None:
        _withhold(values, "may_index", "may_snippet", "may_follow")
        if values["usage"] is not None:
            _withhold(values["usage"], *(name for name in values["usage"] if name[:4] == "may_"))
    stated = values["preferences"]["preferences"]
    for category, value in stated.items():
        if value == Preference.ALLOWED and _has_unread_fields(found):
            stated[category] = str(Preference.UNKNOWN)
    if _is_open_reservation(found):
        values["reservation"]["reserved"] = None
    for note in values["notes"]:
        note["message"] = _message(found, note)
    answers = [
        {"subject": subject, "answer": answer, "because": because}
        for subject, answer, because in _make_answers(found, unread, is_refused)
    ]
    return {"answers": answers, **values}


def _withhold(values: dict[str, Any], *names: str) -> None:
    """Make what is permitted unknown."""
    for name in names:
        if values[name] is True:
            values[name] = None


# --- What was read --------------------------------------------------------------------------------


def _find_unread(found: Guidance, is_refused: bool, not_fetched: str | None) -> str | None:
    """Return why not all of the page was read; None if it was."""
    if found.tags is TagsSeen.NOT_CRAWLED:
        if found.verdict is not None and found.verdict.reason in _NO_FILE:
            return _describe_missing_file(is_refused)
        return "the page may not be fetched, so nothing of it is known"
    if found.tags is TagsSeen.NOT_FETCHED or found.usage is None:
        return not_fetched or "neither header fields nor HTML were passed"
    if "headers" not in found.usage.read:
        return "the header fields were not passed"
    if "html" not in found.usage.read and is_html(found.usage.fields):
        return "the HTML of the page was not passed"
    if found.tags is TagsSeen.PARTLY or not found.usage.complete or found.may_index is None:
        return "not all of the page was read"
    return None


def _describe_missing_file(is_refused: bool) -> str:
    if is_refused:
        return "this server does not connect to that address, so the rules are not known"
    return "the robots.txt could not be read"


def _has_unread_fields(found: Guidance) -> bool:
    """Return whether a Content-Usage field may state more than what was read."""
    return found.usage is None or "headers" not in found.usage.read


def _is_open_reservation(found: Guidance) -> bool:
    """Return whether the HTML, which was not read, may reserve what a field does not."""
    is_read = found.usage is not None and "html" in found.usage.read
    is_page = found.usage is None or is_html(found.usage.fields)
    is_last = found.reservation.carrier == META
    return found.reservation.reserved is False and is_page and not (is_read or is_last)


def _message(found: Guidance, note: dict[str, Any]) -> str:
    """Return the message of a note; without a robots.txt, it does not say that rules block."""
    message: str = note["message"]
    if found.verdict is None or found.verdict.reason not in _NO_FILE:
        return message
    if note["code"] == "not-crawled":
        return "The robots.txt could not be read, so the tags of the page are unknown."
    if note["code"] in ("noindex-not-seen", "tags-not-seen"):
        return "The page has tag rules; crawlers see them when the robots.txt can be read again."
    return message


# --- Answers --------------------------------------------------------------------------------------

Because = dict[str, str | None]


def _because(
    reason: str | None = None, source: str | None = None, quote: str | None = None
) -> Because:
    return {"reason": reason, "source": source, "quote": quote}


def _make_answers(
    found: Guidance, unread: str | None, is_refused: bool
) -> Iterator[tuple[str, str, list[Because]]]:
    yield _make_crawl_answer(found, is_refused)
    yield from _make_usage_answers(found, unread)
    for category, value in found.preferences.values:
        yield _make_preference_answer(found, category, value, is_refused)
    if found.reservation.reserved is not None:
        yield _make_reservation_answer(found)


def _make_crawl_answer(found: Guidance, is_refused: bool) -> tuple[str, str, list[Because]]:
    verdict = found.verdict
    if verdict is None:
        return "crawl", "unknown", [_because("no robots.txt was passed")]
    answer = "yes" if verdict.allowed else "no"
    if rule := verdict.rule:
        return "crawl", answer, [_because(None, f"line {rule.line} of robots.txt", str(rule))]
    is_unreachable = verdict.reason is Reason.UNREACHABLE
    reason = _describe_missing_file(is_refused) if is_unreachable else verdict.reason.sentence
    return "crawl", answer, [_because(reason)]


def _make_usage_answers(
    found: Guidance, unread: str | None
) -> Iterator[tuple[str, str, list[Because]]]:
    usage = found.usage
    for name, subject in _SUBJECTS.items():
        sources = [] if usage is None else _list_sources(usage, name)
        if sources:
            yield subject, "no", sources
        elif usage is None or unread is not None:
            yield subject, "unknown", [_because(unread)]
        elif name == "noindex" and (until := usage.unavailable_after):
            # There is no clock here: the reader decides whether that moment has passed.
            reason = f"until {to_json_value(until)}"
            yield subject, "yes", [_because(reason), *_list_sources(usage, "unavailable_after")]
        else:
            yield subject, "yes", [_because("nothing that was read forbids it")]
    for name, value in usage.values if usage else ():
        if name not in _SUBJECTS:
            answer = "in force" if value is True else str(to_json_value(value))
            yield name, answer, _list_sources(usage, name) if usage else []


def _list_sources(usage: UsageRules, name: str) -> list[Because]:
    mentions = usage.mentions_of(name)[:MAX_SOURCES]
    return [_because(None, str(mention.source), mention.text) for mention in mentions]


def _make_preference_answer(
    found: Guidance, category: str, value: Preference, is_refused: bool
) -> tuple[str, str, list[Because]]:
    stated = found.preferences
    because: list[Because] = []
    if not stated.applicable:  # attach-05 §3.1
        missing = found.verdict is not None and found.verdict.reason in _NO_FILE
        words = "the robots.txt disallows the URL, so no preference of it applies"
        reason = _describe_missing_file(is_refused) if missing else words
        return category, str(value), [_because(reason)]
    answer = value
    if value is Preference.ALLOWED and _has_unread_fields(found):
        answer = Preference.UNKNOWN
        because.append(_because("the header fields were not read, and may disallow it"))
    deciding = stated.statements_for(category)
    because += [_describe_statement(one) for one in deciding[:MAX_SOURCES]]
    for statement in stated.statements:
        other = statement.get(category)
        if statement.error is not None:
            because.append(_describe_unreadable(statement))
        elif other not in (value, Preference.UNKNOWN) and statement not in deciding:
            because.append(_describe_statement(statement, f"contradicted ({other}) by"))
    return category, str(answer), because[: 2 * MAX_SOURCES] or [_because("not stated")]


def _describe_statement(statement: Statement, reason: str | None = None) -> Because:
    if statement.source is StatementSource.ROBOTS:
        path = f"{statement.path} " if statement.path else ""
        source = f"line {statement.line} of robots.txt"
        return _because(reason, source, f"Content-Usage: {path}{statement.text}")
    return _because(reason, "Content-Usage field", statement.text)


def _describe_unreadable(statement: Statement) -> Because:
    if statement.source is StatementSource.FIELD:
        return _because("a Content-Usage field could not be read", None, statement.text)
    return _describe_statement(statement, "could not be read")


def _make_reservation_answer(found: Guidance) -> tuple[str, str, list[Because]]:
    reservation = found.reservation
    carrier = reservation.carrier or ""
    source = _because(None, _RESERVATION_SOURCES.get(carrier, carrier))
    if _is_open_reservation(found):
        reason = _because("the HTML of the page was not read, and may reserve the rights")
        return "text and data mining", "unknown", [reason, source | {"quote": "0"}]
    answer = "reserved" if reservation.reserved else "not reserved"
    because = [source]
    if reservation.policy:
        because.append(_because(None, "its policy", reservation.policy))
    return "text and data mining", answer, because
