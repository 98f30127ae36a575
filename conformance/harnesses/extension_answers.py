"""
The answers of robotrules about extensions; `robotrules_harness.py` calls `answer_parts`.

Each part has one function from an item to an answer. Where the library has several calls for one
answer (one URL, many URLs), all are made, and a difference is an error. It uses the public
functions of robotrules.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import protocol
from answering import answer_item, require_equal

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
    """The file, the profile and the registries of a vector."""

    robots: robotrules.RobotsTxt
    profile: robotrules.Profile
    registries: registries.Registries


def answer_parts(question: protocol.Question, robots: robotrules.RobotsTxt) -> protocol.Answer:
    """Answer every part of *question* about extensions."""
    text = json.dumps(question.get("registries", {}))
    setting = Setting(robots, robots.profile, registries.parse_json(text))
    answers: protocol.Answer = {
        part: [answer_item(answer, setting, item) for item in question[part]]
        for part, answer in PARTS.items()
        if part in question
    }
    if question.get("host"):
        preferred = host.preferred_host(robots)
        answers["host"] = str(preferred) if preferred else None
    if question.get("unused_records"):
        answers["unused_records"] = [
            {"key": unused.record.key, "line": unused.line, "standing": str(unused.standing)}
            for unused in record_support.unused_records(robots)
        ]
    if question.get("extension_notes"):
        notes = extensions.notes(robots, setting.registries)
        answers["extension_notes"] = [note.code for note in notes]
    return answers


def _app_directives(setting: Setting, item: Item) -> protocol.Answer:
    url, application = item["url"], item["application"]
    directive_set = app_directives.directives_for(
        setting.robots,
        application,
        product_token=item.get("product_token"),
        registries=setting.registries,
    )
    found = directive_set.for_url(url)
    require_equal(found, *directive_set.for_urls([url, url]))
    return {
        "directives": {
            directive.name: {
                "type": directive.type,
                "value": structured_fields.to_plain_value(directive.value),
            }
            for directive in found.directives
        },
        "lines": {directive.name: directive.record.line for directive in found.directives},
        "registration": {directive.name: str(directive.status) for directive in found.directives},
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
        require_equal(found, chosen.for_url(url), *chosen.for_urls([url, url]))
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
    # Cleaning is idempotent, and bytes are cleaned like text.
    require_equal(clean, clean_param.clean_url(setting.robots, clean))
    require_equal(clean.encode(), clean_param.clean_url(setting.robots, item["url"].encode()))
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
    """Return the names of the entries of a registry."""
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
            registries=setting.registries,
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
