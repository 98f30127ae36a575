"""
The reach of a change as text: a table for a terminal, and one in Markdown for a pull request.

It puts a `Reach` into lines, the largest numbers first. Names, segments and URLs come from
strangers: control characters are made plain ones, and in Markdown they stand in code, where nothing
of them is markup. It counts nothing itself.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from robotrules.cli.diff_markdown import code
from robotrules.cli.impact import CrawlerReach, Reach
from robotrules.cli.streams import STDIN
from robotrules.cli.text import Paint, cells, plural, shortened
from robotrules.octets import visible

# What a person reads, and of how many crawlers the segments; JSON has more.
MOST_CRAWLERS = 20
MOST_SHOWN = 5
MOST_SEGMENTS = 10
MOST_EXAMPLES = 2
LONGEST_NAME = 40
LONGEST_URL = 100
HEADINGS = ("newly disallowed", "newly allowed")

# In Markdown a dot may make a link of a name, and underscores an emphasis.
_PLAIN = re.compile(r"[A-Za-z0-9 ,-]+")


class _Line(NamedTuple):
    """A line of a table: a name, and two numbers."""

    name: str
    disallowed: int
    allowed: int


# --- Text -----------------------------------------------------------------------------------------


def reach_lines(reach: Reach, paint: Paint, width: int = 100) -> Iterator[str]:
    """Yield the lines for a terminal of so many columns."""
    sentence = _sentence(reach, f"'{_name(reach)}'")
    yield from (paint("heading", line) for line in textwrap.wrap(sentence, max(width, 40)))
    crawlers = _changed(reach)
    if crawlers:
        yield ""
        named = [
            _Line(_shown(one.name, LONGEST_NAME), one.disallowed, one.allowed)
            for one in crawlers[:MOST_CRAWLERS]
        ]
        yield from _table("crawlers", named, reach.urls, paint)
        yield from _more(len(crawlers), MOST_CRAWLERS)
    for crawler in crawlers[:MOST_SHOWN]:
        yield ""
        name = _shown(crawler.name, max(width - 24, 20))
        yield paint("heading", name) + ", by first path segment"
        yield from _table("", list(_segments(crawler)), None, paint)
        for word, examples in _examples(crawler):
            for url in examples[:MOST_EXAMPLES]:
                yield f"  now {paint(word, word)}: {_shown(url, max(width - 18, 20))}"
    remarks = list(_remarks(reach))
    if remarks:
        yield ""
    yield from (paint("faint", shortened(one, max(width, 40))) for one in remarks)


def _more(count: int, most: int) -> Iterator[str]:
    if count > most:
        yield f"  and {count - most:,} more, which --json shows"


def _table(name: str, lines: list[_Line], of: int | None, paint: Paint) -> Iterator[str]:
    """Yield an aligned table; *of* is what shares are of."""
    texts = [name, *(line.name for line in lines)]
    first = max(map(cells, texts))
    columns = [
        [paint(style, text) for style, text in _column(heading, word, numbers, of)]
        for heading, word, numbers in _moved(lines)
    ]
    for text, *numbers in zip(texts, *columns, strict=True):
        yield f"  {text}{' ' * (first - cells(text))}  {'  '.join(numbers)}".rstrip()


def _moved(lines: list[_Line]) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the columns in which there is anything: heading, style, numbers."""
    disallowed, allowed = [one.disallowed for one in lines], [one.allowed for one in lines]
    if any(disallowed):
        yield HEADINGS[0], "disallowed", disallowed
    if any(allowed):
        yield HEADINGS[1], "allowed", allowed


def _column(
    heading: str, word: str, numbers: list[int], of: int | None
) -> Iterator[tuple[str, str]]:
    """Yield the cells of a column, each with its style and as wide as the others."""
    digits = max(len(f"{n:,}") for n in numbers)
    texts = [f"{n:>{digits},}" for n in numbers]
    if of:
        texts = [f"{text}  {_share(n, of):>6}" for n, text in zip(numbers, texts, strict=True)]
    room = max(len(heading), len(texts[0]))
    yield "faint", f"{heading:>{room}}"
    for n, text in zip(numbers, texts, strict=True):
        yield word if n else "faint", f"{text:>{room}}"


# --- Markdown -------------------------------------------------------------------------------------


