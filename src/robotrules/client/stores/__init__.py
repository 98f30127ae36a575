"""
Stores: where what was fetched survives. All keep the `Store` protocol of `robotrules.cache`.

| where | for |
|---|---|
| a path, or `sqlite:PATH`; nothing | one machine: SQLite, with nothing to set up; the default |
| `redis://…`, `rediss://…` | a fleet that has a Redis |
| `postgresql://…`, `postgres://…` | a fleet that has a PostgreSQL, or needs its evidence to last |
| `memory:`, `:memory:` | a program of minutes, or a place where nothing may be written |

They differ in how long they last and who shares them, and in nothing else: the same tests run on
all four. The libraries of the networked ones are imported when one is opened.
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
_CURE = "use a path, sqlite:PATH, memory:, redis://HOST or postgresql://HOST/DATABASE"


def open_store(where: str | os.PathLike[str] | None = None, *, lazy: bool = False) -> Store:
    """
    Open the store that *where* names; None is SQLite at `default_path()`.

    What is not ours or damaged raises StoreError; so does a server that is away, unless *lazy*:
    then it is asked when it is first needed.
    """
    if where is None:
        return SQLiteStore(default_path())
    named = _SCHEME.fullmatch(where) if isinstance(where, str) else None
    # SQLite's own name for it, as other programs have it too.
    if isinstance(where, str) and _IN_MEMORY.fullmatch(where):
        return MemoryStore()
    if named is None:
        if not os.fspath(where).strip():
            raise ValueError(f"a store without a name: {_CURE}")
        if where in (":memory", "memory", "redis", "postgres", "postgresql", "sqlite"):
            raise ValueError(
                f"{where!r} lacks its colon: {_CURE}; a file of that name is ./{where}"
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
    # What follows may hold a password.
    raise ValueError(f"no store is called {scheme}:…: {_CURE}; a file of that name is sqlite:PATH")


def default_path() -> Path:
    """Return where the default store is: in ROBOTRULES_CACHE_DIR, or the user's cache folder."""
    if folder := os.environ.get("ROBOTRULES_CACHE_DIR"):
        return Path(folder).expanduser() / _FILE
    try:
        import platformdirs
    except ImportError:
        raise MissingExtraError(
            "to find the user's cache folder needs platformdirs: pip install 'robotrules[http]', "
            "or set ROBOTRULES_CACHE_DIR, or name a store"
        ) from None
    return platformdirs.user_cache_path("robotrules", appauthor=False) / _FILE
