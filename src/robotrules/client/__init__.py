"""
The client: fetches robots.txt politely, caches it for its lifetime, and checks URLs.

All network I/O of robotrules is in this package. `Client` is for threads and `AsyncClient` for an
event loop; both drive the same flows (`cache_engine`, `rate_limiter`, `pages`) over a transport
(`transports`) and a store (`stores`). Fetches are stored as evidence (`evidence`, `warc`).
Importing the package opens nothing, and each name is imported on first use.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from robotrules.client.aio import AsyncClient
    from robotrules.client.auditing import Audit, audit
    from robotrules.client.base_client import PrefetchSummary
    from robotrules.client.evidence import Evidence
    from robotrules.client.historical_verdict import EvidenceNote, HistoricalVerdict, Period
    from robotrules.client.metrics import FetchEvent, Stats
    from robotrules.client.origin_state import OriginState, StateSource
    from robotrules.client.pages import FetchResult
    from robotrules.client.rate_limiter import Delay, Slot, required_delay
    from robotrules.client.ssrf import PUBLIC, AddressPolicy
    from robotrules.client.stores import default_path, open_store
    from robotrules.client.sync import Client
    from robotrules.client.transports import (
        AsyncTransport,
        Transport,
        open_async_transport,
        open_transport,
    )
    from robotrules.client.warc import WarcImport, export_warc, import_warc

__all__ = [
    "PUBLIC",
    "AddressPolicy",
    "AsyncClient",
    "AsyncTransport",
    "Audit",
    "Client",
    "Delay",
    "Evidence",
    "EvidenceNote",
    "FetchEvent",
    "FetchResult",
    "HistoricalVerdict",
    "OriginState",
    "Period",
    "PrefetchSummary",
    "Slot",
    "StateSource",
    "Stats",
    "Transport",
    "WarcImport",
    "audit",
    "default_path",
    "export_warc",
    "import_warc",
    "open_async_transport",
    "open_store",
    "open_transport",
    "required_delay",
]

_LAZY_IMPORTS = {
    "PUBLIC": "ssrf",
    "AddressPolicy": "ssrf",
    "AsyncClient": "aio",
    "AsyncTransport": "transports",
    "Audit": "auditing",
    "Client": "sync",
    "Delay": "rate_limiter",
    "Evidence": "evidence",
    "EvidenceNote": "historical_verdict",
    "FetchEvent": "metrics",
    "FetchResult": "pages",
    "OriginState": "origin_state",
    "Period": "historical_verdict",
    "PrefetchSummary": "base_client",
    "StateSource": "origin_state",
    "Stats": "metrics",
    "HistoricalVerdict": "historical_verdict",
    "Transport": "transports",
    "Slot": "rate_limiter",
    "WarcImport": "warc",
    "audit": "auditing",
    "default_path": "stores",
    "required_delay": "rate_limiter",
    "export_warc": "warc",
    "import_warc": "warc",
    "open_async_transport": "transports",
    "open_store": "stores",
    "open_transport": "transports",
}


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name not in _LAZY_IMPORTS:
        raise AttributeError(f"module 'robotrules.client' has no attribute {name!r}")
    value = getattr(import_module(f"robotrules.client.{_LAZY_IMPORTS[name]}"), name)
    globals()[name] = value
    return value
