"""
Features: one handler for each LSP request and notification.

A handler passes a function to `Server.respond`, which runs it in a thread; the result is an
`lsprotocol` value. `FEATURES` is the table that `make_server` registers with pygls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from robotrules.editing.code_actions import FIX_ALL, make_fix_all, make_quick_fixes
from robotrules.editing.completion import TRIGGER_CHARACTERS, complete
from robotrules.editing.hover import render_hover
from robotrules.editing.outline import list_document_symbols, list_folding_ranges
from robotrules.editing.semantic_tokens import LEGEND, encode_semantic_tokens
from robotrules.editing.text_edits import diff_text_edits
from robotrules.formatting import MAX_STATES, FormatResult, format_robots

if TYPE_CHECKING:
    from robotrules.lsp.server import ParsedDocument, Server

__all__ = ["FEATURES"]


# --- Notifications: document synchronization, settings --------------------------------------------


async def _on_did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.debouncer.run_now(params.text_document.uri)


async def _on_did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    ls.debouncer.schedule(params.text_document.uri)


async def _on_did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.debouncer.run_now(params.text_document.uri)


async def _on_did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.close(params.text_document.uri)


async def _on_settings_changed(ls: Server, params: object) -> None:
    for document in list(ls.workspace.text_documents.values()):
        ls.debouncer.run_now(document.uri)


# --- Requests -------------------------------------------------------------------------------------


async def _on_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    def _make_hover(parsed: ParsedDocument) -> types.Hover | None:
        document = parsed.document
        offset = document.positions.to_offset(params.position)
        hover = render_hover(document, offset, ls.known_notes(parsed))
        if hover is None:
            return None
        content = types.MarkupContent(_choose_markup_kind(ls), hover.markdown)
        return types.Hover(content, document.positions.to_range(hover.start, hover.end))

    return await ls.respond(params.text_document.uri, _make_hover, None)


def _choose_markup_kind(ls: Server) -> types.MarkupKind:
    """Return the hover format for the client; Markdown is readable as plain text, too."""
    text_document = ls.client_capabilities.text_document
    formats = text_document.hover.content_format if text_document and text_document.hover else None
    if formats and types.MarkupKind.Markdown not in formats:
        return types.MarkupKind.PlainText
    return types.MarkupKind.Markdown


async def _on_completion(ls: Server, params: types.CompletionParams) -> types.CompletionList:
    def _make_items(parsed: ParsedDocument) -> types.CompletionList:
        document = parsed.document
        items = complete(document, document.positions.to_offset(params.position))
        return types.CompletionList(is_incomplete=False, items=items)

    return await ls.respond(params.text_document.uri, _make_items, types.CompletionList(False, []))


async def _on_code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    def _make_actions(parsed: ParsedDocument) -> list[types.CodeAction]:
        document, target = parsed.document, ls.edit_target(parsed)
        start = document.positions.to_offset(params.range.start)
        end = document.positions.to_offset(params.range.end)
        actions: list[types.CodeAction] = []
        if _is_requested(params.context, types.CodeActionKind.QuickFix):
            actions += make_quick_fixes(document, ls.notes(parsed), start, end, target)
        # The proof takes time: run it on an explicit request, not on every cursor movement.
        if (
            params.context.only
            or params.context.trigger_kind == types.CodeActionTriggerKind.Invoked
        ):
            if _is_requested(params.context, FIX_ALL):
                action = make_fix_all(document, ls.notes(parsed, thorough=True), target)
                actions += [action] if action else []
        return actions

    return await ls.respond(params.text_document.uri, _make_actions, [])


def _is_requested(context: types.CodeActionContext, kind: str) -> bool:
    """Tell whether the client requests a kind of action; a kind includes its sub-kinds."""
    requested = [getattr(only, "value", only) for only in context.only or ()]
    kind = str(getattr(kind, "value", kind))
    return not context.only or any(
        kind == prefix or kind.startswith(f"{prefix}.") for prefix in requested
    )


async def _on_formatting(
    ls: Server, params: types.DocumentFormattingParams
) -> Sequence[types.TextEdit] | None:
    def _format(parsed: ParsedDocument) -> tuple[FormatResult, list[types.TextEdit]]:
        max_states = parsed.config.fmt.max_states or MAX_STATES
        result = format_robots(parsed.document.robots, max_states=max_states)
        edits = diff_text_edits(parsed.document, result.body) if result.changed else []
        return result, edits

    failed = FormatResult(b"", False, False, "internal error; see the log of the server")
    fallback: tuple[FormatResult, list[types.TextEdit]] = failed, []
    result, edits = await ls.respond(params.text_document.uri, _format, fallback)
    if result.refused:
        ls.show_warning(f"the file is not formatted: {result.refused}", once=False)
        return None
    return edits


async def _on_document_symbol(
    ls: Server, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    return await ls.respond(
        params.text_document.uri, lambda parsed: list_document_symbols(parsed.document), []
    )


async def _on_folding_range(
    ls: Server, params: types.FoldingRangeParams
) -> list[types.FoldingRange]:
    return await ls.respond(
        params.text_document.uri, lambda parsed: list_folding_ranges(parsed.document), []
    )


async def _on_semantic_tokens_full(
    ls: Server, params: types.SemanticTokensParams
) -> types.SemanticTokens:
    return await _respond_tokens(ls, params.text_document.uri, encode_semantic_tokens)


async def _on_semantic_tokens_range(
    ls: Server, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens:
    first, last = params.range.start.line, params.range.end.line
    encode = partial(encode_semantic_tokens, first=first, last=last)
    return await _respond_tokens(ls, params.text_document.uri, encode)


async def _respond_tokens(
    ls: Server, uri: str, encode: Callable[..., list[int]]
) -> types.SemanticTokens:
    no_tokens: list[int] = []
    data = await ls.respond(uri, lambda parsed: encode(parsed.document), no_tokens)
    return types.SemanticTokens(data=data)


FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (types.TEXT_DOCUMENT_DID_OPEN, _on_did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _on_did_change, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _on_did_save, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _on_did_close, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _on_settings_changed, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _on_settings_changed, None),
    (types.TEXT_DOCUMENT_HOVER, _on_hover, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _on_completion,
        types.CompletionOptions(trigger_characters=list(TRIGGER_CHARACTERS)),
    ),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _on_code_action,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    ),
    (types.TEXT_DOCUMENT_FORMATTING, _on_formatting, None),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _on_document_symbol, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, _on_folding_range, None),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _on_semantic_tokens_full, LEGEND),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _on_semantic_tokens_range, LEGEND),
)
"""For each LSP method: its handler, and the options that the server advertises for it."""
