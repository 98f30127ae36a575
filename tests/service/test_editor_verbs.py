"""The verbs of the editor: notes and fixes as lint has them, at the positions of an editor."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lsprotocol.types import Position, Range, TextEdit

from robotrules.editing import semantic_tokens
from robotrules.editing.diagnostics import TYPING_MAX_STATES
from robotrules.editing.positions import PositionMap
from robotrules.linting import fix, lint
from robotrules.robotstxt import parse
from robotrules.service.verbs import editor
from tests.cli.shell import robotrules
from tests.lsp.editor import apply_edits
from tests.lsp.samples import note as sample_note
from tests.property.strategies import bodies
from tests.service.test_comparing import written_body
from tests.service.verb_calls import HOSTILE, call, encoded, every_file, refused

TEXT = "user-agent: *\r\ndisallow : /é😀/*$ # 😀\rDisalow: /b\nDisallow: /b\nDisallow: /b\n"


FIXABLE = """\
User-agent: b
Disallow: /d
Disallow: /d

User-agent: *
Disalow: /b
"""


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """Return a text after the edits of an answer, applied as an editor does."""
    return apply_edits(
        text,
        [
            TextEdit(
                Range(Position(**edit["range"]["start"]), Position(**edit["range"]["end"])),
                edit["newText"],
            )
            for edit in edits
        ],
    )


def text_at(text: str, place: dict[str, Any]) -> str:
    """Return what a range of an answer covers."""
    empty = edited(text, [{"range": place, "newText": ""}])
    marked = edited(text, [{"range": place, "newText": "\ue000"}])
    start = marked.index("\ue000")
    return text[start : start + len(text) - len(empty)]


# --- Notes ----------------------------------------------------------------------------------------


@every_file
def test_notes_are_those_of_lint(octets: bytes) -> None:
    """For any bytes: the same notes in the same order, each where the editor has it."""
    answer = call("editor/notes", robots_base64=encoded(octets))
    found = lint(parse(octets), max_states=TYPING_MAX_STATES)
    assert [(note["code"], note["line"]) for note in answer["notes"]] == [
        (note.code, note.line) for note in found
    ]
    assert set(answer["checks"]) == {note.code for note in found}
    text = octets.decode("utf-16" if octets.startswith(b"\xff\xfe") else "utf-8", "replace")
    shift = "\ufeff" if octets.startswith(b"\xff\xfe") else ""
    for note, of_lint in zip(answer["notes"], found, strict=True):
        if of_lint.line is not None and of_lint.end > of_lint.start and not shift:
            covered = octets[of_lint.start : of_lint.end]
            assert text_at(text, note["range"]) == covered.decode("utf-8", "replace")
            assert note["range"]["start"]["line"] == of_lint.line - 1


def test_notes_of_text_count_utf_16() -> None:
    """CR, LF and CRLF end lines; a character outside the BMP counts as two."""
    answer = call("editor/notes", robots=TEXT)
    spans = {(note["slug"], text_at(TEXT, note["range"])) for note in answer["notes"]}
    assert ("typo", "Disalow") in spans
    assert ("duplicate-rule", "Disallow: /b") in spans or ("duplicate-rule", "/b") in spans
    related = [place for note in answer["notes"] for place in note["related"]]
    assert "/b" in {text_at(TEXT, place["range"])[-2:] for place in related}
    faded = {note["slug"] for note in answer["notes"] if note["unnecessary"]}
    assert "duplicate-rule" in faded
    assert answer["checks"]["RR301"]["summary"]


def test_options_of_notes() -> None:
    """Checks and levels are selected as on the command line; tokens can be left out."""

    def slugs(**fields: Any) -> set[str]:
        return {note["slug"] for note in call("editor/notes", robots=TEXT, **fields)["notes"]}

    everything = slugs()
    assert slugs(select=["typo"]) == {"typo"}
    assert slugs(ignore=["typo"]) == everything - {"typo"}
    assert "typo" in slugs(min_level="warning") < everything
    assert slugs(profile="strict") != everything
    assert "tokens" not in call("editor/notes", robots=TEXT, tokens=False)
    for field in ("select", "ignore"):
        problem = refused("editor/notes", robots="", **{field: ["nothing"]})
        assert problem.extra["at"] == f"$.{field}"
        assert "nothing" in problem.detail


def test_the_most_severe_notes_are_kept() -> None:
    """In the order of the file; the others are counted."""
    many = "user-agent: *\n" + "disallow : /x\n" * 20 + "Disalow: /y\n"
    everything = call("editor/notes", robots=many)
    answer = call("editor/notes", robots=many, max_notes=3)
    assert len(answer["notes"]) == 3
    assert answer["more"] == len(everything["notes"]) - 3 > 0
    order = ["error", "warning", "info"]
    levels = sorted((note["level"] for note in everything["notes"]), key=order.index)
    assert sorted((n["level"] for n in answer["notes"]), key=order.index) == levels[:3]
    assert [note for note in everything["notes"] if note in answer["notes"]] == answer["notes"]
    assert call("editor/notes", robots=many, max_notes=0)["notes"] == []


def test_a_fix_says_whether_it_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proved alone, changes verdicts, or not examined because there are too many."""

    def safety() -> dict[str, bool | None]:
        answer = call("editor/notes", robots=FIXABLE)
        return {note["slug"]: note["fixes"][0]["safe"] for note in answer["notes"] if note["fixes"]}

    assert (safety()["duplicate-rule"], safety()["typo"]) == (True, False)
    monkeypatch.setattr(editor, "MOST_PROOFS", 0)
    assert (safety()["duplicate-rule"], safety()["typo"]) == (None, False)
    monkeypatch.setattr(editor, "MOST_PROOFS", 50)
    monkeypatch.setattr(editor, "MOST_PROVED", 50)
    assert safety()["duplicate-rule"] is None


