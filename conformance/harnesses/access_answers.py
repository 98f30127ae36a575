"""
The answers of robotrules to questions about access and cache; `robotrules_harness.py` calls them.

No server is asked: a transport reads answers from a vector, and the clock stands where a vector
puts it. There are several doors to one answer: `access()` and `freshness()` driven by hand,
`Client`, `AsyncClient`, a new client for every question over one store, as another process would
be, and what the evidence in that store says afterwards. All are tried, and where they differ there
is no answer to give. It knows nothing of what is expected.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping
from typing import Any

import protocol

import robotrules
from robotrules import access, cache, origins
from robotrules.access import Failure, Request, Response, State, Trouble
from robotrules.client import AsyncClient, Client
from robotrules.client.evidence import Evidence
from robotrules.client.stores import open_store
from robotrules.extensions import content_usage
from robotrules.tags import read_fields

Item = Mapping[str, Any]
# 2026-01-01T00:00:00Z: second 0 of a vector.
START = 1_767_225_600.0
AGENT, NAME = "ExampleBot/1.0 (+https://bot.example/)", "ExampleBot"
# How long before a question its stored copy came: longer than any lifetime.
LONG_AGO = 2 * 86_400.0
# How many milliseconds a fetch in the background may take.
PATIENCE = 5_000


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


def _same(one: Any, *others: Any) -> None:
    """Hold the library to its word: several doors, one answer."""
    for other in others:
        if other != one:
            raise AssertionError(f"the doors differ: {one!r} and {other!r}")


# --- What is asked --------------------------------------------------------------------------------


def _fetching(parsing: robotrules.Profile, item: Item) -> access.AccessProfile:
    chosen = access.find_access_profile(item.get("access_profile", parsing.name))
    return chosen.replace(**item.get("access_options", {}))


def _octets(item: Item, file: bytes) -> bytes:
    """Return a body; where a vector states none it is the file."""
    return base64.b64decode(item["body"]) if "body" in item else file


def _pairs(item: Item) -> list[tuple[str, bytes]]:
    return [(name, base64.b64decode(value)) for name, value in item.get("headers", ())]


def _url(item: Item) -> str:
    return protocol.absolute(item["url"])


class Script:
    """Answers requests as a vector says, in its order; cut where the request wants no more."""

    def __init__(self, file: bytes) -> None:
        self.file = file
        self.left: list[Item] = []
        self.seen: list[Request] = []

    def expect(self, answers: list[Item]) -> None:
        """Forget what was, and be ready for what comes."""
        self.left, self.seen = list(answers), []

    def send(self, request: Request) -> Response | Failure:
        """Answer the next request; one that no answer is left for is a mistake."""
        self.seen.append(request)
        if not self.left:
            raise AssertionError(f"{request.url} was asked for, and no answer is left")
        answer = self.left.pop(0)
        if "failure" in answer:
            return Failure(Trouble(answer["failure"]), "as scripted")
        status, body = answer["status"], _octets(answer, self.file)
        if "body" not in answer and not 200 <= status < 300:
            body = b""
        cut = body[: request.limit]
        return Response(status, _pairs(answer), cut, len(cut) == len(body), "192.0.2.1")

    def close(self) -> None:
        """Nothing is open."""

    def told(self) -> dict[str, Any]:
        """Return what was asked for."""
        return {
            "urls": [request.url for request in self.seen],
            "conditions": [dict(request.headers) for request in self.seen],
        }


class AsyncScript:
    """The same on an event loop."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def send(self, request: Request) -> Response | Failure:
        """Answer the next request."""
        return self.script.send(request)

    async def aclose(self) -> None:
        """Nothing is open."""


def _verdict(verdict: robotrules.Verdict) -> dict[str, Any]:
    return {
        "allowed": verdict.allowed,
        "line": verdict.line,
        "reason": str(verdict.reason),
    }


# --- Origins --------------------------------------------------------------------------------------


def _origins(_: Any, __: bytes, item: Item) -> protocol.Answer:
    found = origins.origin_of(item["url"])
    _same(found, origins.origin_of(item["url"].encode()))
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
    fetching = _fetching(parsing, item)
    origin = origins.origin_of(item.get("origin", protocol.ORIGIN)) or ""
    copy = _copy(origin, file, item)
    checks = item.get("checks", ())
    script = Script(file)
    result = _driven(script, origin, parsing, fetching, copy, item["answers"])
    given = {
        "state": str(result.state),
        "status": result.status,
        "trouble": str(result.trouble) if result.trouble else None,
        "renewed": result.renewed,
        **_requests(script),
    }
    robots = result.robots(parsing)
    said = [robots.check(*_asked(origin, check)) for check in checks]
    through = [
        _through_client(script, origin, parsing, fetching, copy, item),
        asyncio.run(_through_async_client(script, origin, parsing, fetching, copy, item)),
    ]
    _same(through[0], *through[1:])
    told, verdicts = through[0]
    _same(given, told)
    # Without a file `result.robots()` is one that says the same, so only the reasons differ.
    _same([one.allowed for one in said], [one["allowed"] for one in verdicts])
    if result.state is State.SUCCESS:
        _same([_verdict(one) for one in said], verdicts)
    return {**given, "checks": verdicts}


