"""
The answers of robotrules to questions about access; `robotrules_harness.py` calls them.

No server is asked: a transport reads answers from a vector (`scripted.py`). There are several doors
to one answer: `access()` driven by hand, `Client` and `AsyncClient`. All are tried, and where they
differ there is no answer to give. It knows nothing of what is expected.
"""

from __future__ import annotations

import asyncio
from typing import Any

import protocol
import timeline_answers
from scripted import (
    AGENT,
    NAME,
    START,
    AsyncScript,
    Item,
    Script,
    fetching_of,
    octets_of,
    pairs_of,
    same,
    verdict_of,
)

import robotrules
from robotrules import access, cache
from robotrules.access import AccessState
from robotrules.client import AsyncClient, Client
from robotrules.client.stores import open_store
from robotrules.http import origins
from robotrules.tags import read_fields

# How long before a question its stored copy came: longer than any lifetime.
LONG_AGO = 2 * 86_400.0


def answers(question: protocol.Question, parsing: robotrules.Profile) -> protocol.Answer:
    """Answer every part of *question* about access and cache that is asked."""
    return {
        part: [_one(answer, parsing, protocol.body_of(question), item) for item in question[part]]
        for part, answer in PARTS.items()
        if part in question
    }


def _one(answer: Any, parsing: robotrules.Profile, file: bytes, item: Item) -> Any:
    """Answer one item, so that one that breaks does not take the others with it."""
    try:
        return answer(parsing, file, item)
    except Exception as error:  # as in `protocol.run`
        return {"errored": f"{type(error).__name__}: {error}"}


# --- Origins --------------------------------------------------------------------------------------


def _origins(_: Any, __: bytes, item: Item) -> protocol.Answer:
    found = origins.origin_of(item["url"])
    same(found, origins.origin_of(item["url"].encode()))
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
    fetching = fetching_of(parsing, item)
    origin = origins.origin_of(item.get("origin", protocol.ORIGIN)) or ""
    copy = _copy(origin, file, item)
    checks = item.get("checks", ())
    script = Script(file)
    result = _driven(script, origin, parsing, fetching, copy, item["answers"])
    given = {
        "state": str(result.state),
        "status": result.status,
        "trouble": str(result.failure_reason) if result.failure_reason else None,
        "renewed": result.revalidated,
        **_requests(script),
    }
    robots = result.robots(parsing)
    said = [robots.check(*_asked(origin, check)) for check in checks]
    through = [
        _through_client(script, origin, parsing, fetching, copy, item),
        asyncio.run(_through_async_client(script, origin, parsing, fetching, copy, item)),
    ]
    same(through[0], *through[1:])
    told, verdicts = through[0]
    same(given, told)
    # Without a file `result.robots()` is one that says the same, so only the reasons differ.
    same([one.allowed for one in said], [one["allowed"] for one in verdicts])
    if result.state is AccessState.SUCCESS:
        same([verdict_of(one) for one in said], verdicts)
    return {**given, "checks": verdicts}


def _requests(script: Script) -> dict[str, Any]:
    told = script.told()
    return {"requests": told["urls"], "conditions": told["conditions"]}


def _asked(origin: str, check: Item) -> tuple[str, Any]:
    url = check["url"]
    return (origin + url if url.startswith("/") else url), check.get("product_token", NAME)


def _copy(origin: str, file: bytes, item: Item) -> access.CachedCopy | None:
    if "copy" not in item:
        return None
    copy = item["copy"]
    url = copy.get("url", origins.robots_url(origin))
    fields = read_fields(pairs_of(copy))
    return access.CachedCopy(url, octets_of(copy, file), fields, received=START - LONG_AGO)


def _driven(
    script: Script,
    origin: str,
    parsing: robotrules.Profile,
    fetching: access.AccessProfile,
    copy: access.CachedCopy | None,
    answers: list[Item],
) -> access.AccessResult:
    """Drive the flow by hand, as anyone with an HTTP library can."""
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


def _stored(
    origin: str, parsing: robotrules.Profile, fetching: Any, copy: access.CachedCopy | None
) -> Any:
    """Return a store, with a copy that came long ago if there is one."""
    store = open_store("memory:")
    if copy is not None:
        result = access.AccessResult(
            *(origin, AccessState.SUCCESS, 200, None, "", copy.url, (), copy.fields, copy.body),
            *(copy.complete, False, None),
        )
        given: dict[str, Any] = {"agent": NAME, "user_agent": AGENT, "profile": fetching}
        visit = cache.make_fetch_record(result, None, at=START - LONG_AGO, **given)
        store.put(visit, copy.body, cache.updated_entry(None, visit))
    return store


def _seen(held: Any, script: Script) -> dict[str, Any]:
    """Return what a client made of the answers to one attempt."""
    last = held.entry.last_failure or held.entry.last_success
    return {
        "state": str(last.state),
        "status": last.status,
        "trouble": str(last.failure_reason) if last.failure_reason else None,
        "renewed": last.revalidated,
        **_requests(script),
    }


def _through_client(
    script: Script, origin: str, parsing: Any, fetching: Any, copy: Any, item: Item
) -> Any:
    script.expect(item["answers"])
    store = _stored(origin, parsing, fetching, copy)
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    with Client(AGENT, transport=script, clock=lambda: START, **given) as client:
        seen = _seen(client.lookup(origin), script)
        checks = [_asked(origin, check) for check in item.get("checks", ())]
        verdicts = [verdict_of(client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            same(verdict, verdict_of(client.explain(*check).verdict))
            same(verdict, *map(verdict_of, client.check_many([check[0]], check[1])))
        same(len(seen["requests"]), len(script.seen))
    store.close()
    return seen, verdicts


async def _through_async_client(
    script: Script, origin: str, parsing: Any, fetching: Any, copy: Any, item: Item
) -> Any:
    script.expect(item["answers"])
    store = _stored(origin, parsing, fetching, copy)
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    transport = AsyncScript(script)
    async with AsyncClient(AGENT, transport=transport, clock=lambda: START, **given) as client:
        seen = _seen(await client.lookup(origin), script)
        checks = [_asked(origin, check) for check in item.get("checks", ())]
        verdicts = [verdict_of(await client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            same(verdict, verdict_of((await client.explain(*check)).verdict))
            same(verdict, *map(verdict_of, await client.check_many([check[0]], check[1])))
        same(len(seen["requests"]), len(script.seen))
    store.close()
    return seen, verdicts


PARTS = {
    "origins": _origins,
    "access": _access,
    "timelines": timeline_answers.timeline,
    "access_refused": _access_refused,
}
