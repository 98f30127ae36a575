"""SARIF 2.1.0: valid by the official schema, with correct locations."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.linting import CHECKS, Edit, Fix, fix, lint
from robotrules.linting.edits import apply_edits
from robotrules.linting.render import LintedFile
from robotrules.linting.render.sarif import FINGERPRINT, sarif
from robotrules.robotstxt import parse
from tests.lint.rendered import BODY, CHECKED, HOSTILE, hostile_file, large_file, lint_file, note
from tests.stored_schemas import SARIF, schema_errors, stored_schema


def errors(value: dict[str, Any]) -> list[str]:
    """Return the locations at which a log violates the schema."""
    return schema_errors(value, SARIF)


def make_run(*files: LintedFile) -> dict[str, Any]:
    """Return the run of a valid log."""
    log = sarif(files, version="1.2.3")
    assert errors(log) == []
    [run] = log["runs"]
    return dict(run)


FILES = {
    "nothing": [],
    "notes": [lint_file()],
    "several files": [lint_file(), lint_file(where="b ü/robots.txt".encode())],
    "trouble": [LintedFile(b"there is none", error="cannot read it")],
    "url": [lint_file(where=b"https://example.com/robots.txt", is_file=False)],
    "utf-16": [lint_file(whole=False)],
    "hostile": [hostile_file(), lint_file()],
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_the_log_is_valid(files: list[LintedFile]) -> None:
    """By the schema, with any content and any error."""
    make_run(*files)


def test_the_schema_is_the_right_one_and_can_fail() -> None:
    """It is that of 2.1.0, and rejects an invalid log."""
    assert stored_schema(SARIF)["title"] == SARIF
    log = sarif([lint_file()], version="1.2.3")
    log["runs"][0]["results"][0]["level"] = "info"
    del log["runs"][0]["tool"]
    assert len(errors(log)) == 2


def test_the_tool_names_its_checks() -> None:
    """Each check with a result is a rule with its documentation; results refer to it."""
    run = make_run(lint_file())
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
    """`info` becomes `note`."""
    notes = tuple(note(level=level) for level in ("error", "warning", "info"))
    run = make_run(LintedFile(b"robots.txt", notes=notes, body=BODY))
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]


def test_every_check_can_be_a_rule() -> None:
    """Its texts are valid, and its level is a SARIF level."""
    notes = tuple(note(code=check.code, slug=check.slug) for check in CHECKS)
    rules = make_run(LintedFile(b"robots.txt", notes=notes, body=BODY))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [check.code for check in CHECKS]
    levels = {rule["defaultConfiguration"]["level"] for rule in rules}
    assert levels == {"error", "warning", "note"}
    assert all(rule["fullDescription"]["text"] for rule in rules)


def region(one: dict[str, Any]) -> dict[str, Any]:
    """Return the region of a result or of a related location."""
    where = one.get("physicalLocation") or one["locations"][0]["physicalLocation"]
    return dict(where["region"])


def test_columns_are_code_units_of_utf_16() -> None:
    """The run declares it; octets are given as well."""
    body = "User-agent: *\r# é\rDisallow: é😀/\n".encode()
    run = make_run(lint_file(body))
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
    """UTF-16 has two octets for each character."""
    [first, _] = make_run(lint_file(whole=False))["results"]
    assert set(region(first)) == {"startLine", "startColumn", "endLine", "endColumn"}


def test_a_note_about_a_file_has_no_region() -> None:
    """It only has the file."""
    about_file = note(line=None, column=0, end_column=0)
    about_page = about_file._replace(part="meta element 2")
    run = make_run(LintedFile(b"page.html", notes=(about_file, about_page)))
    for one in run["results"]:
        assert "region" not in one["locations"][0]["physicalLocation"]
    texts = [one["message"]["text"] for one in run["results"]]
    assert texts == ["A message.", "meta element 2: A message."]


def test_related_locations() -> None:
    """Other lines that a note refers to, with a message."""
    [related] = make_run(lint_file())["results"][1]["relatedLocations"]
    assert related["message"]["text"] == "decides these URLs"
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
def test_uris_of_files(where: bytes, is_file: bool, uri: str) -> None:
    """Relative if they are below, and percent-encoded; a colon would start a scheme."""
    run = make_run(lint_file(where=where, is_file=is_file))
    assert run["artifacts"] == [{"location": {"uri": uri}}]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, "index": 0}


def fingerprints(body: bytes) -> list[str]:
    """Return the fingerprint of each note."""
    return [one["partialFingerprints"][FINGERPRINT] for one in make_run(lint_file(body))["results"]]


class TestFingerprints:
    """A fingerprint stays if lines move, and is unique."""

    def test_lines_may_move(self) -> None:
        """Lines above and spaces change nothing."""
        moved = b"# More.\n\n" + BODY.replace(b"Disallow: p", b"Disallow:   p")
        assert fingerprints(moved) == fingerprints(BODY)

    def test_another_line_is_another_note(self) -> None:
        """The text of the line counts."""
        other = fingerprints(BODY.replace(b"private", b"secret"))
        assert other[0] != fingerprints(BODY)[0]
        assert other[1] == fingerprints(BODY)[1]

    def test_the_same_line_twice_is_two(self) -> None:
        """Equal notes are counted."""
        twice = fingerprints(BODY + b"\nUser-agent: x\nDisallow: private/\n")
        assert len(set(twice)) == len(twice) == 3


def apply_fix(body: bytes, change: dict[str, Any]) -> bytes:
    """Apply the replacements of a fix as a consumer would: by lines and UTF-16 columns."""
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
    """Applying a fix gives the same result as `--fix`."""

    def test_an_insertion(self) -> None:
        """The fix inserts the `/`."""
        body = "User-agent: *\n# é😀\nDisallow: private/é\n".encode()
        [one] = make_run(lint_file(body))["results"][0]["fixes"]
        assert one["description"]["text"].endswith("(changes verdicts)")
        notes = lint(body, select=CHECKED)
        fixed = fix(parse(body), notes, unsafe=True).body
        assert apply_fix(body, one["artifactChanges"][0]) == fixed
        assert b"/private/" in fixed

    def test_a_removed_line(self) -> None:
        """Its line end is removed too."""
        gone = note(fix=Fix("Take the line out", (Edit(14, 33, b""), Edit(33, 33, b"# x\n"))))
        [one] = make_run(LintedFile(b"x", notes=(gone,), body=BODY))["results"][0]["fixes"]
        [first, second] = one["artifactChanges"][0]["replacements"]
        assert first["deletedRegion"]["endLine"] == 3
        assert "insertedContent" not in first
        assert second["insertedContent"] == {"text": "# x\n"}
        assert apply_fix(BODY, one["artifactChanges"][0]) == apply_edits(BODY, [gone])

    def test_octets_that_are_not_utf_8(self) -> None:
        """They are in base 64."""
        [first, *_] = make_run(hostile_file())["results"]
        [change] = first["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["insertedContent"] == {"binary": "/w=="}


def test_content_is_not_a_link() -> None:
    """SARIF reads `[words](target)` in a message as a link; a file must not create one."""
    [first, *_] = make_run(hostile_file())["results"]
    for text in (first["message"]["text"], first["relatedLocations"][0]["message"]["text"]):
        assert "\\[x\\](https" in text
        assert text.isprintable()
    assert "[x](" in HOSTILE


def test_a_failed_input_is_a_notification() -> None:
    """The run is not successful."""
    run = make_run(LintedFile(b"no.txt", error="cannot\x1bread it"), lint_file())
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [notification] = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "cannot\\x1bread it"
    assert make_run(lint_file())["invocations"][0]["executionSuccessful"] is True


def test_very_many_notes_on_one_very_long_line() -> None:
    """Each note costs the same, however long the line is."""
    log = sarif([large_file()], version="1")
    results = log["runs"][0]["results"]
    assert len(results) == 100_000
    assert region(results[-1])["startColumn"] == 11 + 99_999
    assert len({one["partialFingerprints"][FINGERPRINT] for one in results}) == 100_000


def test_the_url_is_in_the_message() -> None:
    """A message may refer to \"this URL\", so it has to be there."""
    shown = note(url="https://example.com/a")
    log = sarif([LintedFile(b"robots.txt", notes=(shown,), body=BODY)], version="1")
    [result] = log["runs"][0]["results"]
    assert result["message"]["text"] == f"{shown.message} Shown by https://example.com/a"
