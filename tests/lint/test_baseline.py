"""Baselines: known notes stay known when lines move; equal notes are counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.linting import CHECKS, LintNote, lint
from robotrules.linting.baseline import (
    MAX_BYTES,
    BaselineComparison,
    BaselineError,
    LintBaseline,
    Scope,
    read_baseline,
)
from robotrules.linting.render.fingerprints import Fingerprints
from robotrules.linting.render.places import Places

EVERYTHING = Scope([check.code for check in CHECKS])
BODY = b"User-agent: *\nDisallow: private/\nDisallow: /shop*\nAllow: /shop\n"


def notes_of(body: bytes, *select: str) -> tuple[list[LintNote], Fingerprints]:
    """Return the notes of a file, and their fingerprints."""
    return lint(body, select=select or ("RR505",)), Fingerprints(Places(body))


def baseline_of(body: bytes, *select: str) -> LintBaseline:
    """Return the baseline with all notes of one file, written and read."""
    entries = LintBaseline().entries("robots.txt", *notes_of(body, *select), EVERYTHING)
    return read_baseline(LintBaseline({"robots.txt": entries}).render())


def compare(old: bytes, new: bytes, scope: Scope = EVERYTHING) -> BaselineComparison:
    """Compare a file with its baseline."""
    return baseline_of(old).compare("robots.txt", *notes_of(new), scope)


def test_all_notes_are_known_at_first() -> None:
    """What was just written hides everything."""
    found = compare(BODY, BODY)
    assert (len(found.new), len(found.known), found.stale) == (0, 1, ())


@pytest.mark.parametrize(
    "body",
    [
        b"# a comment\n\n" + BODY,
        BODY.replace(b"Disallow: private/", b"  Disallow:   private/  "),
        BODY.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BODY,
        b"User-agent: ExampleBot\nDisallow: /\n\n" + BODY,
    ],
)
def test_a_line_may_move(body: bytes) -> None:
    """And its white space may change."""
    found = compare(BODY, body)
    assert (len(found.new), len(found.known), found.stale) == (0, 1, ())


def test_another_line_is_new_and_the_old_entry_is_stale() -> None:
    """The fingerprint is the check and the text of the line."""
    found = compare(BODY, BODY.replace(b"private/", b"secret/"))
    assert [note.line for note in found.new] == [2]
    assert [(entry.code, entry.text) for entry in found.stale] == [("RR505", "Disallow: private/")]


def test_equal_notes_are_counted() -> None:
    """Of three equal lines, two are known if there were two; of one, one is stale."""
    line = b"Disallow: private/\n"
    two = compare(BODY + line, BODY + 2 * line)
    assert (len(two.new), len(two.known), two.stale) == (1, 2, ())
    one = compare(BODY + line, BODY)
    assert (len(one.new), len(one.known), [entry.notes for entry in one.stale]) == (0, 1, [1])


def test_a_note_that_became_more_severe_is_new() -> None:
    """A known info does not hide an error; a known error hides what is less severe."""
    notes, prints = notes_of(BODY)
    [error] = notes
    info = error._replace(level="info")
    known = {
        level: LintBaseline(
            {"robots.txt": LintBaseline().entries("robots.txt", [note], prints, EVERYTHING)}
        )
        for level, note in (("info", info), ("error", error))
    }
    found = known["info"].compare("robots.txt", [error], prints, EVERYTHING)
    assert (found.new, found.known) == ((error,), ())
    assert [entry.level for entry in found.stale] == ["info"]
    found = known["error"].compare("robots.txt", [info], prints, EVERYTHING)
    assert (found.new, found.known, found.stale) == ((), (info,), ())
    # An entry serves the note of its own level first.
    found = known["error"].compare("robots.txt", [info, error], prints, EVERYTHING)
    assert (found.new, found.known) == ((info,), (error,))


def test_what_was_not_looked_for_is_not_stale() -> None:
    """Another file, a check that did not run, a level that does not count."""
    clean = b"User-agent: *\nDisallow: /\n"
    assert compare(BODY, clean).stale
    assert not compare(BODY, clean, Scope(["RR501"])).stale
    assert not compare(BODY, clean, Scope(["RR505"], ["warning"])).stale
    assert not baseline_of(BODY).compare("other.txt", *notes_of(clean), EVERYTHING).stale


def test_writing_keeps_what_was_not_looked_for() -> None:
    """`--select RR501 --write-baseline` does not remove entries of RR505."""
    known = baseline_of(BODY, "RR505", "RR501")
    entries = known.entries("robots.txt", *notes_of(BODY, "RR501"), Scope(["RR501"]))
    assert LintBaseline({"robots.txt": entries}).render() == known.render()
    gone = known.entries("robots.txt", *notes_of(BODY, "RR501"), EVERYTHING)
    assert {entry.code for entry in gone} == {"RR501"}


def test_notes_without_a_line() -> None:
    """A note about the whole file has no text, and is known too."""
    body = b"\n"
    known = baseline_of(body, "empty-file")
    assert len(known) == 1
    assert known.compare("robots.txt", *notes_of(b"\n\n", "empty-file"), EVERYTHING).known


def test_the_file_is_sorted_and_has_an_entry_per_line() -> None:
    """The order of notes and files does not matter, so changes are readable."""
    first, second = b"Disallow: a/\n", b"Disallow: b/\n"
    one = baseline_of(b"User-agent: *\n" + first + second).render()
    assert one == baseline_of(b"User-agent: *\n" + second + first).render()
    assert sum(b'"fingerprint"' in line for line in one.splitlines()) == 2
    assert json.loads(one)["schema"] == 1
    assert read_baseline(LintBaseline().render()).files == {}


def test_hostile_lines_stay_text() -> None:
    """Control characters of a file are escaped in the baseline, and long lines are cut."""
    body = b"User-agent: *\nDisallow: \x1b[31m" + b"x" * 10_000 + b"\n"
    text = baseline_of(body).render()
    assert b"\x1b" not in text
    assert len(text) < 1_000


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "no object 'files'"),
        (b'{"files": []}', "no object 'files'"),
        (b'{"files": {}}', "'schema' is not 1"),
        (b'{"schema": 1, "files": {"a": {}}}', "the entries of 'a' are not a list"),
        (b'{"schema": 1, "files": {"a\\u001b": [1]}}', "an entry of 'a\\\\x1b' is not one"),
        (b" " * (MAX_BYTES + 1), "larger than 16 MiB"),
    ],
)
def test_another_file_is_not_a_baseline(octets: bytes, words: str) -> None:
    """It is refused with the reason."""
    with pytest.raises(BaselineError) as caught:
        read_baseline(octets)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"count": 0},
        {"count": True},
        {"count": "1"},
        {"fingerprint": ""},
        {"fingerprint": 1},
        {"level": "bad"},
        {"text": None},
    ],
)
def test_an_entry_that_is_not_ours(change: dict[str, Any]) -> None:
    """Each value is checked."""
    value = json.loads(baseline_of(BODY).render())
    value["files"]["robots.txt"][0] |= change
    with pytest.raises(BaselineError):
        read_baseline(json.dumps(value).encode())


LINES = st.lists(st.sampled_from([b"Disallow: a/", b"Disallow: b/", b"Disallow: /c", b""]))


@given(LINES, LINES)
def test_every_note_is_new_or_known(old: list[bytes], new: list[bytes]) -> None:
    """And the known notes and the stale ones are those of the baseline."""
    before, after = (b"User-agent: *\n" + b"\n".join(lines) + b"\n" for lines in (old, new))
    found = compare(before, after)
    notes, _ = notes_of(after)
    assert sorted(map(str, (*found.new, *found.known))) == sorted(map(str, notes))
    stale = sum(entry.notes for entry in found.stale)
    assert len(found.known) + stale == len(baseline_of(before))
