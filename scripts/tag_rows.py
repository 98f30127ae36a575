"""
Vectors about tags as rows of a table; `extensions_pages.py` asks for them.

An item has what was fetched, who asks, and the answer. What all items of a vector have in common
stands in a column of its own, once. A long series of items, such as one for every octet around a
limit, is shown where its answer changes. It does not know which page a row is for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import suite
from scripts import rfc9309_page as rfc

LONGEST = 200
# A longer series of items is cut.
MOST_ITEMS = 12
Item = dict[str, Any]


def code(value: Any) -> str:
    """Return text, or a value as JSON, as inline code; a long one loses its middle."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return rfc.code(cut(rfc.visible(text.encode())))


def cut(text: str) -> str:
    """Return text without its middle if it is long."""
    return text if len(text) <= LONGEST else f"{text[:120]} … {text[-40:]}"


def who(item: Item) -> str:
    """Return the crawler that asks: its product token, and its purposes in brackets."""
    token = item["product_token"]
    shown = code(token if isinstance(token, str) else ", ".join(token))
    purposes = ", ".join(code(purpose) for purpose in item.get("purposes", ()))
    return f"{shown} [{purposes}]" if purposes else shown


def typed(value: Item) -> str:
    """Return a value of Structured Fields with its type."""
    parameters = "".join(
        f"; {name}={typed(one)}" for name, one in value.get("parameters", {}).items()
    )
    shown = json.dumps(value["value"], ensure_ascii=False)
    return f"{value['type']} {shown}{parameters}"


# --- What was fetched -----------------------------------------------------------------------------


def octets(value: Any, before: str = "") -> str:
    """Return octets of a vector as inline code, repeated parts as such."""
    if isinstance(value, dict) and "parts" in value:
        return f"{rfc.code(before.strip())} {rfc.show_parts(value['parts'])}".strip()
    text = rfc.visible(suite.octets(value))
    return rfc.code(cut(f"{before}{text}")) or "(empty)"


def fields(lines: Any) -> Iterator[str]:
    """Yield field lines, each as inline code."""
    for name, value in lines:
        yield octets(value, f"{name}: ")


def given(item: Item) -> list[str]:
    """Return what was fetched, a line each."""
    shown = [*fields(item.get("headers", ()))]
    shown += [f"{one} (joined)" for one in fields(item.get("headers_joined", {}).items())]
    for name, word in (("html", "HTML"), ("dom", "final DOM"), ("tdmrep", "tdmrep.json")):
        if name in item:
            shown.append(f"{word} {octets(item[name])}")
    shown += [f"meta {one}" for one in fields(item.get("metas", ()))]
    if "stored" in item:
        shown.append(f"stored {', '.join(fields(item['stored'])) or 'nothing'}")
        status = item["status"] or "no answer"
        shown.append(f"then {status} {', '.join(fields(item.get('newer', ())))}".rstrip())
    if "lines" in item and "failure" in item:
        shown += [octets(line, "Robots-Tag: ") for line in item["lines"]]
    if "tag_rules" in item:
        shown.append(code(item["tag_rules"]))
    return shown


def asked(item: Item) -> str:
    """Return who asks, and under which conditions."""
    shown = []
    if item.get("product_token", "*") != "*":
        shown.append(who(item))
    for name in ("url", "application"):
        if name in item:
            shown.append(code(item[name]))
    if item.get("tag_profile", "default") != "default":
        shown.append(f"profile {item['tag_profile']}")
    shown += [code(f"{name}={one}") for name, one in item.get("tag_options", {}).items()]
    if item.get("legacy"):
        shown.append("with the old name")
    if item.get("shared"):
        shown.append("shared cache")
    if "recrawl_interval" in item:
        shown.append(f"recrawled every {item['recrawl_interval']:,} s")
    if "received" in item:
        shown.append(f"received {item['received']}")
    return ", ".join(shown)


# --- The answer -----------------------------------------------------------------------------------


def rules(values: Item | None) -> str:
    """Return tag rules in force."""
    if values is None:
        return "unknown"
    told = [name if value is True else f"{name}: {value}" for name, value in values.items()]
    return ", ".join(map(code, told)) or "no rule"


def remarks(item: Item) -> str:
    """Return the other things an answer says, after its first."""
    told = ""
    for name in ("may_crawl", "may_index", "may_snippet", "may_follow", "may_archive"):
        if name in item:
            word = {True: "yes", False: "no", None: "unknown"}[item[name]]
            told += f"; {name.replace('_', ' ')}: {word}"
    if "may_index_embedded" in item:
        told += f"; may index embedded: {'yes' if item['may_index_embedded'] else 'no'}"
    if item.get("unknown"):
        told += f"; not known: {', '.join(map(code, item['unknown']))}"
    if "over_tls" in item:
        told += f"; over TLS: {item['over_tls']}"
    if item.get("fresh_until"):
        told += f"; fresh until {item['fresh_until']}"
    for name, sources in item.get("sources", {}).items():
        told += f"; {code(name)} from {' and '.join(map(source, sources))}"
    if item.get("notes"):
        told += f"; notes: {', '.join(map(code, item['notes']))}"
    return told


