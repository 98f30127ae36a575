"""The language server over the real protocol: a real client, a real process, each feature."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, applied, capabilities, done


@pytest.fixture(params=["as_process", "in_thread"])
def editor(request: pytest.FixtureRequest) -> Editor:
    """A server that is a process, and one that is a thread of this one."""
    found: Editor = request.getfixturevalue(request.param)
    return found


DEAD = "User-agent: *\nDisallow: /shop*\nAllow: /shop\n"
CLEAN = "User-agent: *\nDisallow: /shop\n"


def codes(found: list[types.Diagnostic]) -> list[object]:
    """Return the codes of diagnostics."""
    return [one.code for one in found]


def test_what_it_says_it_can_do(editor: Editor) -> None:
    """All features, and texts as a whole: pygls would cut lines at a form feed."""
    able = editor.welcome.capabilities
    assert isinstance(able.text_document_sync, types.TextDocumentSyncOptions)
    assert able.text_document_sync.change == types.TextDocumentSyncKind.Full
    assert able.hover_provider
    assert able.document_formatting_provider
    assert able.document_symbol_provider
    assert able.folding_range_provider
    assert able.semantic_tokens_provider
    assert able.completion_provider
    assert isinstance(able.code_action_provider, types.CodeActionOptions)
    assert "source.fixAll.robotrules" in (able.code_action_provider.code_action_kinds or ())
    assert editor.welcome.server_info
    assert editor.welcome.server_info.name == "robotrules"


# --- Diagnostics ----------------------------------------------------------------------------------


def test_notes_come_when_a_text_is_opened(editor: Editor) -> None:
    """With code, place, related place, and faint where a rule decides nothing."""
    (note,) = [one for one in editor.notes(editor.open(DEAD)) if one.code == "RR501"]
    assert note.source == "robotrules"
    assert note.range == types.Range(types.Position(2, 7), types.Position(2, 12))
    assert "line 2" in note.message
    assert list(note.tags or ()) == [types.DiagnosticTag.Unnecessary]
    (related,) = note.related_information or ()
    assert related.location.range.start == types.Position(1, 10)


def test_notes_follow_the_keyboard(editor: Editor) -> None:
    """They come and go as somebody types, and only of what was typed last."""
    uri = editor.open(CLEAN, "typing.txt")
    assert "RR505" not in codes(editor.notes(uri))
    for end in range(1, len("Disallow: x\n") + 1):
        editor.type(uri, CLEAN + "Disallow: x\n"[:end])
    assert "RR505" in codes(editor.notes(uri))
    # A note for each key would be noise: most texts in between were never looked at.
    assert len(editor.published[uri]) < 8
    editor.type(uri, CLEAN + "Disallow: /x\n")
    assert "RR505" not in codes(editor.notes(uri))


def test_a_closed_text_has_no_notes(editor: Editor) -> None:
    """What was shown of it goes."""
    uri = editor.open(DEAD, "closed.txt")
    editor.notes(uri)
    before = len(editor.published[uri])
    editor.close(uri)
    editor.wait(lambda: len(editor.published[uri]) > before)
    assert list(editor.published[uri][-1].diagnostics) == []


def test_settings_of_the_project_count(editor: Editor, tmp_path: Path) -> None:
    """The nearest to the file: what is ignored there is not shown, and a profile is obeyed."""
    settings = tmp_path / "robotrules.toml"
    settings.write_text('[lint]\nignore = ["RR501"]\n', encoding="utf-8")
    uri = editor.open(DEAD, str(tmp_path / "robots.txt"))
    assert "RR501" not in codes(editor.notes(uri))
    settings.write_text('[lint]\nselect = ["RR501"]\n', encoding="utf-8")
    editor.type(uri, DEAD + "\n")
    editor.save(uri)
    assert codes(editor.notes(uri)) == ["RR501"]
    # An editor that watches files says that settings were changed.
    settings.write_text('[lint]\nselect = ["RR505"]\n', encoding="utf-8")
    before = len(editor.published[uri])
    editor.settings_changed(str(settings))
    editor.wait(lambda: len(editor.published[uri]) > before)
    assert codes(editor.notes(uri)) == []
    editor.close(uri)


def test_settings_that_are_wrong_are_told_and_not_obeyed(editor: Editor, tmp_path: Path) -> None:
    """A message says where and the cure; notes come all the same."""
    (tmp_path / "robotrules.toml").write_text("[lint]\nselct = []\n", encoding="utf-8")
    before = len(editor.messages)
    uri = editor.open(DEAD, str(tmp_path / "robots.txt"))
    assert "RR501" in codes(editor.notes(uri))
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
    """In words, with URLs that it matches and misses, and who decides instead."""
    uri = editor.open("User-agent: ExampleBot\nDisallow: /*/print$\nAllow: /*/prin*$\n", "rule.txt")
    found = editor.hover(uri, 1, 12)
    assert found is not None
    assert found.range == types.Range(types.Position(1, 0), types.Position(1, 19))
    said = editor.words(uri, 1, 12)
    assert "Matches every URL that ends with '/print'" in said
    assert "`https://example.com/x/print`" in said
    assert "`https://example.com/print`: the same '/' cannot count twice" in said
    assert "**9 octets**" in said
    assert "for `ExampleBot`" in said


def test_hover_on_a_dead_rule_teaches(editor: Editor) -> None:
    """Which rule decides, and what the note on it is about."""
    uri = editor.open(DEAD, "dead.txt")
    editor.notes(uri)
    said = editor.words(uri, 2, 9)
    assert "decided by line 2, `Disallow: /shop*`" in said
    assert "**RR501 dead-rule**: A rule that decides no URL" in said


def test_hover_on_a_user_agent(editor: Editor) -> None:
    """Who that is and what it obeys."""
    uri = editor.open("User-agent: gptbot\nDisallow: /\n", "agent.txt")
    said = editor.words(uri, 0, 14)
    assert said.startswith("**`GPTBot`** of OpenAI")
    assert "It obeys the group at lines 1-2: 1 rule." in said


def test_hover_on_a_sitemap_and_on_nothing(editor: Editor) -> None:
    """Its address; nothing in a comment, and nothing past the end."""
    uri = editor.open("# hi\nSitemap: https://shop.example/s.xml\n", "sitemap.txt")
    assert "The sitemap is `https://shop.example/s.xml`." in editor.words(uri, 1, 3)
    assert editor.hover(uri, 0, 2) is None
    assert editor.hover(uri, 99, 99) is None


# --- Completion -----------------------------------------------------------------------------------


def test_completion_of_records(editor: Editor) -> None:
    """Rules first in a group; what is chosen is written with its colon."""
    text = "User-agent: *\ndi"
    found = editor.complete(editor.open(text, "records.txt"), 1, 2)
    assert [one.label for one in found][:2] == ["Disallow", "Allow"]
    assert isinstance(found[0].text_edit, types.TextEdit)
    assert applied(text, [found[0].text_edit]) == "User-agent: *\nDisallow: "


def test_completion_of_product_tokens(editor: Editor) -> None:
    """The crawlers that are known, with operator and purpose."""
    found = editor.complete(editor.open("User-agent: ", "tokens.txt"), 0, 12)
    assert {"*", "Googlebot", "GPTBot"} <= {one.label for one in found}
    (gptbot,) = [one for one in found if one.label == "GPTBot"]
    assert gptbot.detail == "OpenAI: ai-training"


def test_completion_of_purposes_and_directives(editor: Editor) -> None:
    """Those of the registries that the server was started with."""
    text = "User-Agent-Purpose: \nContent-Usage: \nApp-Directives: examplesearch;"
    uri = editor.open(text, "registered.txt")
    assert [one.label for one in editor.complete(uri, 0, 20)] == ["EXAMPLE-PURPOSE-1"]
    assert next(one.label for one in editor.complete(uri, 1, 15)) == "train-ai=n"
    directives = [one.label for one in editor.complete(uri, 2, 30)]
    assert directives == ["widgets", "widgets=?0", "teaser"]


def test_no_completion_of_paths(editor: Editor) -> None:
    """An empty list, and no error."""
    uri = editor.open("Disallow: /\nSitemap: ", "paths.txt")
    assert editor.complete(uri, 0, 11) == []
    assert editor.complete(uri, 1, 9) == []


# --- Actions --------------------------------------------------------------------------------------


def test_a_quick_fix_gives_the_fixed_text(editor: Editor) -> None:
    """One that changes verdicts says so; lint has nothing more to say to what comes of it."""
    text = "User-agent: *\nDisallow: x😀 # /\n"
    uri = editor.open(text, "fix.txt")
    assert "RR505" in codes(editor.notes(uri))
    (fix,) = [one for one in editor.actions(uri, 1, "quickfix") if "RR505;" in one.title]
    assert fix.title.endswith("changes verdicts)")
    fixed = done(text, fix)
    assert fixed == "User-agent: *\nDisallow: /x😀 # /\n"
    editor.type(uri, fixed)
    assert "RR505" not in codes(editor.notes(uri))


def test_an_edit_behind_a_surrogate_pair(editor: Editor) -> None:
    """What stands behind a character of two units is edited where it stands."""
    text = "User-agent: *\nDisallow: 😀x\n"
    uri = editor.open(text, "surrogate.txt")
    (action,) = [one for one in editor.actions(uri, 1) if one.title.startswith("Ignore RR505")]
    assert done(text, action).endswith("Disallow: 😀x  # robotrules: ignore[RR505]\n")


def test_a_note_can_be_silenced(editor: Editor) -> None:
    """By a comment on its line."""
    uri = editor.open(DEAD, "silence.txt")
    (action,) = [one for one in editor.actions(uri, 2) if one.title.startswith("Ignore RR501")]
    silenced = done(DEAD, action)
    assert silenced.endswith("Allow: /shop  # robotrules: ignore[RR501]\n")
    editor.type(uri, silenced)
    assert "RR501" not in codes(editor.notes(uri))


def test_all_safe_fixes_at_once(editor: Editor) -> None:
    """What changes verdicts is left; the rest is written in one go, and is proved to be safe."""
    text = "User-agent: *\nDisallow : /a\nDisallow: x\nDissallow: /b\nAllow : /c\n"
    uri = editor.open(text, "all.txt")
    (action,) = editor.actions(uri, 0, "source.fixAll")
    assert done(text, action) == text.replace(" :", ":")
    assert editor.actions(editor.open(CLEAN, "clean.txt"), 0, "source.fixAll") == []


def test_no_action_where_there_is_no_note(editor: Editor) -> None:
    """Nor of a sort that was not asked for."""
    uri = editor.open(DEAD, "none.txt")
    assert editor.actions(uri, 2, "refactor") == []


# --- Formatting, outline, colours -----------------------------------------------------------------


def test_formatting(editor: Editor) -> None:
    """The edits lead to the canonical form; formatting that again changes nothing."""
    text = "user-agent:*\ndisallow :   /a\nSITEMAP:https://shop.example/s.xml"
    uri = editor.open(text, "format.txt")
    formatted = applied(text, editor.format(uri) or ())
    assert formatted.startswith("User-agent: *\nDisallow: /a\n")
    editor.type(uri, formatted)
    assert not editor.format(uri)


def test_refused_formatting_is_told(editor: Editor) -> None:
    """By a message, not by an error."""
    uri = editor.open("User-agent: *\nDisallow: /\0\n", "refused.txt")
    before = len(editor.messages)
    assert not editor.format(uri)
    editor.wait(lambda: len(editor.messages) > before)
    assert "not formatted" in editor.messages[-1]


def test_outline_folding_and_colours(editor: Editor) -> None:
    """Groups with their rules, sitemaps; lines that fold; names and values apart."""
    text = "User-agent: ExampleBot\nDisallow: /a\n\nSitemap: https://shop.example/s.xml\n"
    uri = editor.open(text, "outline.txt")
    group, sitemap = editor.symbols(uri)
    assert (group.name, [one.name for one in group.children or ()]) == (
        "ExampleBot",
        ["Disallow: /a"],
    )
    assert sitemap.name == "Sitemap: https://shop.example/s.xml"
    assert editor.foldings(uri) == [(0, 1)]
    assert list(editor.colours(uri))[:10] == [0, 0, 10, 0, 0, 0, 12, 10, 1, 0]
    assert list(editor.some_colours(uri, 3, 9)) == [3, 0, 7, 0, 0, 0, 9, 26, 2, 0]


# --- Positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encodings", "chosen", "column"),
    [
        (("utf-7", "utf-8", "utf-16"), "utf-8", 17),
        (("utf-32",), "utf-32", 13),
    ],
)
def test_columns_are_in_the_encoding_that_was_agreed_on(
    tmp_path: Path, encodings: tuple[str, ...], chosen: str, column: int
) -> None:
    """What the client prefers, of those that there are; all other tests are in UTF-16."""
    able = capabilities(*encodings, markup=types.MarkupKind.PlainText)
    editor = Editor(tmp_path, able=able)
    try:
        assert editor.welcome.capabilities.position_encoding == chosen
        uri = editor.open("User-agent: *\nDisallow: é😀\n")
        (note,) = [one for one in editor.notes(uri) if one.code == "RR505"]
        assert note.range.start == types.Position(1, 10)
        assert note.range.end.character == column - 1
        uri = editor.open("User-agent: é😀\x0c\u2028, a\nDisallow: /\n", "b.txt")
        found = editor.hover(uri, 1, 10)
        assert found is not None  # lines are the protocol's, and not Python's
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.kind == types.MarkupKind.PlainText  # as this client wants it
    finally:
        # A polite end: after shutdown and exit the exit code is 0, and nothing was said.
        assert editor.leave() == 0
        assert editor.said == ""
