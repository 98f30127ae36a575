"""
WSGI middleware: /robots.txt, tag fields and Content-Usage of a policy, for any WSGI application.

    application = WsgiRobotsMiddleware(application, SitePolicy("policy.toml"))

It needs no library (PEP 3333). The iterable of the application is returned as it is, so streaming,
`close()` and `wsgi.file_wrapper` work as before. What is sent is decided by `robotrules.serving`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from robotrules.serving import ROBOTS_PATH, SitePolicy
from robotrules.serving.site_policy import require_site
from robotrules.serving.targets import encode_path

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["WsgiRobotsMiddleware"]


class WsgiRobotsMiddleware:
    """Serves the robots.txt of a `SitePolicy`, and adds its fields to responses."""

    def __init__(self, app: WSGIApplication, site: SitePolicy) -> None:
        require_site(site)
        self.app = app
        self.site = site

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle a request."""
        host = environ.get("HTTP_HOST") or environ.get("SERVER_NAME", "")
        user_agent = environ.get("HTTP_USER_AGENT", "")
        root = environ.get("SCRIPT_NAME", "").rstrip("/")
        path = root + environ.get("PATH_INFO", "")
        # A robots.txt is at the top of an origin, and not at the top of a mounted application.
        if path == ROBOTS_PATH and not root:
            response = self.site.robots_response(
                environ["REQUEST_METHOD"],
                host,
                if_none_match=environ.get("HTTP_IF_NONE_MATCH", ""),
                user_agent=user_agent,
            )
            start_response(f"{response.status} {response.reason}", list(response.headers))
            return [response.body] if response.body else []
        added = self.site.record_request(_make_target(environ, path), host, user_agent)
        if not added:
            return self.app(environ, start_response)

        def start_with_fields(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Callable[[bytes], object]:
            """Start the response of the application with the fields added."""
            fields = added.add_to(headers)
            if exc_info is None:
                return start_response(status, fields)
            return start_response(status, fields, exc_info)

        return self.app(environ, start_with_fields)


def _make_target(environ: WSGIEnvironment, path: str) -> bytes:
    """Return path and query; the path is decoded in WSGI, so `%2F` cannot be told from `/`."""
    target = encode_path(path.encode("latin-1", "replace"))
    query = environ.get("QUERY_STRING", "").encode("latin-1", "replace")
    return target + b"?" + query if query else target
