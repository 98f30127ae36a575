"""
DuckDB: SQL functions about robots.txt files and URLs, registered by `register(con)`.

    robots_allowed(body, url, token)       BOOLEAN
    robots_reason(body, url, token)        VARCHAR: a value of `Reason`
    robots_check(body, url, token)         STRUCT(allowed, reason, line, rule)
    robots_origin(url)                     VARCHAR, such as https://example.com
    robots_corpus_allowed(url, token)      BOOLEAN, by the files of a corpus
    robots_corpus_check(url, token)        STRUCT(allowed, reason, line, rule, access)
    FROM robots_facts(files)               a table: the facts about the files of a table
    robots_file_facts(file)                STRUCT: the same for one row

The functions get vectors as Arrow columns. A body is BLOB or VARCHAR; NULL in any argument gives
NULL. Files and URLs of any content have a result. An invalid product token is an error of the
query; `TRY(robots_allowed(…))` makes it NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from robotrules.bulk.arrow_support import pa, pc
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.file_facts import facts as facts_of_files
from robotrules.bulk.file_facts import facts_batches, make_schema
from robotrules.bulk.file_rows import DEFAULT_CACHE_BYTES, FileCache, FileRows, check_corpus
from robotrules.bulk.origin_columns import origins
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import normalize
from robotrules.errors import MissingExtraError
from robotrules.profile import Profile

try:
    import duckdb
except ImportError:
    raise MissingExtraError("duckdb is not installed: pip install 'robotrules[duckdb]'") from None

__all__ = ["facts", "register", "unregister"]

_DECISION = "allowed BOOLEAN, reason VARCHAR, line UINTEGER, rule VARCHAR"
_FILE_ARGUMENTS = ("body", "url", "token")
_NAMES = (
    *("robots_allowed", "robots_reason", "robots_check", "robots_origin", "robots_file_facts"),
    *("robots_corpus_allowed", "robots_corpus_check"),
)
# Rows of files that are read at once.
_BATCH_ROWS = 10_000


class _Function(NamedTuple):
    arguments: Sequence[str]
    returned: str
    call: Callable[..., Any]


def register(
    con: duckdb.DuckDBPyConnection,
    *,
    corpus: Corpus | None = None,
    missing: str | None = None,
    profile: str | Profile = "default",
    crawlers: Iterable[str] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> None:
    """
    Register the functions on a connection; registering again replaces them.

    The functions with `corpus` in their name need a *corpus*; *missing* says what they answer
    about origins that it does not have: None (NULL), `allow` or `disallow`. *crawlers* are those of
    the facts, by default the well-known ones. *cache_bytes* limits the memory of parsed files,
    which all threads of DuckDB share. Cursors have the functions too, except for the table function
    `robots_facts`: register it on each.
    """
    rows = FileRows(FileCache(profile, cache_bytes))
    tokens = None if crawlers is None else list(crawlers)
    schema = make_schema(tokens)

    def file_facts(files: Any) -> Any:
        """Return the facts of each row."""
        return _facts_of_rows(files, schema, profile, tokens)

    functions = {
        "robots_allowed": _Function(
            _FILE_ARGUMENTS, "BOOLEAN", lambda *row: pc.struct_field(rows.check(*row), "allowed")
        ),
        "robots_reason": _Function(
            _FILE_ARGUMENTS, "VARCHAR", lambda *row: pc.struct_field(rows.check(*row), "reason")
        ),
        "robots_check": _Function(_FILE_ARGUMENTS, f"STRUCT({_DECISION})", rows.check),
        "robots_origin": _Function(("url",), "VARCHAR", lambda urls: origins(urls, threads=1)),
        "robots_file_facts": _Function(("file",), _type_of(con, schema), file_facts),
    }
    if corpus is not None:
        functions |= _corpus_functions(corpus, missing)
    elif missing is not None:
        raise ValueError(f"missing={missing!r} needs a corpus: pass corpus= too")
    unregister(con)
    create_function: Any = con.create_function  # its hints have neither these names nor Arrow
    for name, function in functions.items():
        create_function(
            name,
            _check_arguments(name, function),
            # Any types: a body is BLOB or VARCHAR, and DuckDB has one function for each name.
            None,
            function.returned,
            type="arrow",
            null_handling="special",
        )
    # DuckDB has no table functions in Python. Temporary, so that it is not stored in a database.
    con.execute(
        "CREATE OR REPLACE TEMP MACRO robots_facts(files) AS TABLE "
        "SELECT unnest(robots_file_facts(file)) FROM query_table(files) AS file"
    )


def unregister(con: duckdb.DuckDBPyConnection) -> None:
    """Remove the functions from a connection, if they are registered."""
    con.execute("DROP MACRO TABLE IF EXISTS temp.robots_facts")
    for name in _NAMES:
        with suppress(duckdb.InvalidInputException):
            con.remove_function(name)


def facts(
    con: duckdb.DuckDBPyConnection,
    files: Any,
    *,
    profile: str | Profile = "default",
    crawlers: Iterable[str] | None = None,
    threads: int = 0,
    rejects: list[Reject] | None = None,
) -> duckdb.DuckDBPyRelation:
    """
    Return the facts about robots.txt files as a relation, one row a file.

    *files* is a relation or a query, such as `FROM robots`, with the columns of
    `robots_table.normalize()`. It is read in batches; the result is in memory. Rows that cannot be
    used are added to *rejects*. It needs no `register()`.
    """
    relation = con.sql(files) if isinstance(files, str) else files
    if not hasattr(relation, "to_arrow_reader"):
        raise TypeError(f"files is {files!r}: pass a relation, or a query such as 'FROM robots'")
    tokens = None if crawlers is None else list(crawlers)
    wrong: list[Reject] = [] if rejects is None else rejects

    def normal_batches() -> Iterable[Any]:
        """Yield the files in the normal form."""
        with relation.to_arrow_reader(_BATCH_ROWS) as reader:
            for batch, rejected in normalize(reader):
                wrong.extend(rejected)
                yield batch

    batches = facts_batches(normal_batches(), profile=profile, crawlers=tokens, threads=threads)
    table = pa.Table.from_batches(list(batches), make_schema(tokens))
    return con.from_arrow(table)


def _facts_of_rows(
    files: Any, schema: Any, profile: str | Profile, crawlers: Sequence[str] | None
) -> Any:
    """Return the facts of each row as a struct; null for a row that cannot be used."""
    rows = files.combine_chunks() if isinstance(files, pa.ChunkedArray) else files
    if not pa.types.is_struct(rows.type):
        raise TypeError(
            f"the argument of robots_file_facts has the type {rows.type}: pass a row, such as "
            "robots_file_facts(r) FROM robots AS r, or a struct such as {'url': …, 'body': …}"
        )

    def read(part: Any) -> Any:
        """Return the facts of some of the rows."""
        batch = pa.RecordBatch.from_struct_array(part)
        rejects: list[Reject] = []  # those rows are null
        table = facts_of_files(
            batch, profile=profile, crawlers=crawlers, threads=1, rejects=rejects
        )
        structs = table.to_struct_array().combine_chunks()
        if len(structs) == len(part):
            return structs
        if len(part) == 1:
            return pa.nulls(1, structs.type)
        # A row was rejected: find it.
        middle = len(part) // 2
        return pa.concat_arrays([read(part[:middle]), read(part[middle:])])

    return read(rows) if len(rows) else pa.array([], pa.struct(list(schema)))


def _corpus_functions(corpus: Corpus, missing: str | None) -> dict[str, _Function]:
    if not isinstance(corpus, Corpus):
        raise TypeError(f"corpus is {type(corpus).__name__}: pass a robotrules.bulk.Corpus")
    # Checks `missing`.
    corpus.check(pa.table({"url": pa.array([], pa.string())}), product_tokens="*", missing=missing)

    def check(urls: Any, tokens: Any) -> Any:
        """Return the answers of the corpus."""
        return check_corpus(corpus, urls, tokens, missing)

    arguments = ("url", "token")
    return {
        "robots_corpus_allowed": _Function(
            arguments, "BOOLEAN", lambda *row: pc.struct_field(check(*row), "allowed")
        ),
        "robots_corpus_check": _Function(arguments, f"STRUCT({_DECISION}, access VARCHAR)", check),
    }


def _type_of(con: duckdb.DuckDBPyConnection, schema: Any) -> str:
    """Return the type of a struct in DuckDB."""
    relation = con.from_arrow(schema.empty_table())
    fields = zip(relation.columns, relation.types, strict=True)
    return "STRUCT(" + ", ".join(f'"{name}" {kind}' for name, kind in fields) + ")"


def _check_arguments(name: str, function: _Function) -> Callable[..., Any]:
    """Return a function that checks the number of its arguments, which DuckDB does not know."""
    expected = f"{name}({', '.join(function.arguments)})"

    def call(*columns: Any) -> Any:
        """Call the function with as many columns as it has arguments."""
        if len(columns) != len(function.arguments):
            raise TypeError(f"{name} got {len(columns)} arguments: call {expected}")
        return function.call(*columns)

    return call
