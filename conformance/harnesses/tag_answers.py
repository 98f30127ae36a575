"""
The answers of robotrules about tags; `robotrules_harness.py` calls `answer_parts`.

Each part has one function from an item to an answer. Where the library has several calls for one
answer (field lines as pairs or as raw octets, a page whole or in chunks), all are made, and a
difference is an error. It uses the public functions of robotrules.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import protocol
from answering import answer_item, require_equal

import robotrules
from robotrules import registries, tags, write
from robotrules.extensions import content_usage
from robotrules.http import structured_fields
from robotrules.tags import html, known_rules, tdm

Item = Mapping[str, Any]
# A longer page is read by one call only, to save time.
MAX_REPEATED = 64 * 1024


def answer_parts(question: protocol.Question, robots: robotrules.RobotsTxt) -> protocol.Answer:
    """Answer every part of *question* about tags."""
    more = registries.parse_json(json.dumps(question.get("registries", {})))
    return {
        part: [answer_item(answer, robots, more, item) for item in question[part]]
        for part, answer in PARTS.items()
        if part in question
    }


# --- Questions ------------------------------------------------------------------------------------


def _octets(text: str) -> bytes:
    return base64.b64decode(text)


def _pairs(lines: Any) -> list[tuple[str, bytes]]:
    return [(name, _octets(value)) for name, value in lines]


def _headers(item: Item) -> Any:
    """Return the fields of an item: pairs, a mapping, or None."""
    if "headers_joined" in item:
        return {name: _octets(value) for name, value in item["headers_joined"].items()}
    return _pairs(item["headers"]) if "headers" in item else None


def _raw(pairs: list[tuple[str, bytes]]) -> bytes:
    lines = b"".join(b"%s: %s\r\n" % (name.encode(), value) for name, value in pairs)
    return b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n"


def _profile(item: Item) -> tags.TagProfile:
    profile = tags.TAG_PROFILES[item.get("tag_profile", "default")]
    options = item.get("tag_options", {})
    return profile.replace(**{name: _frozen(value) for name, value in options.items()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _parse_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _format_time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


# --- Answers --------------------------------------------------------------------------------------


def _usage(_: Any, more: registries.Registries, item: Item) -> protocol.Answer:
    headers = _headers(item)
    page = _octets(item["html"]) if "html" in item else None
    options: dict[str, Any] = {
        "dom": item.get("dom"),
        "product_token": item.get("product_token", "*"),
        "url": item.get("url"),
        "profile": _profile(item),
        "received": _parse_time(item.get("received")),
        "registries": more,
    }
    found = tags.usage_rules(headers=headers, html=page, **options)
    if isinstance(headers, list):
        raw = _raw(headers)
        require_equal(
            found, tags.usage_rules(headers=tags.read_fields(headers), html=page, **options)
        )
        if len(raw) < MAX_REPEATED:
            require_equal(found, tags.usage_rules(headers=raw, html=page, **options))
    if page is not None and len(page) < MAX_REPEATED:
        chunks = [page[at : at + 100] for at in range(0, len(page), 100)]
        require_equal(found, tags.usage_rules(headers=headers, html=chunks, **options))
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
        "fresh_until": _format_time(found.fresh_until),
        "notes": [one.code for one in found.notes],
    }


def _source(source: tags.TagSource) -> dict[str, Any]:
    """Return the source of a rule, without absent fields."""
    fields = {key: value for key, value in source.as_dict().items() if value is not None}
    fields.pop("over_tls", None)
    return fields


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
    options: dict[str, Any] = {
        "received": _parse_time(item.get("received")),
        "recrawl_interval": item.get("recrawl_interval"),
        "shared": item.get("shared", False),
    }
    found = tags.response_freshness(headers, **options)
    require_equal(found, tags.response_freshness(_raw(headers), **options))
    return {
        "lifetime": found.lifetime,
        "because": found.reason,
        "age": found.age,
        "fresh_until": _format_time(found.fresh_until),
        "must_validate": found.must_validate,
        "may_store": found.may_store,
    }


def _updated(_: Any, __: Any, item: Item) -> protocol.Answer:
    stored, newer = _pairs(item["stored"]), _pairs(item.get("newer", ()))
    found = tags.update_stored_fields(stored, item["status"], newer)
    if item["status"] == 304:
        require_equal(found, tags.merge_fields(stored, newer))
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
    require_equal(found.may_crawl, robots.check(item["url"], item["product_token"]).allowed)
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
    # The strict profile has to read the written fields and elements alike.
    for token in rules:
        query: dict[str, Any] = {"product_token": token, "profile": "strict", "registries": more}
        require_equal(
            dict(tags.usage_rules(headers=fields, **query).values),
            dict(tags.usage_rules(html=meta, **query).values),
        )
    return {"refused": False, "fields": [list(field) for field in fields], "meta": meta}


def _values(named: Any) -> Any:
    """Return the rules of one crawler, with datetimes for dates."""
    if isinstance(named, list):
        return named
    return {
        name: _parse_time(value) if name == "unavailable_after" else value
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
