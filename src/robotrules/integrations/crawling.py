"""
What the integrations of HTTP clients share: the robotrules client, and the User-Agent.

`ClientBinding` opens the client or takes one, closes what it opened, and applies RFC 9309 §2.2.1 to
requests: the name that is sent is the name whose rules are followed. Slots, delays and verdicts are
those of the client. This module knows no host library.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from robotrules.client.base_client import BaseClient
from robotrules.errors import CrawlerError

ClientT = TypeVar("ClientT", bound=BaseClient)

_EXAMPLE = "'ExampleBot/1.0 (+https://example.com/bot)'"


class ClientBinding(Generic[ClientT]):
    """The robotrules client behind an integration, and the User-Agent of its requests."""

    def __init__(
        self,
        robots: str | ClientT,
        client_class: type[ClientT],
        client_options: Mapping[str, Any],
        default_user_agent: str,
        *,
        counterpart: str = "",
        wrapped_class: type | None = None,
    ) -> None:
        """
        Open a client with *client_options* if *robots* is a User-Agent; otherwise it is a client.

        *default_user_agent* is what the host sends if its user sets none. Errors name
        *counterpart*, the class for clients of the other kind, and options of *wrapped_class*.
        """
        self._is_owner = isinstance(robots, str)
        if "user_agent" in client_options:
            raise TypeError(f"user_agent is the first argument, without a name: pass {_EXAMPLE}")
        if robots and isinstance(robots, str):
            vet_client_options(client_class, client_options, wrapped_class)
            self.client = client_class(robots, **client_options)
        elif not isinstance(robots, client_class):
            given = "missing or empty" if robots == "" else f"{robots!r:.80}"
            fix = f"pass a User-Agent such as {_EXAMPLE}, or a robotrules.{client_class.__name__}"
            if isinstance(robots, BaseClient):
                given = f"a robotrules.{type(robots).__name__}"
                fix = f"use {counterpart} for it, or {fix}" if counterpart else fix
            raise TypeError(f"robots is {given}: {fix}")
        elif client_options:
            raise TypeError(
                f"{', '.join(client_options)}: cannot be combined with a client; pass the option "
                f"to robotrules.{client_class.__name__}()"
            )
        else:
            self.client = robots
        self.user_agent = self.client.user_agent
        self._default_user_agent = default_user_agent
        names = self.client.product_token
        self._names = (names,) if isinstance(names, str) else tuple(names)
        # `NotExampleBot` is another name; `ExampleBot-News` is a variant, as in the client.
        words = "|".join(map(re.escape, self._names))
        self._name_in_header = re.compile(rf"(?<![\w-])(?:{words})", re.IGNORECASE)

    def choose_user_agent(
        self, sent: str | bytes | None = None, *others: str | bytes
    ) -> str | None:
        """
        Return the User-Agent to set in a request that would send *sent*; None: keep it.

        One that the user set is kept if it has the product token; otherwise `CrawlerError`, and
        also if the request has *others*.
        """
        if others:
            raise CrawlerError(
                f"the request sends {1 + len(others)} User-Agent fields, {sent!r:.80} and "
                f"{', '.join(map(repr, others)):.200}: remove all but one (RFC 9309 §2.2.1)"
            )
        if sent == self.user_agent:
            return None
        text = sent.decode("latin-1") if isinstance(sent, bytes) else sent
        if not text or text == self._default_user_agent:
            return self.user_agent
        found = tuple(name.lower() for name in self._name_in_header.findall(text))
        if found and all(name.lower().startswith(found) for name in self._names):
            return None
        raise CrawlerError(
            f"the request sends the User-Agent {text!r:.200} and follows the rules for "
            f"{' and '.join(self._names)} (RFC 9309 §2.2.1): remove the header, and "
            f"{self.user_agent!r} is sent; or begin it with {self._names[0]!r}"
        )

    def release(self) -> ClientT | None:
        """Return the client if it has to be closed now: it was opened here, and is still open."""
        if not self._is_owner:
            return None
        self._is_owner = False
        return self.client


def vet_client_options(
    client_class: type[BaseClient], options: Iterable[str], wrapped_class: type | None = None
) -> None:
    """Raise a TypeError for an option that the client does not have, with what to use instead."""
    known = inspect.signature(client_class).parameters.keys() - {"user_agent"}
    for option in options:
        if option not in known:
            if wrapped_class and option in inspect.signature(wrapped_class).parameters:
                made = f"{wrapped_class.__name__}({option}=…)"
                raise TypeError(
                    f"{option!r} is an option of {wrapped_class.__name__}: pass {made} as the "
                    "second argument"
                )
            similar = difflib.get_close_matches(option, known, 1)
            fix = f"did you mean {similar[0]!r}?" if similar else f"use {', '.join(sorted(known))}"
            raise TypeError(
                f"unknown option {option!r}: options are those of "
                f"robotrules.{client_class.__name__}; {fix}"
            )


def vet_wrapped(name: str, value: object, method: str, example: str) -> None:
    """Raise an error if *value*, an argument of this name, does not send requests."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise TypeError(f"{name} is {value!r:.80}: pass an object such as {example}")
