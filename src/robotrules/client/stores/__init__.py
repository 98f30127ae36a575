"""
Stores: storage backends, each of which implements the `Store` protocol of `robotrules.cache`.

| where | for |
|---|---|
| a path, or `sqlite:PATH`; nothing | one machine: SQLite, without setup; the default |
| `redis://…`, `rediss://…` | a fleet that has a Redis |
| `postgresql://…`, `postgres://…` | a fleet that has a PostgreSQL, or needs durable evidence |
| `memory:`, `:memory:` | a short-lived program, or a system without a writable disk |

They differ only in how long they last and which processes share them: the same tests run on all
four. The libraries of the server stores are imported when one is opened.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from robotrules.cache import Store
from robotrules.client.stores.memory import MemoryStore
from robotrules.client.stores.sqlite import SQLiteStore
from robotrules.errors import MissingExtraError

__all__ = ["MemoryStore", "SQLiteStore", "default_path", "open_store"]

# Two letters at least: `C:` is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_IN_MEMORY = re.compile(r"(?:sqlite:(?:///?)?)?:memory:", re.IGNORECASE)
_FILE = "robots.sqlite"
_FIX = "use a path, sqlite:PATH, memory:, redis://HOST or postgresql://HOST/DATABASE"


def open_store(where: str | os.PathLike[str] | None = None, *, lazy: bool = False) -> Store:
    """
    Open the store that *where* names; None is SQLite at `default_path()`.

    A file of another program or a damaged one raises StoreError; so does an unavailable server,
    unless *lazy*: then the connection is opened on first use.
    """
    if where is None:
        return SQLiteStore(default_path())
    named = _SCHEME.fullmatch(where) if isinstance(where, str) else None
    # SQLite's name for a memory database, which other programs use as well.
    if isinstance(where, str) and _IN_MEMORY.fullmatch(where):
        return MemoryStore()
    if named is None:
        if not os.fspath(where).strip():
            raise ValueError(f"the name of the store is empty: {_FIX}")
        if where in (":memory", "memory", "redis", "postgres", "postgresql", "sqlite"):
            raise ValueError(
                f"{where!r} has no colon: {_FIX}; for a file of that name, use ./{where}"
            )
        return SQLiteStore(where)
    scheme, rest = named[1].lower(), named[2]
    if scheme == "memory" and rest in ("", "//"):
        return MemoryStore()
    if scheme == "sqlite" and rest and not re.match(r"//(?!/)", rest):
        return SQLiteStore(rest)
    if scheme in ("redis", "rediss"):
        from robotrules.client.stores.redis import RedisStore

        return RedisStore(str(where), lazy=lazy)
    if scheme in ("postgres", "postgresql"):
        from robotrules.client.stores.postgres import PostgresStore

        return PostgresStore(str(where), lazy=lazy)
    # The rest may contain a password: it is redacted.
    raise ValueError(f"unknown store {scheme}:…: {_FIX}; for a file of that name, use sqlite:PATH")


def default_path() -> Path:
    """Return the path of the default store: in ROBOTRULES_CACHE_DIR, or the user's cache folder."""
    if folder := os.environ.get("ROBOTRULES_CACHE_DIR"):
        return Path(folder).expanduser() / _FILE
    try:
        import platformdirs
    except ImportError:
        raise MissingExtraError(
            "finding the user's cache folder needs platformdirs: pip install 'robotrules[http]', "
            "or set ROBOTRULES_CACHE_DIR, or pass a store"
        ) from None
    return platformdirs.user_cache_path("robotrules", appauthor=False) / _FILE
