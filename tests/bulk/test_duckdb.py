"""The functions of DuckDB: the answers of single files and URLs, in SQL."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import robotrules
from robotrules import bulk
from robotrules.bulk import Corpus, Reject, file_rows
from robotrules.bulk import duckdb as functions
from robotrules.bulk.file_rows import FileCache, FileRows, check_corpus
from robotrules.http.origins import origin_of

BODY = "User-agent: *\nDisallow: /private/\nDisallow: /é\n\nUser-agent: GPTBot\nDisallow: /\n"
FILES: list[bytes | None] = [
    *(BODY.encode(), b"", b"\xff\xfe", b"User-agent: *\nAllow: /\xff\nDisallow: /", None),
    *(b"User-agent: *\r\nDisallow: /x\x00y\n", b"<html>", BODY.encode()),
]
URLS = ["https://example.com/private/a", None, "", "/é", "/x\x00y", "/\n", "https://пример.рф/é"]
TOKENS = ["ExampleBot", "GPTBot", None]
ROWS = [(body, url, token) for body in FILES for url in URLS for token in TOKENS]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the functions, and a table with all rows."""
    with duckdb.connect() as connection:
        functions.register(connection)
        bodies, urls, tokens = zip(*ROWS, strict=True)
        table = pa.table(
            {
                "place": range(len(ROWS)),
                "body": pa.array(bodies, pa.binary()),
                "url": pa.array(urls, pa.string()),
                "token": pa.array(tokens, pa.string()),
            }
        )
        connection.from_arrow(table).create("rows")
        yield connection


def expected_rows() -> list[dict[str, Any] | None]:
    """Return the verdict on each row."""
    found: list[dict[str, Any] | None] = []
    for body, url, token in ROWS:
        if body is None or url is None or token is None:
            found.append(None)
            continue
        verdict = robotrules.parse(body).check(url, token)
        rule = verdict.rule
        text = None
        if rule is not None:
            value = rule.pattern.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            text = f"{'Allow' if rule.allow else 'Disallow'}: {value}"
        found.append(
            {
                "allowed": verdict.allowed,
                "reason": str(verdict.reason),
                "line": verdict.line,
                "rule": text,
            }
        )
    return found