def reach_markdown(reach: Reach) -> Iterator[str]:
    """Yield the lines as Markdown; what a reader may want to unfold is folded."""
    yield _sentence(reach, code(_name(reach)))
    crawlers = _changed(reach)
    if crawlers:
        yield ""
        yield from _markdown_heading("crawlers")
        for one in crawlers[:MOST_CRAWLERS]:
            moved = (_markdown_share(n, reach.urls) for n in (one.disallowed, one.allowed))
            yield f"| {_words(one.name)} | {' | '.join(moved)} |"
        if len(crawlers) > MOST_CRAWLERS:
            yield f"| and {len(crawlers) - MOST_CRAWLERS:,} more | | |"
        yield from ("", "<details><summary>By first path segment</summary>")
        for crawler in crawlers[:MOST_SHOWN]:
            yield from _markdown_segments(crawler)
        yield from ("", "</details>")
    for remark in _remarks(reach, markdown=True):
        if not remark.startswith("- "):
            yield ""
        yield remark


def _markdown_segments(crawler: CrawlerReach) -> Iterator[str]:
    yield from ("", f"**{_words(crawler.name)}**", "")
    yield from _markdown_heading("segment")
    for name, *moved in _segments(crawler, markdown=True):
        yield f"| {name} | {' | '.join(f'{n:,}' for n in moved)} |"
    yield ""
    for word, examples in _examples(crawler):
        yield from (
            f"- now {word}: {code(_shown(url, LONGEST_URL))}" for url in examples[:MOST_EXAMPLES]
        )


def _markdown_heading(name: str) -> Iterator[str]:
    yield f"| {name} | {' | '.join(HEADINGS)} |"
    yield "|---|---:|---:|"


def _markdown_share(part: int, whole: int) -> str:
    return f"{part:,} ({_share(part, whole)})" if part else "0"


def _words(name: str) -> str:
    """Return a name as plain words if it has no markup, and as code otherwise."""
    name = _shown(name, LONGEST_NAME)
    return name if _PLAIN.fullmatch(name) else code(name)


# --- Words ----------------------------------------------------------------------------------------


def _sentence(reach: Reach, file: str) -> str:
    """Return what the numbers come to."""
    noun = reach.form.noun
    if not reach.urls:
        return f"There is no URL in {file}."
    counted = f"Of {plural(reach.urls, noun)} in {file}, "
    if not reach.changed:
        return counted + "none changes its verdict."
    share = _share(reach.changed, reach.urls)
    change = "changes" if reach.changed == 1 else "change"
    return f"{counted}{reach.changed:,} ({share}) {change} verdict for at least one crawler."


def _share(part: int, whole: int) -> str:
    """Return a share in percent; what is little is not nothing, and what is most is not all."""
    if not part:
        return ""
    tenths = round(1000 * part / whole)
    if not tenths:
        return "<0.1%"
    if part < whole and tenths == 1000:
        return ">99.9%"
    return f"{tenths / 10:.1f}%" if tenths % 1000 else f"{tenths // 10}%"


def _segments(crawler: CrawlerReach, *, markdown: bool = False) -> Iterator[_Line]:
    for one in crawler.segments[:MOST_SEGMENTS]:
        name = _shown(one.segment, LONGEST_NAME)
        yield _Line(code(name) if markdown else name, one.disallowed, one.allowed)
    others = crawler.others(MOST_SEGMENTS)
    if others.changed:
        yield _Line("others", others.disallowed, others.allowed)


def _examples(crawler: CrawlerReach) -> Iterator[tuple[str, tuple[str, ...]]]:
    if crawler.disallowed_examples:
        yield "disallowed", crawler.disallowed_examples
    if crawler.allowed_examples:
        yield "allowed", crawler.allowed_examples


def _remarks(reach: Reach, *, markdown: bool = False) -> Iterator[str]:
    """Yield what a reader must know about the numbers."""
    if reach.trouble:
        yield f"Not all of the file was read: {reach.trouble}."
    skipped = reach.skipped
    if skipped.lines:
        was = "was" if skipped.lines == 1 else "were"
        yield (
            f"{plural(skipped.lines, 'line')} without a URL {was} skipped"
            + (", such as" if len(skipped.examples) < skipped.lines else "")
            + ":"
        )
    for line, octets in skipped.examples:
        text = _shown(visible(octets), LONGEST_URL)
        yield f"- line {line}: {code(text)}" if markdown else f"  line {line}: {text}"


def _changed(reach: Reach) -> list[CrawlerReach]:
    """Return the crawlers for which something changes, those with most first."""
    return sorted((one for one in reach.crawlers if one.changed), key=lambda one: -one.changed)


def _name(reach: Reach) -> str:
    return "stdin" if reach.file == STDIN else _shown(reach.file, LONGEST_URL)


def _shown(text: str, room: int) -> str:
    return shortened(visible(text), room)
