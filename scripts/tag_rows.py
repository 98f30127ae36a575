"""
Vectors about tags as rows of a table, for `extensions_pages.py`.

An item has inputs (header fields, HTML), a query (crawler and settings) and an answer. Inputs that
all items of a vector share are rendered once, in the column of inputs. Of a long series of items,
such as one for every octet around a limit, only those where the answer changes are rendered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import suite
from scripts import rfc9309_page as rfc

MAX_CODE_LENGTH = 200
# A longer series of items is shortened.
MAX_ITEMS = 12
Item = dict[str, Any]


def code(value: Any) -> str:
    """Return text, or a value as JSON, as inline code; the middle of a long one is left out."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return rfc.code(shorten(rfc.make_visible(text.encode())))


def shorten(text: str) -> str:
    """Return text without its middle if it is long."""
    return text if len(text) <= MAX_CODE_LENGTH else f"{text[:120]} … {text[-40:]}"


def render_crawler(item: Item) -> str:
    """Return the product token of a crawler, and its purposes in brackets."""
    token = item["product_token"]
    shown = code(token if isinstance(token, str) else ", ".join(token))
    purposes = ", ".join(code(purpose) for purpose in item.get("purposes", ()))
    return f"{shown} [{purposes}]" if purposes else shown


def render_typed(value: Item) -> str:
    """Return a value of Structured Fields with its type."""
    parameters = "".join(
        f"; {name}={render_typed(parameter)}"
        for name, parameter in value.get("parameters", {}).items()
    )
    shown = json.dumps(value["value"], ensure_ascii=False)
    return f"{value['type']} {shown}{parameters}"


# --- Inputs ---------------------------------------------------------------------------------------


def render_octets(value: Any, prefix: str = "") -> str:
    """Return octets of a vector as inline code, repeated parts as such."""
    if isinstance(value, dict) and "parts" in value:
        return f"{rfc.code(prefix.strip())} {rfc.show_parts(value['parts'])}".strip()
    text = rfc.make_visible(suite.decode_octets(value))
    return rfc.code(shorten(f"{prefix}{text}")) or "(empty)"


def render_fields(lines: Any) -> Iterator[str]:
    """Yield field lines, each as inline code."""
    for name, value in lines:
        yield render_octets(value, f"{name}: ")


def render_inputs(item: Item) -> list[str]:
    """Return the inputs of an item, a line each."""
    shown = [*render_fields(item.get("headers", ()))]
    shown += [
        f"{field} (joined)" for field in render_fields(item.get("headers_joined", {}).items())
    ]
    for name, word in (("html", "HTML"), ("dom", "final DOM"), ("tdmrep", "tdmrep.json")):
        if name in item:
            shown.append(f"{word} {render_octets(item[name])}")
    shown += [f"meta {meta}" for meta in render_fields(item.get("metas", ()))]
    if "stored" in item:
        shown.append(f"stored {', '.join(render_fields(item['stored'])) or 'nothing'}")
        status = item["status"] or "no answer"
        shown.append(f"then {status} {', '.join(render_fields(item.get('newer', ())))}".rstrip())
    if "lines" in item and "failure" in item:
        shown += [render_octets(line, "Robots-Tag: ") for line in item["lines"]]
    if "tag_rules" in item:
        shown.append(code(item["tag_rules"]))
    return shown


def render_query(item: Item) -> str:
    """Return the crawler and the settings of an item."""
    shown = []
    if item.get("product_token", "*") != "*":
        shown.append(render_crawler(item))
    for name in ("url", "application"):
        if name in item:
            shown.append(code(item[name]))
    if item.get("tag_profile", "default") != "default":
        shown.append(f"profile {item['tag_profile']}")
    shown += [code(f"{name}={value}") for name, value in item.get("tag_options", {}).items()]
    if item.get("legacy"):
        shown.append("with X-Robots-Tag")
    if item.get("shared"):
        shown.append("shared cache")
    if "recrawl_interval" in item:
        shown.append(f"recrawled every {item['recrawl_interval']:,} s")
    if "received" in item:
        shown.append(f"received {item['received']}")
    return ", ".join(shown)


# --- Answers --------------------------------------------------------------------------------------


def render_rules(values: Item | None) -> str:
    """Return tag rules."""
    if values is None:
        return "unknown"
    names = [name if value is True else f"{name}: {value}" for name, value in values.items()]
    return ", ".join(map(code, names)) or "no rule"


def render_details(item: Item) -> str:
    """Return the parts of an answer that follow the first."""
    line = ""
    for name in ("may_crawl", "may_index", "may_snippet", "may_follow", "may_archive"):
        if name in item:
            label = {True: "yes", False: "no", None: "unknown"}[item[name]]
            line += f"; {name.replace('_', ' ')}: {label}"
    if "may_index_embedded" in item:
        line += f"; may index embedded: {'yes' if item['may_index_embedded'] else 'no'}"
    if item.get("unknown"):
        line += f"; not known: {', '.join(map(code, item['unknown']))}"
    if "over_tls" in item:
        line += f"; over TLS: {item['over_tls']}"
    if item.get("fresh_until"):
        line += f"; fresh until {item['fresh_until']}"
    for name, sources in item.get("sources", {}).items():
        line += f"; {code(name)} from {' and '.join(map(render_source, sources))}"
    if item.get("notes"):
        line += f"; notes: {', '.join(map(code, item['notes']))}"
    return line


