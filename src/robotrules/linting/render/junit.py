"""
JUnit: notes as test cases in XML, which GitLab, Jenkins and others show as a report of tests.

A file is a test suite. Each note is a case: it failed if the note is bad enough to fail the run,
and passed with words otherwise. A file without notes is one case that passed, so that it is seen to
have been looked at. XML 1.0 has no control characters, not even escaped ones, so they are spelled
out. It does not know where the text is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from robotrules.linting.note import LintNote
from robotrules.linting.render import Linted
from robotrules.linting.render.places import Places
from robotrules.robotstxt.values import visible


def junit(files: Iterable[Linted]) -> str:
    """Return a report of tests."""
    suites: list[str] = []
    total = [0, 0, 0]
    for one in files:
        cases = list(_cases(one))
        failures = sum(map(one.fails, one.notes))
        counts = [len(cases), failures, int(bool(one.trouble))]
        total = [before + more for before, more in zip(total, counts, strict=True)]
        suites += [_open("testsuite", one.name, counts, skipped=0), *cases, "  </testsuite>"]
    head = ['<?xml version="1.0" encoding="UTF-8"?>', _open("testsuites", "robotrules lint", total)]
    return "\n".join([*head, *suites, "</testsuites>", ""])


def _open(tag: str, name: str, counts: list[int], **more: object) -> str:
    tests, failures, errors = counts
    indent = "  " if tag == "testsuite" else ""
    attributes = {"name": name, "tests": tests, "failures": failures, "errors": errors, **more}
    return f"{indent}<{tag}{_attributes(attributes)}>"


def _cases(one: Linted) -> Iterator[str]:
    if one.trouble:
        yield _case(one, {"name": "readable"}, "error", {"message": one.trouble}, "")
    elif not one.notes:
        yield f"    <testcase{_attributes({'name': 'clean', **_of(one)})}/>"
    places = Places(one.body)
    for note in one.notes:
        yield _noted(one, note, places)


def _noted(one: Linted, note: LintNote, places: Places) -> str:
    attributes: dict[str, object] = {"name": f"{note.code} {note.slug}"}
    where, said = one.name, note.message
    if note.line is not None:
        place = places.at(note.start)
        attributes["name"] = f"{note.code} {note.slug} {place.line}:{place.column}"
        attributes["line"] = place.line
        where = f"{one.name}:{place.line}:{place.column}"
    elif note.part != "robots.txt":
        where = f"{one.name}: {note.part}"
    text = f"{where}: {note.level} {note.code} {note.slug}: {said}"
    if note.url:
        text += f" Shown by {note.url}"
    if not one.fails(note):
        return _case(one, attributes, "system-out", {}, text)
    return _case(one, attributes, "failure", {"message": said, "type": note.level}, text)


def _case(
    one: Linted,
    attributes: dict[str, object],
    tag: str,
    inner: dict[str, object],
    text: str,
) -> str:
    head = f"    <testcase{_attributes({**attributes, **_of(one)})}>"
    said = f"<{tag}{_attributes(inner)}>{escape(visible(text))}</{tag}>"
    return f"{head}\n      {said}\n    </testcase>"


def _of(one: Linted) -> dict[str, object]:
    """Return whose case it is; GitLab makes a link of `file`."""
    return {"classname": one.name, **({"file": one.name} if one.is_file else {})}


def _attributes(values: dict[str, object]) -> str:
    return "".join(f" {name}={quoteattr(visible(str(value)))}" for name, value in values.items())
