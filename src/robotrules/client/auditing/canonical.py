"""
Canonical links: the preferred URL that a page names (RFC 6596).

They are in a Link field (RFC 8288 §3) or a `link` element of the head. This module returns their
targets and carriers, and does not choose among several: crawlers differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from robotrules.http.fields import Fields
from robotrules.http.media_types import is_html, parse_charset
from robotrules.tags.encoding import decode_html, sniff_encoding
from robotrules.tags.html import MAX_HTML_BYTES
from robotrules.tags.parser_limits import BODY_TAGS, MAX_HEAD_TAGS, safe_length
from robotrules.tags.tree_builders import find_tree_builder

# Maximum length of a field line, and number of links: a page has one.
MAX_LINE_LENGTH = 16 * 1024
MAX_LINKS = 20
# RFC 8288 §3: a target in angle brackets and parameters, values quoted or not.
_LINK = re.compile(
    r"<([^<>]*+)>((?:[ \t]*;[ \t]*[^;,=\s\"]+(?:=(?:\"(?:[^\"\\]|\\.)*+\"|[^;,\"\s]*))?)*)"
)
_PARAMETER = re.compile(r";[ \t]*([^;,=\s\"]+)(?:=(?:\"((?:[^\"\\]|\\.)*+)\"|([^;,\"\s]*)))?")


class Canonical(NamedTuple):
    """A canonical link of a page."""

    url: str
    """Resolved against the URL of the page."""
    carrier: str
    """`Link` or `link element`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


def canonicals(url: str, fields: Fields, body: bytes) -> tuple[Canonical, ...]:
    """Return the canonical links of a page, each target once per carrier."""
    found = list(_from_fields(url, fields))
    if body and is_html(fields):
        found += _from_html(url, fields, body)
    return tuple(dict.fromkeys(found))[:MAX_LINKS]


def _from_fields(url: str, fields: Fields) -> Iterator[Canonical]:
    for line in fields.get("link"):
        text = line[:MAX_LINE_LENGTH].decode("utf-8", "replace")
        for target, parameters in _LINK.findall(text):
            relations = [
                quoted or plain
                for name, quoted, plain in _PARAMETER.findall(parameters)
                if name.lower() == "rel"
            ]
            # §3.3: the first one counts; an anchor makes it a link of another page.
            anchored = re.search(r";[ \t]*anchor\*?=", parameters, re.IGNORECASE)
            if relations and _is_canonical(relations[0]) and not anchored:
                resolved = _resolve(url, target)
                if resolved is not None:
                    yield Canonical(resolved, "Link")


def _from_html(url: str, fields: Fields, body: bytes) -> Iterator[Canonical]:
    data = body[:MAX_HTML_BYTES]
    text = decode_html(data, sniff_encoding(data, parse_charset(fields)))
    tree = find_tree_builder()(text[: safe_length(text, True, BODY_TAGS, MAX_HEAD_TAGS)], True)
    # HTML Standard 4.2.3: the first base element with an href.
    bases = (one.get("href") for one in tree.in_head("base"))
    document = _resolve(url, next((base for base in bases if base is not None), ""))
    if document is None:
        return
    for link in tree.in_head("link"):
        href, relation = link.get("href"), link.get("rel")
        if href and relation and _is_canonical(relation):
            resolved = _resolve(document, href)
            if resolved is not None:
                yield Canonical(resolved, "link element")


def _is_canonical(relation: str) -> bool:
    return "canonical" in relation.lower().split()


def _resolve(base: str, target: str) -> str | None:
    """Return the target of a link, without fragment; None if it is invalid."""
    try:
        return urljoin(base, target.strip()).partition("#")[0]
    except ValueError:
        return None
