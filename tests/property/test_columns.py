"""Columns: the answers of a column are those of its URLs, whatever the layout."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import Profile, RuleSet
from tests.bulk.column_layouts import BINARY_LAYOUTS, TEXT_LAYOUTS, Values
from tests.property import strategies

# Relations start a database each.
LAYOUTS = {**TEXT_LAYOUTS, **BINARY_LAYOUTS}
del LAYOUTS["duckdb"]


def is_utf8(octets: bytes | None) -> bool:
    """Tell whether octets can be a string of Arrow."""
    try:
        return octets is None or octets.decode() is not None
    except UnicodeDecodeError:
        return False


@st.composite
def columns(draw: st.DrawFn) -> tuple[bytes, Values, Any]:
    """Draw a file, URLs near its patterns, and a column of them in any layout."""
    body, known = draw(strategies.files())
    near = strategies.urls(st.sampled_from(known)) | st.binary(max_size=20)
    urls: Values = draw(st.lists(st.none() | near, max_size=12))
    # Rows that repeat, as in dictionaries.
    urls += draw(st.lists(st.sampled_from(urls), max_size=12)) if urls else []
    layouts = LAYOUTS if all(map(is_utf8, urls)) else BINARY_LAYOUTS
    layout = draw(st.sampled_from(sorted(layouts)))
    return body, urls, lambda: layouts[layout](urls)


class TestColumns:
    """`allows_arrow` is `allows`, and `decide_arrow` is `check`, for each row of any column."""

    @given(columns(), strategies.good_tokens, strategies.profiles(), st.sampled_from([0, 1, 2, 8]))
    def test_rows_have_the_verdicts_of_their_urls(
        self,
        engine: ModuleType,
        column: tuple[bytes, Values, Any],
        token: str,
        profile: Profile,
        threads: int,
    ) -> None:
        """Random files, URLs, profiles and layouts; null stays null."""
        body, urls, make = column
        rules: RuleSet = robotrules.parse(body, profile, engine=engine).rules_for(token)
        allowed = pa.array(rules.allows_arrow(make(), threads=threads)).to_pylist()
        assert allowed == [None if url is None else rules.allows(url) for url in urls]
        decisions = pa.array(rules.decide_arrow(make(), threads=threads))
        decisions.validate(full=True)
        for url, row in zip(urls, decisions.to_pylist(), strict=True):
            if url is None:
                assert row is None
                continue
            verdict = rules.check(url)
            assert row == {
                "allowed": verdict.allowed,
                "reason": str(verdict.reason),
                "line": verdict.line,
            }

    @given(columns(), strategies.good_tokens)
    def test_engines_agree(
        self, native: ModuleType, column: tuple[bytes, Values, Any], token: str
    ) -> None:
        """Both engines make equal columns, type and values."""
        body, _, make = column
        results = []
        for engine in (native, robotrules._engine.pure):
            rules = robotrules.parse(body, engine=engine).rules_for(token)
            results.append(pa.array(rules.decide_arrow(make())))
        assert results[0].type == results[1].type
        assert results[0].to_pylist() == results[1].to_pylist()
