"""
The response to a request for /robots.txt: 200, 304 or 405, with validator and lifetime.

The entity-tag is strong: it is a digest of the body. There is no Last-Modified, because a generated
file has no date, and the dates of deployed files say when they were copied. There is no `Vary:
Host` either: the host is part of the URL, and so of every cache key (RFC 9111 §2).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import NamedTuple

from robotrules.serving.response_fields import Field

ROBOTS_PATH = "/robots.txt"
METHODS = ("GET", "HEAD")
# RFC 9110 §8.8.3; the mark of a weak tag is not part of the comparison (§13.1.2).
_ENTITY_TAG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]*"')


class RobotsResponse(NamedTuple):
    """A complete response, for the framework to send."""

    status: int
    headers: tuple[Field, ...]
    body: bytes

    @property
    def reason(self) -> str:
        """The reason phrase, such as `OK`."""
        return HTTPStatus(self.status).phrase


class RobotsFile:
    """A robots.txt that is ready to be sent."""

    def __init__(self, body: bytes, max_age: int, fields: Sequence[Field] = ()) -> None:
        self._body = body
        self.etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        """The strong entity-tag, with its quotes."""
        shared = (("ETag", self.etag), ("Cache-Control", f"max-age={max_age}"))
        content = (
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
        )
        self._found = (*content, *shared, *fields)
        self._not_modified = shared
        allow = ("Allow", ", ".join(METHODS))
        # PEP 3333 servers expect a Content-Type, also for an empty body.
        self._not_allowed = (allow, content[0], ("Content-Length", "0"), *fields)

    def respond(self, method: str, if_none_match: str = "") -> RobotsResponse:
        """Return the response to a method, with the If-None-Match of the request."""
        if method not in METHODS:
            return RobotsResponse(405, self._not_allowed, b"")
        if if_none_match and self._is_current(if_none_match):
            return RobotsResponse(304, self._not_modified, b"")
        return RobotsResponse(200, self._found, b"" if method == "HEAD" else self._body)

    def _is_current(self, if_none_match: str) -> bool:
        """Return whether a condition names this file; by weak comparison (RFC 9110 §13.1.2)."""
        return if_none_match.strip() == "*" or self.etag in _ENTITY_TAG.findall(if_none_match)
