"""
Errors of the HTTP API as problem details (RFC 9457).

Each kind of problem has a slug, a title and a status. `detail` says what is wrong with this request
and how to fix it. The `type` of a problem is a URL reference to its description in this service.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["MEDIA_TYPE", "PROBLEMS", "Problem", "ProblemType", "stopping_problem"]

MEDIA_TYPE = "application/problem+json"


class ProblemType(NamedTuple):
    """A kind of problem."""

    status: int
    title: str


PROBLEMS: dict[str, ProblemType] = {
    "invalid-request": ProblemType(422, "The request is not valid"),
    "malformed-body": ProblemType(400, "The body could not be read"),
    "upgrade-not-supported": ProblemType(400, "The service speaks HTTP/1.1 only"),
    "unauthorized": ProblemType(401, "A token is required"),
    "forbidden-host": ProblemType(421, "The Host field does not name this service"),
    "forbidden-origin": ProblemType(403, "Pages of other origins may not use this service"),
    "fetching-off": ProblemType(403, "This service does not fetch"),
    "host-not-allowed": ProblemType(403, "This service does not fetch from this host"),
    "not-found": ProblemType(404, "There is no such resource"),
    "method-not-allowed": ProblemType(405, "The resource does not have this method"),
    "timeout": ProblemType(408, "The request was not sent in time"),
    "too-large": ProblemType(413, "The body is too large"),
    "too-many-urls": ProblemType(413, "The request has too many URLs"),
    "unsupported-media-type": ProblemType(415, "The media type is not supported"),
    "header-too-large": ProblemType(431, "The header of the request is too large"),
    "too-many-requests": ProblemType(429, "This client sends too many requests"),
    "internal-error": ProblemType(500, "The service failed"),
    "busy": ProblemType(503, "The service is busy"),
    "stopping": ProblemType(503, "The service is stopping"),
    "store-unavailable": ProblemType(503, "The store of the slots is not available"),
    "took-too-long": ProblemType(503, "The request needed too much time"),
    "work-ended": ProblemType(503, "The process that worked on the request ended"),
}


class Problem(Exception):
    """An error answer; *extra* are extension members, such as the part of the body at fault."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        headers: dict[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.slug, self.detail, self.extra = slug, detail, extra
        self.headers = headers or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Problems cross from the processes that do the work."""
        return _rebuild, (self.slug, self.detail, self.headers, self.extra)

    @property
    def status(self) -> int:
        """The status code."""
        return PROBLEMS[self.slug].status

    def as_dict(self) -> dict[str, Any]:
        """Return the problem details."""
        found = PROBLEMS[self.slug]
        return {
            "type": f"/v1/problems#{self.slug}",
            "title": found.title,
            "status": found.status,
            "detail": self.detail,
            **self.extra,
        }


def stopping_problem() -> Problem:
    """Return the problem of a request that is not finished because the service stops."""
    return Problem(
        "stopping",
        "the service stopped before the request was finished: send it again",
        headers={"Retry-After": "1"},
    )


def _rebuild(slug: str, detail: str, headers: dict[str, str], extra: dict[str, Any]) -> Problem:
    return Problem(slug, detail, headers=headers, **extra)