def test_a_fix_without_proof_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fix that claims to be safe is proved before the answer says so."""
    text = "User-agent: *\nDisallow: /b\n"
    claimed = sample_note(text, "Disallow", new="Allow")
    monkeypatch.setattr(editor, "lint", lambda *_, **__: [claimed])
    (note,) = call("editor/notes", robots=text)["notes"]
    assert note["fixes"][0]["safe"] is False


def decoded(octets: bytes) -> str | None:
    """Return the text that an editor has; None if lint parses another text."""
    return (
        None if octets.startswith((b"\xff\xfe", b"\xfe\xff")) else octets.decode("utf-8", "replace")
    )


@given(bodies)
@settings(max_examples=150, deadline=None)
def test_edits_of_a_note_are_those_of_its_fix(octets: bytes) -> None:
    """An editor gets the text that lint writes with the fix of one note, for any bytes."""
    text = decoded(octets)
    assume(text is not None)
    assert text is not None
    robots = parse(octets)
    answer = call("editor/notes", robots_base64=encoded(octets))
    found = lint(robots, max_states=TYPING_MAX_STATES)
    for note, of_lint in zip(answer["notes"], found, strict=True):
        for offered in note["fixes"]:
            unsafe = not offered["safe"]
            applied = fix(robots, [of_lint], unsafe=unsafe)
            if applied.applied:
                assert edited(text, offered["edits"]) == applied.body.decode("utf-8", "replace")
            assert offered["safe"] is bool(fix(robots, [of_lint]).applied)


@pytest.mark.parametrize("slug", ["duplicate-rule", "space-before-colon", "typo"])
def test_a_fix_is_that_of_the_command(tmp_path: Path, slug: str) -> None:
    """The edits of the notes of one check give the file that lint --fix writes."""
    text = FIXABLE.replace("/d", "/é😀").replace("\n\n", "\r\nAllow : /x\r\r\n")
    answer = call("editor/notes", robots=text, select=[slug])
    (note,) = answer["notes"]
    (offered,) = note["fixes"]
    path = tmp_path / "robots.txt"
    path.write_bytes(text.encode())
    option = "--fix" if offered["safe"] else "--unsafe-fixes"
    robotrules("lint", option, "--select", slug, str(path))
    assert edited(text, offered["edits"]).encode() == path.read_bytes()


# --- Fixing ---------------------------------------------------------------------------------------


@every_file
@pytest.mark.parametrize("unsafe", [False, True])
def test_fix_is_that_of_the_command(tmp_path: Path, octets: bytes, unsafe: bool) -> None:
    """For any bytes: the body is the file that lint writes, and the edits lead to it."""
    path = tmp_path / "robots.txt"
    path.write_bytes(octets)
    ran = robotrules("lint", "--unsafe-fixes" if unsafe else "--fix", str(path))
    answer = call("editor/fix", robots_base64=encoded(octets), unsafe=unsafe)
    if "is binary" in ran.err:
        return
    body = written_body(answer)
    assert body == path.read_bytes()
    assert answer["changed"] is (body != octets)
    if answer["refused"]:
        assert answer["refused"] in ran.err
    if not octets.startswith(b"\xff\xfe"):
        text = octets.decode("utf-8", "replace")
        assert edited(text, answer["edits"]) == body.decode("utf-8", "replace")
    assert bool(answer["applied"]) is (answer["changed"] and not answer["refused"])


@given(bodies)
@settings(max_examples=60, deadline=None)
def test_fixed_texts_are_those_of_lint(
    tmp_path_factory: pytest.TempPathFactory, octets: bytes
) -> None:
    """Small files with all kinds of mistakes."""
    text = decoded(octets)
    assume(text is not None)
    path = tmp_path_factory.mktemp("fix") / "robots.txt"
    path.write_bytes(octets)
    ran = robotrules("lint", "--fix", str(path))
    assume("is binary" not in ran.err)
    answer = call("editor/fix", robots_base64=encoded(octets))
    assert written_body(answer) == path.read_bytes()
    assert edited(text or "", answer["edits"]) == answer["body"]


def test_a_fix_of_text_and_levels(tmp_path: Path) -> None:
    """Text has the same fixes as its bytes; checks and levels limit them as for the command."""
    path = tmp_path / "robots.txt"
    for fields, options in (
        ({}, []),
        ({"min_level": "warning"}, ["--min-level", "warning"]),
        ({"ignore": ["duplicate-rule"]}, ["--ignore", "duplicate-rule"]),
        ({"unsafe": True, "select": ["typo"]}, ["--select", "typo", "--unsafe-fixes"]),
    ):
        path.write_bytes(TEXT.encode())
        robotrules("lint", "--fix", str(path), *options)
        answer = call("editor/fix", robots=TEXT, **fields)
        assert answer["body"].encode() == path.read_bytes()
        assert edited(TEXT, answer["edits"]) == answer["body"]
        assert answer["applied"]


# --- Tokens ---------------------------------------------------------------------------------------


def words(text: str, answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the type and the text of each token of an answer."""
    line = column = 0
    found = []
    data = answer["tokens"]
    for at in range(0, len(data), 5):
        delta_line, delta_start, length, kind, modifiers = data[at : at + 5]
        assert modifiers == 0
        column = delta_start if delta_line else column + delta_start
        line += delta_line
        place = {
            "start": {"line": line, "character": column},
            "end": {"line": line, "character": column + length},
        }
        found.append((answer["legend"]["tokenTypes"][kind], text_at(text, place)))
    return found


