"""
`robotrules check`: verdicts on URLs, one per line, for any number of URLs.

With `--robots` a wrapper around `RuleSet.check_many`; otherwise the robots.txt files of the URLs'
origins are fetched concurrently and verdicts are printed as they arrive. URLs are processed in
chunks, so memory does not grow with their number; `url_files` reads files of URLs.

Sections: the command · output.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from json.encoder import encode_basestring_ascii as json_string
from typing import TYPE_CHECKING

import click

from robotrules import Verdict
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import STDIN, CliError, Output, report
from robotrules.cli.options import (
    CrawlerHint,
    json_option,
    parse_crawler,
    parse_purposes,
    parse_urls,
    parsing_profile,
    purpose_option,
    read_robots_option,
    report_notes,
    robots_options,
)
from robotrules.cli.progress import Progress
from robotrules.cli.text import cell_width, is_terminal, plural, truncate
from robotrules.cli.url_files import UrlFile, refuse_empty, report_hint
from robotrules.json_results.check import LINE_START, line_end
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import visible
from robotrules.url_lists import Chunk
from robotrules.url_lists.line_formats import LOG_ORIGIN, UrlFileFormat

if TYPE_CHECKING:
    from robotrules.cache import Entry
    from robotrules.cli.origin_lookup import OriginVerdicts, VerdictStream
    from robotrules.client.origin_state import OriginState


# The approximate size of one write. A path pattern can be as long as a file, and the lines of many
# URLs can contain it.
WRITE = 1024 * 1024
# On a terminal a longer rule is cut; a pipe gets all of it.
LONGEST_RULE = 200
# The size of the cache of line parts, if robots.txt files are fetched.
MOST_ENDS = 4096
# Bytes that are printed unchanged.
PLAIN = bytes(range(0x20, 0x7F))
WIDEST_URL = 60

OriginStates = Sequence["OriginState | None"]


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@robots_options
@purpose_option
@click.option(
    "--urls",
    "file",
    metavar="FILE",
    help="Also read URLs from FILE: a list, an access log, JSON lines, CSV or a sitemap, "
    "optionally gzipped; '-' is stdin.",
)
@click.option(
    "--ordered",
    is_flag=True,
    help="Print results in the order of --urls. By default they are printed as robots.txt files "
    "arrive.",
)
@json_option("Print one JSON object per line, for each URL.")
@click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing; stop at the first disallowed URL."
)
@with_client_options()
def check(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    file: str | None,
    ordered: bool,
    as_json: bool,
    quiet: bool,
    client_options: ClientOptions,
) -> int:
    """
    Check whether robots.txt allows URLs.

    Fetches the robots.txt of each URL's origin, at most once a day, or uses the file of --robots
    for all URLs; a URL may then be a path that starts with '/'. Prints one line per URL: the
    verdict, the URL and the rule or reason that decides, separated by tabs in a pipe. Well-known
    crawlers select groups as their operators document it; a hint reports that. The exit code is 0
    if all URLs are allowed, 1 if any is disallowed, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules check https://example.com/a --as ExampleBot
      robotrules check --urls urls.txt --as ExampleBot --json
      robotrules check http://localhost:8000/a --as ExampleBot --allow-private localhost
      robotrules check /a /b?q=1 --as ExampleBot-News --as ExampleBot --robots robots.txt
      robotrules check /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
      robotrules check --urls access.log.gz --as ExampleBot --robots robots.txt --json
    """
    if robots == STDIN and file == STDIN:
        raise CliError(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )
    if not urls and file is None:
        raise CliError(_missing_urls())
    parsing = parsing_profile(profile, fetches=robots is None)
    # URLs of the command line are answered in order.
    in_order = ordered or file is None
    run = _Run(product_tokens, literal, purposes, parsing, file, as_json, quiet, in_order)
    if robots is None:
        return run.check_with_fetching(urls, client_options, profile)
    if not quiet:
        client_options.hint_unused()
    return run.check_with_file(urls, robots)


class _Run:
    """One run of the command, with a file or with fetching."""

    def __init__(
        self,
        product_tokens: tuple[str, ...],
        literal: bool,
        purposes: tuple[str, ...],
        profile: str,
        file: str | None,
        as_json: bool,
        quiet: bool,
        ordered: bool,
    ) -> None:
        self._given = product_tokens, literal, purposes
        self._profile = profile
        self._file = file
        self._as_json = as_json
        self._quiet = quiet
        self._ordered = ordered

    def check_with_file(self, urls: tuple[str, ...], robots: str) -> int:
        """Check all URLs against one file."""
        parsed = read_robots_option(robots, self._profile)
        crawler, purposes = self._who()
        rules = parsed.rules_for(crawler.names, purposes)
        first = parse_urls(urls, self._profile, hints=not self._quiet)
        with self._opened() as given:
            chunks = _chunks(first, given)
            if self._quiet:
                if not all(all(rules.allows_many(chunk.urls)) for chunk in chunks):
                    return 1
                return self._ended(None, None, given)
            CrawlerHint(crawler, purposes).read(parsed)
            report_notes(parsed.notes, robots)
            lines = self._lines(first, crawler, purposes, fetched=False)
            with self._progress(lines, given) as progress:
                for chunk in chunks:
                    lines.add(chunk.urls, rules.check_many(chunk.urls))
                    progress.add(len(chunk.urls), chunk.octets)
        return self._ended(lines, progress, given)

    def check_with_fetching(
        self, urls: tuple[str, ...], client_options: ClientOptions, access: str
    ) -> int:
        """Check URLs against the robots.txt files of their origins."""
        # Imported late: not needed with --robots, and slow to import.
        from robotrules.cli.origin_lookup import OriginLookup, refuse_paths

        crawler, purposes = self._who()
        refuse_paths(urls)
        first = parse_urls(urls, self._profile, hints=not self._quiet)
        with ExitStack() as opened:
            given = opened.enter_context(self._opened())
            client = opened.enter_context(client_options.client(access))
            lookup = opened.enter_context(
                OriginLookup(client, refresh=client_options.refresh, profile=self._profile)
            )
            stream = lookup.stream(crawler.names, purposes, ordered=self._ordered)
            chunks = _chunks(first, given, whole=True)
            if self._quiet:
                if not all(all(part.verdicts) for part in _answers(stream, chunks)):
                    lookup.stop()
                    return 1
                return self._ended(None, None, given)
            hint = CrawlerHint(crawler, purposes)
            lines = self._lines(first, crawler, purposes, fetched=True)
            with self._progress(lines, given) as progress:
                counted = _AnswerProgress(progress)
                for part in _answers(stream, counted.read(chunks)):
                    _hint_from_states(part, hint)
                    lines.add_fetched(*part)
                    counted.answered(len(part.urls))
        return self._ended(lines, progress, given)

    def _opened(self) -> UrlFile | nullcontext[None]:
        """Open the file of URLs, if there is one."""
        if self._file is None:
            return nullcontext()
        return UrlFile(self._file, any_scheme=True, as_it_comes=True)

    def _who(self) -> tuple[CrawlerChoice, tuple[str, ...]]:
        tokens, literal, purposes = self._given
        return (
            parse_crawler(
                tokens, self._profile, literal=literal, hints=not self._quiet, hint_registry=False
            ),
            parse_purposes(purposes, self._profile),
        )

    def _lines(
        self,
        first: list[bytes],
        crawler: CrawlerChoice,
        purposes: tuple[str, ...],
        *,
        fetched: bool,
    ) -> Lines:
        output = Output()
        if self._as_json:
            return JSONLines(output, crawler, purposes, fetched=fetched)
        return TextLines(output, [] if self._file else first)

    @staticmethod
    def _progress(lines: Lines, given: UrlFile | None) -> Progress:
        # No bar if the results themselves appear on the terminal.
        shown = given and is_terminal(sys.stderr) and not lines.on_terminal
        return Progress(sys.stderr if shown else None, given.size if given else None, "URL")

    @staticmethod
    def _ended(lines: Lines | None, progress: Progress | None, given: UrlFile | None) -> int:
        """Report the summary and return the exit code."""
        if given is not None:
            if not given.urls:
                refuse_empty(given)
            if lines is not None and progress is not None:
                _summarise(progress, lines.disallowed, given)
            report_hint(given)
            if not _is_whole(given):
                return 2
        return int(lines is not None and lines.disallowed > 0)


def _answers(stream: VerdictStream, chunks: Iterator[Chunk]) -> Iterator[OriginVerdicts]:
    """Yield the verdicts on all chunks."""
    for chunk in chunks:
        yield from stream.add(chunk.urls)
    yield from stream.rest()


def _hint_from_states(part: OriginVerdicts, hint: CrawlerHint) -> None:
    """Pass the files of some verdicts to a pending hint."""
    if hint.is_pending:
        # URLs of one origin share its state.
        for origin_state in {
            id(origin_state): origin_state for origin_state in part.origin_states if origin_state
        }.values():
            hint.read(origin_state.robots)


class _AnswerProgress:
    """Advances a progress bar as URLs are answered, not as they are read."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._octets = self._urls = self._done = self._shown = 0

    def read(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Yield chunks and count what is read."""
        for chunk in chunks:
            self._octets += chunk.octets
            self._urls += len(chunk.urls)
            yield chunk

    def answered(self, urls: int) -> None:
        """Update the bar after some verdicts."""
        self._done += urls
        done = self._octets * self._done // max(self._urls, 1)
        self._progress.add(urls, max(done - self._shown, 0))
        self._shown = max(done, self._shown)


def _missing_urls() -> str:
    if sys.stdin is not None and not is_terminal(sys.stdin):
        return "missing URL: to read URLs from stdin, one per line, add --urls -"
    return "missing URL: pass URLs, or --urls FILE with one per line"


def _chunks(first: list[bytes], given: UrlFile | None, *, whole: bool = False) -> Iterator[Chunk]:
    """Yield URLs of the command line, then of the file; *whole*: they need a host."""
    if first:
        yield Chunk(first, 0)
    if given is None:
        return
    for chunk in given.chunks():
        if whole and given.form in (UrlFileFormat.LOG, UrlFileFormat.JSON, UrlFileFormat.CSV):
            # The reader prefixes a path `//a` of a log with a placeholder origin: remove it.
            urls = [url.removeprefix(LOG_ORIGIN) if _is_path(url) else url for url in chunk.urls]
            chunk = chunk._replace(urls=urls)
        yield chunk


def _is_path(url: bytes) -> bool:
    return url.startswith(LOG_ORIGIN + b"//")


def _is_whole(given: UrlFile) -> bool:
    """Report what of a file was not checked; return whether it was complete."""
    if given.error:
        report(
            f"{given.where} was not read completely: {given.error}", label="error", style="error"
        )
    skipped = given.skipped
    if skipped.lines:
        line, octets = skipped.examples[0]
        lines = "lines have" if skipped.lines > 1 else "line has"
        report(
            f"{skipped.lines:,} {lines} no URL and no verdict; the first is line {line}: "
            f"'{visible(octets)}'",
            label="warning",
            style="warning",
        )
    # Every line of a list should be a URL; logs have other lines, too.
    return not given.error and not (skipped.lines and given.form is UrlFileFormat.LIST)


def _summarise(progress: Progress, disallowed: int, given: UrlFile) -> None:
    allowed = progress.count - disallowed
    what = "" if given.form is UrlFileFormat.LIST else f" ({given.form})"
    report(
        f"{plural(progress.count, given.form.noun)}{what}: {allowed:,} allowed, {disallowed:,} "
        f"disallowed, in {progress.seconds:.1f} s"
    )


# --- Output ---------------------------------------------------------------------------------------


class Lines(ABC):
    """Writes a line for each URL. Verdicts are few, so the parts of lines are cached."""

    def __init__(self, output: Output) -> None:
        self.disallowed = 0
        self._output = output
        # By identity: rule sets share verdicts, and comparing two compares their rules. The
        # verdicts are kept alive, so that identities stay unique.
        self._verdicts: dict[Hashable, Verdict] = {}
        self._ends: dict[Hashable, tuple[str, str]] = {}
        # Kept alive likewise. The whole state is not kept, because a file may be large.
        self._entries: list[Entry] = []

    @property
    def on_terminal(self) -> bool:
        """Whether output goes to a terminal."""
        return self._output.terminal

    @abstractmethod
    def ends(self, verdict: Verdict, origin_state: OriginState | None) -> tuple[str, str]:
        """Return the text before and after the URL in its line."""

    @abstractmethod
    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return the text of URLs in their lines."""

    def add(self, urls: Sequence[bytes], verdicts: Sequence[Verdict]) -> None:
        """Write and flush the lines of a chunk."""
        self._add(urls, verdicts, None, [*map(id, verdicts)])

    def add_fetched(
        self, urls: Sequence[bytes], verdicts: Sequence[Verdict], states: OriginStates
    ) -> None:
        """Write the lines of a chunk whose robots.txt files were fetched."""
        if len(self._ends) > MOST_ENDS:
            # Bounds memory if there are many origins.
            self._verdicts.clear()
            self._ends.clear()
            self._entries.clear()
        keys = [
            (id(one), origin_state and (id(origin_state.entry), origin_state.source))
            for one, origin_state in zip(verdicts, states, strict=True)
        ]
        self._add(urls, verdicts, states, keys)

    def _add(
        self,
        urls: Sequence[bytes],
        verdicts: Sequence[Verdict],
        states: OriginStates | None,
        keys: Sequence[Hashable],
    ) -> None:
        counts = Counter(keys)
        if counts.keys() - self._verdicts.keys():
            self._cache_parts(keys, verdicts, states)
        self.disallowed += sum(counts[key] for key in counts if not self._verdicts[key])
        ends = self._ends
        longest = max((len(ends[key][1]) for key in counts), default=1)
        step = max(WRITE // longest, 1)
        for start in range(0, len(urls), step):
            some = slice(start, start + step)
            found = map(ends.__getitem__, keys[some])
            pairs = zip(self.texts(urls[some]), found, strict=True)
            self._output.write("".join([f"{head}{url}{tail}" for url, (head, tail) in pairs]))
        self._output.flush()

    def _cache_parts(
        self, keys: Sequence[Hashable], verdicts: Sequence[Verdict], states: OriginStates | None
    ) -> None:
        """Cache the parts of lines for new verdicts."""
        for at, (key, verdict) in enumerate(zip(keys, verdicts, strict=True)):
            if key not in self._verdicts:
                origin_state = states[at] if states is not None else None
                self._verdicts[key], self._ends[key] = verdict, self.ends(verdict, origin_state)
                if origin_state is not None:
                    self._entries.append(origin_state.entry)


class TextLines(Lines):
    """Aligned columns on a terminal, separated by tabs in a pipe."""

    def __init__(self, output: Output, known: Sequence[bytes]) -> None:
        """*known* are all URLs, if known in advance: columns are aligned to them."""
        super().__init__(output)
        widest = max((cell_width(visible(url)) for url in known), default=0)
        self._width = min(widest, WIDEST_URL) if output.terminal else 0

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

    def ends(self, verdict: Verdict, origin_state: OriginState | None) -> tuple[str, str]:
        """Return the verdict, and the rule or reason."""
        word = "allowed" if verdict else "disallowed"
        why = verdict.reason.sentence
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {visible(str(verdict.rule))}"
        if origin_state is not None:
            from robotrules.cli.access_text import describe_decision

            why = describe_decision(why, verdict, origin_state)
        paint = self._output.paint
        if not self._output.terminal:
            return f"{paint(word, word)}\t", f"\t{why}\n"
        why = paint("faint", truncate(why, LONGEST_RULE))
        return f"{paint(word, word)}{' ' * (12 - len(word))}", f"  {why}\n"


class JSONLines(Lines):
    """One JSON object per line; always ASCII."""

    def __init__(
        self,
        output: Output,
        crawler: CrawlerChoice,
        purposes: tuple[str, ...] = (),
        *,
        fetched: bool = False,
    ) -> None:
        super().__init__(output)
        self._crawler = crawler
        self._purposes = list(purposes)
        self._fetched = fetched

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as JSON strings."""
        return [json_string(url.decode("utf-8", "backslashreplace")) for url in urls]

    def ends(self, verdict: Verdict, origin_state: OriginState | None) -> tuple[str, str]:
        """Return the object without its URL."""
        end = line_end(
            verdict,
            self._crawler.name,
            self._purposes,
            self._crawler.known_dict,
            fetched=self._fetched,
            origin_state=origin_state,
        )
        return LINE_START, f"{end}\n"
