"""
A test editor: a real LSP client that starts the server as a process, or connects to a port.

Each request waits for its response, with a timeout.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.cli.shell import process_environment

COMMAND = [sys.executable, "-m", "robotrules", "lsp"]
TIMEOUT = 30
T = TypeVar("T")


def capabilities(
    *encodings: str, markup: types.MarkupKind = types.MarkupKind.Markdown
) -> types.ClientCapabilities:
    """Return the capabilities of an editor; *encodings* are its position encodings."""
    tags = types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary])
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings) or None),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=False)
        ),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=[markup]),
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, tag_support=tags
            ),
        ),
    )


class Editor:
    """A client with its server. Documents have URIs in a folder, but are not written to disk."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        client_capabilities: types.ClientCapabilities | None = None,
        port: int | None = None,
    ) -> None:
        self._folder = folder
        self._runner = asyncio.Runner()
        self._client = LanguageClient("test", "1")
        self._changed: asyncio.Event | None = None
        self._versions: dict[str, int] = {}
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            self._make_diagnostics_handler()
        )
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(self._make_message_handler())
        self.stderr = ""
        try:
            self.initialize_result = self._run(
                self._start(arguments, client_capabilities or capabilities(), port)
            )
        except BaseException:
            self._abandon()
            raise

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self._abandon()

    def _abandon(self) -> None:
        """Kill the server if it still runs, and close the event loop."""
        server = self._client._server
        if server is not None and server.returncode is None:
            server.kill()
            with suppress(TimeoutError):
                self._run(server.wait())
        self._runner.close()

    def _run(self, work: Coroutine[Any, Any, T], seconds: float = TIMEOUT) -> T:
        return self._runner.run(asyncio.wait_for(work, seconds))

    def _make_diagnostics_handler(self) -> Callable[[types.PublishDiagnosticsParams], None]:
        def _receive(params: types.PublishDiagnosticsParams) -> None:
            self.published.setdefault(params.uri, []).append(params)
            self._notify()

        return _receive

    def _make_message_handler(self) -> Callable[[types.ShowMessageParams], None]:
        def _receive(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._notify()

        return _receive

    def _notify(self) -> None:
        if self._changed:
            self._changed.set()

    async def _start(
        self,
        arguments: Sequence[str],
        client_capabilities: types.ClientCapabilities,
        port: int | None,
    ) -> types.InitializeResult:
        self._changed = asyncio.Event()
        if port is None:
            await self._client.start_io(*COMMAND, *arguments, env=process_environment())
        else:
            await self._client.start_tcp("127.0.0.1", port)
        result = await self._client.initialize_async(
            types.InitializeParams(capabilities=client_capabilities, root_uri=self._folder.as_uri())
        )
        self._client.initialized(types.InitializedParams())
        return result

    # --- Notifications ----------------------------------------------------------------------------

    def open(self, text: str, name: str = "robots.txt") -> str:
        """Open a document; return its URI."""
        uri = (self._folder / name).as_uri()
        self._versions[uri] = 1
        self.published.pop(uri, None)
        item = types.TextDocumentItem(uri, "robotstxt", 1, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, text: str) -> None:
        """Replace the text of a document, as typing does."""
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def save(self, uri: str) -> None:
        """Send didSave."""
        self._client.text_document_did_save(types.DidSaveTextDocumentParams(_identify(uri)))

    def settings_changed(self, name: str) -> None:
        """Send didChangeWatchedFiles for a settings file."""
        change = types.FileEvent((self._folder / name).as_uri(), types.FileChangeType.Changed)
        params = types.DidChangeWatchedFilesParams([change])
        self._client.workspace_did_change_watched_files(params)

    def close(self, uri: str) -> None:
        """Close a document."""
        self._client.text_document_did_close(types.DidCloseTextDocumentParams(_identify(uri)))

    # --- Waiting ----------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], bool], seconds: float = TIMEOUT) -> None:
        """Wait until a condition is true."""
        self._run(self._wait_for(condition), seconds)

    async def _wait_for(self, condition: Callable[[], bool]) -> None:
        assert self._changed is not None
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def pause(self, seconds: float) -> None:
        """Let the server run for some time."""
        self._run(asyncio.sleep(seconds))

    def diagnostics(self, uri: str, seconds: float = TIMEOUT) -> list[types.Diagnostic]:
        """Wait for the diagnostics of the newest version of a document; return them."""
        newest = self._versions[uri]
        self.wait(
            lambda: any(params.version == newest for params in self.published.get(uri, ())),
            seconds,
        )
        return list(self.published[uri][-1].diagnostics)

    # --- Requests ---------------------------------------------------------------------------------

    def hover(self, uri: str, line: int, column: int) -> types.Hover | None:
        """Request the hover at a position."""
        params = types.HoverParams(_identify(uri), types.Position(line, column))
        return self._run(self._client.text_document_hover_async(params))

    def hover_text(self, uri: str, line: int, column: int) -> str:
        """Return the text of the hover at a position."""
        hover = self.hover(uri, line, column)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        return hover.contents.value

    def complete(self, uri: str, line: int, column: int) -> list[types.CompletionItem]:
        """Request completion items at a position."""
        params = types.CompletionParams(_identify(uri), types.Position(line, column))
        completions = self._run(self._client.text_document_completion_async(params))
        assert isinstance(completions, types.CompletionList)
        return list(completions.items)

    def actions(self, uri: str, line: int, *only: str, column: int = 0) -> list[types.CodeAction]:
        """Request code actions at a position."""
        position = types.Position(line, column)
        context = types.CodeActionContext([], list(only) or None)
        params = types.CodeActionParams(_identify(uri), types.Range(position, position), context)
        actions = self._run(self._client.text_document_code_action_async(params))
        return [action for action in actions or () if isinstance(action, types.CodeAction)]

    def format(self, uri: str) -> Sequence[types.TextEdit] | None:
        """Request formatting."""
        options = types.FormattingOptions(4, True)
        params = types.DocumentFormattingParams(_identify(uri), options)
        return self._run(self._client.text_document_formatting_async(params))

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        """Request document symbols."""
        params = types.DocumentSymbolParams(_identify(uri))
        symbols = self._run(self._client.text_document_document_symbol_async(params))
        return [symbol for symbol in symbols or () if isinstance(symbol, types.DocumentSymbol)]

    def folding_ranges(self, uri: str) -> list[tuple[int, int]]:
        """Request folding ranges; return first and last lines."""
        params = types.FoldingRangeParams(_identify(uri))
        ranges = self._run(self._client.text_document_folding_range_async(params))
        return [(folding.start_line, folding.end_line) for folding in ranges or ()]

    def semantic_tokens_range(self, uri: str, first: int, last: int) -> Sequence[int]:
        """Request the semantic tokens of some lines."""
        lines = types.Range(types.Position(first, 0), types.Position(last, 0))
        params = types.SemanticTokensRangeParams(_identify(uri), lines)
        tokens = self._run(self._client.text_document_semantic_tokens_range_async(params))
        return tokens.data if tokens else []

    def semantic_tokens(self, uri: str) -> Sequence[int]:
        """Request all semantic tokens."""
        params = types.SemanticTokensParams(_identify(uri))
        tokens = self._run(self._client.text_document_semantic_tokens_full_async(params))
        return tokens.data if tokens else []

    def cancel_hover(self, uri: str, line: int, column: int) -> BaseException | None:
        """Request a hover and cancel the request at once; return the error, if any."""

        async def _request_and_cancel() -> BaseException | None:
            params = types.HoverParams(_identify(uri), types.Position(line, column))
            response = self._client.text_document_hover(params)
            (request_id,) = self._client.protocol._request_futures
            self._client.cancel_request(types.CancelParams(request_id))
            try:
                await asyncio.wrap_future(response)
            except Exception as error:
                return error
            return None

        return self._run(_request_and_cancel())

    def send(self, octets: bytes) -> None:
        """Send raw bytes to the server."""
        server = self._client._server
        assert server is not None
        assert server.stdin is not None
        server.stdin.write(octets)

    # --- Shutdown ---------------------------------------------------------------------------------

    def stop(self, *, shutdown: bool = True) -> int | None:
        """End the session, with or without `shutdown`; return the exit code of the server."""
        try:
            return self._run(self._stop(shutdown))
        finally:
            self._abandon()

    async def _stop(self, shutdown: bool) -> int | None:
        server = self._client._server
        if shutdown:
            await self._client.shutdown_async(None)
            self._client.exit(None)
        elif server is not None and server.stdin is not None:
            server.stdin.close()
        if server is not None:
            assert server.stderr is not None
            self.stderr = (await server.stderr.read()).decode()
            await server.wait()
            await self._client.stop()  # type: ignore[no-untyped-call]
            return server.returncode
        writer: Any = self._client.protocol.writer
        await asyncio.gather(*self._client._async_tasks)
        writer.close()
        return None


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def connect(folder: Path, port: int) -> Editor:
    """Return an editor that is connected to a port; wait until a server listens."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return Editor(folder, port=port)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _identify(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


# --- Edits ----------------------------------------------------------------------------------------


def apply_edits(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Return a text after edits, applied like an editor: columns are UTF-16 code units."""
    units = text.encode("utf-16-le", "surrogatepass")
    starts, at = [0], 0
    while at < len(units):
        if units[at : at + 4] == b"\r\0\n\0":
            at += 2
        if units[at : at + 2] in (b"\r\0", b"\n\0"):
            starts.append(at + 2)
        at += 2

    def _to_index(position: types.Position) -> int:
        if position.line >= len(starts):
            return len(units)
        return starts[position.line] + 2 * position.character

    spans = sorted(
        (_to_index(edit.range.start), _to_index(edit.range.end), edit.new_text) for edit in edits
    )
    parts, done = [], 0
    for start, end, new in spans:
        assert done <= start <= end, "edits overlap"
        parts += [units[done:start], new.encode("utf-16-le", "surrogatepass")]
        done = end
    return b"".join([*parts, units[done:]]).decode("utf-16-le", "surrogatepass")


def apply_action(text: str, action: types.CodeAction) -> str:
    """Return a text after a code action."""
    assert action.edit is not None
    if action.edit.changes is not None:
        ((_, edits),) = action.edit.changes.items()
        return apply_edits(text, edits)
    assert action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    return apply_edits(text, [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
