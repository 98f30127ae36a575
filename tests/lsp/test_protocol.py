"""The language server over the real protocol: a real client, a real process, each feature."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, apply_action, apply_edits, capabilities


@pytest.fixture(params=["as_process", "in_thread"])
def editor(request: pytest.FixtureRequest) -> Editor:
    """A server process, and a server in a thread of this process."""
    editor: Editor = request.getfixturevalue(request.param)
    return editor


DEAD = "User-agent: *\nDisallow: /shop*\nAllow: /shop\n"
CLEAN = "User-agent: *\nDisallow: /shop\n"


def codes(diagnostics: list[types.Diagnostic]) -> list[object]:
    """Return the codes of diagnostics."""
    return [diagnostic.code for diagnostic in diagnostics]


def test_server_capabilities(editor: Editor) -> None:
    """All features, and full synchronization: pygls would split lines at a form feed."""
    server = editor.initialize_result.capabilities
    assert isinstance(server.text_document_sync, types.TextDocumentSyncOptions)
    assert server.text_document_sync.change == types.TextDocumentSyncKind.Full
    assert server.hover_provider
    assert server.document_formatting_provider
    assert server.document_symbol_provider
    assert server.folding_range_provider
    assert server.semantic_tokens_provider
    assert server.completion_provider
    assert isinstance(server.code_action_provider, types.CodeActionOptions)
    assert "source.fixAll.robotrules" in (server.code_action_provider.code_action_kinds or ())
    assert editor.initialize_result.server_info
    assert editor.initialize_result.server_info.name == "robotrules"


# --- Diagnostics ----------------------------------------------------------------------------------


def test_diagnostics_are_published_when_a_document_is_opened(editor: Editor) -> None:
    """With code, range, related location, and the tag `Unnecessary` for a dead rule."""
    diagnostics = editor.diagnostics(editor.open(DEAD))
    (note,) = [diagnostic for diagnostic in diagnostics if diagnostic.code == "RR501"]
    assert note.source == "robotrules"
    assert note.range == types.Range(types.Position(2, 7), types.Position(2, 12))
    assert "line 2" in note.message
    assert list(note.tags or ()) == [types.DiagnosticTag.Unnecessary]
    (related,) = note.related_information or ()
    assert related.location.range.start == types.Position(1, 10)


def test_diagnostics_follow_typing(editor: Editor) -> None:
    """Debounced, and for the last version."""
    uri = editor.open(CLEAN, "typing.txt")
    assert "RR505" not in codes(editor.diagnostics(uri))
    for end in range(1, len("Disallow: x\n") + 1):
        editor.type(uri, CLEAN + "Disallow: x\n"[:end])
    assert "RR505" in codes(editor.diagnostics(uri))
    # Most versions in between are not linted.
    assert len(editor.published[uri]) < 8
    editor.type(uri, CLEAN + "Disallow: /x\n")
    assert "RR505" not in codes(editor.diagnostics(uri))


def test_closing_a_document_clears_its_diagnostics(editor: Editor) -> None:
    """An empty list is published."""
    uri = editor.open(DEAD, "closed.txt")
    editor.diagnostics(uri)
    before = len(editor.published[uri])
    editor.close(uri)
    editor.wait(lambda: len(editor.published[uri]) > before)
    assert list(editor.published[uri][-1].diagnostics) == []


def test_settings_of_the_project(editor: Editor, tmp_path: Path) -> None:
    """The file nearest to the document selects the checks."""
    settings = tmp_path / "robotrules.toml"
    settings.write_text('[lint]\nignore = ["RR501"]\n', encoding="utf-8")
    uri = editor.open(DEAD, str(tmp_path / "robots.txt"))
    assert "RR501" not in codes(editor.diagnostics(uri))
    settings.write_text('[lint]\nselect = ["RR501"]\n', encoding="utf-8")
    editor.type(uri, DEAD + "\n")
    editor.save(uri)
    assert codes(editor.diagnostics(uri)) == ["RR501"]
    # The editor reports a change of the settings file.
    settings.write_text('[lint]\nselect = ["RR505"]\n', encoding="utf-8")
    before = len(editor.published[uri])
    editor.settings_changed(str(settings))
    editor.wait(lambda: len(editor.published[uri]) > before)
    assert codes(editor.diagnostics(uri)) == []
    editor.close(uri)


def test_invalid_settings_are_reported_and_ignored(editor: Editor, tmp_path: Path) -> None:
    """A message names the file and the fix; diagnostics are published all the same."""
    (tmp_path / "robotrules.toml").write_text("[lint]\nselct = []\n", encoding="utf-8")
    before = len(editor.messages)
    uri = editor.open(DEAD, str(tmp_path / "robots.txt"))
    assert "RR501" in codes(editor.diagnostics(uri))
    editor.wait(lambda: len(editor.messages) > before)
    assert "robotrules.toml" in editor.messages[-1]
    assert "select" in editor.messages[-1]
    (tmp_path / "robotrules.toml").write_text('[lint]\nselect = ["RR0x"]\n', encoding="utf-8")
    before = len(editor.messages)
    editor.save(uri)
    editor.wait(lambda: len(editor.messages) > before)
    assert "RR0x" in editor.messages[-1]


# --- Hover ----------------------------------------------------------------------------------------


def test_hover_on_a_rule(editor: Editor) -> None:
    """A description, and URLs that it matches and does not match."""
    uri = editor.open("User-agent: ExampleBot\nDisallow: /*/print$\nAllow: /*/prin*$\n", "rule.txt")
    hover = editor.hover(uri, 1, 12)
    assert hover is not None
    assert hover.range == types.Range(types.Position(1, 0), types.Position(1, 19))
    text_shown = editor.hover_text(uri, 1, 12)
    assert "Matches every URL that ends with '/print'" in text_shown
    assert "`https://example.com/x/print`" in text_shown
    assert "`https://example.com/print`: the same '/' cannot count twice" in text_shown
    assert "**9 bytes**" in text_shown
    assert "for `ExampleBot`" in text_shown


def test_hover_on_a_dead_rule_has_the_summary_of_its_check(editor: Editor) -> None:
    """And the rule that decides instead."""
    uri = editor.open(DEAD, "dead.txt")
    editor.diagnostics(uri)
    text_shown = editor.hover_text(uri, 2, 9)
    assert "decided by line 2, `Disallow: /shop*`" in text_shown
    assert "**RR501 dead-rule**: A rule that decides no URL" in text_shown


def test_hover_on_a_user_agent(editor: Editor) -> None:
    """The crawler, and the groups it obeys."""
    uri = editor.open("User-agent: gptbot\nDisallow: /\n", "agent.txt")
    text_shown = editor.hover_text(uri, 0, 14)
    assert text_shown.startswith("**`GPTBot`** (OpenAI)")
    assert "It obeys the group at lines 1-2: 1 rule." in text_shown


def test_hover_on_a_sitemap_and_outside_of_records(editor: Editor) -> None:
    """Its URL; nothing in a comment, and nothing past the end."""
    uri = editor.open("# hi\nSitemap: https://shop.example/s.xml\n", "sitemap.txt")
    assert "The sitemap is `https://shop.example/s.xml`." in editor.hover_text(uri, 1, 3)
    assert editor.hover(uri, 0, 2) is None
    assert editor.hover(uri, 99, 99) is None


# --- Completion -----------------------------------------------------------------------------------


def test_completion_of_records(editor: Editor) -> None:
    """Rules first in a group; the chosen name is inserted with its colon."""
    text = "User-agent: *\ndi"
    items = editor.complete(editor.open(text, "records.txt"), 1, 2)
    assert [item.label for item in items][:2] == ["Disallow", "Allow"]
    assert isinstance(items[0].text_edit, types.TextEdit)
    assert apply_edits(text, [items[0].text_edit]) == "User-agent: *\nDisallow: "


def test_completion_of_product_tokens(editor: Editor) -> None:
    """Known crawlers, with operator and purpose."""
    items = editor.complete(editor.open("User-agent: ", "tokens.txt"), 0, 12)
    assert {"*", "Googlebot", "GPTBot"} <= {item.label for item in items}
    (gptbot,) = [item for item in items if item.label == "GPTBot"]
    assert gptbot.detail == "OpenAI: ai-training"


def test_completion_of_purposes_and_directives(editor: Editor) -> None:
    """From the registries that the server was started with."""
    text = "User-Agent-Purpose: \nContent-Usage: \nApp-Directives: examplesearch;"
    uri = editor.open(text, "registered.txt")
    assert [item.label for item in editor.complete(uri, 0, 20)] == ["EXAMPLE-PURPOSE-1"]
    assert next(item.label for item in editor.complete(uri, 1, 15)) == "train-ai=n"
    directives = [item.label for item in editor.complete(uri, 2, 30)]
    assert directives == ["widgets", "widgets=?0", "teaser"]


def test_no_completion_of_paths(editor: Editor) -> None:
    """The list is empty, without an error."""
    uri = editor.open("Disallow: /\nSitemap: ", "paths.txt")
    assert editor.complete(uri, 0, 11) == []
    assert editor.complete(uri, 1, 9) == []


# --- Code actions ---------------------------------------------------------------------------------


def test_a_quick_fix_fixes_the_text(editor: Editor) -> None:
    """The title of an unsafe fix says so; the note is gone after the fix."""
    text = "User-agent: *\nDisallow: x😀 # /\n"
    uri = editor.open(text, "fix.txt")
    assert "RR505" in codes(editor.diagnostics(uri))
    actions = editor.actions(uri, 1, "quickfix")
    (fix,) = [action for action in actions if "RR505;" in action.title]
    assert fix.title.endswith("changes the file's meaning)")
    fixed = apply_action(text, fix)
    assert fixed == "User-agent: *\nDisallow: /x😀 # /\n"
    editor.type(uri, fixed)
    assert "RR505" not in codes(editor.diagnostics(uri))


def test_an_edit_after_a_surrogate_pair(editor: Editor) -> None:
    """Its range is in UTF-16 code units."""
    text = "User-agent: *\nDisallow: 😀x\n"
    uri = editor.open(text, "surrogate.txt")
    actions = editor.actions(uri, 1)
    (action,) = [action for action in actions if action.title.startswith("Ignore RR505")]
    assert apply_action(text, action).endswith("Disallow: 😀x  # robotrules: ignore[RR505]\n")


def test_a_note_can_be_suppressed(editor: Editor) -> None:
    """With a comment on its line."""
    uri = editor.open(DEAD, "suppress.txt")
    actions = editor.actions(uri, 2)
    (action,) = [action for action in actions if action.title.startswith("Ignore RR501")]
    suppressed = apply_action(DEAD, action)
    assert suppressed.endswith("Allow: /shop  # robotrules: ignore[RR501]\n")
    editor.type(uri, suppressed)
    assert "RR501" not in codes(editor.diagnostics(uri))


def test_fix_all_applies_the_safe_fixes(editor: Editor) -> None:
    """In one edit, without the unsafe ones."""
    text = "User-agent: *\nDisallow : /a\nDisallow: x\nDissallow: /b\nAllow : /c\n"
    uri = editor.open(text, "all.txt")
    (action,) = editor.actions(uri, 0, "source.fixAll")
    assert apply_action(text, action) == text.replace(" :", ":")
    assert editor.actions(editor.open(CLEAN, "clean.txt"), 0, "source.fixAll") == []


def test_no_action_of_another_kind(editor: Editor) -> None:
    """Only the requested kinds are returned."""
    uri = editor.open(DEAD, "none.txt")
    assert editor.actions(uri, 2, "refactor") == []


# --- Formatting, outline, semantic tokens ---------------------------------------------------------


def test_formatting(editor: Editor) -> None:
    """The edits produce the canonical form; formatting again changes nothing."""
    text = "user-agent:*\ndisallow :   /a\nSITEMAP:https://shop.example/s.xml"
    uri = editor.open(text, "format.txt")
    formatted = apply_edits(text, editor.format(uri) or ())
    assert formatted.startswith("User-agent: *\nDisallow: /a\n")
    editor.type(uri, formatted)
    assert not editor.format(uri)


def test_refused_formatting_shows_a_message(editor: Editor) -> None:
    """It is not an error."""
    uri = editor.open("User-agent: *\nDisallow: /\0\n", "refused.txt")
    before = len(editor.messages)
    assert not editor.format(uri)
    editor.wait(lambda: len(editor.messages) > before)
    assert "not formatted" in editor.messages[-1]


def test_outline_folding_and_semantic_tokens(editor: Editor) -> None:
    """Groups with their rules, sitemaps; foldable lines; names and values."""
    text = "User-agent: ExampleBot\nDisallow: /a\n\nSitemap: https://shop.example/s.xml\n"
    uri = editor.open(text, "outline.txt")
    group, sitemap = editor.symbols(uri)
    assert (group.name, [child.name for child in group.children or ()]) == (
        "ExampleBot",
        ["Disallow: /a"],
    )
    assert sitemap.name == "Sitemap: https://shop.example/s.xml"
    assert editor.folding_ranges(uri) == [(0, 1)]
    assert list(editor.semantic_tokens(uri))[:10] == [0, 0, 10, 0, 0, 0, 12, 10, 1, 0]
    assert list(editor.semantic_tokens_range(uri, 3, 9)) == [3, 0, 7, 0, 0, 0, 9, 26, 2, 0]


# --- Positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encodings", "chosen", "column"),
    [
        (("utf-7", "utf-8", "utf-16"), "utf-8", 17),
        (("utf-32",), "utf-32", 13),
    ],
)
def test_columns_are_in_the_negotiated_encoding(
    tmp_path: Path, encodings: tuple[str, ...], chosen: str, column: int
) -> None:
    """The first supported one that the client lists; all other tests use UTF-16."""
    client = capabilities(*encodings, markup=types.MarkupKind.PlainText)
    editor = Editor(tmp_path, client_capabilities=client)
    try:
        assert editor.initialize_result.capabilities.position_encoding == chosen
        uri = editor.open("User-agent: *\nDisallow: é😀\n")
        (note,) = [
            diagnostic for diagnostic in editor.diagnostics(uri) if diagnostic.code == "RR505"
        ]
        assert note.range.start == types.Position(1, 10)
        assert note.range.end.character == column - 1
        uri = editor.open("User-agent: é😀\x0c\u2028, a\nDisallow: /\n", "b.txt")
        hover = editor.hover(uri, 1, 10)
        assert hover is not None  # lines are those of the protocol, not of Python
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.kind == types.MarkupKind.PlainText  # the format of this client
    finally:
        # After shutdown and exit, the exit code is 0 and stderr is empty.
        assert editor.stop() == 0
        assert editor.stderr == ""
