"""
The impact of a rule change on the URLs of a file, measured, and as text and Markdown.

`json_results.impact` counts; the file is read in blocks, so memory does not grow with it.

Sections: text · Markdown · sentences.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules import RuleSet
from robotrules.cli.markdown import code
from robotrules.cli.progress import Progress
from robotrules.cli.text import Paint, cell_width, format_share, is_terminal, plural, truncate
from robotrules.cli.url_files import MOST_REPORTED, UrlFiles, report_hint
from robotrules.json_results.crawler_names import join_some
from robotrules.json_results.impact import (
    Compared,
    CrawlerImpact,
    Impact,
    ImpactCounter,
    ImpactSource,
)
from robotrules.octets import visible

# Limits of the text output; JSON has more.
MOST_CRAWLERS = 20
MOST_SHOWN = 5
SEGMENTS_SHOWN = 10
EXAMPLES_SHOWN = 2
MOST_FILES = 3
LONGEST_NAME = 40
LONGEST_URL = 100
HEADINGS = ("newly disallowed", "newly allowed")

# In Markdown a dot may create a link and underscores an emphasis.
_PLAIN = re.compile(r"[A-Za-z0-9 ,-]+")


def measure_impact(
    names: Sequence[str],
    compared: Iterable[Compared | tuple[str, RuleSet, RuleSet]],
    *,
    quiet: bool = False,
    keep: Callable[[list[bytes]], object] | None = None,
) -> Impact:
    """
    Count what changes on the URLs of files, or of stdin for `-`; a bar on stderr shows progress.

    *compared* has a name and both rule sets for each set of crawlers; *quiet* shows no bar. *keep*
    is called with the URLs that change. A file that has content but no URL raises `CliError`.
    """
    counting = ImpactCounter([Compared(*one) for one in compared], keep)
    given = UrlFiles(names, any_scheme=False, as_it_comes=False)
    shown = not quiet and is_terminal(sys.stderr)
    with Progress(sys.stderr if shown else None, given.size, "URL") as progress:
        for _, (urls, octets) in given.chunks():
            counting.add(urls)
            progress.add(len(urls), octets)
    given.refuse_empty()
    if not quiet:
        for file in given.read:
            report_hint(file)
    return counting.impact(*given.read)


class _Line(NamedTuple):
    """A line of a table: a name, and two numbers."""

    name: str
    disallowed: int
    allowed: int


# --- Text -----------------------------------------------------------------------------------------


def impact_lines(impact: Impact, paint: Paint, width: int = 100) -> Iterator[str]:
    """Yield the lines for a terminal of *width* columns."""
    sentence = _sentence(impact, lambda name: f"'{name}'")
    yield from (paint("heading", line) for line in textwrap.wrap(sentence, max(width, 40)))
    crawlers = _changed(impact)
    if crawlers:
        yield ""
        named = [
            _Line(_fit(one.name, LONGEST_NAME), one.disallowed, one.allowed)
            for one in crawlers[:MOST_CRAWLERS]
        ]
        yield from _table("crawlers", named, impact.urls, paint)
        yield from _more(len(crawlers), MOST_CRAWLERS)
    for crawler in crawlers[:MOST_SHOWN]:
        yield ""
        name = _fit(crawler.name, max(width - 24, 20))
        yield paint("heading", name) + ", by first path segment"
        yield from _table("", list(_segments(crawler)), None, paint)
        for word, examples in _examples(crawler):
            for url in examples[:EXAMPLES_SHOWN]:
                yield f"  now {paint(word, word)}: {_fit(url, max(width - 18, 20))}"
    remarks = list(_remarks(impact))
    if remarks:
        yield ""
    yield from (paint("faint", truncate(one, max(width, 40))) for one in remarks)


def _more(count: int, most: int) -> Iterator[str]:
    if count > most:
        yield f"  and {count - most:,} more (see --json)"


def _table(name: str, lines: list[_Line], of: int | None, paint: Paint) -> Iterator[str]:
    """Yield an aligned table; *of* is the total for percentages."""
    texts = [name, *(line.name for line in lines)]
    first = max(map(cell_width, texts))
    columns = [
        [paint(style, text) for style, text in _column(heading, word, numbers, of)]
        for heading, word, numbers in _moved(lines)
    ]
    for text, *numbers in zip(texts, *columns, strict=True):
        yield f"  {text}{' ' * (first - cell_width(text))}  {'  '.join(numbers)}".rstrip()


def _moved(lines: list[_Line]) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the non-empty columns: heading, style, numbers."""
    disallowed, allowed = [one.disallowed for one in lines], [one.allowed for one in lines]
    if any(disallowed):
        yield HEADINGS[0], "disallowed", disallowed
    if any(allowed):
        yield HEADINGS[1], "allowed", allowed


def _column(
    heading: str, word: str, numbers: list[int], of: int | None
) -> Iterator[tuple[str, str]]:
    """Yield the cells of a column with their styles, padded to the same width."""
    digits = max(len(f"{n:,}") for n in numbers)
    texts = [f"{n:>{digits},}" for n in numbers]
    if of:
        texts = [
            f"{text}  {format_share(n, of):>6}" for n, text in zip(numbers, texts, strict=True)
        ]
    room = max(len(heading), len(texts[0]))
    yield "faint", f"{heading:>{room}}"
    for n, text in zip(numbers, texts, strict=True):
        yield word if n else "faint", f"{text:>{room}}"


