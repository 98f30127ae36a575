"""
Canonical links: which URL a page names as the one to show for it (RFC 6596).

In a Link field (RFC 8288 §3) or in a `link` element of the head. It says where they lead and where
they stand, and not which of several counts: crawlers differ about that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from robotrules.http.fields import Fields
from robotrules.http.media_types import is_html, parse_charset
from robotrules.tags.bounds import BODY_TAGS, MOST_HEAD_TAGS, bounded
from robotrules.tags.encoding import decoded, encoding_of
from robotrules.tags.html import MOST_HTML
from robotrules.tags.trees import builder

# What a field line is read of, and how many links are kept: a page has one.
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
    """Return the canonical links of a page, each target of a carrier once."""
    found = list(_of_fields(url, fields))
    if body and is_html(fields):
        found += _of_page(url, fields, body)
    return tuple(dict.fromkeys(found))[:MAX_LINKS]


def _of_fields(url: str, fields: Fields) -> Iterator[Canonical]:
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
                resolved = _resolved(url, target)
                if resolved is not None:
                    yield Canonical(resolved, "Link")


def _of_page(url: str, fields: Fields, body: bytes) -> Iterator[Canonical]:
    data = body[:MOST_HTML]
    text = decoded(data, encoding_of(data, parse_charset(fields)))
    tree = builder()(text[: bounded(text, True, BODY_TAGS, MOST_HEAD_TAGS)], True)
    # HTML Standard 4.2.3: the first base element with an href.
    bases = (one.get("href") for one in tree.in_head("base"))
    document = _resolved(url, next((base for base in bases if base is not None), ""))
    if document is None:
        return
    for link in tree.in_head("link"):
        href, relation = link.get("href"), link.get("rel")
        if href and relation and _is_canonical(relation):
            resolved = _resolved(document, href)
            if resolved is not None:
                yield Canonical(resolved, "link element")


def _is_canonical(relation: str) -> bool:
    return "canonical" in relation.lower().split()


def _resolved(base: str, target: str) -> str | None:
    """Return where a link leads, without a fragment; None: nowhere."""
    try:
        return urljoin(base, target.strip()).partition("#")[0]
    except ValueError:
        return None
