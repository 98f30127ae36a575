"""
DuckDB: SQL functions about robots.txt files and URLs, registered by `register(con)`.

    robots_allowed(body, url, token)   BOOLEAN
    robots_reason(body, url, token)    VARCHAR, a value of `Reason`
    robots_check(body, url, token)     STRUCT(allowed, reason, line, rule)
    robots_origin(url)                 VARCHAR, such as https://example.com; NULL without an origin

The functions get whole vectors as Arrow columns. A body is BLOB or VARCHAR; NULL in any argument
gives NULL. Files and URLs of any content have a result. An invalid product token is an error of the
query; `TRY(robots_allowed(…))` makes it NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from robotrules._engine import engine
from robotrules.bulk.arrow_support import pc
from robotrules.bulk.file_rows import DEFAULT_CACHE_BYTES, FileCache, FileRows
from robotrules.errors import MissingExtraError
from robotrules.http.origins import origin_of
from robotrules.profile import Profile

try:
    import duckdb
except ImportError:
    raise MissingExtraError("duckdb is not installed: pip install 'robotrules[duckdb]'") from None

__all__ = ["register", "unregister"]

_CHECK = "STRUCT(allowed BOOLEAN, reason VARCHAR, line UINTEGER, rule VARCHAR)"
_FILE_ARGUMENTS = ("body", "url", "token")
# The arguments and the type of the result of each function.
_FUNCTIONS = {
    "robots_allowed": (_FILE_ARGUMENTS, "BOOLEAN"),
    "robots_reason": (_FILE_ARGUMENTS, "VARCHAR"),
    "robots_check": (_FILE_ARGUMENTS, _CHECK),
    "robots_origin": (("url",), "VARCHAR"),
}


def register(
    con: duckdb.DuckDBPyConnection,
    *,
    profile: str | Profile = "default",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> None:
    """
    Register the functions on a connection; its cursors have them too.

    *cache_bytes* limits the memory of parsed files, which the functions and the threads of DuckDB
    share. Registering again replaces the functions, for example to use another profile.
    """
    rows = FileRows(FileCache(profile, cache_bytes))
    implementations: dict[str, Callable[..., Any]] = {
        "robots_allowed": lambda *columns: pc.struct_field(rows.check(*columns), "allowed"),
        "robots_reason": lambda *columns: pc.struct_field(rows.check(*columns), "reason"),
        "robots_check": rows.check,
        "robots_origin": lambda urls: engine.origins_column(urls, 1, origin_of),
    }
    unregister(con)
    create_function: Any = con.create_function  # its hints have neither these names nor Arrow
    for name, (arguments, returned) in _FUNCTIONS.items():
        create_function(
            name,
            _with_arguments(name, arguments, implementations[name]),
            # Any types: a body is BLOB or VARCHAR, and DuckDB has one function for each name.
            None,
            returned,
            type="arrow",
            null_handling="special",
        )


def unregister(con: duckdb.DuckDBPyConnection) -> None:
    """Remove the functions from a connection, if they are registered."""
    for name in _FUNCTIONS:
        with suppress(duckdb.InvalidInputException):
            con.remove_function(name)


def _with_arguments(
    name: str, arguments: Sequence[str], function: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that checks the number of its arguments, which DuckDB does not know."""

    def call(*columns: Any) -> Any:
        if len(columns) != len(arguments):
            expected = f"{name}({', '.join(arguments)})"
            raise TypeError(f"{name} got {len(columns)} arguments: call {expected}")
        return function(*columns)

    return call
