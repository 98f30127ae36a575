"""
Results as a few sentences: the first text of a tool result.

A line of a site stands in quotes with its invisible characters escaped, and the sentence before it
says that it is quoted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from robotrules.service.mcp.site_text import quote

__all__ = ["describe_result"]

MAX_LINE = 200
MAX_LINES = 8
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
    word = "Allowed" if found["allowed"] else "Not allowed"
    lines = [f"{word} for {found['product_token']}: {found['reason']}."]
    if winner := found["winner"]:
        lines.append(
            f"Line {winner['line']} decides; its pattern, quoted from the site: "
            f"{_quoted(winner['pattern'])}"
        )
    others = len(found["losers"]) + found["left_out"].get("losers", 0)
    lines.append(f"Other rules that match: {others}.")
    return lines


def _guidance(found: dict[str, Any]) -> list[str]:
    lines = ["What the site asks for, with its sources (quoted from the site):"]
    for answer in found["answers"]:
        because = "; ".join(map(str, answer["because"]))
        lines.append(f"- {answer['subject']}: {answer['answer']} ({_quoted(because)})")
    return [*lines, "Requests of the site; what is not stated is not thereby permitted."]


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
