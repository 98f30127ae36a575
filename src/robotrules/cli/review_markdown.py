"""
The report of `robotrules review` as Markdown: a table of the checks, the changes, and findings.

The content of files is in code spans and blocks that it cannot close. The report stays below the
size limits of comments: each change gets an equal part of the room, and what is left out is
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from robotrules.cli.diff_markdown import ICONS, MOST_CHARACTERS, DiffComment
from robotrules.cli.diff_text import headline
from robotrules.cli.lint_text import LintPage
from robotrules.cli.markdown import code, code_block
from robotrules.cli.test import ExpectationsPage, FileResult
from robotrules.cli.text import Paint, plural, truncate
from robotrules.json_results.diff_sections import DiffReport
from robotrules.json_results.fmt import FormattedFile
from robotrules.linting import LEVELS
from robotrules.linting.render import LintedFile
from robotrules.octets import visible

__all__ = ["ReviewPage", "ReviewResult", "ReviewedChange"]

SCHEMA_VERSION = 1
# Changes that are shown; further ones are counted.
MOST_CHANGES = 20
MOST_REGIONS = 5
MOST_LINES = 60
LONGEST_LINE = 300
# What findings may take of the room, if there are changes, too.
ROOM_FOR_FINDINGS = 15_000
PASSED, FAILED, CHANGED, ERROR = "✅", "❌", "⚠️", "❗"


class ReviewedChange(NamedTuple):
    """A file that differs from the base, compared by meaning."""

    path: str
    status: str
    """`added`, `modified`, `deleted` or `renamed`."""
    old_path: str
    parts: DiffReport

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "path": visible(self.path),
            "status": self.status,
            "old_path": visible(self.old_path),
            "equal": self.parts.equal,
        }


class ReviewResult:
    """The results of the checks; filled in as they run."""

    def __init__(self, checks: tuple[str, ...]) -> None:
        self.checks = checks
        self.base: str | None = None
        """The commit that the change is compared with."""
        self.base_name = ""
        """Its name for people."""
        self.root: str | None = None
        """The top folder of the repository."""
        self.changed_files = self.uncompared = self.more = 0
        self.compared: list[ReviewedChange] = []
        self.linted: list[LintedFile] = []
        self.lint_failed = False
        self.formatted: list[FormattedFile] = []
        self.tested: list[FileResult] = []
        self.hints: list[str] = []

    @property
    def has_errors(self) -> bool:
        """Whether something could not be checked."""
        return bool(_errors([*self.linted, *self.formatted, *self.tested]))

    @property
    def failed(self) -> bool:
        """Whether lint, fmt or test found something, or something could not be checked."""
        unformatted = any(one.changed for one in self.formatted)
        return (
            self.has_errors
            or self.lint_failed
            or unformatted
            or any(one.failed for one in self.tested)
        )

    @property
    def notes(self) -> Counter[str]:
        """The number of notes of each level."""
        return Counter(note.level for one in self.linted for note in one.notes)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        checks: dict[str, Any] = dict.fromkeys(("lint", "fmt", "test", "diff"))
        if "lint" in self.checks:
            checks["lint"] = {
                "failed": self.lint_failed,
                "files": len(self.linted),
                "counts": {level: self.notes[level] for level in LEVELS},
                "known": sum(len(one.known) for one in self.linted),
                "errors": _errors(self.linted),
            }
        if "fmt" in self.checks:
            checks["fmt"] = {
                "failed": any(one.changed for one in self.formatted),
                "changed": [one.file for one in self.formatted if one.changed],
                "errors": _errors(self.formatted),
            }
        if "test" in self.checks:
            checks["test"] = {
                "failed": sum(one.failed for one in self.tested),
                "passed": sum(len(one.judged) - one.failed for one in self.tested),
                "files": len(self.tested),
                "errors": _errors(self.tested),
            }
        if "diff" in self.checks:
            checks["diff"] = {
                "base": self.base,
                "files": [one.as_dict() for one in self.compared],
                "more": self.more,
            }
        passed = not self.failed
        return {"schema": SCHEMA_VERSION, "passed": passed, **checks, "hints": self.hints}


def _errors(results: Sequence[LintedFile | FormattedFile | FileResult]) -> list[str]:
    return [visible(one.error) for one in results if one.error]


class ReviewPage:
    """The report as Markdown."""

    def __init__(self, result: ReviewResult) -> None:
        self._result = result

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        result = self._result
        yield f"## {self._title()}"
        yield ""
        yield "| check | result |"
        yield "|---|---|"
        rows = {"lint": self._lint, "fmt": self._fmt, "test": self._test, "diff": self._diff}
        for name in result.checks:
            yield f"| {name} | {rows[name]()} |"
        for words in result.hints:
            yield ""
            yield from code_block([words])
        findings = [*self._findings()]
        room = MOST_CHARACTERS - min(sum(len(line) + 1 for line in findings), ROOM_FOR_FINDINGS)
        yield from self._changes(room if findings else MOST_CHARACTERS)
        yield from _within(findings, ROOM_FOR_FINDINGS if result.compared else MOST_CHARACTERS)

    def _title(self) -> str:
        result = self._result
        different = sum(one.parts.equal is False for one in result.compared)
        if different:
            files = "1 file changes" if different == 1 else f"{different:,} files change"
            words = f"{files} what crawlers may fetch, or what is asked of them"
        elif any(one.parts.equal is None for one in result.compared):
            words = "a change was not decided"
        elif result.compared:
            words = "same meaning"
        elif result.base is not None:
            words = "no file changed"
        else:
            return f"robots.txt: {'a check failed' if result.failed else 'all checks passed'}"
        return f"robots.txt: {words}{'; a check failed' if result.failed else ''}"

    # --- Rows of the table ---

    def _lint(self) -> str:
        result = self._result
        counts = [
            f"{count:,} info" if level == "info" else plural(count, level)
            for level in LEVELS
            if (count := result.notes[level])
        ]
        known = sum(len(one.known) for one in result.linted)
        words = ", ".join(counts) or ("no new notes" if known else "no notes")
        icon = ERROR if _errors(result.linted) else FAILED if result.lint_failed else PASSED
        more = f"; {known:,} more in the baseline" if known else ""
        return f"{icon} {words} in {plural(len(result.linted), 'file')}{more}"

    def _fmt(self) -> str:
        changed = [one for one in self._result.formatted if one.changed]
        if _errors(self._result.formatted):
            return f"{ERROR} not all files could be read"
        if not changed:
            return f"{PASSED} {plural(len(self._result.formatted), 'file')}"
        return f"{FAILED} {plural(len(changed), 'file')} to format: `robotrules fmt`"

    def _test(self) -> str:
        tested = self._result.tested
        if not tested:
            return "no expectation file; `robotrules test --init` writes one"
        failed = sum(one.failed for one in tested)
        passed = sum(len(one.judged) for one in tested) - failed
        icon = ERROR if _errors(tested) else FAILED if failed else PASSED
        return f"{icon} {f'{failed:,} failed, ' if failed else ''}{passed:,} passed"

    def _diff(self) -> str:
        result = self._result
        if result.base is None:
            return "nothing to compare with"
        different = sum(one.parts.equal is False for one in result.compared)
        undecided = sum(one.parts.equal is None for one in result.compared)
        same = len(result.compared) - different - undecided
        words = [f"{different:,} with another meaning"] if different else []
        words += [f"{undecided:,} not decided"] if undecided else []
        words += [f"{same:,} with the same meaning"] if same else []
        words += [f"{result.more:,} not compared"] if result.more else []
        found = ", ".join(words) or "no file changed"
        icon = CHANGED if different or undecided or result.more else PASSED
        return f"{icon} {found}, since {code(result.base_name)}"

    # --- Changes ---

    def _changes(self, room: int) -> Iterator[str]:
        result = self._result
        # What changes the meaning comes first.
        ordered = sorted(result.compared, key=lambda one: one.parts.equal is True)
        some = ordered[:MOST_CHANGES]
        for number, change in enumerate(some):
            lines = [*self._change(change, room // (len(some) - number))]
            room -= sum(len(line) + 1 for line in lines)
            yield from lines
        if rest := len(ordered) - len(some) + result.more:
            yield ""
            yield f"And {plural(rest, 'changed file')} more: run `robotrules review`."

    def _change(self, change: ReviewedChange, room: int) -> Iterator[str]:
        base = self._result.base_name
        names = f"{change.old_path} ({base})", change.path
        if change.status == "added":
            names = "no file", change.path
        elif change.status == "deleted":
            names = f"{change.old_path} ({base})", "no file"
        yield ""
        word = headline(change.parts, code)[0]
        yield f"### {code(change.path)}: {change.status}, {word.lower()} {ICONS[word]}"
        yield ""
        if change.status == "deleted":
            yield "Without a robots.txt, crawlers may fetch everything (RFC 9309 §2.3.1.3)."
            yield ""
        comment = DiffComment(change.parts, MOST_REGIONS, names, max(room - 500, 0))
        # Without its first heading, which is that of the file here.
        yield from islice(comment.lines(), 2, None)

    # --- Findings ---

    def _findings(self) -> Iterator[str]:
        result = self._result
        errors = _errors([*result.linted, *result.formatted, *result.tested])
        yield from _folded("Errors", list(dict.fromkeys(errors)), is_open=True)
        page = LintPage(Paint(False), concise=True)
        notes = [line for one in result.linted for line in page.lines(one)]
        yield from _folded(f"Notes of lint ({len(notes):,})", notes, is_open=result.lint_failed)
        unformatted = [visible(one.file or "") for one in result.formatted if one.changed]
        yield from _folded("Files to format", unformatted, is_open=True)
        tests = [
            line
            for one in result.tested
            if one.failed
            for line in ExpectationsPage(one, Paint(False)).lines()
        ]
        yield from _folded("Failed expectations", tests, is_open=True)


def _folded(title: str, lines: Sequence[str], *, is_open: bool) -> Iterator[str]:
    """Yield lines as a code block that readers can fold; *title* is ours."""
    if not lines:
        return
    shown = [truncate(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    if rest := len(lines) - len(shown):
        shown.append(f"… and {rest:,} lines more")
    yield ""
    yield f"<details{' open' if is_open else ''}><summary>{title}</summary>"
    yield ""
    yield from code_block(shown)
    yield ""
    yield "</details>"


def _within(lines: Sequence[str], room: int) -> Iterator[str]:
    """Yield blocks of lines while whole ones fit; a block ends with `</details>`."""
    block: list[str] = []
    for line in lines:
        block.append(line)
        if line != "</details>":
            continue
        room -= sum(len(one) + 1 for one in block)
        if room < 0:
            yield ""
            yield "There are more findings, which are too long for this report: see the log."
            return
        yield from block
        block = []
