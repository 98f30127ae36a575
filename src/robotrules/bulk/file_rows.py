"""
Rows with a file each: columns of (robots.txt, URL, product token), decided row by row.

For engines whose functions get columns, such as DuckDB's. A file that many rows have is parsed
once: each batch is grouped by content, and parsed files are cached by content, up to a number of
bytes. For URLs of many origins, `Corpus` is faster: its files do not travel with the URLs.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from robotrules._engine import engine as default_engine
from robotrules.bulk.arrow_support import pa, pc
from robotrules.bulk.corpus import Corpus
from robotrules.profile import Profile, find_profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.ruleset import REASON_LABELS

__all__ = ["FileCache", "FileRows", "check_corpus"]

DEFAULT_CACHE_BYTES = 64 * 2**20
# What a parsed file takes beside its text.
_OVERHEAD = 2048
_LABELS = (*REASON_LABELS, ("missing", None))
CORPUS_ANSWER = pa.struct(
    {
        "allowed": pa.bool_(),
        "reason": pa.string(),
        "line": pa.uint32(),
        "rule": pa.string(),
        "access": pa.string(),
    }
)
_TEXT_TYPES = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
)


class FileCache:
    """Parsed files by content; the least recently used are dropped. Threads can share it."""

    def __init__(
        self,
        profile: str | Profile = "default",
        max_bytes: int = DEFAULT_CACHE_BYTES,
        engine: Any = None,
    ) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes!r}: pass a number of bytes, or 0 for none")
        self._profile, self._max_bytes = find_profile(profile), max_bytes
        self.engine = engine or default_engine
        self._files: OrderedDict[bytes, RobotsTxt] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The bytes of the cached files, with an estimate of what they take when parsed."""
        return self._size

    def __len__(self) -> int:
        return len(self._files)

    def parse(self, body: bytes) -> RobotsTxt:
        """Return the parsed file, from the cache if it is there."""
        with self._lock:
            robots = self._files.get(body)
            if robots is not None:
                self._files.move_to_end(body)
                return robots
        # Without the lock: two threads may parse the same file, which is harmless.
        robots = parse(body, self._profile, engine=self.engine)
        with self._lock:
            if body not in self._files:
                self._files[body] = robots
                self._size += _estimate_size(body)
                while self._size > self._max_bytes:
                    dropped, _ = self._files.popitem(last=False)
                    self._size -= _estimate_size(dropped)
        return robots


def _estimate_size(body: bytes) -> int:
    return 4 * len(body) + _OVERHEAD


class FileRows:
    """Decides columns of files, URLs and product tokens."""

    def __init__(self, cache: FileCache) -> None:
        self._cache = cache

    def check(self, bodies: Any, urls: Any, tokens: Any) -> Any:
        """
        Return a struct of `allowed`, `reason`, `line` and `rule` for each row.

        The columns are pyarrow arrays, of text or octets. A row is null if its body, its URL or its
        token is. An invalid product token raises `ProductTokenError`.
        """
        files = _encode(bodies, "robots.txt files")
        names = _encode(tokens, "product tokens")
        pairs, states = _number_pairs(files, names)
        table = self._cache.engine.RuleTable(_LABELS)
        texts = files.dictionary.cast(pa.large_binary())
        crawlers = [_to_text(name) for name in names.dictionary.to_pylist()]
        parsed: dict[int, RobotsTxt] = {}
        for state, (file, name) in enumerate(pairs):
            if file not in parsed:
                parsed[file] = self._cache.parse(texts[file].as_py())
            table.set(state, parsed[file].rules_for(crawlers[name]), 0)
        return pa.array(table.decide(_require_text(urls, "URLs"), states, 1))


def check_corpus(corpus: Corpus, urls: Any, tokens: Any, missing: str | None) -> Any:
    """
    Return a struct of the columns of `Corpus.check()` for each row of URLs and product tokens.

    A row is null if its URL or its token is. An invalid product token raises `ProductTokenError`.
    """
    urls, names = _join_chunks(_require_text(urls, "URLs")), _encode(tokens, "product tokens")
    if len(names.dictionary) == 1 and not names.null_count:
        return _check_corpus(corpus, urls, names.dictionary[0].as_py(), missing)
    parts, places = [pa.nulls(0, CORPUS_ANSWER)], [pa.array([], pa.uint64())]
    for number, name in enumerate(names.dictionary.to_pylist()):
        is_here = pc.fill_null(pc.equal(names.indices, number), False)
        places.append(pc.indices_nonzero(is_here))
        parts.append(_check_corpus(corpus, urls.filter(is_here), name, missing))
    # Each row at its place; a row without a token has none, and is null.
    rows = pa.array(range(len(urls)), pa.uint64())
    return pa.concat_arrays(parts).take(pc.index_in(rows, value_set=pa.concat_arrays(places)))


def _check_corpus(corpus: Corpus, urls: Any, token: str | bytes, missing: str | None) -> Any:
    answer = corpus.check(
        pa.table({"url": urls}), product_tokens=_to_text(token), missing=missing, threads=1
    )
    columns = [
        answer.column(field.name).combine_chunks().cast(field.type) for field in CORPUS_ANSWER
    ]
    return pa.StructArray.from_arrays(columns, fields=list(CORPUS_ANSWER), mask=pc.is_null(urls))


def _number_pairs(files: Any, names: Any) -> tuple[list[tuple[int, int]], Any]:
    """Return the distinct pairs of two encoded columns, and the number of each row's pair."""
    count = max(len(names.dictionary), 1)
    first, second = (column.indices.cast(pa.int64()) for column in (files, names))
    pairs = pc.add(pc.multiply(first, count), second).dictionary_encode()
    states = pairs.indices.cast(pa.uint32())
    return [divmod(pair, count) for pair in pairs.dictionary.to_pylist()], states


def _require_text(column: Any, what: str) -> Any:
    """Return a column of text, octets or nulls as it is."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(kind) or any(is_type(kind) for is_type in _TEXT_TYPES):
        return column
    raise TypeError(f"the column of {what} has the type {column.type}: cast it to text or octets")


def _encode(column: Any, what: str) -> Any:
    """Return a column as one dictionary array, whose values are distinct and not null."""
    return _join_chunks(_require_text(column, what)).dictionary_encode()


def _join_chunks(column: Any) -> Any:
    """Return a column as one array of text or octets."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def _to_text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
