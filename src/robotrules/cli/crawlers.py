"""
`robotrules crawlers`: the list of well-known crawlers, filtered, compared, or in other formats.

A wrapper around `KNOWN_CRAWLERS`, `operations.crawler_lists` and `operations.server_rules`.

Sections: the command · formats · text.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
import textwrap
from collections.abc import Iterator, Sequence

import click

from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, read_error
from robotrules.cli.options import crawler_purpose_option, json_option
from robotrules.cli.text import Paint, cell_width, plural, truncate
from robotrules.errors import RegistryError
from robotrules.json_results.crawlers import crawlers_values
from robotrules.octets import visible
from robotrules.operations.crawler_lists import (
    LARGEST_LIST,
    CrawlerList,
    ListComparison,
    compare_list,
    count_crawlers,
    find_closest,
    read_crawler_list,
)
from robotrules.operations.server_rules import SERVERS, server_rules
from robotrules.registries.crawlers import (
    CRAWLER_PURPOSES,
    CRAWLER_STATUSES,
    KNOWN_CRAWLERS,
    OBEYS,
    KnownCrawler,
)
from robotrules.write import NewGroup, NewRobotsTxt, disallow
from robotrules.write import write as write_text
from robotrules.write.presets import PRESETS

# Increased when a JSON key of --compare changes its meaning or is removed.
SCHEMA_VERSION = 1
FORMATS = ("text", "json", "csv", "robots", *SERVERS)
COLUMNS = (
    *("product_token", "operator", "purposes", "status", "obeys", "is_control", "also"),
    *("ignores_star", "documentation", "checked", "remarks"),
)
INDENT = "  "
# The widths of columns and of text.
LONGEST_OPERATOR = 24
LABEL = 15
WIDTH = 100
NARROWEST = 40


@click.command()
@click.argument("texts", metavar="[NAME|TEXT]...", nargs=-1)
@crawler_purpose_option("Only crawlers with this purpose, main or not")
@click.option(
    "--operator", metavar="TEXT", help="Only crawlers of operators with TEXT in the name."
)
@click.option("--status", type=click.Choice(CRAWLER_STATUSES), help="Only these.")
@click.option(
    "--obeys",
    type=click.Choice(OBEYS),
    multiple=True,
    help="Only crawlers whose operator says this about robots.txt. Repeat it for several.",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="Only crawlers that this preset of robotrules write blocks: block-ai-all for AI crawlers.",
)
@click.option(
    "--exclude",
    "excluded",
    metavar="NAME",
    multiple=True,
    help="Leave out this crawler. Repeat it for several.",
)
@click.option(
    "--compare",
    "theirs",
    metavar="FILE",
    help="Compare with a list of your own; exit with 1 if it differs. FILE has one name per line, "
    "is a robots.txt, or JSON: names, robots.json of ai.robots.txt, or the output of --json.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Write the list in another format: a group of a robots.txt, or rules for a server.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE; '-' is stdout.")
@json_option("Print one JSON object, described in docs/cli/crawlers.md.")
def crawlers(
    texts: tuple[str, ...],
    purposes: tuple[str, ...],
    operator: str | None,
    status: str | None,
    obeys: tuple[str, ...],
    preset: str | None,
    excluded: tuple[str, ...],
    theirs: str | None,
    form: str | None,
    target: str | None,
    as_json: bool,
) -> int:
    """
    List well-known crawlers, with operator, purposes, and the source of each.

    A NAME shows that crawler; other TEXT is searched in names, operators and remarks. Nothing is
    fetched: the list is part of robotrules and has a date. --format nginx, apache, caddy and
    haproxy write rules that label or refuse crawlers by their User-Agent header, which anyone can
    forge. The exit code is 0, 1 if no crawler was found or --compare finds a difference, or 2 for a
    usage or I/O error.

    \b
    Examples:
      robotrules crawlers GPTBot
      robotrules crawlers --purpose ai-training --status active
      robotrules crawlers --operator google --obeys partly --obeys no
      robotrules crawlers --preset block-ai-all --format nginx -o crawlers.conf
      robotrules crawlers --purpose ai-training --compare robots.txt
    """
    if as_json and form not in (None, "json"):
        raise CliError(f"--json and --format {form} cannot be combined: pass one of them")
    as_json = as_json or form == "json"
    if theirs is not None and form not in (None, "json", "text"):
        raise CliError(f"--compare and --format {form} cannot be combined: pass one of them")
    if target not in (None, STDIN):
        refuse_overwriting(target, [theirs or ""], "--output")
    left_out = _excluded(excluded)
    named = [known for text in texts if (known := KNOWN_CRAWLERS.get(text.strip()))]
    are_names = len(named) == len(texts) > 0
    found = [
        crawler
        for crawler in (dict.fromkeys(named) if are_names else KNOWN_CRAWLERS)
        if not purposes or not set(purposes).isdisjoint(crawler.purposes)
        if operator is None or operator.casefold() in crawler.operator.casefold()
        if status is None or crawler.status == status
        if not obeys or crawler.obeys in obeys
        if preset is None or PRESETS[preset].blocks(crawler)
        if crawler.product_token not in left_out
        if are_names or all(_has_text(crawler, text) for text in texts)
    ]
    if theirs is not None:
        return _compare(theirs, found, target, as_json=as_json)
    if not found:
        _report_nothing(texts)
        return 1
    output = _Text(target)
    if as_json:
        output.json(crawlers_values(found))
    elif form in SERVERS:
        if all(crawler.is_control for crawler in found):
            names = ", ".join(crawler.product_token for crawler in found)
            verb = "sends" if len(found) == 1 else "send"
            raise CliError(f"{names} {verb} no requests: use --format robots")
        command = f"robotrules crawlers {_arguments()}"
        output.write(server_rules(form or "", found, command, KNOWN_CRAWLERS.checked))
        _hint_at_controls(found)
    elif form == "robots":
        # An empty line first: `>>` appends the group to a file.
        output.write(("\n" if target in (None, STDIN) else "") + _robots(found))
    elif form == "csv":
        output.write(_csv(found))
    elif are_names:
        width = max(min(output.width, WIDTH), NARROWEST)
        pages = ["\n".join(_page(one, output.paint, width)) for one in found]
        output.write("\n\n".join(pages) + "\n")
    else:
        output.lines(list(_table(found, output)))
    output.close()
    return 0


def _excluded(names: Sequence[str]) -> set[str]:
    """Return the crawlers to leave out; a name that is not in the list is an error."""
    found: set[str] = set()
    for name in names:
        known = KNOWN_CRAWLERS.get(name.strip())
        if known is None:
            close = find_closest(name)
            fix = f"did you mean {close}?" if close else "robotrules crawlers lists the names"
            raise CliError(f"--exclude {quoted(name)}: there is no such crawler; {fix}")
        found.add(known.product_token)
    return found


def _has_text(crawler: KnownCrawler, text: str) -> bool:
    fields = (crawler.product_token, crawler.operator, crawler.remarks)
    return any(text.strip().casefold() in field.casefold() for field in fields)


def _report_nothing(texts: Sequence[str]) -> None:
    words = "no crawler was found"
    close = find_closest(texts[0]) if len(texts) == 1 else None
    if close:
        words += f"; did you mean {close}?"
    elif texts:
        words += f" for {' '.join(map(quoted, texts))}: pass a part of a name or of an operator"
    else:
        words += ": leave out an option"
    report(words)


def _arguments() -> str:
    """Return the options of the running command, so that a written file can be made again."""
    given = click.get_current_context().params
    words: list[str] = [*given["texts"]]
    names = {"purposes": "--purpose", "operator": "--operator", "status": "--status"}
    names |= {"obeys": "--obeys", "preset": "--preset", "excluded": "--exclude"}
    for key, option in (names | {"form": "--format"}).items():
        values = given[key] if isinstance(given[key], tuple) else [given[key]]
        words += [part for value in values if value is not None for part in (option, value)]
    text = visible(os.fsencode(" ".join(shlex.quote(word) for word in words)))
    return text.encode("ascii", "backslashreplace").decode()


class _Text(Output):
    """Stdout, or a file that is written at the end."""

    __slots__ = ("_kept", "_target")

    def __init__(self, target: str | None) -> None:
        super().__init__()
        self._target = None if target == STDIN else target
        self._kept: list[str] = []
        if self._target is not None:
            self.terminal, self.paint, self.width = False, Paint(False), WIDTH

    def write(self, text: str) -> None:
        """Write text, or keep it for the file."""
        if self._target is None:
            super().write(text)
        else:
            self._kept.append(text)

    def close(self) -> None:
        """Flush stdout, or write the file."""
        if self._target is not None:
            write_atomically(self._target, "".join(self._kept).encode())
            report(f"{quoted(self._target)} written")
        self.flush()


# --- Formats --------------------------------------------------------------------------------------


def _robots(found: Sequence[KnownCrawler]) -> str:
    """Return a group of a robots.txt that blocks crawlers."""
    names = dict.fromkeys(crawler.written_as for crawler in found)
    lines = [KNOWN_CRAWLERS.citation, f"Written by: robotrules crawlers {_arguments()}"]
    comment = "\n".join(line for text in lines for line in textwrap.wrap(text, WIDTH))
    return write_text(NewRobotsTxt([NewGroup(names, rules=[disallow("/")], comment=comment)]))


def _csv(found: Sequence[KnownCrawler]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for crawler in found:
        values = [getattr(crawler, column) for column in COLUMNS]
        rows.writerow([_cell(value) for value in values])
    return text.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ";".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hint_at_controls(found: Sequence[KnownCrawler]) -> None:
    controls = [crawler.product_token for crawler in found if crawler.is_control]
    if controls:
        words = "sends no requests and is" if len(controls) == 1 else "send no requests and are"
        count = len(found) - len(controls)
        written = f"{plural(count, 'crawler')} written"
        report(
            f"{written}; {', '.join(controls)} {words} left out: only a robots.txt can name "
            f"controls",
            label="hint",
        )


# --- Comparison -----------------------------------------------------------------------------------


def _compare(file: str, found: Sequence[KnownCrawler], target: str | None, *, as_json: bool) -> int:
    name = "stdin" if file == STDIN else quoted(file)
    try:
        theirs = read_crawler_list(_read(file), name)
    except RegistryError as error:
        raise CliError(visible(str(error))) from None
    compared = compare_list(theirs, found)
    output = _Text(target)
    if as_json:
        shown = None if file == STDIN else visible(os.fsencode(file))
        head = {"schema": SCHEMA_VERSION, "file": shown, "form": theirs.form}
        counts = {"names": len(theirs.crawlers), "skipped": theirs.skipped}
        output.json(head | {"checked": KNOWN_CRAWLERS.checked} | counts | compared.as_dict())
    else:
        output.lines(list(_comparison(name, theirs, found, compared, output)))
    output.close()
    return int(not compared.same)


def _read(file: str) -> bytes:
    stream = open_octets(file, "a list of crawlers")
    try:
        return stream.read(LARGEST_LIST + 1)
    except OSError as error:
        raise read_error(file, "a list of crawlers", error) from None
    finally:
        if file != STDIN:
            stream.close()


def _comparison(
    name: str,
    theirs: CrawlerList,
    found: Sequence[KnownCrawler],
    compared: ListComparison,
    output: Output,
) -> Iterator[str]:
    paint, room = output.paint, max(min(output.width, WIDTH), NARROWEST)
    yield paint("heading", f"{name} ({theirs.form}), {plural(len(theirs.crawlers), 'name')}")
    # A retired name that a list lacks is not missing.
    counted = count_crawlers(found)
    words = " (which a list need not have)" if counted.endswith("retired") else ""
    yield f"Compared with {counted}{words}, of the list of {KNOWN_CRAWLERS.checked}."
    if theirs.skipped:
        yield f"Skipped, without a name that can be compared: {theirs.skipped:,}."
    if compared.same:
        yield "No differences."
        return
    if compared.missing:
        yield ""
        yield paint("heading", f"Not in the list: {len(compared.missing)}")
        yield from _rows(compared.missing, output)
    if compared.additional:
        yield ""
        yield paint("heading", f"In the list only: {len(compared.additional)}")
        shown = []
        for listed in compared.additional:
            close = find_closest(listed.name)
            shown.append(visible(listed.name) + (f" (meant {close}?)" if close else ""))
        yield from textwrap.wrap(
            ", ".join(shown),
            room,
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_on_hyphens=False,
        )
    if compared.differing:
        yield ""
        yield paint("heading", f"Other purposes: {len(compared.differing)}")
        for difference in compared.differing:
            crawler, text = difference.crawler, visible(difference.listed.text)
            ours = ", ".join(crawler.purposes)
            yield f"{INDENT}{crawler.product_token}: {ours}; the list says: {truncate(text, 60)}"


# --- Text -----------------------------------------------------------------------------------------


def _table(found: Sequence[KnownCrawler], output: Output) -> Iterator[str]:
    """Yield the rows of a list, and what its marks mean."""
    yield from _rows(found, output, heading=True)
    yield ""
    counted = count_crawlers(found, len(KNOWN_CRAWLERS))
    yield output.paint("faint", f"{counted}. Checked {KNOWN_CRAWLERS.checked}.")
    if any(crawler.is_control for crawler in found):
        words = "control: fetches nothing; controls the use of what other crawlers fetch."
        yield output.paint("faint", words)


def _rows(found: Sequence[KnownCrawler], output: Output, *, heading: bool = False) -> Iterator[str]:
    rows = [
        (
            crawler.product_token,
            truncate(crawler.operator, LONGEST_OPERATOR),
            crawler.obeys,
            ", ".join(crawler.purposes) + _marks(crawler),
        )
        for crawler in found
    ]
    head = ("crawler", "operator", "obeys", "purposes")
    widths = [max(cell_width(row[at]) for row in [*rows, head]) for at in range(3)]
    if heading:
        yield output.paint("faint", _row(head, widths))
    for row in rows:
        yield _row(row, widths)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=False)
    ]
    return f"{INDENT}{INDENT.join([*cells, row[3]])}"


def _marks(crawler: KnownCrawler) -> str:
    marks = ["control"] if crawler.is_control else []
    marks += [crawler.status] if crawler.status != "active" else []
    return f" ({', '.join(marks)})" if marks else ""


def _page(crawler: KnownCrawler, paint: Paint, width: int) -> Iterator[str]:
    """Yield all that is known about a crawler."""
    yield paint("heading", crawler.product_token)
    groups = [*crawler.names, *([] if crawler.ignores_star else ["*"])]
    facts: list[tuple[str, str]] = [("operator", crawler.operator)]
    facts += [("purpose", f"{one}: {CRAWLER_PURPOSES[one]}") for one in crawler.purposes]
    facts += [
        ("status", crawler.status),
        ("obeys", f"{crawler.obeys} (what its operator says about robots.txt)"),
        ("group", f"{', else '.join(groups)}: the first of these names in a robots.txt"),
    ]
    if crawler.is_control:
        facts.append(("control", "fetches nothing; controls the use of what others fetch"))
    if crawler.ignores_star:
        facts.append(("ignores *", "only a group that names it applies"))
    if not crawler.is_valid:
        read = f"as {crawler.read_as!r}" if crawler.read_as else "as no name"
        facts.append(("name", f"parsers that follow the grammar of RFC 9309 read it {read}"))
    blocking = [preset.name for preset in PRESETS.values() if preset.blocks(crawler)]
    allowing = [name for name in PRESETS if name not in blocking]
    facts += [("blocked by", ", ".join(blocking)), ("allowed by", ", ".join(allowing))]
    facts += [("documentation", crawler.documentation or "none is known")]
    facts += [("checked", crawler.checked), ("remarks", crawler.remarks)]
    for label, text in facts:
        if text:
            yield from textwrap.wrap(
                text,
                width,
                initial_indent=f"{INDENT}{label:<{LABEL}}",
                subsequent_indent=" " * (len(INDENT) + LABEL),
                break_on_hyphens=False,
                break_long_words=False,
            )
    yield ""
    yield paint("heading", "To block it in a robots.txt")
    yield f"{INDENT}# {crawler.operator}, checked {crawler.checked}"
    yield f"{INDENT}User-agent: {crawler.written_as}"
    yield f"{INDENT}Disallow: /"