def _requests(script: Script) -> dict[str, Any]:
    told = script.told()
    return {"requests": told["urls"], "conditions": told["conditions"]}


def _asked(origin: str, check: Item) -> tuple[str, Any]:
    url = check["url"]
    return (origin + url if url.startswith("/") else url), check.get("product_token", NAME)


def _copy(origin: str, file: bytes, item: Item) -> access.Stored | None:
    if "copy" not in item:
        return None
    copy = item["copy"]
    url = copy.get("url", origins.robots_url(origin))
    return access.Stored(url, _octets(copy, file), read_fields(_pairs(copy)))


def _driven(
    script: Script,
    origin: str,
    parsing: robotrules.Profile,
    fetching: access.AccessProfile,
    copy: access.Stored | None,
    answers: list[Item],
) -> access.AccessResult:
    """Drive the flow by hand, as anyone with an HTTP library can."""
    script.expect(answers)
    limit = parsing.max_bytes + access.values.SLACK
    flow = access.access(origin, profile=fetching, stored=copy, limit=limit)
    answer: Any = None
    while True:
        try:
            answer = script.send(flow.send(answer))
        except StopIteration as end:
            result: access.AccessResult = end.value
            return result


def _stored(
    origin: str, parsing: robotrules.Profile, fetching: Any, copy: access.Stored | None
) -> Any:
    """Return a store, with a copy that came long ago if there is one."""
    store = open_store("memory:")
    if copy is not None:
        result = access.AccessResult(
            *(origin, State.SUCCESS, 200, None, "", copy.url, (), copy.fields, copy.body),
            *(copy.complete, False, None),
        )
        given: dict[str, Any] = {"agent": NAME, "user_agent": AGENT, "profile": fetching}
        visit = cache.visit_of(result, None, at=START - LONG_AGO, **given)
        store.put(visit, copy.body, cache.recorded(None, visit))
    return store


def _seen(held: Any, script: Script) -> dict[str, Any]:
    """Return what a client made of the answers to one attempt."""
    last = held.entry.bad or held.entry.good
    return {
        "state": str(last.state),
        "status": last.status,
        "trouble": str(last.trouble) if last.trouble else None,
        "renewed": last.renewed,
        **_requests(script),
    }


