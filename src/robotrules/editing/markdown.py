"""
Markdown for hover and completion texts, in which quoted text is never interpreted as Markdown.

The content of a robots.txt is untrusted. It is quoted in code spans, with invisible characters made
visible, and truncated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from robotrules.octets import to_text, visible

__all__ = [
    "bullet_list",
    "code_list",
    "code_span",
    "escape",
    "link_reference",
    "pluralize",
    "truncate",
]

MAX_LENGTH = 120
MAX_SENTENCE_LENGTH = 600
# References that have a web page.
_RFC = re.compile(r"RFC (\d{3,5})(?: §([0-9.]+[0-9]))?")
_DRAFT = re.compile(r"draft-[a-z0-9-]+[a-z0-9]")
# Characters with a meaning in Markdown (CommonMark §2.4).
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#~|&!"})
# Ids of the project's decisions mean nothing to someone who edits a robots.txt.
_DECISION_IDS = re.compile(r" \(AMB-[^)]*\)")
_URL = re.compile(r"https?://[^\s<>()\[\]]+")


def truncate(text: str | bytes, max_length: int = MAX_LENGTH) -> str:
    """Return *text* on one line, truncated, with invisible characters made visible."""
    if isinstance(text, bytes):
        text = to_text(text[: 4 * max_length + 4])
    return visible(text if len(text) <= max_length else text[: max_length - 1] + "…")


def code_span(text: str | bytes, max_length: int = MAX_LENGTH) -> str:
    """Return any text as a code span (CommonMark §6.1)."""
    text = truncate(text, max_length)
    if not text.strip():
        return "(empty)"
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    padding = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def escape(sentence: str) -> str:
    """Return a sentence with all Markdown syntax escaped."""
    return truncate(sentence, MAX_SENTENCE_LENGTH).translate(_SPECIAL)


def code_list(names: Iterable[str | bytes], max_items: int = 4) -> str:
    """Return names as code spans separated by commas, and how many more there are."""
    items = list(names)
    shown = ", ".join(code_span(name, 60) for name in items[:max_items])
    rest = len(items) - max_items
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def pluralize(count: int, noun: str) -> str:
    """Return `1 rule`, `2,000 rules`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def bullet_list(items: Iterable[str]) -> str:
    """Return a Markdown list."""
    return "\n".join(f"- {item}" for item in items)


def link_reference(reference: str) -> str:
    """Return a reference with links to the RFCs and drafts that it names."""
    reference = _DECISION_IDS.sub("", reference)
    if url := _URL.fullmatch(reference):
        return f"<{url[0]}>"
    text = _RFC.sub(_link_rfc, reference)
    return _DRAFT.sub(r"[\g<0>](https://datatracker.ietf.org/doc/\g<0>/)", text)


def _link_rfc(match: re.Match[str]) -> str:
    page = f"https://www.rfc-editor.org/rfc/rfc{match[1]}"
    return f"[{match[0]}]({page}#section-{match[2]})" if match[2] else f"[{match[0]}]({page})"
