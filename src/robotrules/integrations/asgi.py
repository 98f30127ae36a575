"""
ASGI middleware: /robots.txt, tag fields and Content-Usage of a policy, for any ASGI application.

    app = AsgiRobotsMiddleware(app, SitePolicy("policy.toml"))

In Starlette and FastAPI: `app.add_middleware(AsgiRobotsMiddleware, site=SitePolicy(...))`. It needs
no library. Only HTTP requests are handled; other scopes pass through. Responses of the application
are not buffered. What is sent is decided by `robotrules.serving`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from robotrules.serving import ROBOTS_PATH, SitePolicy
from robotrules.serving.site_policy import require_site
from robotrules.serving.targets import encode_path

__all__ = ["AsgiRobotsMiddleware"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class AsgiRobotsMiddleware:
    """Serves the robots.txt of a `SitePolicy`, and adds its fields to responses."""

    def __init__(self, app: AsgiApp, site: SitePolicy) -> None:
        """Wrap *app*. Make *site* at import, so that a mistake in the policy stops the start."""
        require_site(site)
        self.app = app
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        fields = _select_fields(scope["headers"])
        path = _full_path(scope)
        # A robots.txt is at the top of an origin, and not at the top of a mounted application.
        if path == ROBOTS_PATH and not _root_path(scope):
            response = self.site.robots_response(
                scope["method"],
                fields[b"host"],
                if_none_match=fields[b"if-none-match"],
                user_agent=fields[b"user-agent"],
            )
            headers = [(name.lower().encode(), value.encode()) for name, value in response.headers]
            start = {"type": "http.response.start", "status": response.status, "headers": headers}
            await send(start)
            await send({"type": "http.response.body", "body": response.body})
            return
        added = self.site.record_request(
            _make_target(scope, path), fields[b"host"], fields[b"user-agent"]
        )
        if not added:
            await self.app(scope, receive, send)
            return

        async def send_with_fields(message: Message) -> None:
            """Send a message of the application; the start of the response gets the fields."""
            if message["type"] == "http.response.start":
                headers = added.add_to_raw(message.get("headers", ()))
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, send_with_fields)


def _select_fields(headers: Any) -> dict[bytes, str]:
    """Return the fields of a request that are used; of several hosts or user agents the first."""
    found = {b"host": "", b"user-agent": "", b"if-none-match": ""}
    for name, value in headers:
        if name in found and (not found[name] or name == b"if-none-match"):
            text = value.decode("latin-1")
            found[name] = f"{found[name]}, {text}" if found[name] else text
    return found


def _root_path(scope: Scope) -> str:
    """Return the path where the application is mounted; `/` is the top of the origin."""
    root: str = scope.get("root_path") or ""
    return root.rstrip("/")


def _full_path(scope: Scope) -> str:
    """Return the path as the client requested it; servers differ in whether it has `root_path`."""
    path: str = scope["path"]
    root, given = _root_path(scope), scope.get("root_path") or ""
    if root != given and path.startswith(f"{given}/"):  # uvicorn joins both as they are
        path = root + path.removeprefix(given)
    return path if not root or path == root or path.startswith(f"{root}/") else root + path


def _make_target(scope: Scope, path: str) -> bytes:
    """Return path and query as in the request line; the raw path is used if the server has it."""
    raw: bytes | None = scope.get("raw_path")
    if not raw or scope.get("root_path"):
        raw = encode_path(path.encode("utf-8", "surrogatepass"))
    query: bytes = scope.get("query_string") or b""
    # Some servers have the query in the raw path.
    return raw.partition(b"?")[0] + b"?" + query if query else raw