def test_tokens_have_roles() -> None:
    """Names of records, product tokens, values, wildcards and comments."""
    expected = [
        ("keyword", "user-agent"),
        ("class", "*"),
        ("keyword", "disallow"),
        ("string", "/é😀/"),
        ("operator", "*"),
        ("operator", "$"),
        ("comment", "# 😀"),
        ("keyword", "Disalow"),
        ("string", "/b"),
    ]
    for path in ("editor/tokens", "editor/notes"):
        answer = call(path, robots=TEXT)
        assert words(TEXT, answer)[: len(expected)] == expected
        assert answer["next_line"] is None


def test_tokens_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of lines together are the tokens of the file, whatever the limit is."""
    text = "".join(f"User-agent: bot{n}\n# é\nDisallow: /*{n}\n" for n in range(40))
    everything = words(text, call("editor/tokens", robots=text))
    monkeypatch.setattr(semantic_tokens, "MAX_LINES", 7)
    monkeypatch.setattr(editor, "MAX_LINES", 7)
    found, first = [], 0
    while first is not None:
        answer = call("editor/tokens", robots=text, first=first)
        found += words(text, answer)
        first = answer["next_line"]
    assert found == everything
    assert words(text, call("editor/tokens", robots=text, first=3, last=3)) == everything[7:9]
    assert call("editor/tokens", robots=text, first=10_000)["tokens"] == []
    assert call("editor/tokens", robots=text, first=5, last=2)["tokens"] == []


@every_file
def test_tokens_of_any_bytes(octets: bytes) -> None:
    """They are inside the text and do not overlap."""
    if octets.startswith(b"\xff\xfe"):
        return
    answer = call("editor/tokens", robots_base64=encoded(octets), last=50)
    # Finding a token in the text takes time in proportion to the text.
    text = octets[:2_000].decode("utf-8", "replace")
    assert all(found for _, found in words(text, answer))


# --- Positions in bytes that are not UTF-8 --------------------------------------------------------

PARTS = b"a \xe2 \x82 \xac \xf0 \x9f \x98 \xff \xc0 \xed \xa0 \xf4 \x90 \xe0".split(b" ")
pieces = st.sampled_from([*PARTS, "é".encode(), "😀".encode(), b"\r", b"\n", b"\r\n"])


@given(st.lists(pieces, max_size=12).map(b"".join), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
@settings(max_examples=300, deadline=None)
def test_positions_in_invalid_utf_8(octets: bytes, encoding: str) -> None:
    """They are those in the text that an editor has: a decoder's U+FFFD is one character."""
    text = octets.decode("utf-8", "replace")
    ours, theirs = PositionMap(octets, encoding), PositionMap(text.encode(), encoding)
    shown = 0
    for at in range(len(octets) + 1):
        # At the end of a character or of an invalid sequence the decoder keeps nothing back.
        prefix = octets[:at].decode("utf-8", "replace")
        if text.startswith(prefix) and prefix + octets[at:].decode("utf-8", "replace") == text:
            shown = len(prefix.encode())
            position = ours.to_position(at)
            assert position == theirs.to_position(shown)
            if theirs.to_offset(position) == shown:
                assert ours.to_offset(position) == at
        else:  # inside a sequence: where it starts
            assert ours.to_position(at) == theirs.to_position(shown)
    assert shown == len(text.encode())


