"""
Guidance as text: a page for one URL, and rows for the documents of a HAR file.

Formats answers, their sources and notes. Control characters of the content are escaped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from robotrules import Guidance, Reason
from robotrules.cli.access_text import (
    NO_FILE,
    describe_page,
    describe_reason,
    describe_state,
    hop_lines,
)
from robotrules.cli.console import Output
from robotrules.cli.page_inputs import Noted, describe_sources, describe_status, note_line
from robotrules.cli.text import Paint, cell_width, listed, plural, truncate
from robotrules.guide import Answer, TagsSeen
from robotrules.json_results.guidance import GuidanceReport
from robotrules.octets import visible
from robotrules.tags import Mention, RuleStatus

if TYPE_CHECKING:
    from robotrules.client.pages import FetchResult

# How much of a long list or text is shown; JSON has all of it.
MOST = 40
LONGEST = 200
# The sources of a longer answer are below it.
SHORT = 12

STYLES = {
    **dict.fromkeys(("yes", "allowed", "not reserved"), "allowed"),
    **dict.fromkeys(("no", "disallowed", "reserved"), "disallowed"),
    "unknown": "faint",
}
# Notes that the section about a page that was not crawled includes.
TRAP = ("not-crawled", "noindex-not-seen", "tags-not-seen")
# A note that the answers imply.
ANSWERED = "tags-not-read"


# --- One URL --------------------------------------------------------------------------------------


def display_answers(found: GuidanceReport) -> Iterator[Answer]:
    """Yield the answers, escaped and truncated."""
    for one in found.guidance.answers():
        because = tuple(truncate(visible(words), LONGEST) for words in one.because)
        if one.subject == "crawl" and found.elsewhere is not None:
            because = (f"the robots.txt belongs to {visible(found.elsewhere)}",)
        if found.fetched is not None:
            because = _fetched_reason(one, found.fetched, because)
        yield Answer(visible(one.subject), truncate(visible(one.answer), LONGEST), because)


def _fetched_reason(one: Answer, page: FetchResult, because: tuple[str, ...]) -> tuple[str, ...]:
    """Return the reason of an answer about a fetched page."""
    if one.subject == "crawl" and page.verdict.rule is None:
        return (describe_reason(page.verdict, page.origin_state),)
    if one.subject in ("index", "snippet") and page.verdict and not page.ok:
        return ("the page was not read",)
    return because


class _Unread(NamedTuple):
    """A field that could not be read, as a note."""

    code: str
    level: str
    message: str


def _notes(found: Guidance) -> Iterator[tuple[str, Noted]]:
    """Yield the notes of all carriers, each with its source."""
    yield from (("", note) for note in found.notes)
    usage = found.usage or found.unseen
    for tag in usage.notes if usage else ():
        yield str(tag.source or ""), tag
    for statement in found.preferences.statements:
        if statement.error:
            words = truncate(visible(statement.error), LONGEST)
            yield f"Content-Usage {statement.source}", _Unread("bad-structure", "error", words)
    directives = found.app_directives.notes if found.app_directives else ()
    for line in (*found.preferences.notes, *directives):
        yield f"robots.txt, line {line.line}", line
    for reservation in found.reservation.notes:
        entry = f", entry {reservation.entry}" if reservation.entry else ""
        yield f"{reservation.carrier}{entry}", reservation


def unseen_mentions(found: Guidance) -> list[Mention]:
    """Return the tag rules that crawlers cannot read, because the page is disallowed."""
    mentions = found.unseen.mentions if found.unseen else ()
    return [one for one in mentions if one.standing is RuleStatus.IN_FORCE]


def _format_crawler(found: Guidance) -> str:
    return " or ".join(map(visible, found.product_tokens))


class GuidancePage:
    """Guidance as lines of text."""

    def __init__(self, found: GuidanceReport, output: Output) -> None:
        self._found = found
        self._guidance = found.guidance
        self._paint: Paint = output.paint
        self._room = max(output.width - 2, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        yield self._paint("heading", visible(self._guidance.url))
        yield from self._who()
        yield ""
        answers = list(display_answers(self._found))
        width = max(cell_width(one.subject) for one in answers[:MOST])
        reason: tuple[str, ...] = ()
        for subject, answer, because in answers[:MOST]:
            # A reason that applies to several answers in a row is shown once.
            if answer in ("yes", "unknown") and because == reason:
                because = ()
            else:
                reason = because
            name = f"  {subject}{' ' * (width - cell_width(subject))}"
            said = self._paint(STYLES.get(answer, ""), answer) if answer in STYLES else answer
            beside = because[:1] if len(answer) <= SHORT else ()
            gap = " " * (SHORT - len(answer))
            yield f"{name}  {said}{gap}  {''.join(beside)}".rstrip()
            yield from (f"{' ' * (width + SHORT + 6)}{words}" for words in because[len(beside) :])
        yield from self._more(len(answers))
        yield from self._trap()
        notes = [one for one in _notes(self._guidance) if one[1].code not in (*TRAP, ANSWERED)]
        if notes:
            yield ""
            yield self._paint("heading", "Notes")
            lines = list(dict.fromkeys(note_line(note, at, self._paint) for at, note in notes))
            for line in lines[:MOST]:
                yield from textwrap.wrap(line, self._room, subsequent_indent="    ")
            yield from self._more(len(lines))

    def _who(self) -> Iterator[str]:
        purposes = "".join(f", purpose {visible(one)}" for one in self._guidance.purposes)
        names = _format_crawler(self._guidance)
        yield f"  for {names}{purposes}, profile {self._found.profile}"
        usage = self._guidance.usage or self._guidance.unseen
        verdict = self._guidance.verdict
        first = ["robots.txt"] if verdict is not None and verdict.reason not in NO_FILE else []
        if first or usage:
            yield f"  from {describe_sources(usage, first)}"
        if self._found.fetched is not None:
            yield from self._access(self._found.fetched)

    def _access(self, page: FetchResult) -> Iterator[str]:
        """Yield what was fetched: redirects, the response, the validity of the rules."""
        yield from (f"  {line}" for line in hop_lines(page.hops))
        if page.verdict:
            yield f"  the page: {describe_page(page)}"
        if page.origin_state is not None and page.verdict.reason not in NO_FILE:
            yield f"  {describe_state(page.origin_state)}"

    def _trap(self) -> Iterator[str]:
        """Yield why crawlers cannot read the tags of a page, and the tags."""
        if self._guidance.tags is not TagsSeen.NOT_CRAWLED:
            return
        yield ""
        yield self._paint("warning", "Not crawled")
        verdict = self._guidance.verdict
        if verdict is not None and verdict.reason is Reason.UNREACHABLE:
            yield "  The robots.txt is unreachable, so crawlers must treat every URL as disallowed."
            return
        for note in self._guidance.notes:
            if note.code in TRAP:
                yield from textwrap.wrap(
                    note.message, self._room, initial_indent="  ", subsequent_indent="  "
                )
        said = unseen_mentions(self._guidance)
        for one in said[:MOST]:
            text = truncate(visible(one.text), LONGEST)
            yield f"  {self._paint('faint', 'not seen:')} {one.source}: {text}"
        yield from self._more(len(said))

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more (see --json)"] if count > MOST else []


# --- Many -----------------------------------------------------------------------------------------


class GuidanceRows:
    """Documents of a HAR file as lines of text: three answers each, and their sources."""

    def __init__(self, many: Sequence[GuidanceReport], output: Output) -> None:
        self._many = many
        self._paint: Paint = output.paint
        self._room = max(output.width - 2, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        names = _format_crawler(self._many[0].guidance)
        head = f"{'crawl':9}{'index':9}{'snippet':9}document, for {names}"
        yield self._paint("heading", head)
        sentences: dict[str, Noted] = {}
        for found in self._many:
            yield from self._row(found)
            codes = {note.code: note for _, note in _notes(found.guidance)}
            if codes:
                yield f"    {self._paint('faint', 'notes:')} {listed(list(codes), MOST)}"
            sentences.update(codes)
        yield ""
        yield self._sum()
        if sentences:
            yield ""
            yield self._paint("heading", "Notes")
            for note in sentences.values():
                yield from textwrap.wrap(
                    note_line(note, "", self._paint), self._room, subsequent_indent="    "
                )

    def _sum(self) -> str:
        """Return the summary."""
        found = [one.guidance for one in self._many]
        kept = sum(one.may_crawl is False for one in found)
        out = sum(one.may_index is False for one in found)
        return f"{plural(len(found), 'document')}: {kept:,} disallowed, {out:,} noindex"

    def _row(self, found: GuidanceReport) -> Iterator[str]:
        answers = list(display_answers(found))
        said = {one.subject: one.answer for one in answers}
        columns = (said[name] for name in ("crawl", "index", "snippet"))
        painted = (f"{self._paint(STYLES[one], one)}{' ' * (9 - len(one))}" for one in columns)
        yield f"{''.join(painted)}{truncate(visible(found.guidance.url), LONGEST)}"
        for before in found.saved.earlier[:MOST] if found.saved else ():
            yield f"    redirected from {truncate(visible(before.url or 'elsewhere'), LONGEST)}"
        if words := describe_status(found.saved.status if found.saved else None):
            yield f"    {words}"
        if found.saved and found.saved.body is None and found.guidance.usage:
            yield "    only headers were read, because the page is not in the file"
        for subject, answer, because in answers[:MOST]:
            # Only restrictions and unknown crawl answers get a line.
            if answer in ("yes", "allowed") or (answer == "unknown" and subject != "crawl"):
                continue
            parts = [answer] if len(answer) <= SHORT else []
            more = f" (and {len(because) - 1} more)" if len(because) > 1 else ""
            parts += [f"{words}{more}" for words in because[:1]]
            yield f"    {subject}: {', '.join(parts)}"
