"""Tables of facts for the tests of surveys, small and with known counts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

CRAWLERS = ("Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "AdsBot-Google")
_TEXTS = pa.list_(pa.string())
_CODE = pa.dictionary(pa.int8(), pa.string())
SCHEMA = pa.schema(
    [
        *(("origin", pa.string()), ("url", pa.string())),
        *(("fetched_at", pa.timestamp("us", "UTC")), ("status", pa.int16()), ("access", _CODE)),
        *(("size", pa.uint32()), ("truncated", pa.bool_()), ("lines", pa.uint32())),
        *((name, pa.uint32()) for name in ("records", "groups", "allow_rules", "disallow_rules")),
        *(("user_agents", _TEXTS), ("sitemaps", _TEXTS), ("crawl_delay", pa.float64())),
        *(("purposes", _TEXTS), ("content_usage", pa.map_(pa.string(), pa.string()))),
        *(("content_signal", pa.map_(pa.string(), pa.string())), ("app_directives", pa.uint32())),
        *(("notes", pa.map_(pa.string(), pa.uint32())), ("named_crawlers", _TEXTS)),
        ("crawlers", pa.struct([(name, _CODE) for name in CRAWLERS])),
        *(("country", pa.string()), ("rank", pa.int64())),
    ]
)


def day(year: int, month: int = 1, number: int = 1) -> dt.datetime:
    """Return the start of a day."""
    return dt.datetime(year, month, number, tzinfo=dt.UTC)


def make_row(
    origin: str | None,
    states: str | Mapping[str, str | None] = "all",
    *,
    access: str | None = "success",
    at: dt.datetime | None = None,
    named: Sequence[str] = (),
    **others: Any,
) -> dict[str, Any]:
    """Return a row of facts; *states* are those of all crawlers, or of some (the others: all)."""
    if isinstance(states, str):
        states = dict.fromkeys(CRAWLERS, states)
    is_file = access == "success"
    row: dict[str, Any] = {
        "origin": origin,
        "fetched_at": at,
        "access": access,
        "crawlers": dict.fromkeys(CRAWLERS, "all") | dict(states),
        "named_crawlers": list(named),
        "user_agents": ["*", *named] if is_file else [],
    }
    if is_file:
        row |= {"size": 100, "lines": 4, "groups": 1, "allow_rules": 0, "disallow_rules": 1}
        row |= {"truncated": False, "sitemaps": [], "notes": [], "app_directives": 0}
    return row | others


def make_facts(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a table of facts."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def site(number: int) -> str:
    """Return the origin of a numbered site."""
    return f"https://s{number}.example"
