"""The namespace `robots` of Polars: expressions and series give the answers of single URLs."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pytest

import robotrules
import robotrules.bulk.polars as namespace
from robotrules import RuleSet
from robotrules.bulk import Corpus
from robotrules.bulk.polars import ACCESS, CHECK, CHECK_AT, DECISION, REASON
from robotrules.http.origins import origin_of

Engine = Literal["in-memory", "streaming"]
ENGINES: tuple[Engine, ...] = ("in-memory", "streaming")
BODY = "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nDisallow: /é\n"
RULES = robotrules.parse(BODY).rules_for("ExampleBot")
URLS = [
    *("https://example.com/private/a", None, "", "/a.pdf", "https://пример.рф/é", "/a\n.pdf"),
    *("http://EXAMPLE.org:80/", "mailto:a@example.com", "https://missing.example/private/"),
]
CORPUS = Corpus.from_mapping(
    {"https://example.com": BODY, "http://example.org": 404, "https://пример.рф": None}
)


def robots(column: Any) -> Any:
    """Return the namespace of an expression or a series, which type checkers do not know."""
    return column.robots


def allowed_rows() -> list[bool | None]:
    """Return what `allows` must be."""
    return [None if url is None else RULES.allows(url) for url in URLS]


def decision_rows() -> list[dict[str, Any] | None]:
    """Return what `decide` must be."""
    rows: list[dict[str, Any] | None] = []
    for url in URLS:
        verdict = None if url is None else RULES.check(url)
        fields = ("allowed", "reason", "line")
        rows.append(None if verdict is None else {name: getattr(verdict, name) for name in fields})
    return rows


@pytest.mark.parametrize("engine", ENGINES)
class TestExpressions:
    """Expressions in lazy frames, in each engine."""

    def test_results(self, engine: Engine) -> None:
        """`allows`, `decide` and `origin` are those of each URL; null stays null."""
        frame = pl.LazyFrame({"url": URLS}).select(
            allowed=robots(pl.col("url")).allows(RULES),
            decision=robots(pl.col("url")).decide(RULES),
            origin=robots(pl.col("url")).origin(),
        )
        result = frame.collect(engine=engine)
        assert result.schema == frame.collect_schema()
        assert result.schema == {"allowed": pl.Boolean, "decision": DECISION, "origin": pl.String}
        assert result["allowed"].to_list() == allowed_rows()
        assert result["decision"].to_list() == decision_rows()
        assert result["origin"].to_list() == [
            None if url is None else origin_of(url) for url in URLS
        ]

    @pytest.mark.parametrize(
        "dtype",
        [pl.String, pl.Binary, pl.Categorical, pl.Enum([url for url in URLS if url is not None])],
    )
    def test_types_of_urls(self, engine: Engine, dtype: Any) -> None:
        """Text, octets, categories."""
        frame = pl.LazyFrame({"url": URLS}, {"url": pl.String}).cast(dtype)
        result = frame.select(
            allowed=robots(pl.col("url")).allows(RULES),
            decision=robots(pl.col("url")).decide(RULES),
            origin=robots(pl.col("url")).origin(),
            check=robots(pl.col("url")).check(CORPUS, "ExampleBot"),
        ).collect(engine=engine)
        assert result["allowed"].to_list() == allowed_rows()
        assert result["decision"].to_list() == decision_rows()
        assert result["check"].struct.field("access").to_list() == ACCESSES

    @pytest.mark.parametrize("urls", [[], [None], [None, None]])
    def test_frames_without_urls(self, engine: Engine, urls: list[None]) -> None:
        """Empty frames and nulls have the declared types."""
        for dtype in (pl.String, pl.Null):
            frame = pl.LazyFrame({"url": urls}, {"url": dtype}).select(
                allowed=robots(pl.col("url")).allows(RULES),
                decision=robots(pl.col("url")).decide(RULES),
                origin=robots(pl.col("url")).origin(),
                check=robots(pl.col("url")).check(CORPUS, "ExampleBot"),
            )
            result = frame.collect(engine=engine)
            assert result.schema == frame.collect_schema()
            assert result.rows() == [(None,) * 4] * len(urls)

    def test_a_filter(self, engine: Engine) -> None:
        """A filter by the rules keeps what is allowed; nulls are left out."""
        kept = pl.LazyFrame({"url": URLS}).filter(robots(pl.col("url")).allows(RULES))
        expected = [url for url, allowed in zip(URLS, allowed_rows(), strict=True) if allowed]
        assert kept.collect(engine=engine)["url"].to_list() == expected

    def test_groups_and_windows(self, engine: Engine) -> None:
        """In `group_by` and `over`, with aggregation."""
        frame = pl.LazyFrame({"url": URLS[:6], "host": [1, 1, 1, 2, 2, 2]})
        allows = robots(pl.col("url")).allows(RULES)
        counted = frame.group_by("host").agg(allows.sum()).sort("host").collect(engine=engine)
        assert counted.rows() == [(1, 1), (2, 0)]
        over = frame.select(allows.sum().over("host")).collect(engine=engine)
        assert over["url"].to_list() == [1, 1, 1, 0, 0, 0]

    def test_many_rows(self, engine: Engine, tmp_path: Path) -> None:
        """A file of many row groups: batches in parallel, in the order of the file."""
        urls = [
            f"https://example.com/{number % 7}/{number}.pdf"[: 30 + number % 9]
            for number in range(300_000)
        ]
        path = tmp_path / "urls.parquet"
        pl.DataFrame({"url": urls}).write_parquet(path, row_group_size=20_000)
        frame = pl.scan_parquet(path).with_columns(
            allowed=robots(pl.col("url")).allows(RULES),
            reason=robots(pl.col("url")).decide(RULES).struct.field("reason"),
        )
        result = frame.collect(engine=engine)
        assert result["allowed"].to_list() == RULES.allows_many(result["url"].to_list())
        assert result["url"].to_list() == urls
        assert set(result["reason"]) == {"disallow-rule", "no-match"}

    def test_literals(self, engine: Engine) -> None:
        """One URL as a literal."""
        result = pl.LazyFrame({"a": [1, 2]}).select(robots(pl.lit("/private/")).allows(RULES))
        assert result.collect(engine=engine).to_series().to_list() == [False]


class TestPlans:
    """Expressions are elementwise: the optimizer moves filters and projections past them."""

    FRAME = pl.LazyFrame({"url": URLS, "number": range(len(URLS))}).with_columns(
        allowed=robots(pl.col("url")).allows(RULES)
    )

    def test_a_filter_moves_below(self) -> None:
        """A filter on another column runs first."""
        plan = self.FRAME.filter(pl.col("number") > 5).explain()
        assert plan.index("python_udf") < plan.index("FILTER")

    def test_a_projection_removes_it(self) -> None:
        """An expression that is not needed is not computed."""
        assert "python_udf" not in self.FRAME.select("number").explain()

    def test_a_slice_moves_below(self) -> None:
        """`head()` limits what is decided."""
        seen: list[int] = []

        def count(series: pl.Series) -> pl.Series:
            seen.append(len(series))
            return series

        counted = pl.col("url").map_batches(count, return_dtype=pl.String, is_elementwise=True)
        frame = pl.LazyFrame({"url": URLS * 100}).select(robots(counted).allows(RULES))
        assert len(frame.head(3).collect()) == 3
        assert sum(seen) == 3

    def test_a_schema_without_data(self) -> None:
        """The schema of a plan needs no call."""
        assert self.FRAME.collect_schema()["allowed"] == pl.Boolean


class TestThreads:
    """Polars runs batches in parallel, so a batch gets one thread; a whole column gets several."""

    @pytest.fixture
    def threads(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
        """Record rows and threads of each call of the kernel."""
        calls: list[tuple[int, int]] = []
        original = RuleSet.allows_arrow

        def record(self: RuleSet, column: Any, *, threads: int = 0) -> Any:
            calls.append((len(column), threads))
            return original(self, column, threads=threads)

        monkeypatch.setattr(RuleSet, "allows_arrow", record)
        return calls

    def test_batches_get_one_thread(self, threads: list[tuple[int, int]]) -> None:
        """The streaming engine passes parts; the in-memory engine passes the column."""
        frame = pl.LazyFrame({"url": ["/private/"] * 400_000})
        allows = frame.select(robots(pl.col("url")).allows(RULES))
        assert not allows.collect(engine="in-memory").to_series().any()
        assert threads == [(400_000, 0)]
        threads.clear()
        assert not allows.collect(engine="streaming").to_series().any()
        assert sum(rows for rows, _ in threads) == 400_000
        assert {count for rows, count in threads if rows <= 200_000} == {1}

    def test_a_number_of_threads(self, threads: list[tuple[int, int]]) -> None:
        """`threads=` is passed on."""
        frame = pl.DataFrame({"url": ["/private/"] * 3})
        frame.select(robots(pl.col("url")).allows(RULES, threads=3))
        robots(frame["url"]).allows(RULES, threads=2)
        assert [count for _, count in threads] == [3, 2]

    def test_frames_in_many_threads(self) -> None:
        """Expressions of one rule set and one corpus, collected by ten threads at once."""
        frame = pl.LazyFrame({"url": URLS * 1000}).select(
            decision=robots(pl.col("url")).decide(RULES),
            check=robots(pl.col("url")).check(CORPUS, "ExampleBot"),
        )
        together = threading.Barrier(10)

        def collect(number: int) -> pl.DataFrame:
            together.wait(timeout=30)
            return frame.collect(engine=ENGINES[number % 2])

        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(collect, range(10)))
        assert all(result.equals(results[0]) for result in results)
        assert results[0]["decision"].to_list() == decision_rows() * 1000


# A URL without an origin has no access.
ACCESSES = ["success", None, None, None, "unreachable", None, "unavailable", None, "missing"]


class TestCorpus:
    """`check` gives the columns of `Corpus.check()` as a struct."""

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("missing", [None, "allow", "disallow"])
    def test_the_answers_of_the_corpus(self, engine: Engine, missing: str | None) -> None:
        """The same answers, with a null where the URL is."""
        check = robots(pl.col("url")).check(CORPUS, "ExampleBot", missing=missing)
        frame = pl.LazyFrame({"url": URLS}).select(check)
        result = frame.collect(engine=engine)
        assert result.schema == {"url": CHECK} == frame.collect_schema()
        table = CORPUS.check(
            pa.table({"url": URLS}), product_tokens="ExampleBot", missing=missing
        ).drop_columns("url")
        expected = [
            None if url is None else row for url, row in zip(URLS, table.to_pylist(), strict=True)
        ]
        assert result["url"].to_list() == expected
        assert [row and row["access"] for row in result["url"].to_list()] == ACCESSES

    def test_times(self) -> None:
        """With `at=`: a column, an expression, a time for all rows."""
        corpus = Corpus.from_table(
            pa.table(
                {
                    "origin": ["https://example.com"] * 2,
                    "status": [200, 200],
                    "body": ["User-agent: *\nDisallow: /", ""],
                    "fetched_at": [
                        datetime(2024, 1, 1, tzinfo=UTC),
                        datetime(2025, 1, 1, tzinfo=UTC),
                    ],
                }
            )
        )
        days = [datetime(2024, 1, 1, 6, tzinfo=UTC), datetime(2025, 1, 1, 6, tzinfo=UTC)]
        frame = pl.DataFrame({"url": ["https://example.com/a"] * 2, "day": days})
        for at in ("day", pl.col("day"), pl.col("day").dt.offset_by("1h")):
            check = robots(pl.col("url")).check(corpus, "ExampleBot", at=at)
            result = frame.select(check)
            assert result.schema == {"url": CHECK_AT}
            assert result["url"].struct.field("allowed").to_list() == [False, True]
            assert result["url"].struct.field("in_force").to_list() == [True, True]
        once = frame.select(robots(pl.col("url")).check(corpus, "ExampleBot", at=days[0]))
        assert once["url"].struct.field("allowed").to_list() == [False, False]
        series = robots(frame["url"])
        assert series.check(corpus, "a", at=frame["day"]).struct.field("allowed").to_list() == [
            False,
            True,
        ]
        assert series.check(corpus, "a", at=days[1]).struct.field("allowed").to_list() == [True] * 2
        assert frame.clear().select(check)["url"].dtype == CHECK_AT

    def test_several_names_of_one_crawler(self) -> None:
        """A list of names is one crawler, as in `rules_for()`."""
        corpus = Corpus.from_mapping({"https://example.com": "User-agent: b\nDisallow: /"})
        series = pl.Series(["https://example.com/"])
        assert robots(series).check(corpus, ["a", "b"]).struct.field("allowed").to_list() == [False]

    def test_misuse_raises_when_the_expression_is_made(self) -> None:
        """Wrong arguments do not wait for the data."""
        namespace = robots(pl.col("url"))
        with pytest.raises(robotrules.ProductTokenError, match="pass 'a'"):
            namespace.check(CORPUS, "a b")
        with pytest.raises(ValueError, match="missing is 'maybe'"):
            namespace.check(CORPUS, "a", missing="maybe")
        with pytest.raises(TypeError, match=r"corpus is dict: pass a robotrules\.bulk\.Corpus"):
            namespace.check({}, "a")
        with pytest.raises(ValueError, match="max_age needs at="):
            namespace.check(CORPUS, "a", max_age=5)


class TestSeries:
    """The methods of a series are those of an expression."""

    def test_results(self) -> None:
        """The same answers; the name is kept."""
        series = pl.Series("url", URLS)
        assert robots(series).allows(RULES).to_list() == allowed_rows()
        assert robots(series).decide(RULES).to_list() == decision_rows()
        assert robots(series).origin()[0] == "https://example.com"
        checked = robots(series).check(CORPUS, "ExampleBot")
        assert checked.struct.field("access").to_list() == ACCESSES
        for result in (robots(series).allows(RULES), robots(series).decide(RULES), checked):
            assert result.name == "url"

    def test_types(self) -> None:
        """Reasons and access are enums: frames can be concatenated."""
        series = pl.Series("url", URLS)
        decided = robots(series).decide(RULES)
        assert decided.struct.field("reason").dtype == REASON
        assert {str(reason) for reason in robotrules.Reason} < set(REASON.categories)
        checked = robots(series).check(CORPUS, "ExampleBot")
        assert checked.struct.field("access").dtype == ACCESS
        reasons = [column.struct.field("reason") for column in (decided, checked)]
        assert pl.concat(reasons).dtype == REASON


class TestMisuse:
    """Wrong arguments and columns."""

    @pytest.mark.parametrize("method", ["allows", "decide"])
    def test_rules(self, method: str) -> None:
        """A file or a text is not a rule set."""
        for column in (pl.col("url"), pl.Series("url", URLS)):
            for wrong in (robotrules.parse(BODY), BODY, None):
                with pytest.raises(TypeError, match=r"pass robotrules\.parse\(body\)\.rules_for"):
                    getattr(robots(column), method)(wrong)

    @pytest.mark.parametrize("method", ["allows", "decide", "origin"])
    def test_threads(self, method: str) -> None:
        """Wrong numbers of threads."""
        arguments = () if method == "origin" else (RULES,)
        for column in (pl.col("url"), pl.Series("url", URLS)):
            with pytest.raises(ValueError, match="threads is -1"):
                getattr(robots(column), method)(*arguments, threads=-1)

    def test_columns_of_other_types(self) -> None:
        """The error of Polars says which column."""
        frame = pl.DataFrame({"url": [1]})
        for expr in (robots(pl.col("url")).allows(RULES), robots(pl.col("url")).origin()):
            with pytest.raises(Exception, match="a column of URLs has the type string"):
                frame.select(expr)

    def test_functions_can_be_pickled(self) -> None:
        """Plans are pickled to run elsewhere: the functions of the expressions can be."""
        from functools import partial

        function = pickle.loads(pickle.dumps(partial(namespace._decide, rules=RULES, threads=1)))
        assert function(pl.Series(URLS)).to_list() == decision_rows()

    def test_without_polars(self) -> None:
        """The error says what to install."""
        code = "import sys; sys.modules['polars'] = None\nimport robotrules.bulk.polars"
        source = str(Path(robotrules.__file__).parents[1])
        result = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{code}"],
            capture_output=True,
            text=True,
        )
        assert "pip install 'robotrules[polars]'" in result.stderr
