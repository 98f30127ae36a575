"""Columns of URLs: `allows_arrow` and `decide_arrow` with data of all libraries and layouts."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import arro3.core
import duckdb
import nanoarrow
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import pytest

import robotrules
from robotrules import RobotsTxt, RuleSet
from tests.bulk.column_layouts import BINARY_LAYOUTS, TEXT_LAYOUTS, Values, make_array

Read = Callable[..., RobotsTxt]

BODY = """
User-agent: *
Disallow: /private/
Allow: /private/open$
Disallow: /*.pdf$
Disallow: /é/
Disallow: /new line
Disallow: /%00
Allow:
"""
TEXTS: Values = [
    *(b"https://example.com/private/a", None, b"/private/open", b"/private/open/", b""),
    *("https://example.com/é/1".encode(), b"/%C3%A9/1", "https://пример.рф/é/".encode(), b"a" * 13),
    *(b"/new line", b"/new\nline", b"/\x00", b"/a\x00.pdf", b"/a.pdf", b"/a.pdf?", b"\n", None),
    *(b"https://example.com", b"mailto:a@example.com", b"/", b"twelve bytes", b"//x/private/"),
]
OCTETS: Values = [*TEXTS, b"/\xff\xfe", b"/\xc3/\xa9.pdf", b"\xff", b"/private/\x80"]
DECISION_TYPE = pa.struct(
    {
        "allowed": pa.bool_(),
        "reason": pa.dictionary(pa.int8(), pa.string()),
        "line": pa.uint32(),
    }
)


@pytest.fixture
def rules(read: Read) -> RuleSet:
    """The rules of the file above, in each engine."""
    return read(BODY).rules_for("ExampleBot")


def check_answers(rules: RuleSet, make: Callable[[], Any], urls: Values, threads: int = 0) -> None:
    """Compare the columns of results with the verdicts on single URLs."""
    allowed = pa.array(rules.allows_arrow(make(), threads=threads))
    allowed.validate(full=True)
    assert allowed.type == pa.bool_()
    assert allowed.to_pylist() == [None if url is None else rules.allows(url) for url in urls]
    decisions = pa.array(rules.decide_arrow(make(), threads=threads))
    decisions.validate(full=True)
    assert decisions.type == DECISION_TYPE
    verdicts = [None if url is None else rules.check(url) for url in urls]
    assert decisions.to_pylist() == [
        None
        if verdict is None
        else {"allowed": verdict.allowed, "reason": str(verdict.reason), "line": verdict.line}
        for verdict in verdicts
    ]


class TestLayouts:
    """The results are those of `allows` and `check`, whatever library and layout the data has."""

    @pytest.mark.parametrize("layout", TEXT_LAYOUTS)
    def test_text(self, rules: RuleSet, layout: str) -> None:
        """Text: IRIs, empty strings, control characters; short and long."""
        check_answers(rules, lambda: TEXT_LAYOUTS[layout](TEXTS), TEXTS)

    @pytest.mark.parametrize("layout", BINARY_LAYOUTS)
    def test_octets(self, rules: RuleSet, layout: str) -> None:
        """Octets that are not UTF-8."""
        check_answers(rules, lambda: BINARY_LAYOUTS[layout](OCTETS), OCTETS)

    @pytest.mark.parametrize("layout", TEXT_LAYOUTS | BINARY_LAYOUTS)
    def test_extremes(self, rules: RuleSet, layout: str) -> None:
        """No rows, only nulls, one row."""
        make = (TEXT_LAYOUTS | BINARY_LAYOUTS)[layout]
        samples: list[Values] = [[], [None], [None] * 70, [b"/private/"]]
        for urls in samples:
            if layout == "duckdb" and not urls:
                continue  # a relation without rows has no batch; see below
            check_answers(rules, lambda urls=urls: make(urls), urls)  # type: ignore[misc]

    def test_the_null_type(self, rules: RuleSet) -> None:
        """A column without a type has only nulls."""
        check_answers(rules, lambda: pa.nulls(9), [None] * 9)
        check_answers(rules, lambda: pa.nulls(0), [])
        check_answers(rules, lambda: pl.Series([None, None]), [None, None])
        nulls = pa.DictionaryArray.from_arrays(pa.array([0, None]), pa.nulls(1))
        check_answers(rules, lambda: nulls, [None, None])

    def test_streams_without_chunks(self, rules: RuleSet) -> None:
        """An empty stream has an empty result."""
        check_answers(rules, lambda: pa.chunked_array([], pa.string()), [])
        check_answers(rules, lambda: duckdb.sql("select 'a' where false"), [])

    def test_nulls_with_a_value_behind_them(self, rules: RuleSet) -> None:
        """What a null hides is not read."""
        offsets, data = pa.array([0, 9, 18], pa.int32()).buffers()[1], b"/private//private/"
        buffers = [pa.py_buffer(b"\x02"), offsets, pa.py_buffer(data)]
        hidden = pa.Array.from_buffers(pa.string(), 2, buffers)
        check_answers(rules, lambda: hidden, [None, b"/private/"])

    def test_extension_types(self, rules: RuleSet) -> None:
        """The storage of an extension type is read, if it is text."""
        json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["/private/a", None]))
        check_answers(rules, lambda: json, [b"/private/a", None])

    def test_a_long_url(self, native: object) -> None:
        """URLs of 2 MB, beside short ones."""
        rules = robotrules.parse(BODY).rules_for("x")
        long: Values = [b"/private/" + b"x" * 2**21, b"/", b"/" + b"y" * 2**21 + b".pdf", None]
        for kind in (pa.string(), pa.string_view(), pa.large_binary()):
            column = make_array(long, kind)
            check_answers(rules, lambda column=column: column, long)  # type: ignore[misc]

    @pytest.mark.slow
    def test_a_long_url_in_both_engines(self, rules: RuleSet) -> None:
        """A URL of 2 MB, which takes the pure engine some seconds."""
        long: Values = [b"/private/" + b"x" * 2**21]
        check_answers(rules, lambda: make_array(long, pa.string()), long)

    def test_dictionaries_with_indices_out_of_range(self, native: object) -> None:
        """A wrong index, which Arrow does not permit, is a null in the native engine."""
        rules = robotrules.parse(BODY).rules_for("x")
        wrong = pa.DictionaryArray.from_arrays(
            pa.array([5, -1, 0]), pa.array(["/private/a"]), safe=False
        )
        assert pa.array(rules.allows_arrow(wrong)).to_pylist() == [None, None, False]


class TestThreads:
    """Any number of threads gives the same result."""

    @pytest.mark.parametrize("threads", [1, 2, 8])
    def test_numbers_of_threads(self, native: object, threads: int) -> None:
        """A column that is large enough for several threads, in one chunk and in several."""
        rules = robotrules.parse(BODY).rules_for("x")
        urls = (OCTETS * (140_000 // len(OCTETS)))[:-1]
        array = make_array(urls, pa.binary())
        expected = {url: None if url is None else rules.allows(url) for url in OCTETS}
        answers = [expected[url] for url in urls]
        assert pa.array(rules.allows_arrow(array, threads=threads)).to_pylist() == answers
        chunks = pa.chunked_array([array[:70_001], array[70_001:]])
        assert pa.array(rules.allows_arrow(chunks, threads=threads)).to_pylist() == answers
        decisions = pa.array(rules.decide_arrow(chunks, threads=threads))
        assert decisions.equals(pa.array(rules.decide_arrow(array, threads=1)))

    @pytest.mark.parametrize("threads", [1, 2, 8])
    def test_the_pure_engine_ignores_it(self, rules: RuleSet, threads: int) -> None:
        """`threads` has no effect on the result."""
        check_answers(rules, lambda: make_array(OCTETS, pa.binary()), OCTETS, threads)

    def test_ten_threads_at_once(self, rules: RuleSet) -> None:
        """Threads share a rule set, which none of them has compiled yet, and a column."""
        column = make_array(OCTETS * 20, pa.binary())
        together = threading.Barrier(10)

        def decide(_: int) -> Any:
            together.wait(timeout=30)
            return pa.array(rules.decide_arrow(column, threads=2))

        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(decide, range(10)))
        assert all(result.equals(results[0]) for result in results)
        check_answers(rules, lambda: column, OCTETS * 20)


class TestResults:
    """A result is an Arrow column for any library."""

    def test_it_can_be_imported_several_times(self, rules: RuleSet) -> None:
        """Each import shares the data, which lives as long as one of them."""
        result = rules.decide_arrow(make_array(TEXTS, pa.string()))
        assert len(result) == len(TEXTS)
        first, second = pa.array(result), pa.array(result)
        rows = first.to_pylist()
        del result, first
        gc.collect()
        assert second.to_pylist() == rows

    def test_all_libraries_read_it(self, rules: RuleSet) -> None:
        """pyarrow, Polars, DuckDB, arro3 and nanoarrow."""
        result = rules.decide_arrow(make_array(TEXTS, pa.string()))
        rows = pa.array(result).to_pylist()
        assert pl.Series(result).to_list() == rows
        assert pa.array(arro3.core.Array.from_arrow(result)).to_pylist() == rows
        assert nanoarrow.Array(result).to_pylist() == rows
        table = pa.table({"decision": pa.array(result)})
        assert [row[0] for row in duckdb.from_arrow(table).fetchall()] == rows
        allowed = rules.allows_arrow(make_array(TEXTS, pa.string()))
        assert pl.Series(allowed).to_list() == [row and row["allowed"] for row in rows]

    def test_a_result_is_not_tied_to_its_input(self, rules: RuleSet) -> None:
        """The input can be freed."""
        column = make_array(TEXTS, pa.string())
        rows = pa.array(rules.allows_arrow(column)).to_pylist()
        result = rules.allows_arrow(column)
        del column
        gc.collect()
        assert pa.array(result).to_pylist() == rows

    def test_what_a_result_is_in_python(self, native: object) -> None:
        """A result has a length, a schema and a short representation."""
        result = robotrules.parse(BODY).rules_for("x").allows_arrow(pa.array(["/", None]))
        assert repr(result) == "<ArrowColumn: 2 values, 1 null>"
        assert pa.field(result).type == pa.bool_()


class TestMemory:
    """Nothing is kept after a call: neither the input nor the result."""

    def test_calls_do_not_leak(self, native: object) -> None:
        """1,000 calls with results of 20 kB: the process does not grow by more than 2 MB."""
        rules = robotrules.parse(BODY).rules_for("x")
        urls = (OCTETS * 400)[:8192]
        column = make_array(urls, pa.binary_view())
        chunks = pa.chunked_array([column, column])
        series = pl.Series(urls, dtype=pl.Binary)

        def call_often(times: int) -> None:
            for _ in range(times):
                pa.array(rules.allows_arrow(column, threads=1))
                rules.decide_arrow(chunks, threads=1)  # not taken
                pl.Series(rules.decide_arrow(series, threads=1))
                rules.allows_arrow(column).__arrow_c_array__()  # capsules that nobody takes
                with pytest.raises(TypeError):
                    rules.allows_arrow(pa.array([1]))

        call_often(50)
        before, allocated = resident_bytes(), pa.total_allocated_bytes()
        tracemalloc.start()
        try:
            call_often(250)
            gc.collect()
            traced, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # All results that were made have 60 MB.
        assert traced < 500_000
        assert pa.total_allocated_bytes() <= allocated
        assert resident_bytes() - before < 12_000_000

    def test_the_input_is_released(self, native: object) -> None:
        """A buffer of Python is freed after the call."""
        rules = robotrules.parse(BODY).rules_for("x")
        data = bytearray(b"/private/")
        offsets = pa.array([0, 9], pa.int32()).buffers()[1]
        column = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])
        assert pa.array(rules.allows_arrow(column)).to_pylist() == [False]
        with pytest.raises(BufferError):
            data.append(0)
        del column
        data.append(0)  # a bytearray can grow only if no buffer refers to it


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        pytest.skip("this system has no /proc/self/statm")
    return int(pages.read_text(encoding="utf-8").split()[1]) * 4096


class Exporter:
    """An object with any result of `__arrow_c_array__`."""

    def __init__(self, result: object) -> None:
        self.result = result

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        """Return the result, or raise it."""
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


NOT_TEXT: dict[str, Any] = {
    "int": pa.array([1]),
    "bool": pa.array([True]),
    "decimal": pa.array([1]).cast(pa.decimal128(20)),
    "fixed_size_binary": pa.array([b"ab"], pa.binary(2)),
    "uuid": pa.array([b"a" * 16], pa.uuid()),
    "list": pa.array([["/a"]]),
    "map": pa.array([[("/a", "/b")]], pa.map_(pa.string(), pa.string())),
    "timestamp": pa.array([0], pa.timestamp("s")),
    "run-end encoded": pa.RunEndEncodedArray.from_arrays([1, 5], ["/a", "/b"]),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array(["/a"])]),
    "dictionary of int": pa.array([1]).dictionary_encode(),
    "chunks of int": pa.chunked_array([], pa.int8()),
    "polars list": pl.Series([["/a"]]),
}


class TestMisuse:
    """What is not a column of URLs is an error that says what to pass."""

    @pytest.mark.parametrize("kind", NOT_TEXT)
    def test_other_types(self, rules: RuleSet, kind: str) -> None:
        """Columns of other types."""
        for function in (rules.allows_arrow, rules.decide_arrow):
            with pytest.raises(
                TypeError, match=r"a column of URLs has the type string, .* cast it"
            ):
                function(NOT_TEXT[kind])

    @pytest.mark.parametrize("wrong", [["/a"], "/a", b"/a", None, 5, pl.LazyFrame({"u": ["/a"]})])
    def test_other_objects(self, rules: RuleSet, wrong: object) -> None:
        """Objects without the protocol."""
        with pytest.raises(TypeError, match=r"is not an Arrow column: pass an object with __arrow"):
            rules.allows_arrow(wrong)

    def test_tables(self, rules: RuleSet) -> None:
        """A table has to have one column, and structs must not be null."""
        urls = pa.array(["/a", "/b"])
        two = pa.table({"url": urls, "other": urls})
        for table in (two, two.to_batches()[0], pl.DataFrame(two), two.to_struct_array()):
            with pytest.raises(TypeError, match=r"columns \[.url., .other.\]: pass one of them"):
                rules.allows_arrow(table)
        with pytest.raises(TypeError, match=r"columns \[\]: pass one of them"):
            rules.allows_arrow(pa.record_batch([], []))
        mask = pa.array([True, False])
        nulls = pa.StructArray.from_arrays([urls], ["url"], mask=mask)
        for structs in (nulls, nulls[:1], pa.chunked_array([nulls])):
            with pytest.raises(ValueError, match=r"null rows: pass its column"):
                rules.allows_arrow(structs)

    @pytest.mark.parametrize(
        ("threads", "error"),
        [(-1, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError)],
    )
    def test_threads(self, rules: RuleSet, threads: Any, error: type[Exception]) -> None:
        """`threads` is a number from 0 on; large numbers are limited."""
        for function in (rules.allows_arrow, rules.decide_arrow):
            with pytest.raises(error, match="threads is"):
                function(pa.array(["/a"]), threads=threads)
        assert len(rules.allows_arrow(pa.array(["/a"]), threads=10**30)) == 1

    def test_a_used_capsule(self, native: object) -> None:
        """Capsules are moved: the second use is an error."""
        rules = robotrules.parse(BODY).rules_for("x")
        capsules = pa.array(["/private/"]).__arrow_c_array__()
        assert pa.array(rules.allows_arrow(Exporter(capsules))).to_pylist() == [False]
        with pytest.raises(ValueError, match="used before: pass a new one"):
            rules.allows_arrow(Exporter(capsules))
        _, array = pa.array(["/private/"]).__arrow_c_array__()
        with pytest.raises(ValueError, match="used before"):
            rules.allows_arrow(Exporter((capsules[0], array)))

    def test_wrong_capsules(self, native: object) -> None:
        """Objects that are not capsules, or not those of an array, in any combination."""
        rules = robotrules.parse(BODY).rules_for("x")
        text, number = pa.array(["/a"]), pa.array([1])
        for result in (None, (), (1, 2), text.__arrow_c_array__()[::-1], (None, None), "ab"):
            with pytest.raises((TypeError, ValueError)):
                rules.allows_arrow(Exporter(result))
        # The schema of one column with the data of another: fewer buffers than it needs.
        mixed = (text.__arrow_c_array__()[0], number.__arrow_c_array__()[1])
        with pytest.raises(ValueError, match="fewer buffers"):
            rules.allows_arrow(Exporter(mixed))
        encoded = (text.dictionary_encode().__arrow_c_array__()[0], text.__arrow_c_array__()[1])
        with pytest.raises(ValueError, match="no dictionary"):
            rules.allows_arrow(Exporter(encoded))

    def test_errors_of_the_producer(self, rules: RuleSet) -> None:
        """An exception of the exporter, and an error in the middle of a stream."""
        with pytest.raises(KeyError, match="gone"):
            rules.allows_arrow(Exporter(KeyError("gone")))
        batch = pa.record_batch([pa.array(["/a"])], ["u"])

        def read_batches() -> Any:
            yield batch
            raise RuntimeError("the disk is gone")

        reader = pa.RecordBatchReader.from_batches(batch.schema, read_batches())
        with pytest.raises(Exception, match="the disk is gone"):
            rules.allows_arrow(reader)


# Reads a dataset of a file system that is written in Python: its threads need the GIL.
STREAM = """
import sys, pyarrow as pa, pyarrow.dataset, pyarrow.fs, robotrules

local = pa.fs.LocalFileSystem()

class Handler(pa.fs.FileSystemHandler):
    def get_type_name(self): return "python"
    def normalize_path(self, path): return path
    def get_file_info(self, paths): return local.get_file_info(paths)
    def get_file_info_selector(self, selector): return local.get_file_info(selector)
    def open_input_file(self, path): return pa.PythonFile(open(path, "rb"), mode="r")
    open_input_stream = open_input_file
    def _not_used(self, *_): raise NotImplementedError
    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _not_used
    delete_file = move = copy_file = open_output_stream = open_append_stream = _not_used

files = pa.fs.PyFileSystem(Handler())
reader = pa.dataset.dataset(sys.argv[1], filesystem=files).scanner(columns=["u"]).to_reader()
rules = robotrules.parse("User-agent: *\\nDisallow: /private/").rules_for("x")
print(sum(allowed is False for allowed in pa.array(rules.allows_arrow(reader)).to_pylist()))
"""


def test_a_stream_whose_threads_need_the_interpreter(native: object, tmp_path: Path) -> None:
    """Streams are read without the GIL: otherwise this producer and the kernel wait for ever."""
    table = pa.table({"u": [f"/private/{number}" for number in range(50_000)]})
    path = tmp_path / "urls.parquet"
    pa.parquet.write_table(table, path, row_group_size=1000)
    source = str(Path(robotrules.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {source!r})\n{STREAM}"
    result = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    assert (result.stdout, result.returncode) == ("50000\n", 0), result.stderr
