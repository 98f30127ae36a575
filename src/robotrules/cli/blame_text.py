"""Text of `robotrules blame`: the verdict, the commit that made it so, its diff, and the flips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from robotrules.cli.console import Output
from robotrules.cli.text import cell_width, plural, truncate
from robotrules.cli.unified_diff import colourize, diff_lines
from robotrules.octets import visible
from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from robotrules.cli.blame import Source
    from robotrules.operations.blame import VerdictChange, VerdictTrace
    from robotrules.operations.git_history import FileVersion

# More lines of a diff are not shown, and longer ones are cut; git shows all.
MOST_DIFF_LINES, LONGEST_LINE = 40, 160
MOST_CHANGES = 20
MOST_MERGED = 5
MOST_MESSAGE_LINES = 8
LONGEST_NAME = 40
INDENT = "  "


class BlamePage:
    """The text about one URL and crawler."""

    def __init__(self, trace: VerdictTrace, source: Source, output: Output) -> None:
        self._trace = trace
        self._source = source
        self._paint = output.paint
        self._first = "the first version"
        if source.cut:
            self._first = "the oldest version here"
        if source.versions is None:
            self._first = "the first fetch"

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        trace = self._trace
        verdict, blamed = trace.verdict, trace.blamed
        assert verdict is not None
        assert blamed is not None
        url, crawler = visible(trace.question.url), visible(trace.question.crawler)
        yield f"{url} is {self._word(verdict)} for {crawler}: {_why(verdict)}"
        yield ""
        yield from self._blamed_lines(blamed)
        place = trace.changes.index(blamed)
        yield from self._list("since then", trace.changes[place + 1 :])
        earlier = [change for change in trace.changes[:place] if change.flips]
        yield from self._list("earlier", earlier[::-1])

    def _word(self, verdict: Verdict) -> str:
        word = "allowed" if verdict.allowed else "disallowed"
        return self._paint(word, word)

    # --- The version that decided ---------------------------------------------------------------

    def _blamed_lines(self, change: VerdictChange) -> Iterator[str]:
        """Yield who made it so, the verdict before and after, and the diff."""
        versions = self._source.versions
        first = f" ({self._first})" if change.before is None else ""
        if versions is None:
            rules = self._source.history.after(change.number + 1)
            yield self._paint("heading", f"first seen {_time(rules.since)}{first}")
            if rules.changed_after is not None:
                yield f"{INDENT}changed  after the fetch of {_time(rules.changed_after)}"
        else:
            version = versions[change.number]
            yield self._paint("heading", f"{_name(version)}{first}")
            yield from self._commit_lines(version)
        if change.before is not None:
            yield f"{INDENT}before   {self._decision(change.before)}"
        label = "verdict" if change.before is None else "after"
        yield f"{INDENT}{label:<7}  {self._decision(change.after)}"
        yield from self._diff(change)

    def _commit_lines(self, version: FileVersion) -> Iterator[str]:
        if not version.commit:
            yield f"{INDENT}file     changed {_time(version.at)}"
            return
        yield f"{INDENT}by       {_cut(version.author, LONGEST_LINE)}, {_time(version.at)}"
        yield f"{INDENT}subject  {_cut(version.subject, LONGEST_LINE)}"
        from robotrules.operations.git_history import commit_message, merged_commits

        message = commit_message(self._source.file, version)
        yield from (
            f"{INDENT}         {_cut(line, LONGEST_LINE)}" for line in message[:MOST_MESSAGE_LINES]
        )
        if len(message) > MOST_MESSAGE_LINES:
            rest = plural(len(message) - MOST_MESSAGE_LINES, "more line")
            yield f"{INDENT}         {self._paint('faint', f'… {rest}')}"
        merged = merged_commits(self._source.file, version)
        for commit in merged[:MOST_MERGED]:
            who = f"{_cut(commit.author, LONGEST_NAME)}: {_cut(commit.subject, LONGEST_LINE)}"
            yield f"{INDENT}merged   {commit.commit[:10]}  {_time(commit.at)[:10]}  {who}"
        if len(merged) > MOST_MERGED:
            yield f"{INDENT}         and {plural(len(merged) - MOST_MERGED, 'more commit')}"

    def _decision(self, verdict: Verdict) -> str:
        word = self._word(verdict)
        pad = " " * (10 - len("allowed" if verdict.allowed else "disallowed"))
        return f"{word}{pad}  {_why(verdict)}"

    def _diff(self, change: VerdictChange) -> Iterator[str]:
        """Yield what the version changed in the file; nothing for the first one."""
        old, new = self._source.octets(change.number - 1), self._source.octets(change.number)
        if change.before is None or (old is None and new is None):
            return
        names = self._version_name(change.number - 1), self._version_name(change.number)
        # The names of the files are above.
        lines = [*diff_lines(old or b"", new or b"", *names)]
        shown = [truncate(line, LONGEST_LINE) for line in islice(lines, MOST_DIFF_LINES)]
        if not shown:
            return
        yield ""
        yield from (f"{INDENT}{line}".rstrip() for line in colourize(shown, self._paint))
        if len(lines) > MOST_DIFF_LINES:
            rest = plural(len(lines) - MOST_DIFF_LINES, "more line")
            yield f"{INDENT}{self._paint('faint', f'… {rest}')}"

    def _version_name(self, number: int) -> str:
        name = self._source.name
        if self._source.versions is None:
            return f"{name} ({_time(self._source.history.after(number + 1).since)})"
        version = self._source.versions[number]
        return f"{name} ({version.short or 'in the folder'})"

    # --- Other versions -------------------------------------------------------------------------

    def _list(self, title: str, changes: Sequence[VerdictChange]) -> Iterator[str]:
        """Yield a line for each change, after an empty line and a title."""
        if not changes:
            return
        yield ""
        yield self._paint("heading", title)
        some = changes[:MOST_CHANGES]
        names = [self._short_name(change) for change in some]
        width = max(map(cell_width, names))
        for change, name in zip(some, names, strict=True):
            pad = " " * (width - cell_width(name))
            at = _time(self._source.history.after(change.number + 1).since)[:10]
            first = f"  ({self._first})" if change.before is None else ""
            yield f"{INDENT}{at}  {name}{pad}  {self._decision(change.after)}{first}"
        if len(changes) > MOST_CHANGES:
            rest = plural(len(changes) - MOST_CHANGES, "more change")
            yield f"{INDENT}{self._paint('faint', f'… {rest}: --json lists all')}"

    def _short_name(self, change: VerdictChange) -> str:
        if self._source.versions is None:
            rules = self._source.history.after(change.number + 1)
            return "fetched" if rules.has_file else "no file"
        version = self._source.versions[change.number]
        if not version.commit:
            return version.subject
        return f"{version.short}  {_cut(version.author, LONGEST_NAME)}"


def _name(version: FileVersion) -> str:
    return f"commit {version.short}" if version.commit else "not committed"


def _cut(text: str, room: int) -> str:
    """Return text of git for a terminal."""
    return truncate(visible(text.encode("utf-8", "surrogateescape")), room)


def _why(verdict: Verdict) -> str:
    if verdict.rule is None:
        return verdict.reason.sentence
    return truncate(f"line {verdict.rule.line}: {visible(str(verdict.rule))}", LONGEST_LINE)


def _time(at: float | None) -> str:
    if at is None:
        return "at an unknown time"
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return str(at)
