"""
SARIF 2.1.0: notes in the interchange format of static analysis, which GitHub and editors read.

One run has all files. Columns are UTF-16 code units, as the run declares; byte offsets are given if
the file on disk has the octets that were parsed. The partial fingerprint identifies a note from one
run to the next, even if lines moved (`fingerprints`), with the number of equal notes before it. If
there is a baseline, its notes are results too, with the state `unchanged`; the others are `new`.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from robotrules.linting.check import Check
from robotrules.linting.check_docs import first_paragraph, parts
from robotrules.linting.checks import CHECKS
from robotrules.linting.note import Edit, Fix, LintNote, Related
from robotrules.linting.render import LintedFile
from robotrules.linting.render.fingerprints import Fingerprints
from robotrules.linting.render.places import Places
from robotrules.octets import visible

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "robotrules/v1"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif(
    files: Iterable[LintedFile], *, version: str, checks: Sequence[Check] = CHECKS
) -> dict[str, Any]:
    """
    Return a log with one run; *version* is the version of the program.

    Its rules are only those *checks* that have a result: all of them are some 300 KiB of text.
    """
    results: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    artifacts: list[dict[str, Any]] = []
    for file in files:
        artifact = {"uri": file.uri}
        artifacts.append({"location": artifact})
        if file.error:
            location = {"physicalLocation": {"artifactLocation": artifact}}
            message = {"text": visible(file.error)}
            errors.append({"level": "error", "message": message, "locations": [location]})
        results += _File(file, len(artifacts) - 1).results()
    codes = {result["ruleId"] for result in results}
    rules = [check for check in checks if check.code in codes]
    numbers = {check.code: number for number, check in enumerate(rules)}
    for result in results:
        if result["ruleId"] in numbers:
            result["ruleIndex"] = numbers[result["ruleId"]]
    run = {
        "tool": {"driver": _driver(version, rules)},
        "invocations": [{"executionSuccessful": not errors, "toolExecutionNotifications": errors}],
        "columnKind": "utf16CodeUnits",
        # RFC 9309 §2.2: CR alone ends a line, too.
        "newlineSequences": ["\r\n", "\n", "\r"],
        "artifacts": artifacts,
        "results": results,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


# --- The tool -------------------------------------------------------------------------------------


def _driver(version: str, checks: Sequence[Check]) -> dict[str, Any]:
    return {
        "name": "robotrules",
        "semanticVersion": version,
        "rules": [_rule(check) for check in checks],
    }


def _rule(check: Check) -> dict[str, Any]:
    documentation = parts(check)
    finds = first_paragraph(documentation.get("What it finds", check.message))
    both = [finds, first_paragraph(documentation.get("Why it matters", ""))]
    markdown = "\n\n".join(f"## {name}\n\n{text}" for name, text in documentation.items())
    return {
        "id": check.code,
        "name": check.slug,
        "shortDescription": {"text": f"{finds.split('. ')[0].rstrip('.')}."},
        "fullDescription": {"text": " ".join(filter(None, both))},
        "help": {
            "text": markdown.replace("## ", "") or finds,
            "markdown": f"{markdown}\n\nReference: {check.reference}",
        },
        "defaultConfiguration": {"level": LEVELS[check.level]},
        "properties": {"reference": check.reference, "tags": ["robots.txt"]},
    }


# --- Files ----------------------------------------------------------------------------------------


class _File:
    """The notes of one file as results."""

    def __init__(self, file: LintedFile, number: int) -> None:
        self._file = file
        self._artifact = {"uri": file.uri, "index": number}
        self._places = Places(file.body, utf16=True)
        self._prints = Fingerprints(self._places)
        self._seen: Counter[str] = Counter()

    def results(self) -> list[dict[str, Any]]:
        """Return a result for each note, in the order of the file."""
        if not self._file.has_baseline:
            return [self._result(note) for note in self._file.notes]
        states = [(note, "new") for note in self._file.notes]
        states += [(note, "unchanged") for note in self._file.known]
        states.sort(key=lambda pair: (pair[0].line or 0, pair[0].start, pair[0].code))
        return [self._result(note) | {"baselineState": state} for note, state in states]

    def _result(self, note: LintNote) -> dict[str, Any]:
        where: dict[str, Any] = {"artifactLocation": self._artifact}
        if note.line is not None:
            where["region"] = self._region(note.start, note.end)
        result: dict[str, Any] = {
            "ruleId": note.code,
            "level": LEVELS[note.level],
            "message": {"text": _message(note)},
            "locations": [{"physicalLocation": where}],
            "partialFingerprints": {FINGERPRINT: self._fingerprint(note)},
        }
        if note.related:
            result["relatedLocations"] = [
                self._related(number, related) for number, related in enumerate(note.related, 1)
            ]
        if note.fix is not None and note.fix.edits:
            result["fixes"] = [self._fix(note.fix)]
        more = {"slug": note.slug, "part": note.part, "url": note.url}
        result["properties"] = {name: visible(value) for name, value in more.items() if value}
        return result

    def _region(self, start: int, end: int) -> dict[str, int]:
        first, last = self._places.at(start), self._places.at(max(start, end))
        region = {
            "startLine": first.line,
            "startColumn": first.column,
            "endLine": last.line,
            "endColumn": last.column,
        }
        if self._file.whole:
            region |= {"byteOffset": start, "byteLength": max(end - start, 0)}
        return region

    def _related(self, number: int, related: Related) -> dict[str, Any]:
        where = {
            "artifactLocation": self._artifact,
            "region": self._region(related.start, related.end),
        }
        message = {"text": _escape_links(visible(related.message))}
        return {"id": number, "physicalLocation": where, "message": message}

    def _fix(self, fix: Fix) -> dict[str, Any]:
        words = visible(fix.title) + (" (changes verdicts)" if fix.changes_verdicts else "")
        change = {
            "artifactLocation": self._artifact,
            "replacements": [self._replacement(edit) for edit in fix.edits],
        }
        return {"description": {"text": _escape_links(words)}, "artifactChanges": [change]}

    def _replacement(self, edit: Edit) -> dict[str, Any]:
        replacement: dict[str, Any] = {"deletedRegion": self._region(edit.start, edit.end)}
        if edit.octets:
            try:
                replacement["insertedContent"] = {"text": edit.octets.decode("utf-8")}
            except UnicodeDecodeError:
                replacement["insertedContent"] = {"binary": b64encode(edit.octets).decode()}
        return replacement

    def _fingerprint(self, note: LintNote) -> str:
        """Return the fingerprint, and how many equal ones there were."""
        same = self._prints.of(note)
        self._seen[same] += 1
        return f"{same}:{self._seen[same]}"


def _message(note: LintNote) -> str:
    message = visible(note.message)
    if note.line is None and note.part != "robots.txt":
        message = f"{visible(note.part)}: {message}"
    if note.url:
        message += f" Shown by {visible(note.url)}"
    return _escape_links(message)


def _escape_links(text: str) -> str:
    """Return text in which content of a file cannot form a link (SARIF §3.11.6)."""
    return text.replace("[", "\\[").replace("]", "\\]") if "](" in text else text