def fetch(con: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    """Return the first column of a query."""
    return [row[0] for row in con.sql(query).fetchall()]


class TestFiles:
    """`robots_allowed`, `robots_reason` and `robots_check` with a file in each row."""

    def test_rows_have_their_verdicts(self, con: duckdb.DuckDBPyConnection) -> None:
        """All files, URLs and tokens; NULL in any argument is NULL."""
        call = "(body, url, token) FROM rows ORDER BY place"
        expected = expected_rows()
        assert fetch(con, f"SELECT robots_check{call}") == expected
        assert fetch(con, f"SELECT robots_allowed{call}") == [
            row and row["allowed"] for row in expected
        ]
        assert fetch(con, f"SELECT robots_reason{call}") == [
            row and row["reason"] for row in expected
        ]

    def test_text_and_octets(self, con: duckdb.DuckDBPyConnection) -> None:
        """A body is BLOB or VARCHAR, and is not converted: a cast would change its octets."""
        query = "SELECT robots_allowed({}, '/é/1', 'a') FROM (SELECT ? AS body)"
        for body in ("body", "encode(body)"):
            assert con.execute(query.format(body), [BODY]).fetchall() == [(False,)]
        enum = "SELECT robots_allowed(body::ENUM('User-agent: *\nDisallow: /'), '/', 'a')"
        assert fetch(
            con, f"{enum} FROM (VALUES ('User-agent: *\nDisallow: /'), (NULL)) t(body)"
        ) == [
            False,
            None,
        ]

    def test_urls_of_octets(self, con: duckdb.DuckDBPyConnection) -> None:
        """A URL can be a BLOB."""
        assert fetch(
            con, r"SELECT robots_allowed('User-agent: *\nDisallow: /', '/\xFF'::BLOB, 'a')"
        )

    def test_constants_and_nulls(self, con: duckdb.DuckDBPyConnection) -> None:
        """Constants are evaluated once; a literal NULL has no type."""
        assert fetch(con, "SELECT robots_allowed(NULL, NULL, NULL)") == [None]
        assert fetch(con, "SELECT robots_check('', NULL, 'a')") == [None]
        assert fetch(con, "SELECT robots_allowed('', '/', 'a') FROM range(3)") == [True] * 3
        assert fetch(con, "SELECT robots_allowed(body, '/', 'a') FROM rows WHERE false") == []

    def test_a_profile(self, con: duckdb.DuckDBPyConnection) -> None:
        """Registering again replaces the functions."""
        query = "SELECT robots_allowed('User-agent: *\nDissallow: /', '/', 'a')"
        for profile, allowed in (("google", False), ("strict", True)):
            functions.register(con, profile=profile)
            assert fetch(con, query) == [allowed]

    def test_many_rows_on_several_threads(self, con: duckdb.DuckDBPyConnection) -> None:
        """A join of 300,000 URLs with 100 files, on four threads."""
        con.execute("SET threads = 4")
        con.execute(
            "CREATE TABLE files AS SELECT i, 'User-agent: *\nDisallow: /' || i || '$' AS body "
            "FROM range(100) t(i)"
        )
        con.execute(
            "CREATE TABLE urls AS SELECT i % 100 AS i, '/' || (i % 1000) AS url "
            "FROM range(300_000) t(i)"
        )
        query = (
            "SELECT count(*) FROM urls JOIN files USING (i) "
            "WHERE NOT robots_allowed(body, url, 'a')"
        )
        assert fetch(con, query) == [30_000]

    def test_cursors_in_many_threads(self, con: duckdb.DuckDBPyConnection) -> None:
        """Ten threads with a cursor each share the functions and the cache."""
        expected = [row and row["allowed"] for row in expected_rows()]
        together = threading.Barrier(10)

        def run(_: int) -> list[Any]:
            with con.cursor() as cursor:
                together.wait(timeout=30)
                return fetch(
                    cursor, "SELECT robots_allowed(body, url, token) FROM rows ORDER BY place"
                )

        with ThreadPoolExecutor(10) as pool:
            assert all(result == expected for result in pool.map(run, range(10)))


class TestMisuse:
    """Errors of a query say what to change."""

    def test_tokens(self, con: duckdb.DuckDBPyConnection) -> None:
        """An invalid product token is an error; TRY makes it NULL for its row alone."""
        rows = "FROM (VALUES ('a'), ('a b')) t(token)"
        with pytest.raises(duckdb.Error, match=r"'a b' is not a product token.*pass 'a'"):
            fetch(con, f"SELECT robots_allowed('', '/', token) {rows}")
        assert fetch(con, f"SELECT TRY(robots_allowed('', '/', token)) {rows}") == [True, None]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            ("robots_allowed('', '/')", r"2 arguments: call robots_allowed\(body, url, token\)"),
            ("robots_origin('', '/')", r"2 arguments: call robots_origin\(url\)"),
            ("robots_allowed(5, '/', 'a')", r"robots\.txt files has the type int32: cast it"),
            ("robots_allowed('', 5, 'a')", "URLs has the type int32: cast it"),
            ("robots_allowed('', '/', 5)", "product tokens has the type int32: cast it"),
            ("robots_allowed([''], '/', 'a')", r"robots\.txt files has the type list"),
            ("robots_origin(5)", "a column of URLs has the type string"),
            ("robots_file_facts('x')", r"pass a row, such as robots_file_facts\(r\)"),
        ],
    )
    def test_arguments(self, con: duckdb.DuckDBPyConnection, call: str, message: str) -> None:
        """Wrong numbers and types of arguments."""
        with pytest.raises(duckdb.Error, match=message):
            fetch(con, f"SELECT {call}")

    def test_registering(self, con: duckdb.DuckDBPyConnection) -> None:
        """Wrong options; the functions that were there stay."""
        with pytest.raises(robotrules.ProfileError):
            functions.register(con, profile="unknown")
        with pytest.raises(ValueError, match="missing='allow' needs a corpus"):
            functions.register(con, missing="allow")
        with pytest.raises(ValueError, match="missing is 'maybe'"):
            functions.register(con, corpus=Corpus.from_mapping({}), missing="maybe")
        with pytest.raises(TypeError, match="corpus is dict"):
            functions.register(con, corpus={})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="max_bytes is -1"):
            functions.register(con, cache_bytes=-1)
        assert fetch(con, "SELECT robots_allowed('', '/', 'a')") == [True]

    def test_unregistering(self, con: duckdb.DuckDBPyConnection) -> None:
        """All functions are removed; doing it twice is no error."""
        functions.unregister(con)
        functions.unregister(con)
        for call in ("robots_allowed('', '/', 'a')", "robots_origin('/')"):
            with pytest.raises(duckdb.CatalogException):
                fetch(con, f"SELECT {call}")
        with pytest.raises(duckdb.CatalogException):
            fetch(con, "FROM robots_facts('rows')")

    def test_without_duckdb(self) -> None:
        """The error says what to install."""
        code = "sys.modules['duckdb'] = None\nimport robotrules.bulk.duckdb"
        source = str(Path(robotrules.__file__).parents[1])
        result = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{code}"],
            capture_output=True,
            text=True,
        )
        assert "pip install 'robotrules[duckdb]'" in result.stderr


