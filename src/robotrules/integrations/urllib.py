"""
urllib.request: a handler that follows robots.txt, for an opener.

    opener = urllib.request.build_opener(RobotsHandler("ExampleBot/1.0 (+https://example.com/bot)"))

A disallowed request raises `UrllibDisallowedError`. See docs/integrations/urllib.md.
"""

from __future__ import annotations

from email.message import Message
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import BaseHandler, OpenerDirector, Request
from urllib.response import addinfourl

from robotrules.client.sync import Client
from robotrules.errors import DisallowedError
from robotrules.integrations import checked_urls, crawling, refusals
from robotrules.integrations.refusals import OnDisallowed
from robotrules.integrations.sending import send_in_slot

if TYPE_CHECKING:
    from robotrules.robotstxt.verdict import Verdict

__all__ = ["RobotsHandler", "UrllibDisallowedError", "UrllibRefusal"]

# As urllib.request writes the names of fields.
_USER_AGENT = "User-agent"


class UrllibDisallowedError(DisallowedError, URLError):
    """A request that was not sent: its URL is disallowed. `reason` is the text of the verdict."""

    def __init__(self, url: str, verdict: Verdict, detail: str = "") -> None:
        URLError.__init__(self, str(verdict))
        DisallowedError.__init__(self, url, verdict, detail)


class UrllibRefusal(addinfourl):
    """The response of `on_disallowed="respond"`: status 403, from no server."""

    def __init__(self, error: DisallowedError) -> None:
        body, headers = refusals.refusal_body(error), Message()
        headers["Content-Type"] = refusals.REFUSAL_TYPE
        headers["Content-Length"] = str(len(body))
        super().__init__(BytesIO(body), headers, error.url, refusals.REFUSAL_STATUS)
        self.msg = refusals.REFUSAL_REASON
        self.robotrules = error.verdict
        """The verdict; also an attribute of the `HTTPError` that an opener makes of this."""


class RobotsHandler(BaseHandler):
    """Checks the rules for each request of an opener, and waits for slots."""

    # After ProxyHandler (100), which may start over with the same request; before the handlers
    # that connect (500). Those are called from here, so that the slot ends if they raise.
    handler_order = 400

    def __init__(
        self,
        robots: str | Client = "",
        *,
        on_disallowed: OnDisallowed[Request, Any] = "raise",
        **client_options: Any,
    ) -> None:
        """
        Create a handler for `urllib.request.build_opener()`.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes; it is required. *on_disallowed* is
        `raise`, `respond` with a response of status 403 (of which an opener makes an `HTTPError`),
        or a function that takes the request and the `DisallowedError` and returns a response. An
        opener does not close its handlers: use this one as a context manager, or call `close()`.
        """
        refusals.vet_on_disallowed(on_disallowed)
        user_agent = dict(OpenerDirector().addheaders)[_USER_AGENT]
        self._binding = crawling.ClientBinding(robots, Client, client_options, user_agent)
        self._on_disallowed = on_disallowed

    @property
    def client(self) -> Client:
        """The robotrules client that checks the requests."""
        return self._binding.client

    def http_open(self, request: Request) -> Any:
        """Send a request in the next slot of its origin, if the rules allow it."""
        # Fields that are not redirected take precedence when the request is sent.
        fields = {**request.headers, **request.unredirected_hdrs}
        user_agent = self._binding.choose_user_agent(fields.get(_USER_AGENT))
        if user_agent is not None:
            request.add_unredirected_header(_USER_AGENT, user_agent)
        url = _encode_host(request)
        checked_urls.vet_host(url, {**request.headers, **request.unredirected_hdrs}.get("Host"))
        try:
            send = self._call_next
            return send_in_slot(self._binding.client, url, "status", send, request)
        except DisallowedError as error:
            disallowed = error
        return self._refuse(request, disallowed)

    https_open = http_open

    def _call_next(self, request: Request) -> Any:
        """Call the handlers after this one, as the opener would; None: none of them responds."""
        opener: Any = self.parent  # the type stubs lack its table of handlers
        handlers = opener.handle_open[request.type]
        for handler in handlers[handlers.index(self) + 1 :]:
            response = getattr(handler, f"{request.type}_open")(request)
            if response is not None:
                return response
        return None

    def _refuse(self, request: Request, error: DisallowedError) -> Any:
        """Return the response to a disallowed request, or raise the error of urllib."""
        if self._on_disallowed == "respond":
            return UrllibRefusal(error)
        error = UrllibDisallowedError(error.url, error.verdict, error.detail)
        if self._on_disallowed == "raise":
            raise error
        answer = self._on_disallowed(request, error)
        # After None an opener would call the next handler, which sends the request.
        return refusals.vet_answer(answer, answer is not None, "a urllib.response.addinfourl")

    def close(self) -> None:
        """Close the robotrules client if it was opened here."""
        if (client := self._binding.release()) is not None:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _encode_host(request: Request) -> str:
    """Return the URL with the host that is contacted: urllib encodes names by IDNA 2003."""
    url = checked_urls.without_userinfo(request.full_url)
    if url.isascii():
        return url
    parts = urlsplit(url)
    host = parts.netloc.encode("idna").decode("ascii")
    if request.unredirected_hdrs.get("Host") == parts.netloc:
        request.add_unredirected_header("Host", host)  # urllib would send it as Latin-1
    return parts._replace(netloc=host).geturl()
