"""
Refusals: what the integrations of HTTP clients do with a disallowed request.

`on_disallowed` is `raise`, `respond` with a response of status 403, or a function that takes the
request and the error. A function returns a response or raises an error: a host that gets neither
could send the request. This module knows no host library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from robotrules.errors import DisallowedError

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
OnDisallowed = Literal["raise", "respond"] | Callable[[RequestT, DisallowedError], ResponseT]
"""What to do with a disallowed request: raise an error, return a 403 response, or call this."""

# The synthetic response of `on_disallowed="respond"`.
REFUSAL_STATUS = 403
REFUSAL_REASON = "Disallowed by robots.txt"
REFUSAL_TYPE = "text/plain; charset=utf-8"


def vet_on_disallowed(value: object, choices: tuple[str, ...] = ("raise", "respond")) -> None:
    """Raise an error if *value* is neither one of the choices nor a function."""
    if not callable(value) and value not in choices:
        names = ", ".join(map(repr, choices))
        raise ValueError(
            f"on_disallowed is {value!r:.80}: use {names}, or a function that takes the request "
            "and the error and returns a response"
        )


def vet_answer(answer: Any, is_response: bool, name: str) -> Any:
    """Return what a function of the user returned; raise an error if it is not a response."""
    if not is_response:
        raise TypeError(
            f"on_disallowed returned {answer!r:.80}: return {name}, or raise an error, such as the "
            "one that it received"
        )
    return answer


def refusal_body(error: DisallowedError) -> bytes:
    """Return the text of the synthetic response."""
    return f"{error}\n".encode()