class TestOrigins:
    """`robots_origin` is `origin_of`."""

    def test_rows(self, con: duckdb.DuckDBPyConnection) -> None:
        """NULL for NULL and for URLs without an origin."""
        urls = [*URLS, "HTTP://Example.COM:80/a", "ftp://example.com/", "https://[::1]:8080/"]
        table = pa.table({"place": range(len(urls)), "url": urls})
        con.register("urls", table)
        expected = [None if url is None else origin_of(url) for url in urls]
        assert fetch(con, "SELECT robots_origin(url) FROM urls ORDER BY place") == expected
        assert fetch(con, "SELECT robots_origin(encode(url)) FROM urls ORDER BY place") == expected
        assert fetch(con, "SELECT robots_origin(NULL)") == [None]


class TestCorpus:
    """The functions of a corpus are `Corpus.check()`."""

    CORPUS = Corpus.from_mapping({"https://example.com": BODY, "https://example.org": 404})

    @pytest.mark.parametrize("missing", [None, "allow", "disallow"])
    def test_rows(self, con: duckdb.DuckDBPyConnection, missing: str | None) -> None:
        """Several tokens in one column; nulls."""
        functions.register(con, corpus=self.CORPUS, missing=missing)
        urls = [*URLS, "https://example.org/a", "https://other.example/"]
        rows = [(url, token) for url in urls for token in TOKENS]
        con.register(
            "asked",
            pa.table(
                {
                    "place": range(len(rows)),
                    "url": [url for url, _ in rows],
                    "token": [token for _, token in rows],
                }
            ),
        )
        expected: list[dict[str, Any] | None] = []
        for url, token in rows:
            if url is None or token is None:
                expected.append(None)
                continue
            answer = self.CORPUS.check(
                pa.table({"url": [url]}), product_tokens=token, missing=missing
            )
            expected.append(answer.drop_columns("url").to_pylist()[0])
        call = "(url, token) FROM asked ORDER BY place"
        assert fetch(con, f"SELECT robots_corpus_check{call}") == expected
        allowed = [row and row["allowed"] for row in expected]
        assert fetch(con, f"SELECT robots_corpus_allowed{call}") == allowed

    def test_without_a_corpus(self, con: duckdb.DuckDBPyConnection) -> None:
        """The functions exist only with a corpus."""
        functions.register(con, corpus=self.CORPUS)
        assert fetch(con, "SELECT robots_corpus_allowed('https://example.com/', 'a')") == [True]
        functions.register(con)
        with pytest.raises(duckdb.CatalogException):
            fetch(con, "SELECT robots_corpus_allowed('https://example.com/', 'a')")

    def test_tokens(self, con: duckdb.DuckDBPyConnection) -> None:
        """An invalid product token is an error."""
        functions.register(con, corpus=self.CORPUS)
        with pytest.raises(duckdb.Error, match="is not a product token"):
            fetch(con, "SELECT robots_corpus_allowed('https://example.com/', 'a b')")

    def test_no_rows(self) -> None:
        """Empty columns have the type of the answer."""
        empty = pa.array([], pa.string())
        assert len(check_corpus(self.CORPUS, empty, empty, None)) == 0
        nulls = pa.nulls(2)
        assert check_corpus(self.CORPUS, nulls, nulls, None).to_pylist() == [None, None]


