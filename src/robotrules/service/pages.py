"""
The page: the files of `static/`, by exact path.

The Content-Security-Policy allows scripts, styles and requests of this service alone; nothing on
the page comes from elsewhere, and nothing is inline. The paths need no token, because a browser
cannot send one when it opens a page: the page asks for it.
"""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from robotrules.service.parts import Endpoint, ServiceContext, ServicePart

__all__ = ["CONTENT_SECURITY_POLICY", "make_part"]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
# Browsers ask each time whether their copy is current, which a new version of the package changes.
CACHING = "no-cache"
SECURITY_FIELDS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
_TEXT = "text/plain; charset=utf-8"
# Path, name of the file, media type.
PAGE_FILES = (
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/static/app.js", "app.js", "text/javascript; charset=utf-8"),
    ("/static/app.css", "app.css", "text/css; charset=utf-8"),
    ("/static/favicon.svg", "favicon.svg", "image/svg+xml"),
    ("/static/licenses.txt", "licenses.txt", _TEXT),
)


class StaticFile(NamedTuple):
    """A file of the page, as it is sent."""

    body: bytes
    compressed: bytes
    etag: str


@cache
def read_static(name: str) -> StaticFile:
    """Return a file of `static/`; it is read and compressed once."""
    body = files("robotrules.service").joinpath("static", name).read_bytes()
    return StaticFile(body, gzip.compress(body, 9, mtime=0), sha256(body).hexdigest()[:32])


def make_part(context: ServiceContext) -> ServicePart:
    """Return the part of the service that sends the page."""
    return ServicePart(
        {path: {"GET": _endpoint(name, kind)} for path, name, kind in PAGE_FILES},
        open_paths=frozenset(path for path, _, _ in PAGE_FILES),
    )


def _endpoint(name: str, media_type: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        """Answer with the file, or that it has not changed."""
        found = read_static(name)
        zipped = _accepts_gzip(request.headers.get("accept-encoding", ""))
        # The compressed form is another representation, so it has another tag (RFC 9110 §8.8.3).
        tag = f'"{found.etag}{"-gzip" if zipped else ""}"'
        headers = {
            **SECURITY_FIELDS,
            "Cache-Control": CACHING,
            "ETag": tag,
            "Vary": "Accept-Encoding",
        }
        if _is_current(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=headers)
        body = found.body
        if zipped:
            body = found.compressed
            headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers, media_type=media_type)

    return endpoint


def _accepts_gzip(field: str) -> bool:
    """Return whether an Accept-Encoding field names gzip, and not with weight 0."""
    for part in field.lower().split(","):
        coding, _, weight = (item.strip() for item in part.partition(";"))
        if coding == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_current(field: str, tag: str) -> bool:
    """Return whether an If-None-Match field has a tag, or is '*'."""
    tags = [item.strip().removeprefix("W/") for item in field.split(",")]
    return tag in tags or tags == ["*"]
