"""
The answers of robotrules to questions about tags; `robotrules_harness.py` calls `answers`.

Each part has one function: an item in, an answer out. Where the library has several doors to one
answer (field lines as pairs or as raw octets, a page at once or in chunks), all are tried, and
where they differ there is no answer to give. It knows the public functions of robotrules and
nothing of what is expected.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import protocol

import robotrules
from robotrules import registries, tags, write
from robotrules.extensions import content_usage
from robotrules.http import structured_fields
from robotrules.tags import html, known_rules, tdm

Item = Mapping[str, Any]
# A longer page is read through one door only: the others cost as much again.
LONGEST = 64 * 1024


def answers(question: protocol.Question, robots: robotrules.RobotsTxt) -> protocol.Answer:
    """Answer every part of *question* about tags that is asked."""
    more = registries.parse_json(json.dumps(question.get("registries", {})))
    return {
        part: [_one(answer, robots, more, item) for item in question[part]]
        for part, answer in PARTS.items()
        if part in question
    }


def _one(answer: Any, robots: Any, more: registries.Registries, item: Item) -> Any:
    """Answer one item, so that one that breaks does not take the others with it."""
    try:
        return answer(robots, more, item)
    except Exception as error:  # as in `protocol.run`
        return {"errored": f"{type(error).__name__}: {error}"}


def _same(one: Any, *others: Any) -> None:
    """Hold the library to its word: several doors, one answer."""
    for other in others:
        if other != one:
            raise AssertionError(f"the doors differ: {one!r} and {other!r}")


# --- What is asked --------------------------------------------------------------------------------


def _octets(text: str) -> bytes:
    return base64.b64decode(text)


def _pairs(lines: Any) -> list[tuple[str, bytes]]:
    return [(name, _octets(value)) for name, value in lines]


def _headers(item: Item) -> Any:
    """Return the fields of an item: pairs, a mapping as people make one, or None."""
    if "headers_joined" in item:
        return {name: _octets(value) for name, value in item["headers_joined"].items()}
    return _pairs(item["headers"]) if "headers" in item else None


def _raw(pairs: list[tuple[str, bytes]]) -> bytes:
    lines = b"".join(b"%s: %s\r\n" % (name.encode(), value) for name, value in pairs)
    return b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n"


def _profile(item: Item) -> tags.TagProfile:
    chosen = tags.TAG_PROFILES[item.get("tag_profile", "default")]
    options = item.get("tag_options", {})
    return chosen.replace(**{name: _frozen(value) for name, value in options.items()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


# --- The parts ------------------------------------------------------------------------------------


def _usage(_: Any, more: registries.Registries, item: Item) -> protocol.Answer:
    headers = _headers(item)
    page = _octets(item["html"]) if "html" in item else None
    given: dict[str, Any] = {
        "dom": item.get("dom"),
        "product_token": item.get("product_token", "*"),
        "url": item.get("url"),
        "profile": _profile(item),
        "received": _moment(item.get("received")),
        "registries": more,
    }
    found = tags.usage_rules(headers=headers, html=page, **given)
    if isinstance(headers, list):
        raw = _raw(headers)
        _same(found, tags.usage_rules(headers=tags.read_fields(headers), html=page, **given))
        if len(raw) < LONGEST:
            _same(found, tags.usage_rules(headers=raw, html=page, **given))
    if page is not None and len(page) < LONGEST:
        chunks = [page[at : at + 100] for at in range(0, len(page), 100)]
        _same(found, tags.usage_rules(headers=headers, html=chunks, **given))
    return {
        "rules": _json_values(found.values),
        "unknown": list(found.unknown),
        "others": list(found.others),
        "may_index": found.may_index,
        "may_snippet": found.may_snippet,
        "may_follow": found.may_follow,
        "may_archive": found.may_archive,
        "may_index_embedded": found.may_index_embedded,
        "max_snippet": found.max_snippet,
        "sources": {
            name: [_source(one.source) for one in found.mentions_of(name)] for name in found.rules
        },
        "over_tls": found.over_tls,
        "fresh_until": _shown(found.fresh_until),
        "notes": [one.code for one in found.notes],
    }


def _source(source: tags.TagSource) -> dict[str, Any]:
    """Return where a rule was said: what is not there is left out."""
    told = {key: value for key, value in source.as_dict().items() if value is not None}
    told.pop("over_tls", None)
    return told


def _robots_tag(_: Any, __: Any, item: Item) -> protocol.Answer:
    found = tags.read_robots_tag([_octets(line) for line in item["lines"]], _profile(item))
    said = [
        {"token": one.token, "rule": one.name, "value": _plain(one.value)}
        for one in found.statements
    ]
    return {"failure": found.error is not None, "said": said}


def _json_values(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: known_rules.to_json_value(value) for name, value in values}


def _plain(value: Any) -> Any:
    return None if value is None else known_rules.to_json_value(value)


def _freshness(_: Any, __: Any, item: Item) -> protocol.Answer:
    headers = _pairs(item["headers"])
    given: dict[str, Any] = {
        "received": _moment(item.get("received")),
        "recrawl_interval": item.get("recrawl_interval"),
        "shared": item.get("shared", False),
    }
    found = tags.response_freshness(headers, **given)
    _same(found, tags.response_freshness(_raw(headers), **given))
    return {
        "lifetime": found.lifetime,
        "because": found.reason,
        "age": found.age,
        "fresh_until": _shown(found.fresh_until),
        "must_validate": found.must_validate,
        "may_store": found.may_store,
    }


def _updated(_: Any, __: Any, item: Item) -> protocol.Answer:
    stored, newer = _pairs(item["stored"]), _pairs(item.get("newer", ()))
    found = tags.update_stored_fields(stored, item["status"], newer)
    if item["status"] == 304:
        _same(found, tags.merge_fields(stored, newer))
    rules = tags.usage_rules(headers=found)
    return {
        "rules": _json_values(rules.values),
        "lines": [[name, value.decode("latin-1")] for name, value in found.lines],
    }


def _tdm(_: Any, __: Any, item: Item) -> protocol.Answer:
    found = tdm.tdm_reservation(
        item["url"],
        tdmrep=_octets(item["tdmrep"]) if "tdmrep" in item else None,
        headers=_headers(item),
        metas=[(name, content) for name, content in item.get("metas", ())],
    )
    return {
        "reserved": found.reserved,
        "policy": found.policy,
        "carrier": found.carrier,
        "notes": [one.code for one in found.notes],
    }


def _guidance(robots: Any, more: registries.Registries, item: Item) -> protocol.Answer:
    found = robotrules.guidance(
        item["url"],
        item["product_token"],
        robots=robots,
        headers=_headers(item),
        html=_octets(item["html"]) if "html" in item else None,
        dom=item.get("dom"),
        purposes=item.get("purposes", ()),
        application=item.get("application"),
        tdmrep=_octets(item["tdmrep"]) if "tdmrep" in item else None,
        registries=more,
    )
    _same(found.may_crawl, robots.check(item["url"], item["product_token"]).allowed)
    directives = found.app_directives.directives if found.app_directives else ()
    notes = [*found.notes, *(found.usage.notes if found.usage else ())]
    return {
        "tags": str(found.tags),
        "may_crawl": found.may_crawl,
        "may_index": found.may_index,
        "may_snippet": found.may_snippet,
        "rules": found.usage and _json_values(found.usage.values),
        "unseen": found.unseen and _json_values(found.unseen.values),
        "preferences": {
            label: str(found.preferences.get(label)) for label in content_usage.CATEGORIES
        },
        "directives": {
            one.name: {"type": one.type, "value": structured_fields.to_plain_value(one.value)}
            for one in directives
        },
        "reserved": found.reservation.reserved,
        "notes": [one.code for one in notes],
    }


def _written(_: Any, more: registries.Registries, item: Item) -> protocol.Answer:
    rules = {token: _values(named) for token, named in item["tag_rules"].items()}
    try:
        fields = write.robots_tag_fields(rules, legacy=item.get("legacy", False), registries=more)
        meta = write.meta_elements(rules, registries=more)
    except robotrules.RobotrulesError:
        return {"refused": True}
    # What is written is read back as it was meant, by the strictest reader too.
    for token in rules:
        asked: dict[str, Any] = {"product_token": token, "profile": "strict", "registries": more}
        _same(
            dict(tags.usage_rules(headers=fields, **asked).values),
            dict(tags.usage_rules(html=meta, **asked).values),
        )
    return {"refused": False, "fields": [list(field) for field in fields], "meta": meta}


def _values(named: Any) -> Any:
    """Return the rules of one crawler as Python has them: moments for dates."""
    if isinstance(named, list):
        return named
    return {
        name: _moment(value) if name == "unavailable_after" else value
        for name, value in named.items()
    }


def _snippets(_: Any, __: Any, item: Item) -> protocol.Answer:
    return {"texts": list(html.nosnippet_texts(_octets(item["html"])))}


def _tag_refused(_: Any, __: Any, item: Item) -> protocol.Answer:
    try:
        tags.DEFAULT.replace(**item["tag_options"])
    except robotrules.RobotrulesError:
        return {"refused": True}
    return {"refused": False}


PARTS = {
    "usage": _usage,
    "robots_tag": _robots_tag,
    "freshness": _freshness,
    "updated": _updated,
    "tdm": _tdm,
    "guidance": _guidance,
    "written": _written,
    "snippets": _snippets,
    "tag_refused": _tag_refused,
}
