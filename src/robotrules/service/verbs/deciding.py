"""
Verbs: check and explain URLs with a given robots.txt.

Checking many URLs is the fastest way to ask. Verdicts are few and URLs many, so a line is written
as text around its URL, and `"fields": "allowed"` answers with booleans alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring_ascii as json_string
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from robotrules.json_results.check import LINE_START, line_end
from robotrules.robotstxt import parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.service.compiled_rules import CompiledRuleCache, RulesKey
from robotrules.service.problems import Problem
from robotrules.service.schemas import QuestionInput
from robotrules.service.settings import CURRENT_LIMITS
from robotrules.service.verbs import NDJSON, JsonLines, Verb

RULES = CompiledRuleCache()
# White space around a URL is not part of it, as on the command line.
WHITE_SPACE = " \t\n\r\v\f"


class CheckRequest(QuestionInput, kw_only=True):
    """The body of check: one URL, or many."""

    url: Annotated[
        str | None, Meta(description="A URL or a path.", examples=["https://example.com/a"])
    ] = None
    urls: Annotated[
        list[str] | None,
        Meta(description="URLs or paths; the answer has a line for each.", examples=[["/a", "/b"]]),
    ] = None
    fields: Annotated[
        Literal["all", "allowed"],
        Meta(description="`allowed`: one object with a list of booleans, which is much faster."),
    ] = "all"


class ExplainRequest(QuestionInput, kw_only=True):
    """The body of explain."""

    url: Annotated[str, Meta(description="A URL or a path.", examples=["https://example.com/a"])]


def explain(request: ExplainRequest) -> object:
    """Return the explanation of one verdict."""
    crawler, purposes = request.crawler, request.purposes
    url = request.url.strip(WHITE_SPACE)
    found = request.parsed().explain(url, crawler.names, purposes)
    return found._replace(known=crawler.known).as_dict()


def check(request: CheckRequest) -> bytes:
    """Return the verdict on a URL as an object, or those on many URLs as lines."""
    urls = _urls(request)
    crawler, purposes = request.crawler, request.purposes
    octets = request.octets
    rules = RULES.get(
        RulesKey.of(octets, request.profile, crawler.names, purposes),
        lambda: parse(octets, request.profile).rules_for(crawler.names, purposes),
    )
    if request.fields == "allowed":
        return allowed_json(rules, urls)
    verdicts = rules.check_many(urls)
    # By identity: rule sets share verdicts, and comparing two compares their rules.
    kinds = {id(verdict): verdict for verdict in verdicts}
    ends = {
        key: line_end(verdict, crawler.name, purposes, crawler.known_dict)
        for key, verdict in kinds.items()
    }
    if request.urls is None:
        return f"{LINE_START}{json_string(urls[0])}{ends[id(verdicts[0])]}".encode()
    return JsonLines(_lines(urls, map(ends.__getitem__, map(id, verdicts))))


def allowed_json(rules: RuleSet, urls: Sequence[str]) -> bytes:
    """Return which URLs are allowed, as JSON."""
    allowed = rules.allows_many(urls)
    return msgspec.json.encode(
        {"allowed": allowed, "count": len(allowed), "disallowed": allowed.count(False)}
    )


def _lines(urls: Sequence[str], ends: Iterable[str]) -> bytes:
    """Return one JSON object per line; *ends* are the parts after the URLs."""
    escaped = msgspec.json.encode(urls) if urls else b""
    if escaped.isascii():
        # All at once. A quote inside a JSON string has a backslash before it, so `","` stands
        # between two strings only.
        strings = escaped.decode()[2:-2].split('","') if urls else []
    else:
        # Always ASCII, as on the command line: U+2028 is a line end to some readers of lines.
        strings = [json_string(url)[1:-1] for url in urls]
    start = f'{LINE_START}"'
    return "".join(
        [f'{start}{url}"{end}\n' for url, end in zip(strings, ends, strict=True)]
    ).encode()


def _urls(request: CheckRequest) -> list[str]:
    """Return the URLs without white space around them; too many are a problem."""
    if (request.url is None) == (request.urls is None):
        raise Problem("invalid-request", "pass either url or urls", at="$.url")
    urls = request.urls if request.url is None else [request.url]
    assert urls is not None, "one of the two is not None"
    most = CURRENT_LIMITS.get().max_urls
    if len(urls) > most:
        raise Problem(
            "too-many-urls",
            f"urls has {len(urls):,} URLs: send at most {most:,} in one request",
            at="$.urls",
            limit=most,
        )
    return [url.strip(WHITE_SPACE) for url in urls]


_EXAMPLE = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "url": "https://example.com/private/a",
    "as": "ExampleBot",
}

VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/check",
        "Check whether robots.txt allows a URL, or many",
        CheckRequest,
        check,
        _EXAMPLE,
        "check",
        inline=16 * 1024,
        command="check",
        media_types=("application/json", NDJSON),
    ),
    Verb(
        "/v1/explain",
        "Explain how the verdict on a URL is reached",
        ExplainRequest,
        explain,
        _EXAMPLE,
        "explain",
        command="explain",
    ),
)
