"""
The answers of robotrules to questions about time; `access_answers.py` calls `timeline`.

The clock stands where a vector puts it, and a transport reads answers from it (`scripted.py`).
There are several doors to one answer: `access()` and `freshness()` driven by hand, `Client`,
`AsyncClient`, a new client for every question over one store, as another process would be, and what
the evidence in that store says afterwards. All are tried, and where they differ there is no answer
to give. It knows nothing of what is expected.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import protocol
from scripted import (
    AGENT,
    NAME,
    START,
    AsyncScript,
    Item,
    Script,
    fetching_of,
    pairs_of,
    same,
    url_of,
    verdict_of,
)

import robotrules
from robotrules import access, cache
from robotrules.client import AsyncClient, Client
from robotrules.client.evidence import Evidence
from robotrules.client.stores import open_store
from robotrules.extensions import content_usage
from robotrules.http import origins

# How many milliseconds a fetch in the background may take.
PATIENCE = 5_000


def timeline(parsing: robotrules.Profile, file: bytes, item: Item) -> protocol.Answer:
    fetching = fetching_of(parsing, item)
    given = (Script(file), parsing, fetching, item)
    told, evidence = _over_time(*given, anew=False)
    same(told, asyncio.run(_over_time_async(*given, anew=False)))
    if not any(moment.get("restart") for moment in item["moments"]):
        same(told, _over_time_by_hand(*given))
    if _is_stored(item):
        same((told, evidence), _over_time(*given, anew=True))
        same(told, asyncio.run(_over_time_async(*given, anew=True)))
    return {"moments": told, "evidence": evidence}


def _is_stored(item: Item) -> bool:
    """Tell whether another process over the same store knows all that this one does."""
    for answer in (one for moment in item["moments"] for one in moment.get("answers", ())):
        if answer.get("failure") == "refused-address":
            return False
        if any(b"no-store" in value.lower() for _, value in pairs_of(answer)):
            return False
    return True


def _told(script: Script, verdict: robotrules.Verdict, until: float | None) -> dict[str, Any]:
    told = script.told()
    return {
        **verdict_of(verdict),
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
    given |= {"transport": script, "stale_while_revalidate": item.get("background", False)}
    client = Client(AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if anew or moment.get("restart"):
            client.close()
            client = Client(AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = url_of(moment)
        verdict = client.check(url, moment.get("product_token"))
        held = client.lookup(url)
        # What is fetched in the background is waited for: the next moment comes after it. One that
        # no answer is left for broke, and never comes.
        for _ in range(PATIENCE if item.get("background") else 0):
            if held is None or held.until > now[0] or script.unanswered:
                break
            time.sleep(0.001)
            held = client.lookup(url)
        told.append(_told(script, verdict, held and held.until))
    client.close()
    proof = Evidence(store, parsing, fetching)
    if _is_stored(item) and not item.get("background"):
        # What was said is what the evidence says was so.
        for moment, said in zip(item["moments"], told, strict=True):
            if said["reason"] != robotrules.Reason.NO_ORIGIN:
                testimony = _testimony(proof, moment)
                same({name: said[name] for name in ("allowed", "line", "reason")}, testimony[0])
    asked = [_testimony(proof, one) for one in item.get("evidence", ())]
    store.close()
    return told, [verdict | {"preferences": preferences} for verdict, preferences in asked]


def _testimony(proof: Evidence, item: Item) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the rules said at a moment, and which preferences they had."""
    url, token = url_of(item), item.get("product_token", NAME)
    found = proof.at(url, START + item["at"], token)
    nothing = {"allowed": None, "line": None, "reason": None}
    verdict = nothing if found.verdict is None else verdict_of(found.verdict)
    wishes = content_usage.preferences(url, token, robots=found.robots)
    return verdict, {label: str(wishes.get(label)) for label in content_usage.CATEGORIES}


async def _over_time_async(
    script: Script, parsing: Any, fetching: Any, item: Item, *, anew: bool
) -> list[dict[str, Any]]:
    now, told, store = [START], [], open_store("memory:")
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    given |= {
        "transport": AsyncScript(script),
        "stale_while_revalidate": item.get("background", False),
    }
    client = AsyncClient(AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if anew or moment.get("restart"):
            await client.aclose()
            client = AsyncClient(AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = url_of(moment)
        verdict = await client.check(url, moment.get("product_token"))
        held = await client.lookup(url)
        for _ in range(PATIENCE if item.get("background") else 0):
            if held is None or held.until > now[0] or script.unanswered:
                break
            await asyncio.sleep(0.001)
            held = await client.lookup(url)
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
        now, url = START + moment["at"], url_of(moment)
        script.expect(moment.get("answers", []))
        origin = origins.origin_of(url)
        if origin is None:
            nowhere = robotrules.Verdict(False, robotrules.Reason.NO_ORIGIN, None, parsing.name)
            told.append(_told(script, nowhere, None))
            continue
        entry, body = known.get(origin, (None, b""))
        fresh = cache.freshness(entry, now, fetching, stale_while_revalidate=background)
        before = entry, body, fresh
        if fresh.must_refresh or fresh.may_refresh:
            stored = cache.make_cached_copy(entry, body)
            limit = parsing.max_bytes + access.values.SLACK
            flow = access.access(origin, profile=fetching, cached=stored, limit=limit)
            answer: Any = None
            try:
                while True:
                    answer = script.send(flow.send(answer))
            except StopIteration as end:
                result = end.value
            names = {"agent": NAME, "user_agent": AGENT}
            visit = cache.make_fetch_record(result, entry, at=now, **names, profile=fetching)
            entry, body = cache.updated_entry(entry, visit), result.body if visit.usable else body
            known[origin] = entry, body
        after = cache.freshness(entry, now, fetching, stale_while_revalidate=background)
        entry, body, fresh = before if before[2].may_refresh else (entry, body, after)
        verdict = _decided(parsing, entry, body, fresh, url, moment.get("product_token", NAME))
        told.append(_told(script, verdict, after.until))
    return told


def _decided(
    parsing: Any, entry: Any, body: bytes, fresh: cache.Freshness, url: str, token: Any
) -> robotrules.Verdict:
    if fresh.policy is cache.EffectivePolicy.RULES:
        return robotrules.parse(body, parsing, complete=entry.last_success.complete).check(
            url, token
        )
    allowed = fresh.policy is cache.EffectivePolicy.ALLOW
    file = b"" if allowed else access.values.DISALLOW_ALL
    verdict = robotrules.parse(file, parsing).check(url, token)
    if verdict.reason is robotrules.Reason.IMPLICIT:
        return verdict
    reason = robotrules.Reason.UNREACHABLE
    if allowed:
        reason = robotrules.Reason.UNAVAILABLE
    elif fresh.reason == "fresh":
        reason = robotrules.Reason.RESTRICTED
    return robotrules.Verdict(allowed, reason, None, parsing.name)
