"""
The client: it fetches robots.txt politely, keeps it as long as it holds, and answers.

All network I/O of robotrules is in here. `Client` is for threads and `AsyncClient` for an event
loop; both drive the same flows (`flow`, `politeness`, `pages`), over a transport (`transports`) and
a store (`stores`). Nothing is opened by importing this.
"""

from robotrules.client.addresses import PUBLIC, Addresses
from robotrules.client.aio import AsyncClient
from robotrules.client.asking import Prefetched
from robotrules.client.held import Held, Source
from robotrules.client.pages import Fetched
from robotrules.client.politeness import Delay, Turn, delay_of
from robotrules.client.stores import default_path, open_store
from robotrules.client.sync import Client
from robotrules.client.transports import (
    AsyncTransport,
    Transport,
    open_async_transport,
    open_transport,
)

__all__ = [
    "PUBLIC",
    "Addresses",
    "AsyncClient",
    "AsyncTransport",
    "Client",
    "Delay",
    "Fetched",
    "Held",
    "Prefetched",
    "Source",
    "Transport",
    "Turn",
    "default_path",
    "delay_of",
    "open_async_transport",
    "open_store",
    "open_transport",
]
