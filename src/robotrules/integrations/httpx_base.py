"""
What the transports of httpx and httpx2 for threads and for tasks share.

The wrapped transport and the robotrules client, the URL that is checked, and the response to a
disallowed request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic

from robotrules.errors import DisallowedError
from robotrules.integrations import checked_urls, crawling, refusals
from robotrules.integrations.crawling import ClientT
from robotrules.integrations.refusals import OnDisallowed, RequestT, ResponseT


class TransportWrapper(Generic[ClientT, RequestT, ResponseT]):
    """What the transports of both kinds share; a subclass names the classes of its host."""

    host: ClassVar[Any]
    """The host library."""
    default_transport: ClassVar[Any]
    disallowed_error: ClassVar[type[DisallowedError]]
    client_class: ClassVar[Any]
    send_method: ClassVar[str]
    _counterpart: ClassVar[str]
    """The class of the other kind: for tasks or for threads."""
    _counterpart_methods: ClassVar[frozenset[str]]
    _used_in: ClassVar[str]
    """The client of the host that uses this kind."""

    def __init__(
        self,
        robots: str | ClientT = "",
        transport: Any = None,
        *,
        on_disallowed: OnDisallowed[RequestT, ResponseT] = "raise",
        **client_options: Any,
    ) -> None:
        """
        Wrap *transport*, by default a new one of the host.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes; it is required. *on_disallowed* is
        `raise`, `respond` with a response of status 403 whose `extensions["robotrules"]` is the
        verdict, or a function that takes the request and the `DisallowedError` and returns a
        response.
        """
        refusals.vet_on_disallowed(on_disallowed)
        default = self.default_transport
        transport = default() if transport is None else transport
        example = f"{self.host.__name__}.{default.__name__}()"
        crawling.vet_wrapped("transport", transport, self.send_method, example)
        user_agent = f"python-{self.host.__name__}/{self.host.__version__}"
        self._binding = crawling.ClientBinding[ClientT](
            *(robots, self.client_class, client_options, user_agent),
            counterpart=self._counterpart,
            wrapped_class=default,
        )
        # Most requests have this list of User-Agent fields.
        self._own_agents = [self._binding.user_agent.encode()]
        self._transport = transport
        self._on_disallowed = on_disallowed

    @property
    def client(self) -> ClientT:
        """The robotrules client that checks the requests."""
        return self._binding.client

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain what a client of the other kind does not find."""
            if name in self._counterpart_methods:
                used = type(self).__name__
                raise AttributeError(
                    f"{used} has no {name}: it is for {self.host.__name__}.{self._used_in}; use "
                    f"{self._counterpart} instead"
                )
            return super().__getattribute__(name)

    def _prepare(self, request: Any) -> str | None:
        """Set the User-Agent, and return the URL to check; None: it is not checked."""
        scheme = request.url.scheme
        if scheme not in checked_urls.CHECKED_SCHEMES:
            return None
        url, host, agents = str(request.url), None, []
        # One loop: each lookup by name would be one of its own.
        for name, value in request.headers.raw:
            key = name.lower()
            if key == b"user-agent":
                agents.append(value)
            elif key == b"host":
                text = value.decode("latin-1")
                host = text if host is None else f"{host}, {text}"
        if agents != self._own_agents:
            user_agent = self._binding.choose_user_agent(*agents)
            if user_agent is not None:
                request.headers["User-Agent"] = user_agent
        if not url.startswith(f"{scheme}://{host}/"):  # most requests do
            url = checked_urls.without_userinfo(url)
            checked_urls.vet_host(url, host)
        if "target" in request.extensions:
            return checked_urls.replace_target(url, request.extensions["target"])
        return url

    def _refuse(self, request: Any, error: DisallowedError) -> Any:
        """Return the response to a disallowed request, or raise the error of the host."""
        if self._on_disallowed == "respond":
            return self._make_refusal(error)
        error = self.disallowed_error(error.url, error.verdict, error.detail)
        if self._on_disallowed == "raise":
            raise error
        return self._on_disallowed(request, error)

    def _vet_answer(self, answer: Any) -> Any:
        """Return the response of a user's function."""
        is_response = isinstance(answer, self.host.Response)
        return refusals.vet_answer(answer, is_response, f"an {self.host.__name__}.Response")

    def _make_refusal(self, error: DisallowedError) -> Any:
        body, reason = refusals.refusal_body(error), refusals.REFUSAL_REASON.encode()
        return self.host.Response(
            refusals.REFUSAL_STATUS,
            headers={"Content-Type": refusals.REFUSAL_TYPE, "Content-Length": str(len(body))},
            stream=self.host.ByteStream(body),
            extensions={"robotrules": error.verdict, "reason_phrase": reason},
        )
