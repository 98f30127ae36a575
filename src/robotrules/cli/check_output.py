"""
Output of `robotrules check` as text, CSV and JSON: lines about URLs, written as they are decided.

Verdicts are few and URLs many, so what a verdict adds to a line is made once and cached; writing a
URL is then the concatenation of two or three strings. `check_tables` writes Parquet, `check_page`
HTML.

Sections: writers · text · CSV · JSON.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from json.encoder import encode_basestring_ascii as json_string
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from robotrules import Verdict
from robotrules.cli.console import Output
from robotrules.cli.csv_cells import csv_cell, csv_line
from robotrules.cli.text import cell_width, truncate
from robotrules.http.origins import robots_url
from robotrules.json_results.check import LINE_START, SCHEMA_VERSION, line_end
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.json_results.url_counts import BlockingRule, DecidedColumn, UrlCounter, UrlDecision
from robotrules.octets import to_text, visible

if TYPE_CHECKING:
    from robotrules.cache import Entry
    from robotrules.client.origin_state import OriginState

# The approximate size of one write. A path pattern can be as long as a file, and the lines of many
# URLs can contain it.
WRITE = 1024 * 1024
# On a terminal a longer rule is cut; a pipe gets all of it.
LONGEST_RULE = 200
# The size of the cache of line parts, if robots.txt files are fetched.
MOST_ENDS = 4096
# The length to which a rule is cut that is counted: there may be thousands of them.
LONGEST_COUNTED = 1000
# Bytes that are printed unchanged.
PLAIN = bytes(range(0x20, 0x7F))
# Of these, bytes that CSV writes without quotes; what a line must not start with is another matter.
PLAIN_CELL = bytes(octet for octet in PLAIN if octet not in b'",;')
WIDEST_URL = 60
WIDEST_CRAWLER = 30
COLUMNS = ("url", "crawler", "allowed", "reason", "line", "rule", "robots_url")

_FORMULA = re.compile(rb"^[-=+@]", re.MULTILINE)

Part = TypeVar("Part")


# --- Writers --------------------------------------------------------------------------------------


class CheckedUrls(NamedTuple):
    """URLs with the verdicts of each crawler."""

    urls: Sequence[bytes]
    verdicts: Sequence[Sequence[Verdict]]
    """For each crawler, one for each URL."""
    origin_states: Sequence[OriginState | None] | None = None
    """For each URL, if robots.txt files are fetched."""


class VerdictWriter(ABC, Generic[Part]):
    """Writes the verdicts on URLs; what it makes of a verdict, the *part*, is cached."""

    def __init__(
        self, crawlers: Sequence[CrawlerChoice], counter: UrlCounter | None = None
    ) -> None:
        """*counter* counts by segment, rule and origin, for outputs that have a summary."""
        self.crawlers = crawlers
        self.disallowed = [0] * len(crawlers)
        """For each crawler, the number of URLs that it may not fetch."""
        self.urls = 0
        self._counter = counter
        self._parts: list[dict[Hashable, Part]] = [{} for _ in crawlers]
        self._verdicts: list[dict[Hashable, Verdict]] = [{} for _ in crawlers]
        self._decisions: list[dict[Hashable, UrlDecision]] = [{} for _ in crawlers]
        self._entries: list[Entry] = []

    def add(self, checked: CheckedUrls) -> None:
        """Write and flush the verdicts on some URLs."""
        urls, _, states = checked
        self.urls += len(urls)
        if sum(map(len, self._parts)) > MOST_ENDS:
            # Bounds memory if there are many origins.
            caches: Iterable[dict[Hashable, Any]] = chain(
                self._parts, self._verdicts, self._decisions
            )
            for cache in caches:
                cache.clear()
            self._entries.clear()
        of_states: list[Hashable] = [
            state and (id(state.entry), state.source) for state in states or ()
        ]
        columns = []
        for crawler, verdicts in enumerate(checked.verdicts):
            keys: list[Hashable] = [*map(id, verdicts)]
            if of_states:
                keys = [*zip(keys, of_states, strict=True)]
            counts = Counter(keys)
            if counts.keys() - self._parts[crawler].keys():
                self._cache_parts(crawler, keys, verdicts, states)
            decided = self._verdicts[crawler]
            self.disallowed[crawler] += sum(counts[key] for key in counts if not decided[key])
            columns.append(DecidedColumn(keys, counts, self._decisions[crawler]))
        if self._counter is not None:
            self._counter.add(urls, columns)
        self._write(urls, columns)

    def _cache_parts(
        self,
        crawler: int,
        keys: Sequence[Hashable],
        verdicts: Sequence[Verdict],
        states: Sequence[OriginState | None] | None,
    ) -> None:
        """Cache what is made of new verdicts; verdicts and entries are kept, so ids stay unique."""
        parts = self._parts[crawler]
        for at, (key, verdict) in enumerate(zip(keys, verdicts, strict=True)):
            if key not in parts:
                state = states[at] if states is not None else None
                parts[key] = self.part(crawler, verdict, state)
                self._verdicts[crawler][key] = verdict
                if self._counter is not None:
                    self._decisions[crawler][key] = _decision(verdict, state)
                if state is not None:
                    self._entries.append(state.entry)

    @abstractmethod
    def part(self, crawler: int, verdict: Verdict, origin_state: OriginState | None) -> Part:
        """Return what a verdict adds to the output of a URL."""

    @abstractmethod
    def _write(self, urls: Sequence[bytes], columns: Sequence[DecidedColumn]) -> None: ...

    def finish(self) -> None:
        """Write what follows the last URL."""

    @property
    def on_terminal(self) -> bool:
        """Whether the results appear on a terminal."""
        return False


def _decision(verdict: Verdict, origin_state: OriginState | None) -> UrlDecision:
    origin = origin_state.origin if origin_state is not None else None
    if verdict:
        return UrlDecision(origin, None)
    text = verdict.reason.sentence if verdict.rule is None else str(verdict.rule)
    text = truncate(visible(text), LONGEST_COUNTED)
    return UrlDecision(origin, BlockingRule(origin, verdict.line, text))


class _Lines(VerdictWriter[tuple[str, str]]):
    """Writes a line for each URL and crawler: a part is what precedes and what follows the URL."""

    def __init__(
        self,
        output: Output,
        crawlers: Sequence[CrawlerChoice],
        counter: UrlCounter | None = None,
    ) -> None:
        super().__init__(crawlers, counter)
        self._output = output

    @property
    def on_terminal(self) -> bool:
        """Whether the results appear on a terminal."""
        return self._output.terminal

    @abstractmethod
    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as they appear in a line."""

    def _write(self, urls: Sequence[bytes], columns: Sequence[DecidedColumn]) -> None:
        longest = sum(
            max((len(self._parts[crawler][key][1]) for key in column.counts), default=1)
            for crawler, column in enumerate(columns)
        )
        step = max(WRITE // max(longest, 1), 1)
        for start in range(0, len(urls), step):
            some = slice(start, start + step)
            texts = self.texts(urls[some])
            parts = [
                [*map(self._parts[crawler].__getitem__, column.keys[some])]
                for crawler, column in enumerate(columns)
            ]
            self._output.write("".join(self._joined(texts, parts)))
        self._output.flush()

    def _joined(
        self, texts: Iterable[str], parts: Sequence[Sequence[tuple[str, str]]]
    ) -> Iterable[str]:
        """Return the text of some URLs: for each, one line for each crawler."""
        if len(parts) == 1:
            return [f"{head}{url}{tail}" for url, (head, tail) in zip(texts, parts[0], strict=True)]
        return [
            f"{head}{url}{tail}"
            for url, of_url in zip(texts, zip(*parts, strict=True), strict=True)
            for head, tail in of_url
        ]


# --- Text -----------------------------------------------------------------------------------------


class TextLines(_Lines):
    """Aligned columns on a terminal, separated by tabs in a pipe."""

    def __init__(
        self, output: Output, crawlers: Sequence[CrawlerChoice], known: Sequence[bytes] = ()
    ) -> None:
        """*known* are all URLs, if known in advance: columns are aligned to them."""
        super().__init__(output, crawlers)
        widest = max((cell_width(visible(url)) for url in known), default=0)
        self._width = min(widest, WIDEST_URL) if output.terminal else 0
        names = [visible(crawler.name) for crawler in crawlers]
        room = min(max(map(cell_width, names)), WIDEST_CRAWLER)
        self._names = [name + " " * max(room - cell_width(name), 0) for name in names]
        if not output.terminal:
            self._names = names

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs with control characters and tabs escaped."""
        if self._width:
            return map(self._aligned, map(visible, urls))
        # Checking a chunk at once takes a third of the time of checking each URL.
        if not b"".join(urls).translate(None, PLAIN):
            return b"\n".join(urls).decode("ascii").split("\n")
        return map(visible, urls)

    def _aligned(self, url: str) -> str:
        return url + " " * (self._width - cell_width(url))

    def part(
        self, crawler: int, verdict: Verdict, origin_state: OriginState | None
    ) -> tuple[str, str]:
        """Return the verdict, and the rule or reason; with several crawlers also its name."""
        word = "allowed" if verdict else "disallowed"
        why = verdict.reason.sentence
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {visible(str(verdict.rule))}"
        if origin_state is not None:
            from robotrules.cli.access_text import describe_decision

            why = describe_decision(why, verdict, origin_state)
        paint = self._output.paint
        gap = "  " if self._output.terminal else "\t"
        name = self._names[crawler] + gap if len(self._names) > 1 else ""
        if not self._output.terminal:
            return f"{paint(word, word)}\t{name}", f"\t{why}\n"
        why = paint("faint", truncate(why, LONGEST_RULE))
        return f"{paint(word, word)}{' ' * (12 - len(word))}{name}", f"  {why}\n"


# --- CSV ------------------------------------------------------------------------------------------


def _url_cells(urls: Sequence[bytes]) -> Iterable[str]:
    joined = b"\n".join(urls)
    plain = not b"".join(urls).translate(None, PLAIN_CELL) and not _FORMULA.search(joined)
    return joined.decode("ascii").split("\n") if plain else map(csv_cell, urls)


def decision_cells(
    verdict: Verdict, origin_state: OriginState | None
) -> tuple[bool, str, int | None, str | None, str | None]:
    """Return the cells from `allowed` on."""
    rule = str(verdict.rule) if verdict.rule is not None else None
    url = robots_url(origin_state.origin) if origin_state is not None else None
    return bool(verdict), str(verdict.reason), verdict.line, rule, url


class CsvLines(_Lines):
    """One row for each URL and crawler."""

    def __init__(self, output: Output, crawlers: Sequence[CrawlerChoice]) -> None:
        super().__init__(output, crawlers)
        output.write(csv_line(COLUMNS))

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as cells."""
        return _url_cells(urls)

    def part(
        self, crawler: int, verdict: Verdict, origin_state: OriginState | None
    ) -> tuple[str, str]:
        """Return nothing, and the cells after the URL."""
        name = self.crawlers[crawler].name
        return "", "," + csv_line((name, *decision_cells(verdict, origin_state)))


class WideCsvLines(_Lines):
    """One row for each URL: for each crawler a column with the verdict, and one with the reason."""

    def __init__(self, output: Output, crawlers: Sequence[CrawlerChoice]) -> None:
        super().__init__(output, crawlers)
        names = [(crawler.name, f"{crawler.name}: decided by") for crawler in crawlers]
        output.write(csv_line(("url", *chain.from_iterable(names))))

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as cells."""
        return _url_cells(urls)

    def part(
        self, crawler: int, verdict: Verdict, origin_state: OriginState | None
    ) -> tuple[str, str]:
        """Return nothing, and two cells."""
        why = verdict.reason.sentence
        if verdict.rule is not None:
            why = f"line {verdict.line}: {verdict.rule}"
        word = "allowed" if verdict else "disallowed"
        return "", f",{word},{csv_cell(why)}"

    def _joined(
        self, texts: Iterable[str], parts: Sequence[Sequence[tuple[str, str]]]
    ) -> Iterable[str]:
        """Return a line for each URL."""
        rows = zip(texts, zip(*parts, strict=True), strict=True)
        return [f"{url}{''.join([tail for _, tail in of_url])}\n" for url, of_url in rows]


# --- JSON -----------------------------------------------------------------------------------------


class JSONLines(_Lines):
    """One JSON object per line; always ASCII."""

    def __init__(
        self,
        output: Output,
        crawlers: Sequence[CrawlerChoice],
        purposes: tuple[str, ...] = (),
        *,
        fetched: bool = False,
        counter: UrlCounter | None = None,
    ) -> None:
        super().__init__(output, crawlers, counter)
        self._purposes = list(purposes)
        self._fetched = fetched

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as JSON strings."""
        return [json_string(to_text(url)) for url in urls]

    def part(
        self, crawler: int, verdict: Verdict, origin_state: OriginState | None
    ) -> tuple[str, str]:
        """Return the object without its URL."""
        end = line_end(
            verdict,
            self.crawlers[crawler].name,
            self._purposes,
            self.crawlers[crawler].known_dict,
            fetched=self._fetched,
            origin_state=origin_state,
        )
        return LINE_START, f"{end}\n"


class JSONDocument(JSONLines):
    """One JSON object: the verdicts, then the counts; one verdict per line."""

    def __init__(
        self,
        output: Output,
        crawlers: Sequence[CrawlerChoice],
        purposes: tuple[str, ...] = (),
        *,
        fetched: bool = False,
    ) -> None:
        counter = UrlCounter([crawler.name for crawler in crawlers])
        super().__init__(output, crawlers, purposes, fetched=fetched, counter=counter)
        self._empty = True
        output.write(f'{{"schema": {SCHEMA_VERSION}, "verdicts": [')

    def part(
        self, crawler: int, verdict: Verdict, origin_state: OriginState | None
    ) -> tuple[str, str]:
        """Return the object without its URL, after a comma."""
        head, tail = super().part(crawler, verdict, origin_state)
        return f",\n{head}", tail.removesuffix("\n")

    def _joined(
        self, texts: Iterable[str], parts: Sequence[Sequence[tuple[str, str]]]
    ) -> Iterable[str]:
        """Return the objects; nothing precedes the first."""
        joined = list(super()._joined(texts, parts))
        if self._empty and joined:
            self._empty = False
            joined[0] = joined[0].removeprefix(",")
        return joined

    def finish(self) -> None:
        """Write the counts."""
        assert self._counter is not None
        summary: Mapping[str, object] = self._counter.summary().as_dict()
        self._output.write(f'\n], "summary": {json.dumps(summary)}}}\n')
        self._output.flush()
