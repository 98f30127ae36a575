"""
Results as a few sentences: the first text of a tool result.

Only words of a site stand in quotes, with their invisible characters escaped, after the place where
the site says them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from robotrules.access import FailureReason
from robotrules.robotstxt.verdict import Reason
from robotrules.service.mcp.site_text import quote

__all__ = ["REFUSED_ADDRESS", "describe_result"]

MAX_LINE = 200
MAX_LINES = 8
REFUSED_ADDRESS = (
    "This server does not connect to that address; the rules of the site are not known. Do not "
    "fetch this URL."
)
REQUEST = "This is a request of the site, not access control."


def describe_result(tool: str, found: dict[str, Any]) -> str:
    """Return a result of a tool as text."""
    return "\n".join(_SENTENCES[tool](found))


def _quoted(text: str) -> str:
    return json.dumps(quote(text, MAX_LINE), ensure_ascii=False)


def _may_fetch(found: dict[str, Any]) -> list[str]:
    lines = [found["why"]]
    if found["line_text"] is not None:
        lines.append(f"Line {found['line']}, quoted from the site: {_quoted(found['line_text'])}")
    return [*lines, REQUEST]


def _explain(found: dict[str, Any]) -> list[str]:
    if found["reason"] == Reason.UNREACHABLE:
        record = (found["access"] or {}).get("fetch_record") or {}
        if record.get("failure_reason") == FailureReason.REFUSED:
            return [REFUSED_ADDRESS]
    word = "Allowed" if found["allowed"] else "Not allowed"
    lines = [f"{word} for {found['product_token']}: {Reason(found['reason']).sentence}."]
    if winner := found["winner"]:
        lines.append(
            f"Line {winner['line']} decides; its pattern, quoted from the site: "
            f"{_quoted(winner['pattern'])}"
        )
    others = len(found["losers"]) + found["left_out"].get("losers", 0)
    lines.append(f"Other rules that match: {others}.")
    return lines


def _guidance(found: dict[str, Any]) -> list[str]:
    lines = [_heading(found)]
    for answer in found["answers"]:
        because = "; ".join(map(_because, answer["because"]))
        lines.append(f"- {answer['subject']}: {answer['answer']} ({because})")
    lines += _warnings(found)
    return [*lines, "Requests of the site; what is not stated is not thereby permitted."]


def _heading(found: dict[str, Any]) -> str:
    """Return what the guidance is about, and how old it is."""
    # The site chooses the URL that a redirect leads to.
    is_redirected = "url" in found["site_text"]
    url = f"redirected to {_quoted(found['url'])}" if is_redirected else quote(found["url"])
    about = f"{url}, for {', '.join(found['product_tokens'])}"
    access = found["access"]
    if access is None or access["fetched_at"] is None:
        return f"{about}:"
    file = _FILES.get(access["state"], "robots.txt could not be read at")
    return f"{about} ({file} {access['fetched_at'][:19].replace('T', ' ')} UTC):"


_FILES = {"success": "robots.txt fetched at", "unavailable": "no robots.txt at"}


def _because(because: dict[str, str | None]) -> str:
    """Return a reason; quotes stand around words of the site only."""
    words = [part for part in (because["reason"], because["source"]) if part]
    if because["quote"] is not None:
        words.append(_quoted(because["quote"]))
    return ": ".join(words)


def _warnings(found: dict[str, Any]) -> list[str]:
    """Return the warnings and errors; why a page was not crawled is said by its answers."""
    parts = (found, found["usage"], found["unseen"], found["preferences"], found["reservation"])
    notes = [note for part in parts if part for note in part["notes"]]
    lines = [
        f"- {note['level']}: {_place(note)}{note['message']}"
        for note in notes
        if note["level"] != "info" and note["code"] != "not-crawled"
    ]
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], *([f"- further warnings: {more}"] if more > 0 else [])]


def _place(note: dict[str, Any]) -> str:
    if note.get("line") is not None:
        return f"line {note['line']} of robots.txt: "
    source = note.get("source") or {}
    if source.get("element") is not None:
        return f"meta element {source['element']}: "
    if source.get("line") is not None:
        return f"{source['carrier']} line {source['line']}: "
    return f"{note['carrier']}: " if note.get("carrier") else ""


def _lint(found: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{count} {level}" for level, count in found["counts"].items())
    lines = [f"Notes: {counts}."]
    for note in [note for file in found["files"] for note in file["notes"]][:MAX_LINES]:
        where = f"line {note['line']}: " if note["line"] else ""
        fix = f" Fix: {_quoted(note['fix']['title'])}" if note["fix"] else ""
        lines.append(f"- {where}{note['level']} {note['code']}: {_quoted(note['message'])}{fix}")
    return lines


def _compare(found: dict[str, Any]) -> list[str]:
    if found["equal"] is True:
        return ["Proved: both files mean the same for every crawler and URL."]
    if found["equal"] is None:
        return ["Not decided: the files are too complex to compare completely."]
    lines = ["The files differ:"]
    for change in found["changes"][:MAX_LINES]:
        names = ", ".join(crawler["name"] for crawler in change["crawlers"][:3])
        for region in change["regions"][:MAX_LINES]:
            before, after = (
                "allowed" if region[side]["allowed"] else "disallowed" for side in ("old", "new")
            )
            lines.append(
                f"- {_quoted(names)}: {_quoted(region['witness']['path'])} was {before}, is {after}"
            )
    if found["statements"]:
        lines.append(f"- other records that change: {len(found['statements'])}")
    return lines


_SENTENCES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "may_fetch": _may_fetch,
    "explain": _explain,
    "guidance": _guidance,
    "lint": _lint,
    "compare": _compare,
}
