"""
The answers of robotrules about access; `robotrules_harness.py` calls `answer_parts`.

There is no network: a transport replays the responses of a vector (`scripted_transport.py`). The
results of `access()` driven directly, of `Client` and of `AsyncClient` are compared, and a
difference is an error.
"""

from __future__ import annotations

import asyncio
from typing import Any

import protocol
import timeline_answers
from answering import answer_item, require_equal
from scripted_transport import (
    NAME,
    START,
    USER_AGENT,
    AsyncScriptedTransport,
    Item,
    ScriptedTransport,
    decode_body,
    decode_fields,
    find_access_profile,
    format_verdict,
)

import robotrules
from robotrules import access, cache
from robotrules.access import AccessState
from robotrules.client import AsyncClient, Client
from robotrules.client.stores import open_store
from robotrules.http import origins
from robotrules.tags import read_fields

# The age of a stored copy: longer than any lifetime.
COPY_AGE = 2 * 86_400.0


def answer_parts(question: protocol.Question, parsing: robotrules.Profile) -> protocol.Answer:
    """Answer every part of *question* about access and cache."""
    return {
        part: [
            answer_item(answer, parsing, protocol.decode_body(question), item)
            for item in question[part]
        ]
        for part, answer in PARTS.items()
        if part in question
    }


# --- Origins --------------------------------------------------------------------------------------


def _origins(_: Any, __: bytes, item: Item) -> protocol.Answer:
    found = origins.origin_of(item["url"])
    require_equal(found, origins.origin_of(item["url"].encode()))
    if found is None:
        return {"origin": None, "robots_url": None}
    return {"origin": found, "robots_url": origins.robots_url(found)}


def _access_refused(_: Any, __: bytes, item: Item) -> protocol.Answer:
    try:
        access.ACCESS_PROFILES["default"].replace(**item["access_options"])
    except robotrules.RobotrulesError:
        return {"refused": True}
    return {"refused": False}


# --- Access ---------------------------------------------------------------------------------------


def _access(parsing: robotrules.Profile, file: bytes, item: Item) -> protocol.Answer:
    fetching = find_access_profile(parsing, item)
    origin = origins.origin_of(item.get("origin", protocol.ORIGIN)) or ""
    copy = _make_copy(origin, file, item)
    checks = item.get("checks", ())
    script = ScriptedTransport(file)
    result = _drive_access(script, origin, parsing, fetching, copy, item["answers"])
    given = {
        "state": str(result.state),
        "status": result.status,
        "trouble": str(result.failure_reason) if result.failure_reason else None,
        "renewed": result.revalidated,
        **_requests(script),
    }
    robots = result.robots(parsing)
    direct = [robots.check(*_resolve_check(origin, check)) for check in checks]
    by_clients = [
        _run_client(script, origin, parsing, fetching, copy, item),
        asyncio.run(_run_async_client(script, origin, parsing, fetching, copy, item)),
    ]
    require_equal(by_clients[0], *by_clients[1:])
    attempt, verdicts = by_clients[0]
    require_equal(given, attempt)
    # Without a file `result.robots()` is a substitute with the same verdicts and other reasons.
    require_equal(
        [verdict.allowed for verdict in direct], [verdict["allowed"] for verdict in verdicts]
    )
    if result.state is AccessState.SUCCESS:
        require_equal([format_verdict(verdict) for verdict in direct], verdicts)
    return {**given, "checks": verdicts}


def _requests(script: ScriptedTransport) -> dict[str, Any]:
    requests = script.list_requests()
    return {"requests": requests["urls"], "conditions": requests["conditions"]}


def _resolve_check(origin: str, check: Item) -> tuple[str, Any]:
    url = check["url"]
    return (origin + url if url.startswith("/") else url), check.get("product_token", NAME)


def _make_copy(origin: str, file: bytes, item: Item) -> access.CachedCopy | None:
    if "copy" not in item:
        return None
    copy = item["copy"]
    url = copy.get("url", origins.robots_url(origin))
    fields = read_fields(decode_fields(copy))
    return access.CachedCopy(url, decode_body(copy, file), fields, received=START - COPY_AGE)


def _drive_access(
    script: ScriptedTransport,
    origin: str,
    parsing: robotrules.Profile,
    fetching: access.AccessProfile,
    copy: access.CachedCopy | None,
    answers: list[Item],
) -> access.AccessResult:
    """Drive the flow of `access()` without a client."""
    script.expect(answers)
    limit = parsing.max_bytes + access.values.SLACK
    flow = access.access(origin, profile=fetching, cached=copy, limit=limit)
    answer: Any = None
    while True:
        try:
            answer = script.send(flow.send(answer))
        except StopIteration as end:
            result: access.AccessResult = end.value
            return result


def _make_store(
    origin: str, parsing: robotrules.Profile, fetching: Any, copy: access.CachedCopy | None
) -> Any:
    """Return a store, with an old copy if there is one."""
    store = open_store("memory:")
    if copy is not None:
        result = access.AccessResult(
            *(origin, AccessState.SUCCESS, 200, None, "", copy.url, (), copy.fields, copy.body),
            *(copy.complete, False, None),
        )
        given: dict[str, Any] = {"agent": NAME, "user_agent": USER_AGENT, "profile": fetching}
        visit = cache.make_fetch_record(result, None, at=START - COPY_AGE, **given)
        store.put(visit, copy.body, cache.updated_entry(None, visit))
    return store


def _read_attempt(held: Any, script: ScriptedTransport) -> dict[str, Any]:
    """Return the attempt that a client recorded."""
    last = held.entry.last_failure or held.entry.last_success
    return {
        "state": str(last.state),
        "status": last.status,
        "trouble": str(last.failure_reason) if last.failure_reason else None,
        "renewed": last.revalidated,
        **_requests(script),
    }


def _run_client(
    script: ScriptedTransport, origin: str, parsing: Any, fetching: Any, copy: Any, item: Item
) -> Any:
    script.expect(item["answers"])
    store = _make_store(origin, parsing, fetching, copy)
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    with Client(USER_AGENT, transport=script, clock=lambda: START, **given) as client:
        attempt = _read_attempt(client.lookup(origin), script)
        checks = [_resolve_check(origin, check) for check in item.get("checks", ())]
        verdicts = [format_verdict(client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            require_equal(verdict, format_verdict(client.explain(*check).verdict))
            require_equal(verdict, *map(format_verdict, client.check_many([check[0]], check[1])))
        require_equal(len(attempt["requests"]), len(script.requests))
    store.close()
    return attempt, verdicts


async def _run_async_client(
    script: ScriptedTransport, origin: str, parsing: Any, fetching: Any, copy: Any, item: Item
) -> Any:
    script.expect(item["answers"])
    store = _make_store(origin, parsing, fetching, copy)
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    transport = AsyncScriptedTransport(script)
    async with AsyncClient(USER_AGENT, transport=transport, clock=lambda: START, **given) as client:
        attempt = _read_attempt(await client.lookup(origin), script)
        checks = [_resolve_check(origin, check) for check in item.get("checks", ())]
        verdicts = [format_verdict(await client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            require_equal(verdict, format_verdict((await client.explain(*check)).verdict))
            require_equal(
                verdict, *map(format_verdict, await client.check_many([check[0]], check[1]))
            )
        require_equal(len(attempt["requests"]), len(script.requests))
    store.close()
    return attempt, verdicts


PARTS = {
    "origins": _origins,
    "access": _access,
    "timelines": timeline_answers.answer_timeline,
    "access_refused": _access_refused,
}
