"""pandas: the ways from a Series to Arrow and back, as `docs/bulk/pandas.md` shows them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import robotrules
from robotrules.bulk import Corpus, facts, origins

BODY = "User-agent: *\nDisallow: /private/\nDisallow: /é\n"
RULES = robotrules.parse(BODY).rules_for("ExampleBot")
URLS = ["https://example.com/private/a", None, "", "https://example.com/é", "/\x00\n"]
ALLOWED = [None if url is None else RULES.allows(url) for url in URLS]
INDEX = [10, 20, 30, 40, 50]
TYPES: dict[str, Any] = {
    "object": "object",
    "string[python]": "string[python]",
    "string[pyarrow]": "string[pyarrow]",
    "category": "category",
    "ArrowDtype string": pd.ArrowDtype(pa.string()),
    "ArrowDtype large_string": pd.ArrowDtype(pa.large_string()),
    "ArrowDtype string_view": pd.ArrowDtype(pa.string_view()),
    "ArrowDtype dictionary": pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
}


def make_series(name: str) -> pd.Series:
    """Return the URLs as a Series of a type, with an index that is not a range."""
    return pd.Series(URLS, dtype=TYPES[name], index=INDEX, name="url")


class TestToArrow:
    """`pyarrow.array(series)` is the way in; for types of Arrow it copies nothing."""

    @pytest.mark.parametrize("name", TYPES)
    def test_series(self, name: str) -> None:
        """Every type of text, with nulls."""
        series = make_series(name)
        assert pa.array(RULES.allows_arrow(pa.array(series))).to_pylist() == ALLOWED
        decisions = pa.array(RULES.decide_arrow(pa.array(series))).to_pylist()
        assert [row and row["allowed"] for row in decisions] == ALLOWED

    def test_octets(self) -> None:
        """A Series of bytes, and one of Arrow's binary."""
        urls = [b"/private/\xff", None]
        for dtype in ("object", pd.ArrowDtype(pa.binary())):
            column = pa.array(pd.Series(urls, dtype=dtype))
            assert pa.array(RULES.allows_arrow(column)).to_pylist() == [False, None]

    def test_missing_values(self) -> None:
        """None, NaN and NA are null."""
        for missing in (None, float("nan"), pd.NA):
            column = pa.array(pd.Series(["/private/", missing], dtype="object"), from_pandas=True)
            assert pa.array(RULES.allows_arrow(column)).to_pylist() == [False, None]

    @pytest.mark.parametrize("name", TYPES)
    def test_a_frame_with_one_column(self, name: str) -> None:
        """A DataFrame has `__arrow_c_stream__`; another index than a range is a second column."""
        frame = make_series(name).to_frame()
        with pytest.raises(TypeError, match=r'columns \["url", "__index_level_0__"\]: pass one'):
            RULES.allows_arrow(frame)
        result = RULES.allows_arrow(frame.reset_index(drop=True))
        assert pa.array(result).to_pylist() == ALLOWED

    def test_a_series_itself(self) -> None:
        """pandas 2 has no protocol for a Series; the error says what to pass."""
        series = make_series("object")
        if hasattr(series, "__arrow_c_stream__"):
            pytest.skip("this pandas has it")
        with pytest.raises(TypeError, match=r"such as pyarrow\.array\(urls\)"):
            RULES.allows_arrow(series)


class TestFromArrow:
    """Results as a Series with the index of the input."""

    @pytest.mark.parametrize("dtype", [pd.ArrowDtype(pa.bool_()), "boolean"])
    def test_booleans(self, dtype: Any) -> None:
        """Types with NA; a filter takes NA as False."""
        frame = make_series("object").to_frame()
        result = RULES.allows_arrow(pa.array(frame["url"]))
        frame["allowed"] = pd.Series(pa.array(result), dtype=dtype, index=frame.index)
        assert [None if row is pd.NA else row for row in frame["allowed"]] == ALLOWED
        kept = frame[frame["allowed"].fillna(False)]
        assert list(kept.index) == [30, 50]

    def test_decisions(self) -> None:
        """The fields of a struct as columns."""
        frame = make_series("string[pyarrow]").to_frame()
        result = pa.array(RULES.decide_arrow(pa.array(frame["url"])))
        columns = pa.Table.from_struct_array(result).to_pandas(types_mapper=pd.ArrowDtype)
        joined = frame.join(columns.set_index(frame.index))
        assert list(joined.columns) == ["url", "allowed", "reason", "line"]
        assert joined.loc[10, "reason"] == "disallow-rule"
        assert joined.loc[10, "line"] == 2
        assert joined.loc[20, "reason"] is pd.NA

    def test_origins(self) -> None:
        """`origins()` as a Series."""
        series = make_series("object")
        found = pd.Series(pa.array(origins(pa.array(series))), dtype="string", index=series.index)
        assert found.dropna().to_dict() == {10: "https://example.com", 40: "https://example.com"}


class TestTables:
    """Corpora and facts take a DataFrame as it is."""

    def test_a_corpus(self) -> None:
        """A corpus from a DataFrame, checked with a DataFrame."""
        files = pd.DataFrame({"origin": ["https://example.com"], "status": [200], "body": [BODY]})
        corpus = Corpus.from_table(files)
        urls = pd.DataFrame({"url": URLS})
        checked = corpus.check(urls, product_tokens="ExampleBot").to_pandas()
        assert checked["allowed"].tolist()[0] is False
        assert checked["access"].tolist()[3] == "success"

    def test_facts(self) -> None:
        """Facts of a DataFrame, as a DataFrame."""
        files = pd.DataFrame({"origin": ["https://example.com"], "body": [BODY]})
        table = facts(files).to_pandas()
        assert table["disallow_rules"].tolist() == [2]
