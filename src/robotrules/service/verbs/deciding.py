"""Verbs: check and explain URLs with a given robots.txt."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from robotrules.service.schemas import QuestionInput
from robotrules.service.verbs import Verb


class ExplainRequest(QuestionInput, kw_only=True):
    """The body of explain."""

    url: Annotated[str, Meta(description="A URL or a path.", examples=["https://example.com/a"])]


def explain(request: ExplainRequest) -> object:
    """Return the explanation of one verdict."""
    tokens = [request.as_] if isinstance(request.as_, str) else request.as_
    return request.parsed().explain(request.url, tokens, request.purpose).as_dict()


VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/explain",
        "Explain how the verdict on a URL is reached",
        ExplainRequest,
        explain,
        {
            "robots": "User-agent: *\nDisallow: /private\n",
            "url": "https://example.com/private/a",
            "as": "ExampleBot",
        },
        "explain",
        command="explain",
    ),
)