# --- Hover ----------------------------------------------------------------------------------------


def hover(text: str, line: int, character: int, **fields: Any) -> dict[str, Any]:
    """Return the hover at a position of a text."""
    position = {"line": line, "character": character}
    return call("editor/hover", robots=text, position=position, **fields)


def test_hover_explains_a_pattern() -> None:
    """With URLs that match and URLs that do not."""
    found = hover("User-agent: *\rDisallow: /é😀*/print$ # x\n", 1, 15)
    assert found["range"]["start"] == {"line": 1, "character": 0}
    assert found["range"]["end"] == {"line": 1, "character": 22}
    for part in ("Matches:", "Does not match:", "https://example.com/%C3%A9"):
        assert part in found["markdown"]
    assert hover("User-agent: *\rDisallow: /x # y", 1, 15) == {"markdown": None, "range": None}
    assert hover("", 3, 9) == {"markdown": None, "range": None}
    assert "OpenAI" in hover("User-agent: GPTBot", 0, 13)["markdown"]


@every_file
def test_hover_on_any_bytes(octets: bytes) -> None:
    """On each of the first lines there is an answer, within the text."""
    for line in range(6):
        position = {"line": line, "character": 12}
        found = call("editor/hover", robots_base64=encoded(octets), position=position)
        assert (found["markdown"] is None) == (found["range"] is None)