def render_source(source: Item) -> str:
    """Return the source of a rule."""
    if source["carrier"] == "meta":
        state = " of the final DOM" if source["state"] == "final" else ""
        return f"meta element {source['element']}{state}"
    return f"{source['carrier']} line {source['line']}"


def show_usage(item: Item) -> str:
    """Return the tag rules that apply."""
    return render_rules(item["rules"]) + render_details(item)


def show_robots_tag(item: Item) -> str:
    """Return the rules of a field with their product tokens, or that parsing fails."""
    if item["failure"]:
        return "**failure**"
    entries = [
        f"{entry['token']} {entry['rule']} = {code(entry['value'])}"
        for entry in item.get("said", ())
    ]
    return ", ".join(entries) or "nothing"


def show_freshness(item: Item) -> str:
    """Return the freshness lifetime of a response, and its source."""
    lifetime = item["lifetime"]
    line = "no lifetime" if lifetime is None else f"{lifetime:,} s by {item['because']}"
    if "age" in item:
        line += f"; age {item['age']} s"
    if item.get("must_validate"):
        line += "; must be validated"
    if item.get("may_store") is False:
        line += "; not stored"
    return line + render_details(item)


def show_tdm(item: Item) -> str:
    """Return whether rights are reserved."""
    word = {True: "**reserved**", False: "not reserved", None: "unset"}[item["reserved"]]
    policy = f", policy {code(item['policy'])}" if item.get("policy") else ""
    return f"{word}{policy}{render_details(item)}"


def show_guidance(item: Item) -> str:
    """Return the guidance for a URL over all carriers."""
    line = f"tags {item['tags']}"
    if "rules" in item:
        line += f": {render_rules(item['rules'])}"
    if item.get("unseen"):
        line += f"; unseen: {render_rules(item['unseen'])}"
    for label, preference in item.get("preferences", {}).items():
        line += f"; {label} {preference}"
    for name, value in item.get("directives", {}).items():
        line += f"; {code(f'{name} = {render_typed(value)}')}"
    if "reserved" in item:
        line += f"; {show_tdm({'reserved': item['reserved']})}"
    return line + render_details(item)


def show_written(item: Item) -> str:
    """Return the header fields and meta elements that are written."""
    if item["refused"]:
        return "**refused**"
    shown = [*render_fields(item.get("fields", ()))]
    if item.get("meta"):
        shown += [code(line) for line in item["meta"].splitlines()]
    return ", ".join(shown) or "nothing"


def show_texts(item: Item) -> str:
    """Return the texts that are excluded from snippets."""
    return f"excluded: {', '.join(map(code, item['texts'])) or 'nothing'}"


RENDERERS: dict[str, Callable[[Item], str]] = {
    "usage": show_usage,
    "robots_tag": show_robots_tag,
    "freshness": show_freshness,
    "updated": lambda item: render_rules(item["rules"]),
    "tdm": show_tdm,
    "guidance": show_guidance,
    "written": show_written,
    "snippets": show_texts,
    "tag_refused": lambda item: "**refused**" if item["refused"] else "accepted",
}


# --- Vectors --------------------------------------------------------------------------------------


def find_common_inputs(data: Item) -> list[str]:
    """Return the inputs that all items of a vector share; an empty list if they differ."""
    inputs = [render_inputs(item) for part in RENDERERS for item in data.get(part, ())]
    return inputs[0] if inputs and all(lines == inputs[0] for lines in inputs) else []


def show_items(data: Item) -> Iterator[str]:
    """Yield the items of a vector about tags, a line each."""
    common = find_common_inputs(data)
    for part, show in RENDERERS.items():
        answers = [(item, show(item)) for item in data.get(part, ())]
        shown = _select_shown([answer for _, answer in answers])
        previous = -1
        for index, (item, answer) in enumerate(answers):
            if index not in shown:
                continue
            if index > previous + 1:
                yield f"… {index - previous - 1} more …"
            previous = index
            inputs = [] if common else render_inputs(item)
            query = render_query(item)
            line = ", ".join([*inputs, *([query] if query else [])])
            yield f"{line} → {answer}".strip()


def _select_shown(answers: list[str]) -> set[int]:
    """Return the items of a long series to show: both ends, and where the answer changes."""
    last = len(answers) - 1
    if last < MAX_ITEMS:
        return {*range(last + 1)}
    changes = {index for index in range(1, last + 1) if answers[index] != answers[index - 1]}
    if len(changes) > MAX_ITEMS:
        return {*range(last + 1)}
    return {0, last, *changes, *(index - 1 for index in changes)}
