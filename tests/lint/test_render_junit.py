"""JUnit: valid XML, whatever the content of files."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from robotrules.linting.render import LintedFile
from robotrules.linting.render.junit import junit
from tests.lint.rendered import BODY, hostile_file, large_file, lint_file, note

# XML 1.0 §2.2.
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(*files: LintedFile) -> ElementTree.Element:
    """Parse a report, and check the properties that consumers rely on."""
    text = junit(files)
    assert not ILLEGAL.search(text)
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in [root, *root]:
        cases = element.findall(".//testcase")
        assert element.get("tests") == str(len(cases))
        assert element.get("failures") == str(len(element.findall(".//failure")))
        assert element.get("errors") == str(len(element.findall(".//error")))
        assert all(case.get("name") and case.get("classname") for case in cases)
    return root


def test_a_file_is_a_suite_and_a_note_is_a_case() -> None:
    """With file and line, from which GitLab makes a link."""
    [suite] = read(lint_file())
    assert suite.get("name") == "robots.txt"
    [first, second] = suite
    assert first.attrib == {
        "name": "RR505 pattern-start 2:11",
        "line": "2",
        "classname": "robots.txt",
        "file": "robots.txt",
    }
    [failure] = first
    assert (failure.tag, failure.get("type")) == ("failure", "error")
    assert failure.get("message", "").startswith("The path pattern 'private/' starts with")
    assert (failure.text or "").startswith("robots.txt:2:11: error RR505 pattern-start: The path")
    assert second[0].get("type") == "warning"


def test_a_note_below_the_failing_level_passes() -> None:
    """The report fails only if the run fails."""
    [suite] = read(lint_file(fail_on="error"))
    assert [case[0].tag for case in suite] == ["failure", "system-out"]
    [suite] = read(lint_file(fail_on="never"))
    assert [case[0].tag for case in suite] == ["system-out", "system-out"]
    info = LintedFile(b"x", notes=(note(level="info"),), body=BODY)
    assert [case[0].tag for case in read(info)[0]] == ["system-out"]
    assert [case[0].tag for case in read(info._replace(fail_on="info"))[0]] == ["failure"]


def test_a_clean_file_is_a_passed_case() -> None:
    """It is one passed case."""
    [suite] = read(LintedFile(b"robots.txt", body=b""))
    [case] = suite
    assert (case.get("name"), list(case)) == ("clean", [])


def test_a_failed_input_is_an_error() -> None:
    """It is not a failure."""
    [suite] = read(LintedFile(b"no.txt", error="cannot read it"))
    [case] = suite
    assert (case[0].tag, case[0].get("message")) == ("error", "cannot read it")


def test_a_page_and_a_url() -> None:
    """There is no file to link to, and no line."""
    about = note(line=None, column=0, end_column=0, part="X-Robots-Tag line 1")
    [suite] = read(LintedFile(b"https://example.com/x", False, (about,)))
    [case] = suite
    assert case.get("file") is case.get("line") is None
    assert "https://example.com/x: X-Robots-Tag line 1: error" in (case[0].text or "")


def test_hostile_content_is_text() -> None:
    """The content of a file creates no element, attribute or illegal character."""
    [suite] = read(hostile_file())
    assert {element.tag for element in suite.iter()} == {"testsuite", "testcase", "failure"}
    for failure in suite.iter("failure"):
        assert "<b a='\"'>&]]>" in (failure.text or "")
        assert "\\x1b[31m\\x00\\x0d\\x0a::error" in (failure.text or "")
        assert set(failure.attrib) == {"message", "type"}


def test_very_many_notes() -> None:
    """On one line of half a mebibyte."""
    text = junit([large_file()])
    assert text.count("<testcase ") == text.count("</testcase>") == 100_000
    assert 'name="RR505 pattern-start 1:100010"' in text