ROBOTS = pa.table(
    {
        "url": [
            "https://a.example/robots.txt",
            "https://b.example/robots.txt",
            "https://c.example/",
        ],
        "status": [200, 404, 503],
        "body": pa.array([BODY.encode(), None, None], pa.binary()),
    }
)


class TestFacts:
    """Facts about files as a table function, as a struct, and as a relation."""

    def test_the_table_function(self, con: duckdb.DuckDBPyConnection) -> None:
        """`robots_facts('table')` has the rows and columns of `bulk.facts()`."""
        con.from_arrow(ROBOTS).create("robots")
        expected = bulk.facts(ROBOTS)
        relation = con.sql("FROM robots_facts('robots')")
        assert relation.columns == expected.column_names
        assert relation.fetchall() == con.from_arrow(expected).fetchall()
        counted = "SELECT count(*) FROM robots_facts('robots') WHERE crawlers.GPTBot = 'none'"
        assert fetch(con, counted) == [2]

    def test_the_struct(self, con: duckdb.DuckDBPyConnection) -> None:
        """`robots_file_facts(row)` beside other columns, and with a struct."""
        con.from_arrow(ROBOTS).create("robots")
        query = "SELECT status, robots_file_facts(r).disallow_rules FROM robots AS r ORDER BY url"
        assert con.sql(query).fetchall() == [(200, 3), (404, None), (503, None)]
        struct = "{'origin': 'https://a.example', 'body': 'User-agent: *'}"
        assert fetch(con, f"SELECT robots_file_facts({struct}).groups") == [1]

    def test_the_relation(self, con: duckdb.DuckDBPyConnection) -> None:
        """`facts(con, …)` with a relation and with a query."""
        con.from_arrow(ROBOTS).create("robots")
        expected = con.from_arrow(bulk.facts(ROBOTS)).fetchall()
        for files in (con.table("robots"), "FROM robots"):
            relation = functions.facts(con, files)
            assert relation.fetchall() == expected
            assert relation.aggregate("count(*)").fetchall() == [(3,)]
        assert functions.facts(con, "FROM robots WHERE false").fetchall() == []

    def test_rejects(self, con: duckdb.DuckDBPyConnection) -> None:
        """A row that cannot be used is a row of NULLs in SQL, and a reject of `facts()`."""
        con.execute(
            "CREATE TABLE robots AS SELECT CASE WHEN i % 1000 = 7 THEN 'no origin' "
            "ELSE 'https://example.com' END AS url, 'User-agent: *' AS body FROM range(3000) t(i)"
        )
        con.execute("SET threads = 1")  # coverage does not see threads of DuckDB
        rejects: list[Reject] = []
        relation = functions.facts(con, "FROM robots", rejects=rejects)
        assert relation.aggregate("count(*)").fetchall() == [(2997,)]
        assert len(rejects) == 3
        query = "SELECT count(*), count(origin), sum(groups) FROM robots_facts('robots')"
        assert con.sql(query).fetchall() == [(3000, 2997, 2997)]

    def test_crawlers(self, con: duckdb.DuckDBPyConnection) -> None:
        """`crawlers=` selects the crawlers."""
        con.from_arrow(ROBOTS).create("robots")
        functions.register(con, crawlers=["GPTBot"])
        assert fetch(con, "SELECT crawlers FROM robots_facts('robots') ORDER BY url") == [
            {"GPTBot": "none"},
            {"GPTBot": "all"},
            {"GPTBot": "none"},
        ]
        relation = functions.facts(con, "FROM robots", crawlers=["GPTBot"])
        assert relation.order("url").project("crawlers").fetchall()[0] == ({"GPTBot": "none"},)

    def test_misuse(self, con: duckdb.DuckDBPyConnection) -> None:
        """Wrong tables; the connection can be used afterwards."""
        with pytest.raises(TypeError, match="pass a relation, or a query such as 'FROM robots'"):
            functions.facts(con, 5)
        with pytest.raises(ValueError, match="columns"):
            functions.facts(con, "SELECT 1 AS number")
        with pytest.raises(duckdb.Error, match="columns"):
            con.sql("SELECT robots_file_facts({'number': 1})").fetchall()
        assert fetch(con, "SELECT 1") == [1]

    def test_the_table_function_is_not_stored(self, tmp_path: Path) -> None:
        """A database file has nothing of it, and can be read-only."""
        path = str(tmp_path / "robots.duckdb")
        with duckdb.connect(path) as con:
            con.from_arrow(ROBOTS).create("robots")
        with duckdb.connect(path, read_only=True) as con:
            functions.register(con)
            assert fetch(con, "SELECT count(*) FROM robots_facts('robots')") == [3]
        with duckdb.connect(path) as con:
            assert fetch(
                con, "SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE 'robots%'"
            ) == [0]


