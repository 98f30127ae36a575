"""A forge on loopback with the comments of one pull request: GitHub's API, or GitLab's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

TOKEN = "secret-token"  # of no forge


class ForgeCall(NamedTuple):
    """A request to the API."""

    method: str
    path: str
    body: str | None


class ForgeServer:
    """The state of a forge: comments, calls, and how it fails."""

    def __init__(self, kind: str = "github") -> None:
        self.kind = kind
        self.comments: list[dict[str, Any]] = []
        self.calls: list[ForgeCall] = []
        self.login: str | None = "owner" if kind == "gitlab" else None
        """The account of the token; None: it may not ask for it."""
        self.app: str | None = None
        """The account of the token, if it is that of an app, which may ask for it in GraphQL."""
        self.refused: dict[str, int] = {}
        """The status with which methods fail."""
        self.location: str | None = None
        """Where every request is redirected to."""
        self.raw: bytes | None = None
        """The body of every response, if it is not JSON."""
        self.port = 0

    @property
    def url(self) -> str:
        """The URL of the API."""
        return f"http://127.0.0.1:{self.port}" + ("/api/v4" if self.kind == "gitlab" else "")

    @property
    def listing(self) -> str:
        """The path of the comments of the pull request."""
        if self.kind == "github":
            return "/repos/owner/site/issues/7/comments"
        return "/api/v4/projects/42/merge_requests/7/notes"

    @property
    def methods(self) -> list[str]:
        """The methods of the calls that write."""
        writing = [call for call in self.calls if not call.path.endswith("/graphql")]
        return [call.method for call in writing if call.method != "GET"]

    def add(self, body: str, login: str = "github-actions[bot]", kind: str = "Bot") -> None:
        """Have a comment of an account."""
        author = {"login": login, "username": login, "type": kind}
        key = "user" if self.kind == "github" else "author"
        number = len(self.comments) + 1
        url = f"https://forge.example/{number}"
        self.comments.append({"id": number, "body": body, key: author, "html_url": url})

    def answer(self, method: str, path: str, value: Any) -> tuple[int, Any]:
        """Return the status and the JSON of a response."""
        if method in self.refused:
            return self.refused[method], {"message": "no"}
        place, _, query = path.partition("?")
        if place.endswith("/user"):
            if self.login is None:
                return 403, {"message": "Resource not accessible by integration"}
            return 200, {"login": self.login, "username": self.login}
        if place.endswith("/graphql"):
            if self.app is None:
                return 403, {"message": "no"}
            return 200, {"data": {"viewer": {"login": self.app}}}
        if method == "GET" and place == self.listing:
            page = int(query.rpartition("=")[2])
            return 200, self.comments[100 * (page - 1) : 100 * page]
        if method == "POST" and place == self.listing:
            self.add(value["body"], self.login or self.app or "github-actions[bot]")
            return 201, self.comments[-1]
        edited = {"github": "/repos/owner/site/issues/comments", "gitlab": self.listing}[self.kind]
        base, _, number = place.rpartition("/")
        if method == {"github": "PATCH", "gitlab": "PUT"}[self.kind] and base == edited:
            self.comments[int(number) - 1]["body"] = value["body"]
            return 200, self.comments[int(number) - 1]
        return 404, {"message": "Not Found"}


@contextmanager
def forge(kind: str = "github") -> Iterator[ForgeServer]:
    """Serve a forge."""
    state = ForgeServer(kind)

    class Handler(BaseHTTPRequestHandler):
        """Answers with the state of the forge."""

        def handle_any(self) -> None:
            """Answer a request of any method."""
            octets = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            value = json.loads(octets) if octets else {}
            state.calls.append(ForgeCall(self.command, self.path, value.get("body")))
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            given = given or self.headers.get("PRIVATE-TOKEN", "")
            status, answer = state.answer(self.command, self.path, value)
            if given != TOKEN:
                status, answer = 401, {"message": "Bad credentials"}
            if state.location is not None:
                status = 307
            body = json.dumps(answer).encode() if state.raw is None else state.raw
            self.send_response(status)
            if state.location is not None:
                self.send_header("Location", state.location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = handle_any  # names of the library

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
