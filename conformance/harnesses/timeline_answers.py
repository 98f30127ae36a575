"""
The answers of robotrules to timelines; `access_answers.py` calls `answer_timeline`.

The vector sets the clock, and a transport replays its responses (`scripted_transport.py`). The
results of `access()` and `freshness()` driven directly, of `Client`, of `AsyncClient`, of a new
client for every moment over one store, like another process, and of the evidence in that store
are compared, and a difference is an error.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import protocol
from answering import require_equal
from scripted_transport import (
    NAME,
    START,
    USER_AGENT,
    AsyncScriptedTransport,
    Item,
    ScriptedTransport,
    decode_fields,
    find_access_profile,
    format_verdict,
    resolve_url,
)

import robotrules
from robotrules import access, cache
from robotrules.client import AsyncClient, Client
from robotrules.client.evidence import Evidence
from robotrules.client.stores import open_store
from robotrules.extensions import content_usage
from robotrules.http import origins

# Milliseconds to wait for a fetch in the background.
MAX_WAIT = 5_000


def answer_timeline(parsing: robotrules.Profile, file: bytes, item: Item) -> protocol.Answer:
    """Answer the moments and the evidence of a timeline."""
    fetching = find_access_profile(parsing, item)
    given = (ScriptedTransport(file), parsing, fetching, item)
    moments, evidence = _run_client(*given, restart=False)
    require_equal(moments, asyncio.run(_run_async_client(*given, restart=False)))
    if not any(moment.get("restart") for moment in item["moments"]):
        require_equal(moments, _run_without_client(*given))
    if _is_stored(item):
        require_equal((moments, evidence), _run_client(*given, restart=True))
        require_equal(moments, asyncio.run(_run_async_client(*given, restart=True)))
    return {"moments": moments, "evidence": evidence}


def _is_stored(item: Item) -> bool:
    """Return whether the store has everything that another process needs."""
    answers = (answer for moment in item["moments"] for answer in moment.get("answers", ()))
    for answer in answers:
        if answer.get("failure") == "refused-address":
            return False
        if any(b"no-store" in value.lower() for _, value in decode_fields(answer)):
            return False
    return True


def _format_moment(
    script: ScriptedTransport, verdict: robotrules.Verdict, until: float | None
) -> dict[str, Any]:
    requests = script.list_requests()
    return {
        **format_verdict(verdict),
        "requests": len(requests["urls"]),
        **requests,
        "until": None if until is None or until == float("inf") else until - START,
    }


def _run_client(
    script: ScriptedTransport, parsing: Any, fetching: Any, item: Item, *, restart: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run one client; with *restart*, a new one at each moment, over the same store."""
    now, moments, store = [START], [], open_store("memory:")
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    given |= {"transport": script, "stale_while_revalidate": item.get("background", False)}
    client = Client(USER_AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if restart or moment.get("restart"):
            client.close()
            client = Client(USER_AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = resolve_url(moment)
        verdict = client.check(url, moment.get("product_token"))
        held = client.lookup(url)
        # Wait for a fetch in the background: the next moment comes after it. A fetch without a
        # scripted response fails and never ends.
        for _ in range(MAX_WAIT if item.get("background") else 0):
            if held is None or held.until > now[0] or script.unanswered:
                break
            time.sleep(0.001)
            held = client.lookup(url)
        moments.append(_format_moment(script, verdict, held and held.until))
    client.close()
    proof = Evidence(store, parsing, fetching)
    if _is_stored(item) and not item.get("background"):
        # The evidence has to give the verdicts of the client.
        for moment, answer in zip(item["moments"], moments, strict=True):
            if answer["reason"] != robotrules.Reason.NO_ORIGIN:
                verdict_then, _ = _read_evidence(proof, moment)
                fields = ("allowed", "line", "reason")
                require_equal({name: answer[name] for name in fields}, verdict_then)
    past = [_read_evidence(proof, entry) for entry in item.get("evidence", ())]
    store.close()
    return moments, [verdict | {"preferences": preferences} for verdict, preferences in past]


def _read_evidence(proof: Evidence, item: Item) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the verdict and the preferences at a time of the past."""
    url, token = resolve_url(item), item.get("product_token", NAME)
    found = proof.at(url, START + item["at"], token)
    nothing = {"allowed": None, "line": None, "reason": None}
    verdict = nothing if found.verdict is None else format_verdict(found.verdict)
    preferences = content_usage.preferences(url, token, robots=found.robots)
    return verdict, {label: str(preferences.get(label)) for label in content_usage.CATEGORIES}


async def _run_async_client(
    script: ScriptedTransport, parsing: Any, fetching: Any, item: Item, *, restart: bool
) -> list[dict[str, Any]]:
    now, moments, store = [START], [], open_store("memory:")
    given: dict[str, Any] = {"profile": parsing, "access": fetching, "store": store}
    given |= {
        "transport": AsyncScriptedTransport(script),
        "stale_while_revalidate": item.get("background", False),
    }
    client = AsyncClient(USER_AGENT, clock=lambda: now[0], **given)
    for moment in item["moments"]:
        if restart or moment.get("restart"):
            await client.aclose()
            client = AsyncClient(USER_AGENT, clock=lambda: now[0], **given)
        now[0] = START + moment["at"]
        script.expect(moment.get("answers", []))
        url = resolve_url(moment)
        verdict = await client.check(url, moment.get("product_token"))
        held = await client.lookup(url)
        for _ in range(MAX_WAIT if item.get("background") else 0):
            if held is None or held.until > now[0] or script.unanswered:
                break
            await asyncio.sleep(0.001)
            held = await client.lookup(url)
        moments.append(_format_moment(script, verdict, held and held.until))
    await client.aclose()
    store.close()
    return moments


def _run_without_client(
    script: ScriptedTransport, parsing: Any, fetching: access.AccessProfile, item: Item
) -> list[dict[str, Any]]:
    """Drive `access` and `freshness` without a client, with a dictionary as the store."""
    known: dict[str, tuple[cache.Entry | None, bytes]] = {}
    background, moments = item.get("background", False), []
    for moment in item["moments"]:
        now, url = START + moment["at"], resolve_url(moment)
        script.expect(moment.get("answers", []))
        origin = origins.origin_of(url)
        if origin is None:
            no_origin = robotrules.Verdict(False, robotrules.Reason.NO_ORIGIN, None, parsing.name)
            moments.append(_format_moment(script, no_origin, None))
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
            names = {"agent": NAME, "user_agent": USER_AGENT}
            visit = cache.make_fetch_record(result, entry, at=now, **names, profile=fetching)
            entry, body = cache.updated_entry(entry, visit), result.body if visit.usable else body
            known[origin] = entry, body
        after = cache.freshness(entry, now, fetching, stale_while_revalidate=background)
        entry, body, fresh = before if before[2].may_refresh else (entry, body, after)
        verdict = _decide(parsing, entry, body, fresh, url, moment.get("product_token", NAME))
        moments.append(_format_moment(script, verdict, after.until))
    return moments


def _decide(
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
