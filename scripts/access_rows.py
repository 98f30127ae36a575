"""
Rows on access and cache for the page on RFC 9309: what a server said, when, and what follows.

`scripts/rfc9309_page.py` calls `show_items`. It knows the parts of a vector that are about
fetching, and nothing of how a page is made.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

import suite

# What a vector leaves out.
ORIGIN = "https://e.example"
# More lines of one vector than this are cut: the vector has them all.
MOST_LINES = 16
LONGEST = 60


def code(value: Any) -> str:
    """Return a value as inline code that a table cell can hold."""
    text = re.sub(r"(.)\1{19,}", r"\1\1\1…", str(value))
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    shown = "".join(char if char.isprintable() else f"‹{ord(char):02X}›" for char in text)
    return f"`{shown}`".replace("|", "\\|") if shown else "(empty)"


def span(seconds: float) -> str:
    """Return a moment or a stretch of time for people: `30 d 1 s`, `12 h 1 min`."""
    if seconds == 0:
        return "0 s"
    found, left = [], abs(seconds)
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            found.append(f"{count:g} {name}")
    return ("-" if seconds < 0 else "") + " ".join(found)


# --- Parts of a line ------------------------------------------------------------------------------


def show_answer(answer: dict[str, Any]) -> str:
    """Return what a server said, or that it said nothing."""
    if "failure" in answer:
        return str(answer["failure"]).replace("-", " ")
    told = str(answer["status"])
    for name, value in answer.get("headers", ()):
        text = suite.octets(value).decode("utf-8", "backslashreplace")
        told += f" {code(text)}" if name == "Location" else f" {code(f'{name}: {text}')}"
    if "body" in answer:
        body = suite.octets(answer["body"])
        many = len(body) > LONGEST
        shown = (
            f"{len(body):,} octets"
            if many
            else code(body.decode("utf-8").strip().replace("\n", " ⏎ "))
        )
        told += f" with {shown}" if body else " without a body"
    return told


def show_verdict(check: dict[str, Any]) -> str:
    """Return a verdict, and why."""
    who = f"{code(check['product_token'])} " if "product_token" in check else ""
    verdict = "allowed" if check["allowed"] else "**disallowed**"
    why = f", line {check['line']}" if check.get("line") else ""
    if not why and "reason" in check:
        why = f" ({check['reason']})"
    return f"{who}{code(check['url'])} {verdict}{why}"


def show_settings(item: dict[str, Any]) -> str:
    """Return under which reading an item holds."""
    told = [code(item["access_profile"])] if "access_profile" in item else []
    told += [code(f"{name}={value}") for name, value in item.get("access_options", {}).items()]
    told += ["in the background"] if item.get("background") else []
    return f"{', '.join(told)}: " if told else ""


# --- One or more lines for each item --------------------------------------------------------------


def show_origin(item: dict[str, Any]) -> Iterator[str]:
    """Yield the origin of a URL."""
    shown = code(item["origin"]) if item["origin"] else "**none**"
    yield f"{code(item['url'])} → {shown}"


def show_access(item: dict[str, Any]) -> Iterator[str]:
    """Yield what a server said and what that makes of the file."""
    given = f"{code(item['origin'])} " if "origin" in item else ""
    given += "with a copy: " if "copy" in item else ""
    said = ", ".join(map(show_answer, item["answers"]))
    state = item["state"] if item["state"] == "success" else f"**{item['state']}**"
    trouble = item.get("trouble")
    why = f" ({trouble})" if trouble and trouble != "status" else ""
    told = f"{show_settings(item)}{given}{said} → {state}{why}"
    if item.get("renewed"):
        told += ", renewed"
    for condition in item.get("conditions", ()):
        told += "".join(f", asked with {code(f'{name}: {condition[name]}')}" for name in condition)
    yield "; ".join([told, *map(show_verdict, item.get("checks", ()))])


def show_timeline(item: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each moment: when, what the server said, and what is decided."""
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
        line += f"{span(before)}, "
        line += "another process, " if moment.get("restart") else ""
        said = ", ".join(map(show_answer, moment.get("answers", ())))
        line += f"{said} → " if moment["requests"] else "nobody is asked → "
        line += show_verdict(moment)
    yield line
    for one in item.get("evidence", ()):
        wishes = [f"{label} {wish}" for label, wish in one.get("preferences", {}).items()]
        said = "nothing is known" if one["allowed"] is None else show_verdict(one)
        yield f"evidence of {span(one['at'])}: {'; '.join([said, *wishes])}"


def show_refused(item: dict[str, Any]) -> Iterator[str]:
    """Yield whether options are accepted."""
    named = ", ".join(code(f"{name}={value}") for name, value in item["access_options"].items())
    yield f"{named} is {'refused' if item['refused'] else 'accepted'}"


SHOWN: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "origins": show_origin,
    "access": show_access,
    "timelines": show_timeline,
    "access_refused": show_refused,
}


def show_items(data: dict[str, Any]) -> Iterator[str]:
    """Yield what a vector expects about access and cache, a line each."""
    lines = [
        line for part, show in SHOWN.items() for one in data.get(part, ()) for line in show(one)
    ]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"and {len(lines) - MOST_LINES} more"