class TestFileCache:
    """Files are parsed once, and the cache is bounded."""

    def test_a_file_is_parsed_once(
        self, engine: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same content in many rows and batches."""
        parsed: list[bytes] = []
        original = robotrules.parse

        def record(body: bytes, *arguments: Any, **options: Any) -> Any:
            parsed.append(body)
            return original(body, *arguments, **options)

        monkeypatch.setattr(file_rows, "parse", record)
        rows = FileRows(FileCache(engine=engine))
        bodies = pa.array([BODY, "", BODY, ""] * 100)
        urls, tokens = pa.array(["/private/"] * 400), pa.array(["a", "b", "c", "GPTBot"] * 100)
        for _ in range(3):
            answers = rows.check(bodies, urls, tokens)
        assert sorted(parsed) == [b"", BODY.encode()]
        assert [row["allowed"] for row in answers.to_pylist()[:4]] == [False, True, False, True]

    def test_both_engines_have_the_same_answers(self, engine: ModuleType) -> None:
        """All rows, with the engine's table of rules."""
        bodies, urls, tokens = zip(*ROWS, strict=True)
        answers = FileRows(FileCache(engine=engine)).check(
            pa.array(bodies, pa.large_binary()), pa.array(urls), pa.array(tokens)
        )
        assert answers.to_pylist() == expected_rows()

    def test_dictionaries(self, engine: ModuleType) -> None:
        """Columns with a dictionary, as DuckDB has for ENUM."""
        bodies = pa.array(["", BODY]).dictionary_encode()
        urls, tokens = (pa.array([text] * 2).dictionary_encode() for text in ("/private/", "a"))
        answers = FileRows(FileCache(engine=engine)).check(bodies, urls, tokens)
        assert [row["allowed"] for row in answers.to_pylist()] == [True, False]

    def test_the_cache_is_bounded(self) -> None:
        """The least recently used files are dropped."""
        cache = FileCache(max_bytes=20_000)
        first = b"# first"
        kept = cache.parse(first)
        for number in range(100):
            cache.parse(b"# %d" % number)
            assert cache.parse(first) is kept  # used, and so not dropped
            assert cache.size <= 20_000
        assert 3 < len(cache) < 10
        assert cache.parse(b"# 99") is cache.parse(b"# 99")
        large = b"#" * 50_000
        assert cache.parse(large) is not cache.parse(large)
        assert (len(cache), cache.size) == (0, 0)

    def test_no_cache(self) -> None:
        """0 keeps nothing."""
        cache = FileCache(max_bytes=0)
        assert cache.parse(b"") is not cache.parse(b"")
        for wrong in (-1, True, 1.5, None):
            with pytest.raises(ValueError, match="max_bytes is"):
                FileCache(max_bytes=wrong)  # type: ignore[arg-type]

    def test_threads_share_it(self) -> None:
        """Many threads with more files than fit."""
        cache = FileCache(max_bytes=10_000)

        def parse(number: int) -> bool:
            body = b"User-agent: *\nDisallow: /%d$" % (number % 17)
            return cache.parse(body).check(f"/{number % 17}", "a").allowed

        with ThreadPoolExecutor(8) as pool:
            assert not any(pool.map(parse, range(2000)))
        assert 0 < cache.size <= 10_000
