"""
requests: an adapter that follows robots.txt, to mount in a session.

    adapter = RobotsAdapter("ExampleBot/1.0 (+https://example.com/bot)")
    session.mount("https://", adapter)
    session.mount("http://", adapter)

A disallowed request raises `RequestsDisallowedError`. See docs/integrations/requests.md.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from robotrules.client.sync import Client
from robotrules.errors import DisallowedError, MissingExtraError
from robotrules.integrations import crawling
from robotrules.integrations.crawling import OnDisallowed

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

    robotrules: Verdict
    """The verdict."""


class RobotsAdapter(BaseAdapter):
    """Wraps an adapter: checks the rules, and waits for slots. Safe to share between threads."""

    def __init__(
        self,
        robots: str | Client,
        adapter: BaseAdapter | None = None,
        *,
        on_disallowed: OnDisallowed[requests.PreparedRequest, requests.Response] = "raise",
        **client_options: Any,
    ) -> None:
        """
        Wrap *adapter*, by default a new `HTTPAdapter`.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes. *on_disallowed* is `raise`, `respond`
        with a response of status 403 whose `robotrules` is the verdict, or a function that takes
        the request and the verdict and returns a response.
        """
        super().__init__()
        crawling.vet_on_disallowed(on_disallowed)
        adapter = HTTPAdapter() if adapter is None else adapter
        crawling.vet_wrapped("adapter", adapter, "send", "requests.adapters.HTTPAdapter()")
        user_agent = requests.utils.default_user_agent()
        self._binding = crawling.ClientBinding(robots, Client, client_options, user_agent)
        self._adapter = adapter
        self._on_disallowed = on_disallowed

    @property
    def client(self) -> Client:
        """The robotrules client that checks the requests."""
        return self._binding.client

    def send(
        self, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        """Send a request in the next slot of its origin, if the rules allow it."""
        url = request.url or ""
        # A session lowers the scheme of what it prepares; mounts may be for other schemes.
        if not url.startswith(("http://", "https://")):
            return self._adapter.send(request, *args, **options)
        user_agent = self._binding.choose_user_agent(request.headers.get("User-Agent"))
        if user_agent is not None:
            request.headers["User-Agent"] = user_agent
        try:
            with self._binding.client.checked_slot(crawling.without_userinfo(url)) as slot:
                response = self._adapter.send(request, *args, **options)
                slot.record_response(response.status_code, response.headers)
                return response
        except DisallowedError as error:
            disallowed = error
        return self._refuse(request, disallowed)

    def _refuse(
        self, request: requests.PreparedRequest, error: DisallowedError
    ) -> requests.Response:
        """Return the response to a disallowed request, or raise the error of requests."""
        if self._on_disallowed == "raise":
            raise RequestsDisallowedError(error.url, error.verdict, error.detail, request=request)
        if self._on_disallowed != "respond":
            return self._on_disallowed(request, error.verdict)
        body = crawling.refusal_body(error)
        response = RequestsRefusal()
        response.status_code, response.reason = crawling.REFUSAL_STATUS, crawling.REFUSAL_REASON
        response.headers["Content-Type"] = crawling.REFUSAL_TYPE
        response.headers["Content-Length"] = str(len(body))
        response.url, response.encoding, response.request = error.url, "utf-8", request
        response.raw = BytesIO(body)
        response.robotrules = error.verdict
        return response

    def close(self) -> None:
        """Close the wrapped adapter, and the robotrules client if it was opened here."""
        try:
            self._adapter.close()
        finally:
            if (client := self._binding.release()) is not None:
                client.close()