def test_hover_on_hostile_patterns_is_bounded() -> None:
    """Patterns whose automata would be large, and very long ones."""
    rules = "".join(f"Disallow: /*{'a*' * n}b*{'?' * n}$\n" for n in range(1, 400))
    found = hover("User-agent: *\n" + rules, 350, 12)
    assert found["markdown"]
    long = hover(f"User-agent: *\nDisallow: /{'*a' * 200_000}$\n", 1, 12)
    assert len(long["markdown"]) < 2_000


@pytest.mark.parametrize(
    "position",
    [{"line": -1, "character": 0}, {"line": 0}, {"line": 0, "character": 2**31}, None, {}],
)
def test_misuse_of_positions(position: object) -> None:
    """A position is two small numbers."""
    for path in ("editor/hover", "editor/completion"):
        assert "position" in refused(path, robots="", position=position).detail


# --- Completion -----------------------------------------------------------------------------------


def test_completion_of_records_and_crawlers() -> None:
    """The text after an item is chosen has the item in place of what was typed."""
    text = "User-agent: é😀\rUser-agent: GPTB\nDis"
    items = call("editor/completion", robots=text, position={"line": 1, "character": 16})["items"]
    (item,) = [item for item in items if item["label"] == "GPTBot"]
    assert edited(text, [item]) == text.replace("GPTB", "GPTBot")
    assert item["kind"] == "class"
    assert "OpenAI" in item["detail"]
    assert "é😀" in {item["label"] for item in items}
    items = call("editor/completion", robots=text, position={"line": 2, "character": 3})["items"]
    assert items[0]["label"] == "Disallow"
    assert edited(text, [items[0]]) == text[:-3] + "Disallow: "
    assert {item["deprecated"] for item in items} == {False}


@every_file
def test_completion_on_any_bytes(octets: bytes) -> None:
    """There is an answer at any position."""
    for line, character in ((0, 0), (1, 3), (2, 10), (9_999, 9_999)):
        position = {"line": line, "character": character}
        call("editor/completion", robots_base64=encoded(octets), position=position)


# --- Patterns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern", ["/*/print$", "", "a", "/é😀*$b", "/%zz", "/a b", "*", "/" * 300]
)
@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_pattern_is_that_of_the_command(pattern: str, profile: str) -> None:
    """With and without URLs."""
    ran = robotrules("pattern", "--json", "--profile", profile, "--", pattern)
    assert call("editor/pattern", pattern=pattern, profile=profile) == json.loads(ran.out)
    urls = ["https://example.com/a/print", "/é😀/x", "nothing"]
    options = [f"--url={url}" for url in urls]
    ran = robotrules("pattern", "--json", "--profile", profile, *options, "--", pattern)
    answer = call("editor/pattern", pattern=pattern, profile=profile, urls=urls)
    assert answer == json.loads(ran.out)


def test_limits_of_patterns() -> None:
    """The largest request is answered soon, a larger one is refused."""
    longest = "/*" + "a*" * (editor.LONGEST_PATTERN // 2 - 1)
    urls = ["/" + "a" * (editor.LONGEST_URL - 1)] * editor.MOST_URLS
    before = time.monotonic()
    assert call("editor/pattern", pattern=longest, urls=urls)["urls"]
    assert time.monotonic() - before < 20
    assert "pattern" in refused("editor/pattern", pattern=longest + "x").detail
    assert "urls" in refused("editor/pattern", pattern="/", urls=["/a", *urls]).detail
    assert "urls" in refused("editor/pattern", pattern="/", urls=[urls[0] + "a"]).detail


def test_hostile_files_are_the_same_as_text() -> None:
    """Valid UTF-8 has the same answer as text and as base64."""
    for name, octets in HOSTILE.items():
        if name == "600 KiB":
            continue
        try:
            text = octets.decode()
        except UnicodeDecodeError:
            continue
        for path in ("editor/notes", "editor/fix", "editor/tokens"):
            assert call(path, robots=text) == call(path, robots_base64=encoded(octets))
