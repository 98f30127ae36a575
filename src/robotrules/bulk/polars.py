"""
Polars: the namespace `robots` of expressions and series, registered when this module is imported.

    import robotrules.bulk.polars
    frame.filter(pl.col("url").robots.allows(rules))

All expressions are elementwise: they run in the streaming engine, filters and projections move past
them, and they can be used in `group_by` and `over`. The results have the type that is declared, in
an empty frame too, and the name of the input. Null stays null.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from robotrules._engine import engine
from robotrules.errors import MissingExtraError
from robotrules.http.origins import origin_of
from robotrules.robotstxt.ruleset import REASON_LABELS, RuleSet, validate_threads

try:
    import polars as pl
except ImportError:
    raise MissingExtraError("polars is not installed: pip install 'robotrules[polars]'") from None

__all__ = ["ACCESS", "CHECK", "DECISION", "REASON", "RobotsExpr", "RobotsSeries"]

# An Enum and not a Categorical: all batches and all frames have the same codes.
REASON = pl.Enum([*(label for label, _ in REASON_LABELS), "missing"])
"""The type of reasons: the values of `Reason`, and `missing` for an origin without a file."""
ACCESS = pl.Enum(["success", "unavailable", "unreachable", "missing"])
"""The type of `access` in the result of `check()`."""
DECISION = pl.Struct({"allowed": pl.Boolean, "reason": REASON, "line": pl.UInt32})
"""The type of the result of `decide()`."""
CHECK = pl.Struct([*DECISION.fields, pl.Field("rule", pl.String), pl.Field("access", ACCESS)])
"""The type of the result of `check()`."""

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
    column = engine.origins_column(series, _choose_threads(series, threads), origin_of)
    return pl.Series(column).cast(pl.String).alias(series.name)


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
