"""
The answers of robotrules to questions about extensions; `robotrules_harness.py` calls `answers`.

Each part has one function: an item in, an answer out. Where the library has several doors to one
answer (one URL, many URLs), all are tried, and where they differ there is no answer to give. It
knows the public functions of robotrules and nothing of what is expected.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import protocol

import robotrules
from robotrules import extensions, registries
from robotrules.extensions import (
    app_directives,
    clean_param,
    content_signal,
    content_usage,
    crawl_delay,
    host,
    purpose,
    record_support,
    request_rate,
    sitemap,
    visit_time,
)
from robotrules.http import structured_fields

Item = Mapping[str, Any]


class Setting(NamedTuple):
    """What all questions of a vector are about."""

    robots: robotrules.RobotsTxt
    profile: robotrules.Profile
    known: registries.Registries


def answers(question: protocol.Question, robots: robotrules.RobotsTxt) -> protocol.Answer:
    """Answer every part of *question* about extensions that is asked."""
    text = json.dumps(question.get("registries", {}))
    setting = Setting(robots, robots.profile, registries.parse_json(text))
    found: protocol.Answer = {
        part: [_one(answer, setting, item) for item in question[part]]
        for part, answer in PARTS.items()
        if part in question
    }
    if question.get("host"):
        preferred = host.preferred_host(robots)
        found["host"] = str(preferred) if preferred else None
    if question.get("unused_records"):
        found["unused_records"] = [
            {"key": one.record.key, "line": one.line, "standing": str(one.standing)}
            for one in record_support.unused_records(robots)
        ]
    if question.get("extension_notes"):
        found["extension_notes"] = [one.code for one in extensions.notes(robots, setting.known)]
    return found


def _one(answer: Any, setting: Setting, item: Item) -> Any:
    """Answer one item, so that one that breaks does not take the others with it."""
    try:
        return answer(setting, item)
    except Exception as error:  # as in `protocol.run`
        return {"errored": f"{type(error).__name__}: {error}"}


def _same(one: Any, *others: Any) -> None:
    """Hold the library to its word: several doors, one answer."""
    for other in others:
        if other != one:
            raise AssertionError(f"the doors differ: {one!r} and {other!r}")


def _app_directives(setting: Setting, item: Item) -> protocol.Answer:
    url, application = item["url"], item["application"]
    chosen = app_directives.directives_for(
        setting.robots,
        application,
        product_token=item.get("product_token"),
        registries=setting.known,
    )
    found = chosen.for_url(url)
    _same(found, *chosen.for_urls([url, url]))
    return {
        "directives": {
            one.name: {"type": one.type, "value": structured_fields.to_plain_value(one.value)}
            for one in found.directives
        },
        "lines": {one.name: one.record.line for one in found.directives},
        "registration": {one.name: str(one.status) for one in found.directives},
        "not_applied": [one.name for one in found.not_applied],
        "overrides": list(found.overrides),
        "codes": sorted({one.code for one in found.notes}),
    }


def _content_usage(setting: Setting, item: Item) -> protocol.Answer:
    url, token, purposes = item["url"], item["product_token"], item.get("purposes", ())
    found = content_usage.preferences(
        url,
        token,
        robots=setting.robots,
        purposes=purposes,
        field=item.get("field"),
        agreement=item.get("agreement"),
    )
    if "field" not in item and "agreement" not in item:
        chosen = content_usage.preferences_for(setting.robots, token, purposes)
        _same(found, chosen.for_url(url), *chosen.for_urls([url, url]))
    return {
        "applicable": found.applicable,
        "preferences": {label: str(found.get(label)) for label in content_usage.CATEGORIES},
        "decided": {
            label: str(found.decide(label, item.get("default")))
            for label in content_usage.CATEGORIES
        },
        "lines": [one.line for one in found.statements if one.line is not None],
        "sources": [str(one.source) for one in found.statements],
    }


def _structured(_: Setting, item: Item) -> protocol.Answer:
    octets = base64.b64decode(item["input"])
    if item["kind"] == "list":
        parsed = structured_fields.parse_list(octets)
        value: Any = parsed.value and [_member(*member) for member in parsed.value]
    else:
        parsed = structured_fields.parse_dictionary(octets)
        value = parsed.value and {key: _member(*one) for key, one in parsed.value.items()}
    return {"failure": parsed.value is None, "value": value}


def _member(value: Any, parameters: Mapping[str, Any]) -> protocol.Answer:
    shown: protocol.Answer = {
        "type": structured_fields.value_type(value),
        "value": structured_fields.to_plain_value(value),
    }
    if parameters:
        shown["parameters"] = {name: _member(one, {}) for name, one in parameters.items()}
    return shown


def _sitemaps(setting: Setting, item: Item) -> protocol.Answer:
    found = sitemap.sitemaps(setting.robots, item.get("url"))
    return {"sitemaps": [one.url for one in found], "lines": [one.line for one in found]}


def _crawl_delay(setting: Setting, item: Item) -> protocol.Answer:
    token, purposes = item["product_token"], item.get("purposes", ())
    found = crawl_delay.crawl_delay(setting.robots, token, purposes, star=item.get("star", False))
    return {"seconds": found and found.seconds, "line": found and found.line}


def _request_rates(setting: Setting, item: Item) -> protocol.Answer:
    token, purposes = item["product_token"], item.get("purposes", ())
    found = request_rate.request_rates(setting.robots, token, purposes)
    return {
        "rates": [
            {"requests": one.requests, "period": one.period, "line": one.line, **_times(one.window)}
            for one in found
        ]
    }


def _visit_times(setting: Setting, item: Item) -> protocol.Answer:
    token, purposes = item["product_token"], item.get("purposes", ())
    found = visit_time.visit_times(setting.robots, token, purposes)
    return {"windows": [{**_times(one.window), "line": one.line} for one in found]}


def _times(window: visit_time.TimeWindow | None) -> dict[str, str]:
    return {"from": f"{window.start:%H%M}", "to": f"{window.end:%H%M}"} if window else {}


def _clean_url(setting: Setting, item: Item) -> protocol.Answer:
    clean = clean_param.clean_url(setting.robots, item["url"])
    # Cleaning twice is cleaning once, and bytes are cleaned like text.
    _same(clean, clean_param.clean_url(setting.robots, clean))
    _same(clean.encode(), clean_param.clean_url(setting.robots, item["url"].encode()))
    return {"clean": clean}


def _content_signals(setting: Setting, item: Item) -> protocol.Answer:
    token, purposes = item["product_token"], item.get("purposes", ())
    found = content_signal.content_signals(setting.robots, item["url"], token, purposes)
    return {
        "signals": found.values(),
        "lines": sorted({one.line for one in found.signals}),
        "content_usage": content_signal.to_content_usage(found),
    }


def _registry(_: Setting, item: Item) -> protocol.Answer:
    try:
        if "csv" in item:
            found = registries.parse_csv(item["csv"])
        else:
            found = registries.parse_json(json.dumps(item["json"]))
    except robotrules.RobotrulesError:
        return {"accepted": False, "names": {}}
    kinds = {kind: _names(found, kind) for kind in found._fields}
    return {"accepted": True, "names": {kind: names for kind, names in kinds.items() if names}}


def _shipped(_: Setting, item: Item) -> protocol.Answer:
    kind = item["registry"]
    registry = getattr(registries.SHIPPED, kind)
    return {
        "names": _names(registries.SHIPPED, kind),
        "fields": list(registry.of._fields),
        "references": {entry.name: entry.reference for entry in registry},
        "procedures": list(registry.procedures),
    }


def _names(known: registries.Registries, kind: str) -> list[str]:
    """Return what the entries of a registry are called, without those that every one has."""
    shown: list[str] = []
    for entry in getattr(known, kind):
        match entry:
            case registries.DirectiveEntry():
                shown.append(f"{entry.application};{entry.name}")
            case registries.Application():
                shown.append(entry.identifier)
            case registries.Purpose():
                shown.append(entry.token)
            case _:
                shown.append(entry.name)
    return shown


def _crawler(setting: Setting, item: Item) -> protocol.Answer:
    try:
        found = purpose.crawler_notes(
            item["user_agent"],
            item["product_token"],
            item.get("purposes", ()),
            profile=setting.profile,
            registries=setting.known,
        )
    except robotrules.RobotrulesError:
        return {"refused": True}
    return {"refused": False, "codes": sorted(one.code for one in found)}


PARTS = {
    "app_directives": _app_directives,
    "content_usage": _content_usage,
    "structured": _structured,
    "sitemaps": _sitemaps,
    "crawl_delays": _crawl_delay,
    "request_rates": _request_rates,
    "visit_times": _visit_times,
    "clean_urls": _clean_url,
    "content_signals": _content_signals,
    "registry": _registry,
    "shipped": _shipped,
    "crawler": _crawler,
}
