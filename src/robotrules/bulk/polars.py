"""
Polars: the namespace `robots` of expressions and series, registered when this module is imported.

    import robotrules.bulk.polars
    frame.filter(pl.col("url").robots.allows(rules))

All expressions are elementwise: they run in the streaming engine, filters and projections move past
them, and they can be used in `group_by` and `over`. The results have the type that is declared, in
an empty frame too, and the name of the input. Null stays null.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from robotrules.bulk.origin_columns import origins
from robotrules.errors import MissingExtraError
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import REASON_LABELS, RuleSet, validate_threads

try:
    import polars as pl
except ImportError:
    raise MissingExtraError("polars is not installed: pip install 'robotrules[polars]'") from None

if TYPE_CHECKING:
    from robotrules.bulk.corpus import Corpus

__all__ = ["ACCESS", "CHECK", "CHECK_AT", "DECISION", "REASON", "RobotsExpr", "RobotsSeries"]

# An Enum and not a Categorical: all batches and all frames have the same codes.
REASON = pl.Enum([*(label for label, _ in REASON_LABELS), "missing"])
"""The type of reasons: the values of `Reason`, and `missing` for an origin without a file."""
ACCESS = pl.Enum(["success", "unavailable", "unreachable", "missing"])
"""The type of `access` in the result of `check()`."""
DECISION = pl.Struct({"allowed": pl.Boolean, "reason": REASON, "line": pl.UInt32})
"""The type of the result of `decide()`."""
CHECK = pl.Struct([*DECISION.fields, pl.Field("rule", pl.String), pl.Field("access", ACCESS)])
"""The type of the result of `check()`."""
CHECK_AT = pl.Struct(
    [
        *CHECK.fields,
        pl.Field("fetched_at", pl.Datetime("us", "UTC")),
        pl.Field("in_force", pl.Boolean),
    ]
)
"""The type of the result of `check()` with times."""

# The streaming engine runs batches of about 100,000 rows in parallel, so that each gets one thread.
# The in-memory engine passes whole columns, for which the kernel starts threads.
_MAX_ROWS_OF_A_BATCH = 200_000


def _choose_threads(series: pl.Series, threads: int | None) -> int:
    if threads is not None:
        return threads
    return 1 if len(series) <= _MAX_ROWS_OF_A_BATCH else 0


# Functions of the module and not closures, so that a plan can be pickled.


def _allows(series: pl.Series, *, rules: RuleSet, threads: int | None) -> pl.Series:
    column = rules.allows_arrow(series, threads=_choose_threads(series, threads))
    return pl.Series(column).alias(series.name)


def _decide(series: pl.Series, *, rules: RuleSet, threads: int | None) -> pl.Series:
    column = rules.decide_arrow(series, threads=_choose_threads(series, threads))
    return pl.Series(column).cast(DECISION).alias(series.name)


def _origin(series: pl.Series, *, threads: int | None) -> pl.Series:
    column = origins(series, threads=_choose_threads(series, threads))
    return pl.Series(column).cast(pl.String).alias(series.name)


def _check(
    columns: Sequence[pl.Series], *, corpus: Corpus, options: dict[str, Any], threads: int | None
) -> pl.Series:
    from robotrules.bulk.arrow_support import pa

    urls = columns[0]
    table, dtype = {"url": urls.to_arrow()}, CHECK
    if len(columns) > 1:
        # One time for all rows is a column of one row.
        same = len(columns[1]) == len(urls)
        times = columns[1] if same else columns[1].new_from_index(0, len(urls))
        table["at"], dtype = times.to_arrow(), CHECK_AT
        options = {**options, "at": "at"}
    answer = corpus.check(pa.table(table), threads=_choose_threads(urls, threads), **options)
    frame = pl.DataFrame(answer.select([field.name for field in dtype.fields]))
    structs = pl.when(urls.is_not_null()).then(pl.struct(pl.all()))
    return frame.select(structs.alias(urls.name)).to_series().cast(dtype)


def _make_check(
    corpus: Corpus, options: dict[str, Any], has_times: bool, threads: int | None
) -> partial[pl.Series]:
    """Return the function of `check()`, or raise for wrong arguments."""
    from robotrules.bulk.corpus import Corpus

    if not isinstance(corpus, Corpus):
        raise TypeError(f"corpus is {type(corpus).__name__}: pass a robotrules.bulk.Corpus")
    function = partial(_check, corpus=corpus, options=options, threads=_require_threads(threads))
    empty = [pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.Datetime)]
    function(empty if has_times else empty[:1])  # checks the options
    return function


def _check_options(
    product_token: Tokens,
    purposes: Sequence[str],
    missing: str | None,
    max_age: float | timedelta | None,
) -> dict[str, Any]:
    return {
        # A mapping of one: several names are those of one crawler.
        "product_tokens": {"crawler": product_token},
        "purposes": purposes,
        "missing": missing,
        "max_age": max_age,
    }


def _as_expr(at: pl.Expr | datetime) -> pl.Expr:
    return at if isinstance(at, pl.Expr) else pl.lit(at)


def _require_rules(rules: object) -> RuleSet:
    if isinstance(rules, RuleSet):
        return rules
    raise TypeError(
        f"rules are a RuleSet, not {type(rules).__name__}: "
        "pass robotrules.parse(body).rules_for('ExampleBot')"
    )


def _require_threads(threads: int | None) -> int | None:
    return None if threads is None else validate_threads(threads)


@pl.api.register_expr_namespace("robots")
class RobotsExpr:
    """
    The namespace `robots` of an expression of URLs.

    The URLs are of type String, Binary, Categorical or Enum. *threads* is the number of threads
    for one batch, 0 for one per core; by default, a batch of the streaming engine gets one, since
    Polars runs batches in parallel, and a whole column gets one per core.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def _map(self, function: Any, return_dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
        return self._expr.map_batches(function, return_dtype=return_dtype, is_elementwise=True)

    def allows(self, rules: RuleSet, *, threads: int | None = None) -> pl.Expr:
        """Tell whether *rules* allow each URL, as Boolean."""
        rules, threads = _require_rules(rules), _require_threads(threads)
        return self._map(partial(_allows, rules=rules, threads=threads), pl.Boolean)

    def decide(self, rules: RuleSet, *, threads: int | None = None) -> pl.Expr:
        """Decide each URL, as a struct of `allowed`, `reason` and `line` (type `DECISION`)."""
        rules, threads = _require_rules(rules), _require_threads(threads)
        return self._map(partial(_decide, rules=rules, threads=threads), DECISION)

    def origin(self, *, threads: int | None = None) -> pl.Expr:
        """Return the origin of each URL, such as `https://example.com`; null if it has none."""
        return self._map(partial(_origin, threads=_require_threads(threads)), pl.String)

    def check(
        self,
        corpus: Corpus,
        product_token: Tokens,
        *,
        purposes: Sequence[str] = (),
        at: pl.Expr | str | datetime | None = None,
        missing: str | None = None,
        max_age: float | timedelta | None = None,
        threads: int | None = None,
    ) -> pl.Expr:
        """
        Decide each URL by the file of its origin in *corpus*, as `Corpus.check()` does.

        The result is a struct of type `CHECK`: `allowed`, `reason`, `line`, `rule` and `access`.
        *at* is an expression of times, the name of a column, or one time for all rows: the file
        that was in force then decides, and the struct has `fetched_at` and `in_force` (type
        `CHECK_AT`).
        """
        options = _check_options(product_token, purposes, missing, max_age)
        function = _make_check(corpus, options, at is not None, threads)
        columns = [self._expr]
        if at is not None:
            columns.append(pl.col(at) if isinstance(at, str) else _as_expr(at))
        return pl.map_batches(
            columns, function, CHECK if at is None else CHECK_AT, is_elementwise=True
        )


@pl.api.register_series_namespace("robots")
class RobotsSeries:
    """The namespace `robots` of a series of URLs: the methods of `RobotsExpr`, computed at once."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def allows(self, rules: RuleSet, *, threads: int | None = None) -> pl.Series:
        """Tell whether *rules* allow each URL, as Boolean."""
        return _allows(self._series, rules=_require_rules(rules), threads=_require_threads(threads))

    def decide(self, rules: RuleSet, *, threads: int | None = None) -> pl.Series:
        """Decide each URL, as a struct of `allowed`, `reason` and `line` (type `DECISION`)."""
        return _decide(self._series, rules=_require_rules(rules), threads=_require_threads(threads))

    def origin(self, *, threads: int | None = None) -> pl.Series:
        """Return the origin of each URL, such as `https://example.com`; null if it has none."""
        return _origin(self._series, threads=_require_threads(threads))

    def check(
        self,
        corpus: Corpus,
        product_token: Tokens,
        *,
        purposes: Sequence[str] = (),
        at: pl.Series | datetime | None = None,
        missing: str | None = None,
        max_age: float | timedelta | None = None,
        threads: int | None = None,
    ) -> pl.Series:
        """Decide each URL by the file of its origin in *corpus*; *at* are times, or one time."""
        options = _check_options(product_token, purposes, missing, max_age)
        columns = [self._series]
        if at is not None:
            columns.append(at if isinstance(at, pl.Series) else pl.Series([at]))
        return _make_check(corpus, options, at is not None, threads)(columns)