# --- Markdown -------------------------------------------------------------------------------------


def impact_markdown(impact: Impact) -> Iterator[str]:
    """Yield the lines as Markdown; the segments are in collapsed details."""
    yield _sentence(impact, code)
    crawlers = _changed(impact)
    if crawlers:
        yield ""
        yield from _markdown_heading("crawlers")
        for one in crawlers[:MOST_CRAWLERS]:
            moved = (_markdown_share(n, impact.urls) for n in (one.disallowed, one.allowed))
            yield f"| {_words(one.name)} | {' | '.join(moved)} |"
        if len(crawlers) > MOST_CRAWLERS:
            yield f"| and {len(crawlers) - MOST_CRAWLERS:,} more | | |"
        yield from ("", "<details><summary>By first path segment</summary>")
        for crawler in crawlers[:MOST_SHOWN]:
            yield from _markdown_segments(crawler)
        yield from ("", "</details>")
    for remark in _remarks(impact, markdown=True):
        if not remark.startswith("- "):
            yield ""
        yield remark


def _markdown_segments(crawler: CrawlerImpact) -> Iterator[str]:
    yield from ("", f"**{_words(crawler.name)}**", "")
    yield from _markdown_heading("segment")
    for name, *moved in _segments(crawler, markdown=True):
        yield f"| {name} | {' | '.join(f'{n:,}' for n in moved)} |"
    yield ""
    for word, examples in _examples(crawler):
        yield from (
            f"- now {word}: {code(_fit(url, LONGEST_URL))}" for url in examples[:EXAMPLES_SHOWN]
        )


def _markdown_heading(name: str) -> Iterator[str]:
    yield f"| {name} | {' | '.join(HEADINGS)} |"
    yield "|---|---:|---:|"


def _markdown_share(part: int, whole: int) -> str:
    return f"{part:,} ({format_share(part, whole)})" if part else "0"


def _words(name: str) -> str:
    """Return a name as plain text if it has no markup, otherwise as code."""
    name = _fit(name, LONGEST_NAME)
    return name if _PLAIN.fullmatch(name) else code(name)


# --- Sentences ------------------------------------------------------------------------------------


def _sentence(impact: Impact, mark: Callable[[str], str]) -> str:
    """Return the summary."""
    files = join_some([mark(_name(source)) for source in impact.sources], MOST_FILES)
    if not impact.urls:
        return f"There is no URL in {files}."
    counted = f"Of {plural(impact.urls, impact.noun)} in {files}, "
    if not impact.changed:
        return counted + "no verdict changes."
    share = format_share(impact.changed, impact.urls)
    get = "gets" if impact.changed == 1 else "get"
    return f"{counted}{impact.changed:,} ({share}) {get} another verdict for at least one crawler."


def _segments(crawler: CrawlerImpact, *, markdown: bool = False) -> Iterator[_Line]:
    for one in crawler.segments[:SEGMENTS_SHOWN]:
        name = _fit(one.segment, LONGEST_NAME)
        yield _Line(code(name) if markdown else name, one.disallowed, one.allowed)
    others = crawler.others(SEGMENTS_SHOWN)
    if others.changed:
        yield _Line("others", others.disallowed, others.allowed)


def _examples(crawler: CrawlerImpact) -> Iterator[tuple[str, tuple[str, ...]]]:
    if crawler.disallowed_examples:
        yield "disallowed", crawler.disallowed_examples
    if crawler.allowed_examples:
        yield "allowed", crawler.allowed_examples


def _remarks(impact: Impact, *, markdown: bool = False) -> Iterator[str]:
    """Yield remarks about incomplete or skipped input."""
    several = len(impact.sources) > 1
    for source in impact.sources[:MOST_REPORTED]:
        name = code(_name(source)) if markdown else f"'{_name(source)}'"
        if source.error:
            yield f"{name if several else 'The file'} was not read completely: {source.error}."
        skipped = source.skipped
        if skipped.lines:
            was = "was" if skipped.lines == 1 else "were"
            yield (
                f"{plural(skipped.lines, 'line')}{f' of {name}' if several else ''} without a URL "
                f"{was} skipped{', such as' if len(skipped.examples) < skipped.lines else ''}:"
            )
        for line, octets in skipped.examples:
            text = _fit(visible(octets), LONGEST_URL)
            yield f"- line {line}: {code(text)}" if markdown else f"  line {line}: {text}"


def _changed(impact: Impact) -> list[CrawlerImpact]:
    """Return the crawlers with changes, those with most first."""
    return sorted((one for one in impact.crawlers if one.changed), key=lambda one: -one.changed)


def _name(source: ImpactSource) -> str:
    return "stdin" if source.file is None else _fit(source.file, LONGEST_URL)


def _fit(text: str, room: int) -> str:
    return truncate(visible(text), room)
