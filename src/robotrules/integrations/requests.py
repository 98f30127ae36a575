"""
requests: an adapter that follows robots.txt, to mount in a session for `https://` and `http://`.

    RobotsAdapter("ExampleBot/1.0 (+https://example.com/bot)").mount(session)

A disallowed request raises `RequestsDisallowedError`. See docs/integrations/requests.md.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Self

from robotrules.client.sync import Client
from robotrules.errors import DisallowedError, MissingExtraError
from robotrules.integrations import checked_urls, crawling, refusals
from robotrules.integrations.refusals import OnDisallowed
from robotrules.integrations.sending import send_in_slot

try:
    import requests
    from requests.adapters import BaseAdapter, HTTPAdapter
except ImportError:
    message = "requests is not installed: pip install 'robotrules[requests]'"
    raise MissingExtraError(message) from None

if TYPE_CHECKING:
    from robotrules.robotstxt.verdict import Verdict

__all__ = ["RequestsDisallowedError", "RequestsRefusal", "RobotsAdapter"]


class RequestsDisallowedError(DisallowedError, requests.RequestException):
    """A request that was not sent: its URL is disallowed."""

    def __init__(
        self,
        url: str,
        verdict: Verdict,
        detail: str = "",
        *,
        request: requests.PreparedRequest | None = None,
    ) -> None:
        requests.RequestException.__init__(self, request=request)
        DisallowedError.__init__(self, url, verdict, detail)


class RequestsRefusal(requests.Response):
    """The response of `on_disallowed="respond"`: status 403, from no server."""

    __attrs__: list[str] = [*requests.Response.__attrs__, "robotrules"]  # noqa: RUF012

    def __init__(self, request: requests.PreparedRequest, error: DisallowedError) -> None:
        super().__init__()
        body = refusals.refusal_body(error)
        self.status_code, self.reason = refusals.REFUSAL_STATUS, refusals.REFUSAL_REASON
        self.headers["Content-Type"] = refusals.REFUSAL_TYPE
        self.headers["Content-Length"] = str(len(body))
        self.url, self.encoding, self.request = error.url, "utf-8", request
        self.raw = BytesIO(body)
        self.robotrules = error.verdict
        """The verdict."""


class RobotsAdapter(BaseAdapter):
    """Wraps an adapter: checks the rules, and waits for slots. Safe to share between threads."""

    def __init__(
        self,
        robots: str | Client = "",
        adapter: BaseAdapter | None = None,
        *,
        on_disallowed: OnDisallowed[requests.PreparedRequest, requests.Response] = "raise",
        **client_options: Any,
    ) -> None:
        """
        Wrap *adapter*, by default a new `HTTPAdapter`.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes; it is required. *on_disallowed* is
        `raise`, `respond` with a response of status 403 whose `robotrules` is the verdict, or a
        function that takes the request and the `DisallowedError` and returns a response.
        """
        super().__init__()
        refusals.vet_on_disallowed(on_disallowed)
        adapter = HTTPAdapter() if adapter is None else adapter
        crawling.vet_wrapped("adapter", adapter, "send", "requests.adapters.HTTPAdapter()")
        user_agent = requests.utils.default_user_agent()
        self._binding = crawling.ClientBinding(
            *(robots, Client, client_options, user_agent), wrapped_class=HTTPAdapter
        )
        self._adapter, self._on_disallowed = adapter, on_disallowed

    @property
    def client(self) -> Client:
        """The robotrules client that checks the requests."""
        return self._binding.client

    def mount(self, session: requests.Session) -> Self:
        """Mount this adapter in a session for `https://` and `http://`, and return it."""
        for prefix in ("https://", "http://"):
            session.mount(prefix, self)
        return self

    def send(
        self, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        """Send a request in the next slot of its origin, if the rules allow it."""
        url = checked_urls.without_userinfo(request.url or "")
        # A session lowers the scheme of what it prepares; mounts may be for other schemes.
        if not url[:8].lower().startswith(("http://", "https://")):
            return self._adapter.send(request, *args, **options)
        user_agent = self._binding.choose_user_agent(request.headers.get("User-Agent"))
        if user_agent is not None:
            request.headers["User-Agent"] = user_agent
        checked_urls.vet_host(url, request.headers.get("Host"))
        try:
            client, send = self._binding.client, self._adapter.send
            response = send_in_slot(client, url, "status_code", send, request, *args, **options)
            # Steps of an authentication are sent through the connection of the response.
            response.connection = self
            return response  # type: ignore[no-any-return]
        except DisallowedError as error:
            disallowed = error
        return self._refuse(request, disallowed)

    def _refuse(
        self, request: requests.PreparedRequest, error: DisallowedError
    ) -> requests.Response:
        """Return the response to a disallowed request, or raise the error of requests."""
        if self._on_disallowed == "respond":
            return RequestsRefusal(request, error)
        error = RequestsDisallowedError(error.url, error.verdict, error.detail, request=request)
        if self._on_disallowed == "raise":
            raise error
        answer = self._on_disallowed(request, error)
        is_response = isinstance(answer, requests.Response)
        refusals.vet_answer(answer, is_response, "a requests.Response")
        answer.url, answer.request = answer.url or error.url, answer.request or request
        return answer

    def close(self) -> None:
        """Close the wrapped adapter, and the robotrules client if it was opened here."""
        try:
            self._adapter.close()
        finally:
            if (client := self._binding.release()) is not None:
                client.close()