def _through_client(
    script: Script, origin: str, parsing: Any, fetching: Any, copy: Any, item: Item
) -> Any:
    script.expect(item["answers"])
    store = _stored(origin, parsing, fetching, copy)
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    with Client(AGENT, transport=script, clock=lambda: START, **given) as client:
        seen = _seen(client.held(origin), script)
        checks = [_asked(origin, check) for check in item.get("checks", ())]
        verdicts = [_verdict(client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            _same(verdict, _verdict(client.explain(*check).verdict))
            _same(verdict, *map(_verdict, client.check_many([check[0]], check[1])))
        _same(len(seen["requests"]), len(script.seen))
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
        seen = _seen(await client.held(origin), script)
        checks = [_asked(origin, check) for check in item.get("checks", ())]
        verdicts = [_verdict(await client.check(*check)) for check in checks]
        for check, verdict in zip(checks, verdicts, strict=True):
            _same(verdict, _verdict((await client.explain(*check)).verdict))
            _same(verdict, *map(_verdict, await client.check_many([check[0]], check[1])))
        _same(len(seen["requests"]), len(script.seen))
    store.close()
    return seen, verdicts


# --- Timelines ------------------------------------------------------------------------------------


def _timeline(parsing: robotrules.Profile, file: bytes, item: Item) -> protocol.Answer:
    fetching = _fetching(parsing, item)
    given = (Script(file), parsing, fetching, item)
    told, evidence = _over_time(*given, anew=False)
    _same(told, asyncio.run(_over_time_async(*given, anew=False)))
    if not any(moment.get("restart") for moment in item["moments"]):
        _same(told, _over_time_by_hand(*given))
    if _is_stored(item):
        _same((told, evidence), _over_time(*given, anew=True))
        _same(told, asyncio.run(_over_time_async(*given, anew=True)))
    return {"moments": told, "evidence": evidence}


def _is_stored(item: Item) -> bool:
    """Tell whether another process over the same store knows all that this one does."""
    for answer in (one for moment in item["moments"] for one in moment.get("answers", ())):
        if answer.get("failure") == "refused-address":
            return False
        if any(b"no-store" in value.lower() for _, value in _pairs(answer)):
            return False
    return True


def _told(script: Script, verdict: robotrules.Verdict, until: float | None) -> dict[str, Any]:
    told = script.told()
    return {
        **_verdict(verdict),
        "requests": len(told["urls"]),
        **told,
        "until": None if until is None or until == float("inf") else until - START,
    }


def _over_time(
    script: Script, parsing: Any, fetching: Any, item: Item, *, anew: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask one client moment by moment; *anew*: a new one each time, over the same store."""
    now, told, store = [START], [], open_store("memory:")
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    given |= {"transport": script, "background": item.get("background", False)}
    client = Client(AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if anew or moment.get("restart"):
            client.close()
            client = Client(AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = _url(moment)
        verdict = client.check(url, moment.get("product_token"))
        held = client.held(url)
        # What is fetched in the background is waited for: the next moment comes after it.
        for _ in range(PATIENCE if item.get("background") else 0):
            if held is None or held.until > now[0]:
                break
            time.sleep(0.001)
            held = client.held(url)
        told.append(_told(script, verdict, held and held.until))
    client.close()
    proof = Evidence(store, parsing, fetching)
    if _is_stored(item) and not item.get("background"):
        # What was said is what the evidence says was so.
        for moment, said in zip(item["moments"], told, strict=True):
            if said["reason"] != robotrules.Reason.NO_ORIGIN:
                testimony = _testimony(proof, moment)
                _same({name: said[name] for name in ("allowed", "line", "reason")}, testimony[0])
    asked = [_testimony(proof, one) for one in item.get("evidence", ())]
    store.close()
    return told, [verdict | {"preferences": preferences} for verdict, preferences in asked]


def _testimony(proof: Evidence, item: Item) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the rules said at a moment, and which preferences they had."""
    url, token = _url(item), item.get("product_token", NAME)
    found = proof.at(url, START + item["at"], token)
    nothing = {"allowed": None, "line": None, "reason": None}
    verdict = nothing if found.verdict is None else _verdict(found.verdict)
    wishes = content_usage.preferences(url, token, robots=found.robots)
    return verdict, {label: str(wishes.get(label)) for label in content_usage.CATEGORIES}


async def _over_time_async(
    script: Script, parsing: Any, fetching: Any, item: Item, *, anew: bool
) -> list[dict[str, Any]]:
    now, told, store = [START], [], open_store("memory:")
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    given |= {"transport": AsyncScript(script), "background": item.get("background", False)}
    client = AsyncClient(AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if anew or moment.get("restart"):
            await client.aclose()
            client = AsyncClient(AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = _url(moment)
        verdict = await client.check(url, moment.get("product_token"))
        held = await client.held(url)
        for _ in range(PATIENCE if item.get("background") else 0):
            if held is None or held.until > now[0]:
                break
            await asyncio.sleep(0.001)
            held = await client.held(url)
        told.append(_told(script, verdict, held and held.until))
    await client.aclose()
    store.close()
    return told


def _over_time_by_hand(
    script: Script, parsing: Any, fetching: access.AccessProfile, item: Item
) -> list[dict[str, Any]]:
    """Drive `access` and `freshness` without a client: a dictionary is the store."""
    known: dict[str, tuple[cache.Entry | None, bytes]] = {}
    background, told = item.get("background", False), []
    for moment in item["moments"]:
        now, url = START + moment["at"], _url(moment)
        script.expect(moment.get("answers", []))
        origin = origins.origin_of(url)
        if origin is None:
            nowhere = robotrules.Verdict(False, robotrules.Reason.NO_ORIGIN, None, parsing.name)
            told.append(_told(script, nowhere, None))
            continue
        entry, body = known.get(origin, (None, b""))
        fresh = cache.freshness(entry, now, fetching, background=background)
        before = entry, body, fresh
        if fresh.due or fresh.refresh:
            stored = cache.stored_of(entry, body)
            limit = parsing.max_bytes + access.values.SLACK
            flow = access.access(origin, profile=fetching, stored=stored, limit=limit)
            answer: Any = None
            try:
                while True:
                    answer = script.send(flow.send(answer))
            except StopIteration as end:
                result = end.value
            names = {"agent": NAME, "user_agent": AGENT}
            visit = cache.visit_of(result, entry, at=now, **names, profile=fetching)
            entry, body = cache.recorded(entry, visit), result.body if visit.usable else body
            known[origin] = entry, body
        after = cache.freshness(entry, now, fetching, background=background)
        entry, body, fresh = before if before[2].refresh else (entry, body, after)
        verdict = _decided(parsing, entry, body, fresh, url, moment.get("product_token", NAME))
        told.append(_told(script, verdict, after.until))
    return told


def _decided(
    parsing: Any, entry: Any, body: bytes, fresh: cache.Freshness, url: str, token: Any
) -> robotrules.Verdict:
    if fresh.decides is cache.Decides.RULES:
        return robotrules.parse(body, parsing, complete=entry.good.complete).check(url, token)
    allowed = fresh.decides is cache.Decides.ALLOW
    file = b"" if allowed else access.values.DISALLOW_ALL
    verdict = robotrules.parse(file, parsing).check(url, token)
    if verdict.reason is robotrules.Reason.IMPLICIT:
        return verdict
    reason = robotrules.Reason.UNREACHABLE
    if allowed:
        reason = robotrules.Reason.UNAVAILABLE
    elif fresh.because == "fresh":
        reason = robotrules.Reason.RESTRICTED
    return robotrules.Verdict(allowed, reason, None, parsing.name)


PARTS = {
    "origins": _origins,
    "access": _access,
    "timelines": _timeline,
    "access_refused": _access_refused,
}
