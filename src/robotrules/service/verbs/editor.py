"""
Verbs: what the editor of the page shows, from `robotrules.editing`, as the language server.

Positions are those of the Language Server Protocol: lines from 0, and in a line UTF-16 code units,
which are the units of strings in browsers. CR, LF and CRLF end a line. In a file that is given as
base64, an invalid sequence of UTF-8 is one U+FFFD, as a browser decodes it.

Sections: requests · notes and tokens · fixes · hover, completion and patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    MarkupContent,
    Position,
    Range,
    TextEdit,
)
from msgspec import Meta

from robotrules.analysis.describe import describe
from robotrules.analysis.pattern_trace import ParsedPattern
from robotrules.editing.code_actions import is_proved_safe
from robotrules.editing.completion import complete
from robotrules.editing.diagnostics import (
    TYPING_MAX_STATES,
    UNNECESSARY,
    find_range,
    summarize_check,
)
from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import render_hover
from robotrules.editing.markdown import truncate
from robotrules.editing.semantic_tokens import LEGEND, MAX_LINES, encode_semantic_tokens
from robotrules.editing.text_edits import diff_text_edits, to_text_edits
from robotrules.errors import CheckError
from robotrules.linting import LEVELS, MAX_STATES, LintNote, lint
from robotrules.linting.fix_rounds import fix_in_rounds
from robotrules.octets import to_octets
from robotrules.robotstxt import RobotsTxt
from robotrules.service.problems import Problem
from robotrules.service.schemas import ProfileName, RequestBody, RobotsInput
from robotrules.service.verbs import Verb
from robotrules.service.verbs.bodies import body_values

Level = Literal["error", "warning", "info"]
CheckName = Annotated[str, Meta(max_length=100)]
Names = Annotated[list[CheckName], Meta(max_length=200)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]

# Notes that one answer may have; a hostile file has a hundred thousand.
MOST_NOTES = 10_000
# As in `editing.diagnostics`: the limits for one note.
MAX_MESSAGE, MAX_URL, MAX_RELATED = 600, 200, 20
# Notes of which it is proved one by one that their fix is safe: their number, and the octets that
# all these proofs may read. `editor/fix` proves all fixes together.
MOST_PROOFS, MOST_PROVED = 50, 1_000_000
# The time to trace URLs grows with all three together.
LONGEST_PATTERN, LONGEST_URL, MOST_URLS = 4_096, 2_048, 20


# --- Requests -------------------------------------------------------------------------------------


class DocumentInput(RobotsInput, kw_only=True):
    """A robots.txt in an editor."""

    def document(self) -> OpenDocument:
        """Return the document; text stays text, so that positions count what the editor has."""
        octets = self.octets
        text = octets if self.robots is None else self.robots
        return OpenDocument(text, profile=self.profile)


class LintChoice(DocumentInput, kw_only=True):
    """A robots.txt, and the checks of lint that run on it."""

    select: Annotated[Names, Meta(description="Codes, prefixes of codes, or slugs of checks.")] = (
        msgspec.field(default_factory=list)
    )
    ignore: Annotated[Names, Meta(description="Checks to skip, named like those of select.")] = (
        msgspec.field(default_factory=list)
    )
    min_level: Annotated[Level, Meta(description="The lowest level: error, warning or info.")] = (
        "info"
    )

    def notes(self, robots: RobotsTxt, max_states: int) -> list[LintNote]:
        """Return the notes on a version of the file."""
        try:
            found = lint(robots, select=self.select, ignore=self.ignore, max_states=max_states)
        except CheckError as error:
            where = "$.ignore" if str(error).startswith("ignore") else "$.select"
            raise Problem("invalid-request", str(error), at=where) from None
        return [note for note in found if note.level in self.levels]

    @property
    def levels(self) -> Sequence[str]:
        """The levels of the notes that count."""
        return LEVELS[: LEVELS.index(self.min_level) + 1]


class NotesRequest(LintChoice, kw_only=True):
    """The body of editor/notes."""

    max_states: Annotated[
        int,
        Meta(ge=1, le=MAX_STATES, description="The state limit of each exact question of lint."),
    ] = TYPING_MAX_STATES
    max_notes: Annotated[
        int,
        Meta(ge=0, le=MOST_NOTES, description="The most notes; the most severe ones are kept."),
    ] = 1_000
    tokens: Annotated[bool, Meta(description="Whether the answer has the semantic tokens.")] = True


class TokensRequest(DocumentInput, kw_only=True):
    """The body of editor/tokens."""

    first: Annotated[Count, Meta(description="The first line, counted from 0.")] = 0
    last: Annotated[
        Count | None,
        Meta(description=f"The last line, included; at most {MAX_LINES:,} lines are answered."),
    ] = None


class FixRequest(LintChoice, kw_only=True):
    """The body of editor/fix."""

    unsafe: Annotated[
        bool, Meta(description="Also apply fixes that change verdicts, as lint --unsafe-fixes.")
    ] = False
    max_states: Annotated[
        int,
        Meta(ge=1, le=MAX_STATES, description="The state limit of each exact question of lint."),
    ] = MAX_STATES


class PositionInput(RequestBody, kw_only=True):
    """A position in the text: a line, and UTF-16 code units in it."""

    line: Annotated[Count, Meta(description="The line, counted from 0.")]
    character: Annotated[Count, Meta(description="UTF-16 code units before the position.")]


class PlaceRequest(DocumentInput, kw_only=True):
    """The body of editor/hover and editor/completion."""

    position: PositionInput

    def place(self) -> tuple[OpenDocument, int]:
        """Return the document, and the offset of the position in its bytes."""
        document = self.document()
        position = Position(self.position.line, self.position.character)
        return document, document.positions.to_offset(position)


class PatternRequest(RequestBody, kw_only=True):
    """The body of editor/pattern."""

    pattern: Annotated[
        str,
        Meta(
            max_length=LONGEST_PATTERN,
            description="A path pattern: the value of a rule.",
            examples=["/*/print$"],
        ),
    ]
    urls: Annotated[
        list[Annotated[str, Meta(max_length=LONGEST_URL)]],
        Meta(max_length=MOST_URLS, description="URLs to test against the pattern."),
    ] = msgspec.field(default_factory=list)
    profile: ProfileName = "default"


# --- Notes and tokens -----------------------------------------------------------------------------


def notes(request: NotesRequest) -> object:
    """
    Return the notes of lint with their fixes, and the semantic tokens.

    The time is that of lint: linear, and for checks of redundant rules up to `max_states` for each
    question. Which fixes are safe is proved for as many as a fixed budget allows.
    """
    document = request.document()
    found = request.notes(document.robots, request.max_states)
    shown = _most_severe(found, request.max_notes)
    answer: dict[str, Any] = {
        "notes": _note_values(document, shown),
        "more": len(found) - len(shown),
        "checks": {
            note.code: {"slug": note.slug, "summary": summarize_check(note)} for note in shown
        },
    }
    if request.tokens:
        answer |= _token_values(document, 0, None)
    return answer


def tokens(request: TokensRequest) -> object:
    """Return the semantic tokens of some lines; the time is linear in the file."""
    return _token_values(request.document(), request.first, request.last)


def _token_values(document: OpenDocument, first: int, last: int | None) -> dict[str, Any]:
    end = len(document.lines)
    done = min(first + MAX_LINES, end if last is None else min(last + 1, end))
    return {
        "tokens": encode_semantic_tokens(document, first, last),
        "next_line": done if done < end else None,
        "legend": {
            "tokenTypes": [str(getattr(one, "value", one)) for one in LEGEND.token_types],
            "tokenModifiers": list(LEGEND.token_modifiers),
        },
    }


def _most_severe(notes: Sequence[LintNote], most: int) -> list[LintNote]:
    """Return at most *most* notes in their order, the most severe ones of them all."""
    if len(notes) <= most:
        return list(notes)
    ranked = sorted(range(len(notes)), key=lambda at: LEVELS.index(notes[at].level))
    return [notes[at] for at in sorted(ranked[:most])]


def _note_values(document: OpenDocument, notes: Sequence[LintNote]) -> list[dict[str, Any]]:
    proofs = min(MOST_PROOFS, MOST_PROVED // (len(document.octets) + 1))
    values = []
    for note in notes:
        safe: bool | None = None
        if note.fix is not None:
            if note.fix.changes_verdicts:
                safe = False
            elif proofs > 0:
                proofs -= 1
                safe = is_proved_safe(document, note)
        values.append(_note_value(document, note, safe))
    return values


def _note_value(document: OpenDocument, note: LintNote, safe: bool | None) -> dict[str, Any]:
    fixes = []
    if note.fix is not None:
        fixes.append(
            {
                "title": truncate(note.fix.title, 200),
                "safe": safe,
                "edits": _edit_values(to_text_edits(document, note.fix.edits)),
            }
        )
    related = [
        {
            "range": _range_value(document.positions.to_range(place.start, place.end)),
            "message": truncate(place.message, MAX_URL),
        }
        for place in note.related[:MAX_RELATED]
    ]
    return {
        "range": _range_value(find_range(document, note)),
        "code": note.code,
        "slug": note.slug,
        "level": note.level,
        "message": truncate(note.message, MAX_MESSAGE),
        "url": truncate(note.url, MAX_URL) if note.url else None,
        "line": note.line,
        "unnecessary": note.slug in UNNECESSARY,
        "related": related,
        "fixes": fixes,
    }


def _range_value(place: Range) -> dict[str, Any]:
    return {
        "start": {"line": place.start.line, "character": place.start.character},
        "end": {"line": place.end.line, "character": place.end.character},
    }


def _edit_values(edits: Iterable[TextEdit]) -> list[dict[str, Any]]:
    return [{"range": _range_value(edit.range), "newText": edit.new_text} for edit in edits]


# --- Fixes ----------------------------------------------------------------------------------------


def apply_fixes(request: FixRequest) -> object:
    """
    Apply all safe fixes, as `robotrules lint --fix` does.

    Each round lints the file and proves that its fixes together change no verdict, for at most 20
    rounds and 1.5 MB in all rounds; `more` says whether fixes are left because of that.
    """
    document = request.document()
    octets = document.octets if request.robots_base64 is None else request.octets
    fixed = fix_in_rounds(
        document.robots,
        octets,
        lambda robots: request.notes(robots, request.max_states),
        unsafe=request.unsafe,
        levels=request.levels,
    )
    body = fixed.robots.body if fixed.applied else octets
    return {
        **body_values(body),
        "changed": body != octets,
        "edits": _edit_values(diff_text_edits(document, body)) if fixed.applied else [],
        "applied": [
            {
                "code": note.code,
                "slug": note.slug,
                "line": note.line,
                "title": truncate(note.fix.title, 200) if note.fix else "",
            }
            for note in fixed.applied[:MOST_NOTES]
        ],
        "refused": fixed.refused or None,
        "more": fixed.more,
    }


# --- Hover, completion and patterns ---------------------------------------------------------------


def hover(request: PlaceRequest) -> object:
    """
    Return the text about the record at a position, as Markdown; null if there is none.

    It has up to four searches of 5,000 states, and describes patterns of at most 2,000 bytes.
    """
    document, offset = request.place()
    found = render_hover(document, offset)
    if found is None:
        return {"markdown": None, "range": None}
    place = document.positions.to_range(found.start, found.end)
    return {"markdown": found.markdown, "range": _range_value(place)}


def completion(request: PlaceRequest) -> object:
    """Return what can be written at a position, the most likely first; linear in the file."""
    document, offset = request.place()
    return {"items": [_item_value(item) for item in complete(document, offset)]}


def _item_value(item: CompletionItem) -> dict[str, Any]:
    edit, text = item.text_edit, item.documentation
    assert isinstance(edit, TextEdit)
    return {
        "label": item.label,
        "kind": CompletionItemKind(item.kind or 1).name.lower(),
        "detail": item.detail,
        "documentation": text.value if isinstance(text, MarkupContent) else text,
        "deprecated": bool(item.tags),
        "range": _range_value(edit.range),
        "newText": edit.new_text,
    }


def pattern(request: PatternRequest) -> object:
    """
    Return what a path pattern matches, as `robotrules pattern --json`.

    The description is linear in the bytes of the pattern; the time for each URL grows with pieces
    of the pattern times bytes of the URL.
    """
    written = to_octets(request.pattern)
    described = describe(written, request.profile).as_dict()
    if request.urls:
        urls = [to_octets(url).strip() for url in request.urls]
        parsed = ParsedPattern(written, request.profile)
        described["urls"] = [parsed.trace(url).as_dict() for url in urls]
    return described


_EXAMPLE = "user-agent: *\nDisalow: /private # not yet\n"

VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/editor/notes",
        "Lint a robots.txt for an editor: notes, their fixes, and semantic tokens",
        NotesRequest,
        notes,
        {"robots": _EXAMPLE},
        "editor-notes",
        heavy=True,
    ),
    Verb(
        "/v1/editor/tokens",
        "Return the semantic tokens of lines of a robots.txt",
        TokensRequest,
        tokens,
        {"robots": _EXAMPLE},
        "editor-tokens",
        inline=1024,
    ),
    Verb(
        "/v1/editor/fix",
        "Apply the fixes of lint that are proved to change no verdict",
        FixRequest,
        apply_fixes,
        {"robots": _EXAMPLE},
        "editor-fix",
        heavy=True,
    ),
    Verb(
        "/v1/editor/hover",
        "Describe the record at a position",
        PlaceRequest,
        hover,
        {"robots": _EXAMPLE, "position": {"line": 1, "character": 12}},
        "editor-hover",
        heavy=True,
    ),
    Verb(
        "/v1/editor/completion",
        "Complete the record at a position",
        PlaceRequest,
        completion,
        {"robots": "User-agent: GPT", "position": {"line": 0, "character": 15}},
        "editor-completion",
        inline=16 * 1024,
    ),
    Verb(
        "/v1/editor/pattern",
        "Describe what a path pattern matches",
        PatternRequest,
        pattern,
        {"pattern": "/*/print$", "urls": ["https://example.com/a/print"]},
        "editor-pattern",
        heavy=True,
        command="pattern",
    ),
)