def source(one: Item) -> str:
    """Return where a rule was said."""
    if one["carrier"] == "meta":
        state = " of the final DOM" if one["state"] == "final" else ""
        return f"meta element {one['element']}{state}"
    return f"{one['carrier']} line {one['line']}"


def show_usage(item: Item) -> str:
    """Return the tag rules in force."""
    return rules(item["rules"]) + remarks(item)


def show_robots_tag(item: Item) -> str:
    """Return what a field says to whom, or that it fails."""
    if item["failure"]:
        return "**failure**"
    said = [f"{one['token']} {one['rule']} = {code(one['value'])}" for one in item.get("said", ())]
    return ", ".join(said) or "nothing"


def show_freshness(item: Item) -> str:
    """Return how long a response is fresh, and why."""
    lifetime = item["lifetime"]
    told = "no lifetime" if lifetime is None else f"{lifetime:,} s by {item['because']}"
    if "age" in item:
        told += f"; age {item['age']} s"
    if item.get("must_validate"):
        told += "; must be validated"
    if item.get("may_store") is False:
        told += "; not stored"
    return told + remarks(item)


def show_tdm(item: Item) -> str:
    """Return whether rights are reserved."""
    word = {True: "**reserved**", False: "not reserved", None: "unset"}[item["reserved"]]
    policy = f", policy {code(item['policy'])}" if item.get("policy") else ""
    return f"{word}{policy}{remarks(item)}"


def show_guidance(item: Item) -> str:
    """Return the one answer over all carriers."""
    told = f"tags {item['tags']}"
    if "rules" in item:
        told += f": {rules(item['rules'])}"
    if item.get("unseen"):
        told += f"; unseen: {rules(item['unseen'])}"
    for label, preference in item.get("preferences", {}).items():
        told += f"; {label} {preference}"
    for name, value in item.get("directives", {}).items():
        told += f"; {code(f'{name} = {typed(value)}')}"
    if "reserved" in item:
        told += f"; {show_tdm({'reserved': item['reserved']})}"
    return told + remarks(item)


def show_written(item: Item) -> str:
    """Return what is written."""
    if item["refused"]:
        return "**refused**"
    shown = [*fields(item.get("fields", ()))]
    if item.get("meta"):
        shown += [code(line) for line in item["meta"].splitlines()]
    return ", ".join(shown) or "nothing"


def show_texts(item: Item) -> str:
    """Return the texts that are kept out of snippets."""
    return f"excluded: {', '.join(map(code, item['texts'])) or 'nothing'}"


SHOWN: dict[str, Callable[[Item], str]] = {
    "usage": show_usage,
    "robots_tag": show_robots_tag,
    "freshness": show_freshness,
    "updated": lambda item: rules(item["rules"]),
    "tdm": show_tdm,
    "guidance": show_guidance,
    "written": show_written,
    "snippets": show_texts,
    "tag_refused": lambda item: "**refused**" if item["refused"] else "accepted",
}


# --- A vector -------------------------------------------------------------------------------------


def shared(data: Item) -> list[str]:
    """Return what all items of a vector have in common; nothing if they differ."""
    items = [item for part in SHOWN for item in data.get(part, ())]
    return (
        given(items[0]) if items and all(given(item) == given(items[0]) for item in items) else []
    )


def show_items(data: Item) -> Iterator[str]:
    """Yield the items of a vector about tags, a line each."""
    common = shared(data)
    for part, show in SHOWN.items():
        answers = [(item, show(item)) for item in data.get(part, ())]
        kept = _kept([answer for _, answer in answers])
        before = -1
        for at, (item, answer) in enumerate(answers):
            if at not in kept:
                continue
            if at > before + 1:
                yield f"… {at - before - 1} more …"
            before = at
            fetched = [] if common else given(item)
            conditions = asked(item)
            told = ", ".join([*fetched, *([conditions] if conditions else [])])
            yield f"{told} → {answer}".strip()


def _kept(answers: list[str]) -> set[int]:
    """Return which items of a long series are shown: the ends, and where the answer changes."""
    last = len(answers) - 1
    if last < MOST_ITEMS:
        return {*range(last + 1)}
    changes = {at for at in range(1, last + 1) if answers[at] != answers[at - 1]}
    if len(changes) > MOST_ITEMS:
        return {*range(last + 1)}
    return {0, last, *changes, *(at - 1 for at in changes)}
