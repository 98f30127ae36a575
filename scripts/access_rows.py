"""
Rows on access and cache for the page on RFC 9309: responses, times, access results and verdicts.

`scripts/rfc9309_page.py` calls `show_items`. This module renders the parts of a vector that are
about fetching; the layout of the page is not its concern.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

import suite

# The origin of a vector that names none.
ORIGIN = "https://e.example"
# A vector with more lines is truncated on the page.
MAX_LINES = 16
MAX_CODE_LENGTH = 60


def code(value: Any) -> str:
    """Return a value as inline code that a table cell can hold."""
    text = re.sub(r"(.)\1{19,}", r"\1\1\1…", str(value))
    text = text if len(text) <= MAX_CODE_LENGTH else f"{text[:MAX_CODE_LENGTH]}…"
    shown = "".join(char if char.isprintable() else f"‹{ord(char):02X}›" for char in text)
    return f"`{shown}`".replace("|", "\\|") if shown else "(empty)"


def format_duration(seconds: float) -> str:
    """Return a time or a duration in words: `30 d 1 s`, `12 h 1 min`."""
    if seconds == 0:
        return "0 s"
    parts, rest = [], abs(seconds)
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:g} {name}")
    return ("-" if seconds < 0 else "") + " ".join(parts)


# --- Parts of a line ------------------------------------------------------------------------------


def show_response(response: dict[str, Any]) -> str:
    """Return a server's response, or the failure in its place."""
    if "failure" in response:
        return str(response["failure"]).replace("-", " ")
    line = str(response["status"])
    for name, value in response.get("headers", ()):
        text = suite.decode_octets(value).decode("utf-8", "backslashreplace")
        line += f" {code(text)}" if name == "Location" else f" {code(f'{name}: {text}')}"
    if "body" in response:
        body = suite.decode_octets(response["body"])
        is_long = len(body) > MAX_CODE_LENGTH
        shown = (
            f"{len(body):,} octets"
            if is_long
            else code(body.decode("utf-8").strip().replace("\n", " ⏎ "))
        )
        line += f" with {shown}" if body else " without a body"
    return line


def show_verdict(check: dict[str, Any]) -> str:
    """Return a verdict and its reason."""
    token = f"{code(check['product_token'])} " if "product_token" in check else ""
    verdict = "allowed" if check["allowed"] else "**disallowed**"
    reason = f", line {check['line']}" if check.get("line") else ""
    if not reason and "reason" in check:
        reason = f" ({check['reason']})"
    return f"{token}{code(check['url'])} {verdict}{reason}"


def show_settings(item: dict[str, Any]) -> str:
    """Return the access profile and the options of an item."""
    settings = [code(item["access_profile"])] if "access_profile" in item else []
    settings += [code(f"{name}={value}") for name, value in item.get("access_options", {}).items()]
    settings += ["stale-while-revalidate"] if item.get("background") else []
    return f"{', '.join(settings)}: " if settings else ""


# --- One or more lines for each item --------------------------------------------------------------


def show_origin(item: dict[str, Any]) -> Iterator[str]:
    """Yield the origin of a URL."""
    shown = code(item["origin"]) if item["origin"] else "**none**"
    yield f"{code(item['url'])} → {shown}"


def show_access(item: dict[str, Any]) -> Iterator[str]:
    """Yield the responses of a server and the access result."""
    prefix = f"{code(item['origin'])} " if "origin" in item else ""
    prefix += "with a copy: " if "copy" in item else ""
    responses = ", ".join(map(show_response, item["answers"]))
    state = item["state"] if item["state"] == "success" else f"**{item['state']}**"
    failure = item.get("trouble")
    reason = f" ({failure})" if failure and failure != "status" else ""
    line = f"{show_settings(item)}{prefix}{responses} → {state}{reason}"
    if item.get("renewed"):
        line += ", revalidated"
    for condition in item.get("conditions", ()):
        line += "".join(f", sent {code(f'{name}: {condition[name]}')}" for name in condition)
    yield "; ".join([line, *map(show_verdict, item.get("checks", ()))])


def show_timeline(item: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each moment: the time, the responses, and the verdict."""
    before = None
    line = show_settings(item)
    for moment in item["moments"]:
        if moment["at"] == before and not moment.get("restart") and not moment["requests"]:
            line += f"; {show_verdict(moment)}"
            continue
        if before is not None:
            yield line
            line = "… "
        before = moment["at"]
        line += f"{format_duration(before)}, "
        line += "another process, " if moment.get("restart") else ""
        responses = ", ".join(map(show_response, moment.get("answers", ())))
        line += f"{responses} → " if moment["requests"] else "no request → "
        line += show_verdict(moment)
    yield line
    for entry in item.get("evidence", ()):
        preferences = [f"{label} {value}" for label, value in entry.get("preferences", {}).items()]
        verdict = "nothing is known" if entry["allowed"] is None else show_verdict(entry)
        yield f"evidence of {format_duration(entry['at'])}: {'; '.join([verdict, *preferences])}"


def show_refused(item: dict[str, Any]) -> Iterator[str]:
    """Yield whether options are accepted."""
    options = ", ".join(code(f"{name}={value}") for name, value in item["access_options"].items())
    yield f"{options} is {'refused' if item['refused'] else 'accepted'}"


RENDERERS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "origins": show_origin,
    "access": show_access,
    "timelines": show_timeline,
    "access_refused": show_refused,
}


def show_items(data: dict[str, Any]) -> Iterator[str]:
    """Yield the expectations of a vector about access and cache, a line each."""
    lines = [
        line
        for part, show in RENDERERS.items()
        for item in data.get(part, ())
        for line in show(item)
    ]
    yield from lines[:MAX_LINES]
    if len(lines) > MAX_LINES:
        yield f"and {len(lines) - MAX_LINES} more"
