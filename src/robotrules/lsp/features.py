"""
Features: what a client may ask for, each a few lines between the protocol and an answer.

A request is handed to the server, which asks in a thread; what comes back is in the protocol's own
values already. It does not know how an answer is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from robotrules.formatting import MAX_STATES, FormatResult, format_robots
from robotrules.lsp.code_actions import FIX_ALL, fix_all, quick_fixes
from robotrules.lsp.completion import TRIGGERS, complete
from robotrules.lsp.edits import between
from robotrules.lsp.hover import hover
from robotrules.lsp.outline import foldings, symbols
from robotrules.lsp.semantic_tokens import LEGEND, tokens

if TYPE_CHECKING:
    from robotrules.lsp.server import Opened, Server

__all__ = ["FEATURES"]


# --- Texts come, change and go --------------------------------------------------------------------


async def _opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.watch.saved(params.text_document.uri)


async def _changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    ls.watch.typed(params.text_document.uri)


async def _saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.watch.saved(params.text_document.uri)


async def _closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.close(params.text_document.uri)


async def _settings_changed(ls: Server, params: object) -> None:
    for document in list(ls.workspace.text_documents.values()):
        ls.watch.saved(document.uri)


# --- Questions ------------------------------------------------------------------------------------


async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    def _answer(opened: Opened) -> types.Hover | None:
        document = opened.document
        found = hover(document, document.places.offset(params.position), ls.known_notes(opened))
        if found is None:
            return None
        content = types.MarkupContent(_markup(ls), found.markdown)
        return types.Hover(content, document.places.range(found.start, found.end))

    return await ls.answer(params.text_document.uri, _answer, None)


def _markup(ls: Server) -> types.MarkupKind:
    """Return what the client wants hovers in; markdown reads well as plain text too."""
    about = ls.client_capabilities.text_document
    able = about.hover.content_format if about and about.hover else None
    if able and types.MarkupKind.Markdown not in able:
        return types.MarkupKind.PlainText
    return types.MarkupKind.Markdown


async def _complete(ls: Server, params: types.CompletionParams) -> types.CompletionList:
    def _answer(opened: Opened) -> types.CompletionList:
        document = opened.document
        found = complete(document, document.places.offset(params.position))
        return types.CompletionList(is_incomplete=False, items=found)

    return await ls.answer(params.text_document.uri, _answer, types.CompletionList(False, []))


async def _actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    def _answer(opened: Opened) -> list[types.CodeAction]:
        document, place = opened.document, ls.place(opened)
        start, end = (
            document.places.offset(where) for where in (params.range.start, params.range.end)
        )
        found: list[types.CodeAction] = []
        if _wants(params.context, types.CodeActionKind.QuickFix):
            found += quick_fixes(document, ls.notes(opened), start, end, place)
        # The proof takes time: only for whoever asks for it, and not at each step of the cursor.
        if (
            params.context.only
            or params.context.trigger_kind == types.CodeActionTriggerKind.Invoked
        ):
            if _wants(params.context, FIX_ALL):
                everything = fix_all(document, ls.notes(opened, thorough=True), place)
                found += [everything] if everything else []
        return found

    return await ls.answer(params.text_document.uri, _answer, [])


def _wants(context: types.CodeActionContext, shape: str) -> bool:
    """Tell whether a client asks for such actions: a shape includes those that begin with it."""
    wanted = [getattr(one, "value", one) for one in context.only or ()]
    shape = str(getattr(shape, "value", shape))
    return not context.only or any(shape == one or shape.startswith(f"{one}.") for one in wanted)


async def _format(
    ls: Server, params: types.DocumentFormattingParams
) -> Sequence[types.TextEdit] | None:
    def _answer(opened: Opened) -> tuple[FormatResult, list[types.TextEdit]]:
        found = format_robots(opened.document.robots, budget=opened.config.fmt.budget or MAX_STATES)
        edits = between(opened.document, found.body) if found.changed else []
        return found, edits

    failed = FormatResult(b"", False, False, "something went wrong; the server's log says what")
    nothing: tuple[FormatResult, list[types.TextEdit]] = failed, []
    found, edits = await ls.answer(params.text_document.uri, _answer, nothing)
    if found.refused:
        ls.tell(f"the file is not formatted: {found.refused}", once=False)
        return None
    return edits


async def _symbols(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    return await ls.answer(params.text_document.uri, lambda opened: symbols(opened.document), [])


async def _foldings(ls: Server, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    return await ls.answer(params.text_document.uri, lambda opened: foldings(opened.document), [])


async def _colours(ls: Server, params: types.SemanticTokensParams) -> types.SemanticTokens:
    return await _coloured(ls, params.text_document.uri, tokens)


async def _some_colours(
    ls: Server, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens:
    lines = partial(tokens, first=params.range.start.line, last=params.range.end.line)
    return await _coloured(ls, params.text_document.uri, lines)


async def _coloured(ls: Server, uri: str, make: Callable[..., list[int]]) -> types.SemanticTokens:
    nothing: list[int] = []
    found = await ls.answer(uri, lambda opened: make(opened.document), nothing)
    return types.SemanticTokens(data=found)


FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (types.TEXT_DOCUMENT_DID_OPEN, _opened, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _changed, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _saved, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _closed, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _settings_changed, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _settings_changed, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _complete,
        types.CompletionOptions(trigger_characters=list(TRIGGERS)),
    ),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _actions,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    ),
    (types.TEXT_DOCUMENT_FORMATTING, _format, None),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, _foldings, None),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _colours, LEGEND),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _some_colours, LEGEND),
)
"""What a client may send, what answers, and what the client is told of it beforehand."""
